"""The report's plots, as Vega-Lite specifications."""

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any, Literal

import altair as alt
import pandas as pd
from altair.utils import schemapi

from joulemark.records.record import PrimitiveRecord
from joulemark.report.comparison import Comparison

_LETTERS = 26
_COSTS = "costs"
"""Name of the data in a plot of costs."""

# A page holds everything that was measured; Altair's limit on rows is for notebooks.
alt.data_transformers.disable_max_rows()


def _best_builds(records: Sequence[PrimitiveRecord]) -> pd.DataFrame:
    """Return the build with the least energy for each primitive, operation and size."""
    frame = pd.DataFrame(
        [
            {
                "board": r.conditions.board,
                "kind": r.subject.kind,
                "primitive": r.subject.primitive,
                "implementation": f"{r.subject.implementation}, {r.build}",
                "operation": r.subject.operation,
                "main": r.about.main,
                "ad": f"{r.subject.ad_bytes} bytes",
                "bytes": r.subject.message_bytes,
                "cycles": r.cycles,
                "time_us": r.time_ps / 1e6,
                "energy_uj": r.energy_net_nj / 1e3,
            }
            for r in records
            if r.cycles is not None and r.time_ps is not None and r.energy_net_nj is not None
        ]
    )
    if frame.empty:
        return frame
    point = ["board", "kind", "primitive", "operation", "ad", "bytes"]
    return frame.loc[frame.groupby(point)["energy_uj"].idxmin()].sort_values(point)


def _ticks(most: int) -> list[int]:
    """Return sizes to label on an axis that ends at `most`, with no small ones left out."""
    return [0, *(2**n for n in range(3, 17) if 2**n <= most)]


def cost_charts(records: Sequence[PrimitiveRecord], kind: str) -> dict[str, dict[str, Any]]:
    """Plot time and energy against message size for one kind of primitive on one board.

    Returns:
        Specifications by metric ("time", "energy"); empty if nothing was measured.
    """
    frame = _best_builds([r for r in records if r.subject.kind == kind])
    if frame.empty:
        return {}
    main = set(frame.loc[frame["main"], "operation"])
    operations = sorted(frame["operation"].unique(), key=lambda o: (o not in main, o))
    associated = sorted(frame["ad"].unique(), key=lambda text: int(text.split()[0]))
    parameters: list[alt.Parameter] = []
    shown = alt.expr.isValid(alt.datum.bytes)
    choices = [("operation", "operation ", operations)]
    if len(associated) > 1:
        choices.append(("ad", "associated data ", associated))
    for field, label, options in choices:
        parameter = alt.param(
            name=field, value=options[0], bind=alt.binding_select(options=options, name=label)
        )
        parameters.append(parameter)
        shown = shown & (alt.datum[field] == parameter)
    names = sorted(frame["primitive"].unique())
    highlight = alt.selection_point(fields=["primitive"], bind="legend", name="highlight")
    metrics = {
        "time": ("time_us", "time (µs)"),
        "energy": ("energy_uj", "energy net of idle (µJ)"),
    }
    base = (
        alt.Chart(alt.NamedData(name=_COSTS))
        .transform_filter(shown)
        .encode(
            x=alt.X("bytes:Q", title="message (bytes)")
            .scale(type="symlog", constant=16, nice=False)
            .axis(values=_ticks(frame["bytes"].max())),
            color=alt.Color("primitive:N", sort=names, title=None).scale(
                domain=names, scheme="tableau10" if len(names) <= 10 else "tableau20"
            ),
            opacity=alt.when(highlight).then(alt.value(1.0)).otherwise(alt.value(0.12)),
            tooltip=[
                alt.Tooltip("primitive:N"),
                alt.Tooltip("implementation:N", title="build"),
                alt.Tooltip("bytes:Q", title="message (bytes)"),
                alt.Tooltip("cycles:Q", format=",.0f"),
                alt.Tooltip("time_us:Q", title="time (µs)", format=",.1f"),
                alt.Tooltip("energy_uj:Q", title="energy (µJ)", format=",.3f"),
            ],
        )
    )
    y = {
        metric: alt.Y(f"{field}:Q", title=title).scale(type="log", nice=False)
        for metric, (field, title) in metrics.items()
    }
    chart = alt.layer(
        base.mark_line(interpolate="linear", strokeWidth=1.5).encode(y=y["time"]),
        base.mark_point(filled=True, size=28)
        .encode(y=y["time"])
        .add_params(highlight, *parameters),
    )
    # Building a chart is slow, and the two differ only in one axis.
    made = responsive(chart, height=300)
    made["datasets"] = {_COSTS: frame.to_dict("records")}
    return {
        metric: made
        | {
            "layer": [
                part | {"encoding": part["encoding"] | {"y": axis.to_dict()}}
                for part in made["layer"]
            ]
        }
        for metric, axis in y.items()
    }


