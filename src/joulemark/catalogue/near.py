"""Suggestions for a name that is wrong."""

from collections.abc import Iterable

_FEW = 20


def near(name: str, known: Iterable[str]) -> str:
    """A hint: the names that are like it, or else what there is.

    Args:
        name: that is wrong.
        known: the names that there are.
    """
    import difflib

    names = sorted(set(known))
    alike = difflib.get_close_matches(name, names, 3)
    if alike:
        return f"did you mean {' or '.join(alike)}?"
    shown = ", ".join(names[:_FEW])
    return f"there are {shown}" + (f" and {len(names) - _FEW} more" if len(names) > _FEW else "")
