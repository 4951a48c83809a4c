"""A budget as a page: one self-contained HTML file."""

import json
from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd

from joulemark.analysis.budget import PARTS, Budget, Variant, security_of
from joulemark.analysis.scenario import Scenario
from joulemark.report import page
from joulemark.report.charts import responsive

_COLOURS = ("#9aa5b1", "#59a14f", "#edc948", "#4e79a7", "#e15759", "#f28e2b", "#b07aa1", "#76b7b2")
"""Colours of the parts, the same on every page."""


def chart(variants: list[Variant]) -> dict[str, Any]:
    """Return a chart of the average current's parts, stacked, one bar per variant."""
    names = [v.label for v in variants]
    frame = pd.DataFrame(
        [
            {"variant": v.label, "part": part, "order": i, "ua": v.budget.parts_a[part].value * 1e6}
            for v in variants
            for i, part in enumerate(PARTS)
        ]
    )
    used = [p for p in PARTS if frame.loc[frame["part"] == p, "ua"].gt(0).any()]
    bars = (
        alt.Chart(frame[frame["part"].isin(used)])
        .mark_bar()
        .encode(
            y=alt.Y("variant:N", sort=names, title=None).axis(labelLimit=260),
            x=alt.X("ua:Q", title="average current (µA)"),
            color=alt.Color("part:N", sort=used, title=None).scale(
                domain=used, range=[_COLOURS[PARTS.index(part)] for part in used]
            ),
            order=alt.Order("order:Q"),
            tooltip=[
                "variant:N",
                "part:N",
                alt.Tooltip("ua:Q", title="µA", format=",.4g"),
            ],
        )
    )
    return responsive(bars, height=26 * len(names) + 20)


def write_page(
    scenario: Scenario, base: Budget, others: list[Variant], cautions: list[str], path: Path
) -> None:
    """Write the page, whole or not at all.

    Raises:
        JoulemarkError: it cannot be written.
    """
    variants = [Variant("as the scenario says", base, 0.0), *others]
    html = page.render(
        "budget.html.jinja",
        scenario=scenario,
        base=base,
        security_of=security_of,
        variants=variants,
        data=page.packed(json.dumps({"plots": {"parts": chart(variants)}})),
        warnings=cautions,
    )
    page.write(html, path)
