"""A study as a page: each item's numbers beside ours, its verdict and its reason."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from joulemark.analysis.price import DEMANDS
from joulemark.measure.estimated import ERROR
from joulemark.report import page
from joulemark.report.charts import dashed_lines, in_lines, names_axis, names_legend, responsive
from joulemark.studies import output
from joulemark.studies.advised import Advised
from joulemark.studies.conduct import BEST, Conducted, Result
from joulemark.studies.study import Plot, Section
from joulemark.studies.units import dimension, shown

_COLOURS = {"paper": "#b3261e", "ours": "#4c78a8", "today": "#0b6e4f"}
_SHAPES = {"paper": "diamond", "ours": "circle", "today": "triangle-right"}
_SIZES = {"paper": 190, "ours": 60, "today": 60}
"""The paper's mark is larger, so that it shows where ours lies on it."""
_AXES = {"size": "message (bytes)", "level": "security level"}


def _points(results: Mapping[str, Result], unit: str) -> dict[str, Any]:
    """Plot the paper's numbers, ours and the best: one line per label."""
    labels = {what: in_lines(what) for what in results}
    rows = []
    for what, result in results.items():
        values = {
            "paper": result.paper,
            "ours": result.ours.high,
            "today": result.best.high,
        }
        rows += [
            {"label": labels[what], "item": what, "whose": whose, "value": shown(value, unit)}
            for whose, value in values.items()
            if value is not None and value > 0
        ]
    whose = [name for name in _COLOURS if any(row["whose"] == name for row in rows)]
    chart = (
        alt.Chart(pd.DataFrame(rows))
        .mark_point(filled=True)
        .encode(
            y=alt.Y("label:N", title=None, sort=list(labels.values())).axis(names_axis()),
            x=alt.X("value:Q", title=unit)
            .scale(type="log", nice=False, padding=12)
            .axis(labelOverlap=True, labelFlush=True),
            color=alt.Color("whose:N", title=None).scale(
                domain=whose, range=[_COLOURS[name] for name in whose]
            ),
            shape=alt.Shape("whose:N", title=None).scale(
                domain=whose, range=[_SHAPES[name] for name in whose]
            ),
            # Ordinal: where the paper stands alone, another scale has no size for it.
            size=alt.Size("whose:N", title=None).scale(
                type="ordinal", domain=whose, range=[_SIZES[name] for name in whose]
            ),
            tooltip=["item:N", "whose:N", alt.Tooltip("value:Q", format=",.4g")],
        )
    )
    lines = max(label.count("\n") for label in labels.values()) + 1
    return responsive(chart, height=(10 + 12 * lines) * len(labels) + 30)


def _names(quantities: Sequence[str]) -> dict[str, str]:
    """Return legend names, without the words that all of them begin or end with."""
    words = [name.split("_") for name in quantities]
    for at in (0, -1):
        while len({w[at] for w in words}) == 1 and min(map(len, words)) > 1:
            for some in words:
                del some[at]
    return {name: in_lines(" ".join(w)) for name, w in zip(quantities, words, strict=True)}


def _lines(conducted: Conducted, plot: Plot) -> dict[str, Any] | None:
    """Plot quantities against the list that each has in its question; today's best is dashed."""
    rows = []
    over, names = "", _names(plot.quantities)
    for name in plot.quantities:
        asked = conducted.study.quantities[name]
        lists = {key: value for key, value in asked.items() if isinstance(value, list)}
        for whose, variant in (("ours", ""), ("today", BEST)):
            found = conducted.series(name, variant)
            same = variant and np.array_equal(found.value, conducted.series(name).value)  # type: ignore[arg-type]
            if found.value is None or len(lists) != 1 or same:
                continue  # With no better way known, today's best is ours.
            ((over, values),) = lists.items()
            rows += [
                {"what": names[name], "whose": whose, over: at, "value": value}
                for at, value in zip(
                    values, shown(1, plot.unit) * np.atleast_1d(found.value), strict=True
                )
            ]
    if not rows:
        return None
    both = [whose for whose in ("ours", "today") if any(r["whose"] == whose for r in rows)]
    frame = pd.DataFrame(rows)
    base = alt.Chart(frame).encode(
        x=alt.X(f"{over}:Q", title=_AXES.get(over, over)).axis(labelOverlap=True, labelFlush=True),
        y=alt.Y("value:Q", title=plot.unit).scale(type="log", nice=False),
        color=alt.Color("what:N", title=None).legend(names_legend()),
        tooltip=["what:N", "whose:N", f"{over}:Q", alt.Tooltip("value:Q", format=",.4g")],
    )
    dash = (
        alt.StrokeDash("whose:N", title=None)
        .scale(domain=both, range=[[1, 0], [5, 3]][: len(both)])
        .legend(names_legend("stroke"))
    )
    return responsive(dashed_lines(base, dash), height=280)


