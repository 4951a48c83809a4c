"""Results of a study as text and as plain values."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from joulemark.records import bounds
from joulemark.studies import pins
from joulemark.studies.advised import Advised
from joulemark.studies.conduct import Conducted, Ours, Result
from joulemark.studies.study import Change, Section, Study, select
from joulemark.studies.units import shown
from joulemark.studies.verdict import COUNTED, UNCOUNTED, Cause, Tried, Verdict
from joulemark.words import counted


def number(value: float) -> str:
    """Format with four significant digits."""
    return f"{value:,.0f}" if abs(value) >= 9999.5 else f"{value:.4g}"


def ours_text(ours: Ours, unit: str, with_unit: bool = True) -> str:
    """Return our value in the item's unit; for a series, its range."""
    if ours.low is None or ours.high is None:
        return "-"
    low, high = number(shown(ours.low, unit)), number(shown(ours.high, unit))
    text = low if low == high else f"{low} to {high}"
    return f"{text} {unit}".strip() if with_unit else text


def paper_number(result: Result) -> str:
    """Return the paper's number as printed, without its unit."""
    item = result.item
    return "-" if item.value is None else f"{shown(item.value, item.unit):.10g}"


def paper_text(result: Result) -> str:
    """Return the paper's side: its number with its uncertainty, or the bound of a sentence."""
    item = result.item
    if item.value is not None:
        text = f"{shown(item.value, item.unit):.10g}"
        if item.uncertainty is not None:
            text += f" ± {shown(item.uncertainty, item.unit):.3g}"
        return f"{text} {item.unit}".strip()
    bounds = [
        f"{sign} {shown(bound, item.unit):.4g}"
        for sign, bound in ((">", item.more_than), ("<", item.less_than))
        if bound is not None
    ]
    text = ", ".join(bounds) or "-"
    if result.paper is not None:
        text += f" ({number(shown(result.paper, item.unit))})"
    return text


def ratio_text(result: Result) -> str:
    """Return ours divided by the paper's."""
    return "" if result.ratio is None else f"{result.ratio:.3g}"


def sentence(text: str) -> str:
    """Return a reason or a note with a sentence's capital and full stop."""
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


Grid = list[tuple[str, list[Result | None]]]
"""A published table: for each row, its name and the results of its columns."""


def grid(section: Section, results: Sequence[Result]) -> Grid:
    """Return a section's table with the paper's columns; empty if the section has none."""
    found = {result.item.id: result for result in results}
    return [
        (row.what, [found.get(f"{row.id}_{column.name}") for column in section.column])
        for row in section.row
    ]


def counts(conducted: Conducted) -> str:
    """Return the number of items with each verdict, of those that a measurement decides."""
    return heads(result.outcome for result in conducted.results)


def heads(outcomes: Iterable[str]) -> str:
    """Count outcomes, as of results or of pins: what is measured, then what is not counted.

    Arithmetic, and what rests on the item itself, reproduces nothing, whether it agrees or not.
    """
    known = list(outcomes)
    found = Counter(outcome.partition(", ")[0] for outcome in known)
    parts = [f"{found[verdict]} {verdict}" for verdict in COUNTED if found[verdict]]
    causes = Counter(outcome.partition(", ")[2] for outcome in known if ", " in outcome)
    told = ", ".join(f"{causes[cause]} {cause}" for cause in Cause if causes[cause])
    parts = [f"{p} ({told})" if told and p.endswith(Verdict.DIFFERS) else p for p in parts]
    total = sum(found[verdict] for verdict in COUNTED)
    rest = [f"{found[verdict]} {verdict}" for verdict in UNCOUNTED if found[verdict]]
    text = ": ".join([counted(total, "item"), *([", ".join(parts)] if parts else [])])
    return f"{text}; not counted: {', '.join(rest)}" if rest else text


@dataclass(frozen=True)
class Reach:
    """What a change that a study tries does to all rows that it touches."""

    change: Change
    touched: int
    nearer: int
    further: int
    worse: Sequence[str]
    explains: Sequence[Result]
    """Items that it explains, or a part of them."""


_HELD_AGAINST = (Verdict.REPRODUCED, Verdict.DIFFERS)


def reach(conducted: Conducted) -> list[Reach]:
    """Return each cause that was tried, with all rows that it touches."""
    found = []
    for name, change in conducted.changes.items():
        of = conducted.reach[name]
        rows = [r for r in conducted.results if r.item.id in of and r.verdict in _HELD_AGAINST]
        explained = [r for r in rows if name in {tried.name for tried in r.explained_by}]
        held = next(iter(of.values()), Tried(name=name, what="", cites="", value=None))
        touched = len(rows)
        found.append(Reach(change, touched, held.nearer, held.further, held.worse, explained))
    return found


