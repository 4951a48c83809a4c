"""Verdicts on items, and their reasons."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from joulemark.studies.expressions import Value
from joulemark.studies.study import Item
from joulemark.studies.units import shown as in_unit


class Verdict(StrEnum):
    """Outcome of an item."""

    REPRODUCED = "reproduced"
    DIFFERS = "differs"
    CONTRADICTED = "contradicted by the paper itself"
    NOT_BUILT = "not built"
    """We have no value, and what would give one can be had and is not built here."""
    UNTESTABLE = "untestable"
    """We have no value, and what would give one cannot be had."""
    CONSISTENT = "consistent"
    """Nothing of ours was measured for it: arithmetic on documents and on the paper's own
    numbers, or what another item says already. It comes out, and is not counted."""
    INCONSISTENT = "inconsistent"
    """Such arithmetic that does not come out."""
    CIRCULAR = "circular"
    """Ours rests on the item itself: shown, but not counted."""
    NOT_TRANSCRIBED = "not transcribed"
    """The published paper has the number, and nobody has put it into the study's file."""
    BEYOND = "beyond the paper"
    """The paper states no such thing: shown because it explains others, but not counted."""


class Cause(StrEnum):
    """How far the reason for a difference is known."""

    EXPLAINED = "explained"
    """One change makes most of the gap, and brings ours to the paper's."""
    IN_PART = "explained in part"
    """One change makes a part of the gap, or takes other rows away from the paper's."""
    UNKNOWN = "cause unknown"
    UNTRIED = "cause untried"
    """Unknown, and a change could not be tried, as where a download fails."""


@dataclass(frozen=True, kw_only=True)
class Tried:
    """A change that a study tries as a cause, and what it does to one item and to all others."""

    name: str
    what: str
    cites: str
    value: Value | None
    """Our value with it; None where it could not be tried."""
    share: float | None = None
    """Share of the item's gap that it closes, of the logarithm of the ratio."""
    nearer: int = 0
    """Number of rows, of all that it touches, that come nearer to the paper's."""
    further: int = 0
    worse: tuple[str, ...] = ()
    """Rows that it takes further away, to where they do not agree."""


@dataclass(frozen=True)
class Judgement:
    """A verdict, its reason, and for a difference how far its cause is known."""

    verdict: Verdict
    reason: str
    cause: Cause | None = None
    """None where nothing differs, or no cause was looked for."""


UNCOUNTED = (
    Verdict.CONSISTENT,
    Verdict.INCONSISTENT,
    Verdict.CIRCULAR,
    Verdict.NOT_TRANSCRIBED,
    Verdict.BEYOND,
)
COUNTED = tuple(v for v in Verdict if v not in UNCOUNTED)

MOST = 0.5
"""A change that makes less of a gap than this does not explain it."""
LEAST = 0.1
"""A change that makes less of a gap than this explains nothing."""
SEEN = 0.01
"""A row has moved if the logarithm of its ratio moved by more than this, or its tolerance lies
between."""


def gap(item: Item, value: Value, paper: float | None) -> float:
    """Return how far ours is from the paper's: the logarithm of their ratio, without its sign.

    Of a series it is the largest; of a bound that holds it is 0.
    """
    return max(_distance(item, float(v), paper) for v in np.atleast_1d(value))


def _distance(item: Item, value: float, paper: float | None) -> float:
    if paper is not None:
        return _logarithm(float(item.rest(value)), float(item.rest(paper)))
    bounds = [item.more_than] if item.more_than is not None and value <= item.more_than else []
    if item.less_than is not None and value >= item.less_than:
        bounds.append(item.less_than)
    return max((_logarithm(value, bound) for bound in bounds), default=0.0)


def _logarithm(value: float, of: float) -> float:
    if value == of:
        return 0.0
    return abs(float(np.log(value / of))) if of and value / of > 0 else float("inf")