def _drawn(conducted: Conducted, section: Section) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """Yield a section's plots: title, and specification if there is anything to draw."""
    by_id = {result.item.id: result for result in conducted.results}
    name = section.title.split(":")[0]
    in_columns = set()
    for column in section.column:
        cells = {row.what: by_id.get(f"{row.id}_{column.name}") for row in section.row}
        results = {what: r for what, r in cells.items() if r is not None}
        in_columns |= {r.item.id for r in results.values()}
        yield f"{name}: {column.title}, {column.unit}", _compared(results, column.unit)
    by_unit: dict[str, dict[str, Result]] = defaultdict(dict)
    for result in by_id.values():
        item = result.item
        if item.section is section and item.id not in in_columns:
            by_unit[item.unit][item.what] = result
    for unit, results in by_unit.items():
        yield f"{name}, in {unit}", _compared(results, unit)
    for plot in section.plot:
        if plot.quantities:
            yield plot.title, _lines(conducted, plot)
        else:
            chosen = [by_id[i] for i in plot.items if i in by_id]
            # The title has the part that all labels end with.
            same = {r.item.what.rpartition(": ")[2] for r in chosen}
            names = [
                r.item.what.rpartition(": ")[0] if len(same) == 1 else r.item.what for r in chosen
            ]
            points = dict(zip(names, chosen, strict=True))
            yield plot.title, _points(points, plot.unit) if points else None


def _compared(results: Mapping[str, Result], unit: str) -> dict[str, Any] | None:
    """Plot the paper's numbers if at least one has ours beside it, and ours is independent."""
    numbers = {
        what: r
        for what, r in results.items()
        if r.item.value is not None and r.item.arithmetic is None and r.item.circular is None
    }
    there = any(r.ours.value is not None for r in numbers.values())
    return _points(numbers, unit) if there and dimension(unit) else None


def _plots(conducted: Conducted, section: Section) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return a section's plots by name: title and specification."""
    there = [(title, spec) for title, spec in _drawn(conducted, section) if spec is not None]
    return {f"{section.name}-{number}": plot for number, plot in enumerate(there)}


def write_page(conducted: Conducted, advice: Sequence[Advised], path: Path) -> None:
    """Write the page.

    Args:
        conducted: the study.
        advice: today's advice, beside the paper's.
        path: the HTML file, written whole or not at all.

    Raises:
        JoulemarkError: it cannot be written.
    """
    sections = []
    specifications: dict[str, Any] = {}
    for section in conducted.study.file.section:
        results = [r for r in conducted.results if r.item.section is section]
        if not results:
            continue
        plots = _plots(conducted, section)
        specifications |= {name: specification for name, (_, specification) in plots.items()}
        titles = {name: title for name, (title, _) in plots.items()}
        sections.append((section, results, titles))
    html = page.render(
        "study.html.jinja",
        study=conducted.study,
        conducted=conducted,
        sections=sections,
        advice=advice,
        demands=DEMANDS,
        error=ERROR,
        counts=output.counts(conducted),
        causes=output.reach(conducted),
        text=output,
        data=page.packed(json.dumps({"plots": specifications})),
    )
    page.write(html, path)
