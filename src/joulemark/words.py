"""English for what is said to people."""


def counted(number: int, noun: str) -> str:
    """A number of things: `1 case`, `1,200 cases`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