def share(before: float, after: float) -> float:
    """Return the share of a gap that a change closes; below 0 where it widens it.

    What goes beyond the paper's number by as much as it was short of it closes nothing.
    """
    if not np.isfinite(before):
        return 1.0 if np.isfinite(after) else 0.0
    return 1 - after / before if np.isfinite(after) else float("-inf")


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
        tried: what each change that touches the item does; None where none was tried.
    """
    if item.circular is not None:
        return Judgement(Verdict.CIRCULAR, item.circular)
    if contradiction is not None:
        if item.arithmetic is not None:
            return Judgement(Verdict.INCONSISTENT, f"{item.arithmetic}: {contradiction}")
        return Judgement(Verdict.CONTRADICTED, contradiction)
    if ours is None or (item.value is None and not item.is_claim):
        return _one_side_alone(item, ours, missing)
    if item.arithmetic is not None:
        return _arithmetic(item, item.arithmetic, ours)
    agrees = Judgement(Verdict.REPRODUCED, _within(item))
    return agrees if fulfils(item, ours) else _differs(item, ours, tried)


def _arithmetic(item: Item, why: str, ours: Value) -> Judgement:
    """Say whether arithmetic comes out, for which nothing of ours was measured."""
    if fulfils(item, ours):
        return Judgement(Verdict.CONSISTENT, why)
    return Judgement(Verdict.INCONSISTENT, f"{why}: {_ratio(item, ours)}")


def _one_side_alone(item: Item, ours: Value | None, missing: Sequence[str]) -> Judgement:
    """Judge an item for which ours or the paper has no number to compare with."""
    if item.untranscribed is not None:
        return Judgement(Verdict.NOT_TRANSCRIBED, item.untranscribed)
    if ours is None and item.unbuilt is not None:
        return Judgement(Verdict.NOT_BUILT, item.unbuilt)
    if ours is None:
        return Judgement(Verdict.UNTESTABLE, f"needs {item.needs or '; '.join(missing)}")
    if item.beyond:
        return Judgement(Verdict.BEYOND, "the paper states no such number")
    what = item.needs or "the number, which the text has not"
    return Judgement(Verdict.UNTESTABLE, f"needs {what}")


def explains(item: Item, tried: Tried) -> Cause:
    """Return how far a change explains that an item differs."""
    if tried.value is None:
        return Cause.UNTRIED
    # What takes away more rows than it brings makes this one agree by chance.
    if (tried.share or 0) < LEAST or tried.nearer <= tried.further:
        return Cause.UNKNOWN
    if (tried.share or 0) > MOST and fulfils(item, tried.value) and not tried.worse:
        return Cause.EXPLAINED
    return Cause.IN_PART


_RANK = (Cause.EXPLAINED, Cause.IN_PART, Cause.UNTRIED, Cause.UNKNOWN)


def _differs(item: Item, ours: Value, tried: Sequence[Tried] | None) -> Judgement:
    """Say what is known of a difference: what each change moved, and how far."""
    if tried is None:
        reason = "causes are looked for where the whole study is judged. If none is found, would"
        return Judgement(Verdict.DIFFERS, f"{reason} tell: {item.would_tell}")
    classes = {each.name: explains(item, each) for each in tried}
    cause = min(classes.values(), key=_RANK.index, default=Cause.UNKNOWN)
    known = cause in (Cause.EXPLAINED, Cause.IN_PART)
    shown = [t for t in tried if classes[t.name] is cause or not known]
    shown.sort(key=lambda t: (_RANK.index(classes[t.name]), -(t.share or 0)))
    told = [_told(item, each, ours) for each in shown]
    if known:
        told = [f"{text}; {each.cites}" for text, each in zip(told, shown, strict=True)]
        return Judgement(Verdict.DIFFERS, f"by {'. Or by '.join(told)}", cause)
    reason = f"the cause is unknown{'; tried: ' if told else ''}{'; '.join(told)}"
    return Judgement(Verdict.DIFFERS, f"{reason}. What would tell: {item.would_tell}", cause)


def _told(item: Item, tried: Tried, ours: Value) -> str:
    """Say what a change does to an item and to all the rows that it touches."""
    if tried.value is None:
        return f"could not be tried: {tried.what}"
    moved = f"{tried.what}: {_ratio(item, tried.value)} instead of {_ratio(item, ours)}"
    part = f"{max(tried.share or 0, 0):.0%} of the gap"
    rows = f"{tried.nearer} nearer, {tried.further} further"
    return f"{moved}, {part} (of the rows that it touches {rows})"


def fulfils(item: Item, ours: Value) -> bool:
    """Return whether ours agrees with what the paper says."""
    return all(item.within(float(v), item.value) for v in np.atleast_1d(ours))


def _within(item: Item) -> str:
    if item.is_claim:
        return "it holds"
    is_rounded = item.tolerance.rounded or item.tolerance.rounded_inverse
    rounded = " of what rounds to the paper's" if is_rounded else ""
    return f"within a factor of {item.tolerance.factor:g}{rounded}{_beyond(item)}"


def _beyond(item: Item) -> str:
    both = item.tolerance.both_have
    return f" beyond the {both:g} {item.unit} that both have" if both else ""


def _ratio(item: Item, value: Value) -> str:
    """Return a number relative to the paper's; for a bound, the value compared with it."""
    if item.value:
        times = np.asarray(item.rest(value)) / item.rest(item.value)
        return f"{_series(times)} times the paper's{_beyond(item)}"
    unit = "" if item.unit == "x" else item.unit
    return f"{_series(np.asarray(in_unit(1, item.unit)) * value)} {unit}".strip()


def _series(value: Value) -> str:
    low, high = float(np.min(value)), float(np.max(value))
    return f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}"