def memory_chart(records: Sequence[PrimitiveRecord]) -> dict[str, Any]:
    """Plot flash, RAM and stack of each primitive's build with the smallest flash on one board."""
    frame = pd.DataFrame(
        [
            {
                "kind": r.subject.kind,
                "primitive": r.subject.primitive,
                "build": f"{r.subject.implementation}, {r.build}",
                "flash": r.flash_bytes,
                "RAM": r.ram_bytes,
                "stack": r.stack_bytes,
            }
            for r in records
            if r.status == "ok" and r.flash_bytes is not None and not r.about.baseline
        ]
    )
    if frame.empty:
        return {}
    most = frame.groupby(["kind", "primitive", "build"], as_index=False).max()
    smallest = most.loc[most.groupby(["kind", "primitive"])["flash"].idxmin()]
    table = smallest.melt(
        ["kind", "primitive", "build"], ["flash", "RAM", "stack"], "memory", "bytes"
    )
    names = list(smallest.sort_values("flash")["primitive"])
    bars = (
        alt.Chart(table)
        .mark_bar()
        .encode(
            y=alt.Y("primitive:N", sort=names, title=None).axis(labelLimit=220),
            yOffset=alt.YOffset("memory:N", sort=["flash", "RAM", "stack"]),
            x=alt.X("bytes:Q", title="bytes"),
            color=alt.Color("memory:N", title=None, sort=["flash", "RAM", "stack"]).scale(
                domain=["flash", "RAM", "stack"], range=["#4c78a8", "#f58518", "#54a24b"]
            ),
            tooltip=["primitive:N", "build:N", "memory:N", alt.Tooltip("bytes:Q", format=",")],
        )
    )
    return responsive(bars, height=26 * len(names) + 20)


def comparison_chart(comparison: Comparison, kinds: Mapping[str, str]) -> dict[str, Any]:
    """Plot each board's time or energy for each primitive of a kind that the reader chooses."""
    metrics = {
        "energy net of idle (µJ)": "energy_net",
        "time (µs)": "time",
        "cycles": "cycles",
    }
    per = {"energy_net": 1e3, "time": 1e6, "cycles": 1}
    frame = pd.DataFrame(
        [
            {
                "kind": kinds[row.kind],
                "primitive": f"{row.primitive} {row.operation}, {row.message_bytes} B",
                "board": board,
                "build": f"{r.subject.implementation}, {r.build}",
                "metric": title,
                "value": (r.value(metric) or 0) / per[metric],
            }
            for row in comparison.rows
            for board, r in row.cells.items()
            for title, metric in metrics.items()
        ]
    )
    places = comparison.places
    present = [title for title in kinds.values() if title in set(frame["kind"])]
    parameters = {
        name: alt.param(
            name=name, value=options[0], bind=alt.binding_select(options=options, name=f"{name} ")
        )
        for name, options in (("kind", present), ("metric", list(metrics)))
    }
    shown = (alt.datum.kind == parameters["kind"]) & (alt.datum.metric == parameters["metric"])
    points = (
        alt.Chart(frame)
        .transform_filter(shown)
        .mark_point(filled=True, size=90)
        .encode(
            y=alt.Y("primitive:N", title=None).axis(labelLimit=260, grid=True),
            x=alt.X("value:Q", title=None).scale(type="log", nice=False),
            color=alt.Color("board:N", title=None).scale(domain=places).legend(columns=1),
            shape=alt.Shape("board:N", title=None).scale(domain=places),
            tooltip=[
                "board:N",
                "primitive:N",
                "build:N",
                "metric:N",
                alt.Tooltip("value:Q", format=",.4g"),
            ],
        )
        .add_params(*parameters.values())
    )
    return responsive(points, height=420)


