"""A study as a page: each item's numbers beside ours, its verdict and its reason."""

import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from joulemark.analysis.price import DEMANDS
from joulemark.catalogue import boards
from joulemark.report import page
from joulemark.report.charts import responsive
from joulemark.studies import output
from joulemark.studies.advised import Advised
from joulemark.studies.conduct import BEST, Conducted, Result
from joulemark.studies.study import Plot, Section
from joulemark.studies.units import dimension, shown

_COLOURS = {"paper": "#b3261e", "ours": "#4c78a8", "best today": "#0b6e4f"}


def _points(results: Sequence[Result], unit: str) -> dict[str, Any]:
    """The paper's numbers, ours and the best, a line an item."""
    rows = []
    for result in results:
        values = {
            "paper": result.paper,
            "ours": result.ours.high,
            "best today": result.best.high,
        }
        rows += [
            {"item": result.item.what, "whose": whose, "value": shown(value, unit)}
            for whose, value in values.items()
            if value is not None and value > 0
        ]
    names = [result.item.what for result in results]
    chart = (
        alt.Chart(pd.DataFrame(rows))
        .mark_point(filled=True, size=70)
        .encode(
            y=alt.Y("item:N", title=None, sort=names).axis(labelLimit=170, grid=True),
            x=alt.X("value:Q", title=unit).scale(type="log", nice=False, padding=12),
            color=alt.Color("whose:N", title=None).scale(
                domain=list(_COLOURS), range=list(_COLOURS.values())
            ),
            shape=alt.Shape("whose:N", title=None).scale(
                domain=list(_COLOURS), range=["diamond", "circle", "triangle-right"]
            ),
            tooltip=["item:N", "whose:N", alt.Tooltip("value:Q", format=",.4g")],
        )
    )
    return responsive(chart, height=22 * len(names) + 30)


def _lines(conducted: Conducted, plot: Plot) -> dict[str, Any] | None:
    """Quantities against the message's size; dashed, today's best."""
    rows = []
    for name in plot.quantities:
        sizes = conducted.study.quantities[name].get("size")
        for whose, variant in (("ours", ""), ("best today", BEST)):
            found = conducted.series(name, variant)
            if found.value is None or not isinstance(sizes, list):
                continue
            rows += [
                {"what": name.replace("_", " "), "whose": whose, "bytes": size, "value": value}
                for size, value in zip(
                    sizes, shown(1, plot.unit) * np.atleast_1d(found.value), strict=True
                )
            ]
    if not rows:
        return None
    chart = (
        alt.Chart(pd.DataFrame(rows))
        .mark_line(point=True)
        .encode(
            x=alt.X("bytes:Q", title="message (bytes)"),
            y=alt.Y("value:Q", title=plot.unit).scale(type="log", nice=False),
            color=alt.Color("what:N", title=None),
            strokeDash=alt.StrokeDash("whose:N", title=None).scale(
                domain=["ours", "best today"], range=[[1, 0], [5, 3]]
            ),
            tooltip=["what:N", "whose:N", "bytes:Q", alt.Tooltip("value:Q", format=",.4g")],
        )
    )
    return responsive(chart, height=280)


def _plots(conducted: Conducted, section: Section) -> dict[str, tuple[str, dict[str, Any]]]:
    """A section's plots by name: title and specification."""
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    by_unit: dict[str, list[Result]] = defaultdict(list)
    for result in conducted.results:
        item = result.item
        if item.section is section and item.value is not None and dimension(item.unit):
            by_unit[item.unit].append(result)
    for unit, results in by_unit.items():
        if any(r.ours.value is not None for r in results):
            title = f"{section.title.split(':')[0]}, in {unit}"
            found[f"{section.name}-{len(found)}"] = (title, _points(results, unit))
    for plot in section.plot:
        lines = _lines(conducted, plot)
        if lines is not None:
            found[f"{section.name}-{len(found)}"] = (plot.title, lines)
    return found


def write_page(conducted: Conducted, advice: Sequence[Advised], path: Path) -> None:
    """Write the page.

    Args:
        conducted: the study.
        advice: what is advised today, beside the paper's.
        path: the HTML file; it appears whole or not at all.

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
        sections=sections,
        advice=[(found, boards.load_board(found.advice.board).title, DEMANDS) for found in advice],
        counts=output.counts(conducted),
        text=output,
        data=page.packed(json.dumps({"plots": specifications})),
    )
    page.write(html, path)
