"""Results of a study as text and as plain values."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from joulemark.studies.advised import Advised
from joulemark.studies.conduct import Conducted, Ours, Result
from joulemark.studies.study import Section, Study, select
from joulemark.studies.units import shown
from joulemark.studies.verdict import COUNTED, UNCOUNTED, Cause, Verdict


def number(value: float) -> str:
    """Four significant digits."""
    return f"{value:,.0f}" if abs(value) >= 9999.5 else f"{value:.4g}"


def ours_text(ours: Ours, unit: str, with_unit: bool = True) -> str:
    """Our value in the item's unit; of a series, its range."""
    if ours.low is None or ours.high is None:
        return "-"
    low, high = number(shown(ours.low, unit)), number(shown(ours.high, unit))
    text = low if low == high else f"{low} to {high}"
    return f"{text} {unit}".strip() if with_unit else text


def paper_number(result: Result) -> str:
    """The paper's number as it printed it, without its unit."""
    item = result.item
    return "-" if item.value is None else f"{shown(item.value, item.unit):.10g}"


def paper_text(result: Result) -> str:
    """The paper's side: its number with its uncertainty, or the bound that a sentence sets."""
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
    """Ours by the paper's."""
    return "" if result.ratio is None else f"{result.ratio:.3g}"


def sentence(text: str) -> str:
    """A reason or a note, beginning and ending as a sentence does."""
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


Grid = list[tuple[str, list[Result | None]]]
"""A published table: each row's name, and the result of each column."""


def grid(section: Section, results: Sequence[Result]) -> Grid:
    """A section's table, its columns as the paper has them; empty where it has none."""
    found = {result.item.id: result for result in results}
    return [
        (row.what, [found.get(f"{row.id}_{column.name}") for column in section.column])
        for row in section.row
    ]


def counts(conducted: Conducted) -> str:
    """How many items there are, and how many of each verdict.

    What differs without an experiment that shows why is counted by itself.
    """
    found = Counter(result.verdict for result in conducted.results)
    parts = [f"{found[verdict]} {verdict}" for verdict in COUNTED if found[verdict]]
    parts = [p + _causes(conducted) if p.endswith(Verdict.DIFFERS) else p for p in parts]
    text = f"{len(conducted.results) - found[Verdict.BEYOND]} items: {', '.join(parts)}"
    for verdict in UNCOUNTED:
        if found[verdict]:
            text += f"; {found[verdict]} {verdict}, not counted"
    return text


def _causes(conducted: Conducted) -> str:
    if unknown := unknown_causes(conducted):
        return f" ({unknown} of unknown cause)"
    looked_for = any(result.cause is Cause.SHOWN for result in conducted.results)
    return " (each with the experiment that shows why)" if looked_for else ""


def unknown_causes(conducted: Conducted) -> int:
    """How many differ without an experiment that shows why."""
    return sum(r.cause not in (None, Cause.SHOWN) for r in conducted.results)


def held(study: Study) -> str:
    """How many verdicts CI gives anew with each change, by the study's short form."""
    judged = {i.id for i in study.items if not (i.beyond or i.circular)}
    # Without ours, and nothing that the paper says against itself, there is nothing to judge.
    judged -= {i.id for i in study.items if i.ours is None and not (i.check or i.theirs)}
    runs = judged & {i.id for i in select(study, [], short=True)}
    return f"{len(runs)} of {len(judged)} that can be judged are judged anew in CI"


def _plain(ours: Ours, unit: str) -> Any:
    if ours.value is None:
        return None
    values = [shown(float(v), unit) for v in np.atleast_1d(ours.value)]
    return values[0] if len(values) == 1 else values


def record(result: Result) -> dict[str, Any]:
    """An item as JSON takes it; values in the item's unit."""
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
        "tolerance": item.tolerance.model_dump(),
        "tried": {name: _plain(ours, item.unit) for name, ours in result.tried.items()},
        "conditions": {
            **item.conditions.model_dump(),
            "ours": [*result.ours.how, *result.ours.sources],
            "best": list(result.best.how),
        },
        "note": item.note,
    }


def _advised(found: Advised) -> dict[str, Any]:
    """Advice as JSON takes it."""
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
    """A study's results as JSON takes them."""
    file = conducted.study.file
    found = Counter(str(result.verdict) for result in conducted.results)
    return {
        "study": conducted.study.name,
        "title": file.title,
        "items": sum(not result.item.beyond for result in conducted.results),
        "verdicts": dict(sorted(found.items())),
        "causes_unknown": unknown_causes(conducted),
        "results": [record(result) for result in conducted.results],
        "advice": [_advised(found) for found in advice],
    }
