"""Suggestions for unknown names."""

from collections.abc import Iterable

_FEW = 20


def near(name: str, known: Iterable[str]) -> str:
    """Return a hint: the known names most like a name, or else a list of them.

    Args:
        name: the unknown name.
        known: the known names.
    """
    import difflib

    names = sorted(set(known))
    alike = difflib.get_close_matches(name, names, 3)
    if alike:
        return f"did you mean {' or '.join(alike)}?"
    shown = ", ".join(names[:_FEW])
    return f"there are {shown}" + (f" and {len(names) - _FEW} more" if len(names) > _FEW else "")