def choice_chart() -> dict[str, Any]:
    """Plot flash against energy of what meets a reader's demands; the page supplies the values."""
    options = alt.Chart(alt.NamedData(name="options"))
    x = alt.X("flash_bytes:Q", title="flash (bytes)").scale(type="log", nice=False, padding=12)
    y = alt.Y("energy_net_uj:Q", title="energy net of idle (µJ)")
    y = y.scale(type="log", nice=False, padding=12)
    points = options.mark_point(filled=True).encode(
        x=x,
        y=y,
        color=alt.Color("primitive:N", title=None),
        opacity=alt.condition("datum.front", alt.value(1.0), alt.value(0.35)),
        size=alt.condition("datum.front", alt.value(140), alt.value(40)),
        shape=alt.condition("datum.front", alt.value("diamond"), alt.value("circle")),
        tooltip=[
            alt.Tooltip("primitive:N"),
            alt.Tooltip("build:N"),
            alt.Tooltip("time_us:Q", title="time (µs)", format=",.4~g"),
            alt.Tooltip("energy_net_uj:Q", title="energy (µJ)", format=",.4~g"),
            alt.Tooltip("flash_bytes:Q", title="flash (B)", format=","),
            alt.Tooltip("ram_bytes:Q", title="RAM (B)", format=","),
            alt.Tooltip("stack_bytes:Q", title="stack (B)", format=","),
        ],
    )
    return responsive(points, height=360)


def in_lines(text: str) -> str:
    """Break a name into lines that leave a phone half of its width for the plot."""
    return "\n".join(wrap(text, _LETTERS))


_IN_LINES = "split(datum.label, '\\n')"


def names_axis() -> alt.Axis:
    """Return an axis for names broken by `in_lines`."""
    return alt.Axis(labelExpr=_IN_LINES, labelLimit=0, grid=True)


def names_legend(symbol: Literal["circle", "stroke"] = "circle") -> alt.Legend:
    """Return a legend for names broken by `in_lines`; stroke symbols show dashes."""
    return alt.Legend(labelExpr=_IN_LINES, rowPadding=6, symbolType=symbol)


def dashed_lines(base: alt.Chart, dash: alt.StrokeDash) -> alt.LayerChart | alt.FacetChart:
    """Draw lines with points. Points have no dash, or the legend would show none."""
    lines = base.mark_line().encode(strokeDash=dash)
    return alt.layer(lines, base.mark_point(filled=True, size=30).encode(detail=dash.shorthand))


def responsive(chart: alt.Chart | alt.LayerChart | alt.FacetChart, height: int) -> dict[str, Any]:
    """Make a chart as wide as the page allows, its legend below so that phones keep the plot.

    `plots.js` gives the legend one column on a phone. A chart made while Altair does not validate
    (`schemapi.debug_mode`) is not validated here either.
    """
    sized = chart.properties(width="container", height=height).configure_legend(
        orient="bottom", columns=2, symbolType="circle", labelLimit=200
    )
    spec: dict[str, Any] = sized.configure_view(stroke=None).to_dict(validate=schemapi.DEBUG_MODE)
    return spec
