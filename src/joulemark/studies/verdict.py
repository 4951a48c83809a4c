"""Verdicts on items, and their reasons."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from joulemark.studies.expressions import Value
from joulemark.studies.study import Item
from joulemark.studies.units import shown


class Verdict(StrEnum):
    """Outcome of an item."""

    REPRODUCED = "reproduced"
    DIFFERS = "differs"
    CONTRADICTED = "contradicted by the paper itself"
    UNTESTABLE = "untestable"
    CIRCULAR = "circular"
    """Ours rests on the item itself: shown, but not counted."""
    BEYOND = "beyond the paper"
    """The paper states no such thing: shown because it explains others, but not counted."""


class Cause(StrEnum):
    """Whether the reason for a difference is known."""

    SHOWN = "shown"
    """An experiment brings ours to where the paper is."""
    UNKNOWN = "unknown"
    """No experiment that was tried does."""
    UNTRIED = "untried"
    """No experiment that was possible here does; others were not, as where a download fails."""


UNKNOWN = ", cause unknown"
"""Follows the verdict on a difference, so that nobody takes it for explained."""


@dataclass(frozen=True)
class Judgement:
    """A verdict, its reason, and for a difference whether an experiment shows the cause."""

    verdict: Verdict
    reason: str
    cause: Cause | None = None
    """None where nothing differs, or no cause was looked for."""


UNCOUNTED = (Verdict.CIRCULAR, Verdict.BEYOND)
COUNTED = tuple(v for v in Verdict if v not in UNCOUNTED)


Tried = tuple[str, Value | None, float | None]
"""An experiment: what it changes, our value with it, and the paper's number for it."""


def judge(
    item: Item,
    paper: float | None,
    ours: Value | None,
    *,
    contradiction: str | None,
    missing: Sequence[str],
    tried: Sequence[Tried] | None,
) -> Judgement:
    """Return a verdict and its reason.

    Args:
        item: the item to judge.
        paper: the paper's number, in SI units; for a sentence, what its own figures give.
        ours: in SI units.
        contradiction: what the paper's own figures say against it.
        missing: why there is no `ours`, where there is none.
        tried: experiments that may show a cause; None where none was tried.
    """
    if item.circular is not None:
        return Judgement(Verdict.CIRCULAR, item.circular)
    if contradiction is not None:
        return Judgement(Verdict.CONTRADICTED, contradiction)
    if ours is None:
        return Judgement(Verdict.UNTESTABLE, f"needs {item.needs or '; '.join(missing)}")
    if item.value is None and not item.is_claim:
        return _numberless(item)
    if _fulfils(item, ours, item.value):
        return Judgement(Verdict.REPRODUCED, _within(item))
    return _differs(item, ours, tried)


def _numberless(item: Item) -> Judgement:
    """Judge an item for which the paper has no number to compare with."""
    if item.beyond:
        return Judgement(Verdict.BEYOND, "the paper states no such number")
    what = item.needs or "the number, which the text has not"
    return Judgement(Verdict.UNTESTABLE, f"needs {what}")


def _differs(item: Item, ours: Value, tried: Sequence[Tried] | None) -> Judgement:
    """Explain a difference, as far as an experiment shows the cause: what it moved, and how far."""
    if tried is None:
        return Judgement(Verdict.DIFFERS, "the short form looks for no cause")
    seen = [(what, value, theirs) for what, value, theirs in tried if value is not None]
    fitting = [each for each in seen if _fulfils(item, each[1], each[2])]
    moved = [
        f"with {what}: {_ratio(item, value, theirs)}" for what, value, theirs in fitting or seen
    ]
    told = f"{'; or '.join(moved)}, instead of {_ratio(item, ours, item.value)}"
    if fitting:
        reason = f"what makes the difference, by experiment: {told}"
        return Judgement(Verdict.DIFFERS, reason, Cause.SHOWN)
    reason = f"the cause is unknown{f'; tried: {told}' if seen else ''}"
    untried = [f"with {what}" for what, value, _ in tried if value is None]
    if not untried:
        return Judgement(Verdict.DIFFERS, reason, Cause.UNKNOWN)
    reason += f"; could not be tried: {'; '.join(untried)}"
    return Judgement(Verdict.DIFFERS, reason, Cause.UNTRIED)


def _fulfils(item: Item, ours: Value, paper: float | None) -> bool:
    return all(item.within(float(v), paper) for v in np.atleast_1d(ours))


def _within(item: Item) -> str:
    if item.is_claim:
        return "it holds"
    return f"within a factor of {item.tolerance.factor:g}"


def _ratio(item: Item, value: Value, paper: float | None) -> str:
    """Return a number relative to the paper's; for a bound, the value compared with it."""
    if paper:
        return f"{_series(np.asarray(value) / paper)} times the paper's"
    unit = "" if item.unit == "x" else item.unit
    return f"{_series(np.asarray(shown(1, item.unit)) * value)} {unit}".strip()


def _series(value: Value) -> str:
    low, high = float(np.min(value)), float(np.max(value))
    return f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}"