def unknown_causes(conducted: Conducted) -> int:
    """Return the number of differences that no change explains, not even in part."""
    return sum(r.cause in (Cause.UNKNOWN, Cause.UNTRIED) for r in conducted.results)


def head_count(study: Study) -> int:
    """Return the number of items that count: by their pins, or without any by the file."""
    if pinned := pins.read(pins.path(study)):
        return sum(pins.verdict(outcome) in COUNTED for outcome in pinned.values())
    return sum(not (i.beyond or i.circular or i.arithmetic or i.untranscribed) for i in study.items)


def held(study: Study) -> str:
    """Return how many verdicts the study's short form, and so CI, renews with each change.

    Judged is what is counted and has a verdict that is pinned; without pins, what has figures.
    """
    pinned = pins.read(pins.path(study))
    bearing = {*COUNTED} - {Verdict.UNTESTABLE, Verdict.NOT_BUILT}
    judged = {name for name, outcome in pinned.items() if pins.verdict(outcome) in bearing}
    if not pinned:
        counted_items = [i for i in study.items if not (i.beyond or i.circular or i.arithmetic)]
        # Without our value or a contradiction within the paper there is nothing to judge.
        judged = {i.id for i in counted_items if i.ours is not None or i.check or i.theirs}
    runs = judged & {i.id for i in select(study, [], short=True)}
    return f"{len(runs)} of {len(judged)} that are judged are judged anew in CI"


def _plain(ours: Ours, unit: str) -> Any:
    if ours.value is None:
        return None
    values = [shown(float(v), unit) for v in np.atleast_1d(ours.value)]
    return values[0] if len(values) == 1 else values


def _tried(tried: Tried, unit: str) -> dict[str, Any]:
    """Return what a change does to an item, in JSON's types."""
    return {
        "change": tried.name,
        "what": tried.what,
        "cites": tried.cites,
        "ours": _plain(Ours(value=tried.value), unit),
        "share": tried.share if tried.share is None or np.isfinite(tried.share) else None,
        "nearer": tried.nearer,
        "further": tried.further,
        "worse": list(tried.worse),
    }


def record(result: Result) -> dict[str, Any]:
    """Return an item in JSON's types, with values in the item's unit."""
    item = result.item

    def in_unit(value: float | None) -> float | None:
        return None if value is None else shown(value, item.unit)

    return {
        "id": item.id,
        "section": item.section.name,
        "what": item.what,
        "paper": in_unit(result.paper),
        "uncertainty": in_unit(item.uncertainty),
        "more_than": in_unit(item.more_than),
        "less_than": in_unit(item.less_than),
        "ours": _plain(result.ours, item.unit),
        "best": _plain(result.best, item.unit),
        "unit": item.unit,
        "ratio": result.ratio,
        "verdict": str(result.verdict),
        "reason": result.reason,
        "cause": result.cause,
        "tolerance": None if item.value is None else item.tolerance.model_dump(),
        "tried": [_tried(each, item.unit) for each in result.tried],
        "conditions": {
            **item.conditions.model_dump(),
            "ours": [*result.ours.how, *result.ours.sources],
            "best": list(result.best.how),
        },
        "errors": {"ours": list(result.ours.errors), "best": list(result.best.errors)},
        "note": item.note,
    }


def left_out(conducted: Conducted) -> list[str]:
    """Say what was not judged, and what it needs."""
    return [
        f"left out, {counted(count, 'item')}: {told}" for told, count in conducted.left_out.items()
    ]


def errors(conducted: Conducted) -> list[str]:
    """Return how far our values may be off, a line for each board."""
    both = (ours for result in conducted.results for ours in (result.ours, result.best))
    return bounds.lines(error for ours in both for error in ours.errors)


def _advised(found: Advised) -> dict[str, Any]:
    """Return advice in JSON's types."""
    return {
        **found.advice.model_dump(),
        "primitives": found.primitives,
        "today": [
            {
                "service": price.service.title,
                "bytes": price.size_bytes,
                "demand": price.demand.title,
                **price.build._asdict(),
                "energy_j": price.energy_j,
                "time_s": price.time_s,
                "flash_bytes": price.flash_bytes,
            }
            for price in found.prices
        ],
    }


def document(conducted: Conducted, advice: Sequence[Advised] = ()) -> dict[str, Any]:
    """Return a study's results in JSON's types."""
    file = conducted.study.file
    found = Counter(str(result.verdict) for result in conducted.results)
    return {
        "study": conducted.study.name,
        "title": file.title,
        "items": sum(result.verdict in COUNTED for result in conducted.results),
        "verdicts": dict(sorted(found.items())),
        "causes_unknown": unknown_causes(conducted),
        "left_out": dict(conducted.left_out),
        "results": [record(result) for result in conducted.results],
        "advice": [_advised(found) for found in advice],
    }
