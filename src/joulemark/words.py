"""English wording of messages."""


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 case`, `1,200 cases`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
