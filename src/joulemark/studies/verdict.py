"""Verdicts: what is said of an item, and why."""

from collections.abc import Sequence
from enum import StrEnum

import numpy as np

from joulemark.studies.expressions import Value
from joulemark.studies.study import Item


class Verdict(StrEnum):
    """Outcome of an item."""

    REPRODUCED = "reproduced"
    DIFFERS = "differs"
    CONTRADICTED = "contradicted by the paper itself"
    UNTESTABLE = "untestable"
    CIRCULAR = "circular"
    """Ours rests on the item itself: shown, and not counted."""
    BEYOND = "beyond the paper"
    """The paper states no such thing: shown, because it explains others, and not counted."""


UNCOUNTED = (Verdict.CIRCULAR, Verdict.BEYOND)
COUNTED = tuple(v for v in Verdict if v not in UNCOUNTED)


Tried = tuple[str, Value | None, float | None]
"""An experiment: what it changes, ours with it, and the paper's number for it."""


def judge(
    item: Item,
    paper: float | None,
    ours: Value | None,
    *,
    contradiction: str | None,
    missing: Sequence[str],
    tried: Sequence[Tried] | None,
) -> tuple[Verdict, str]:
    """A verdict and its reason.

    Args:
        item: what is judged.
        paper: the paper's number, in SI; of a sentence, what its own figures come to.
        ours: in SI.
        contradiction: what the paper's own figures say against it.
        missing: why there is no `ours`, where there is none.
        tried: experiments that may show a cause; None where none was tried.
    """
    if item.circular is not None:
        return Verdict.CIRCULAR, item.circular
    if contradiction is not None:
        return Verdict.CONTRADICTED, contradiction
    if ours is None:
        return Verdict.UNTESTABLE, f"needs {item.needs or '; '.join(missing)}"
    if item.value is None and not item.is_claim:
        return _numberless(item)
    if _fulfils(item, ours, item.value):
        return Verdict.REPRODUCED, _within(item)
    return Verdict.DIFFERS, _cause(item, tried)


def _numberless(item: Item) -> tuple[Verdict, str]:
    """Why there is nothing to compare ours with."""
    if item.beyond:
        return Verdict.BEYOND, "the paper states no such number"
    return Verdict.UNTESTABLE, f"needs {item.needs or 'the number, which the text has not'}"


def _cause(item: Item, tried: Sequence[Tried] | None) -> str:
    """Why ours differs, as far as an experiment shows it."""
    if tried is None:
        return "the short form looks for no cause"
    seen = [(what, value, theirs) for what, value, theirs in tried if value is not None]
    shown = [
        f"with {what}:{_ratio(value, theirs)}"
        for what, value, theirs in seen
        if _fulfils(item, value, theirs)
    ]
    if shown:
        return f"what makes the difference, by experiment: {'; or '.join(shown)}"
    others = [f"with {what}:{_ratio(value, theirs)}" for what, value, theirs in seen]
    return f"the cause is not found{'; tried: ' if others else ''}{'; '.join(others)}"


def _fulfils(item: Item, ours: Value, paper: float | None) -> bool:
    return all(item.within(float(v), paper) for v in np.atleast_1d(ours))


def _within(item: Item) -> str:
    if item.is_claim:
        return "it holds"
    return f"within a factor of {item.tolerance.factor:g}"


def _ratio(value: Value, paper: float | None) -> str:
    if not paper:
        return f" {_series(value)}" if paper is None else ""
    return f" {_series(np.asarray(value) / paper)} times the paper's"


def _series(value: Value) -> str:
    low, high = float(np.min(value)), float(np.max(value))
    return f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}"
