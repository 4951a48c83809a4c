"""The report's plots, as Vega-Lite specifications."""

from collections.abc import Mapping, Sequence, Set
from textwrap import wrap
from typing import Any, Literal

import altair as alt
import pandas as pd
from altair.utils import schemapi

from joulemark.analysis.advice import UNSAFE
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
                "unsafe": r.about.status in UNSAFE,
                "ad": f"{r.subject.ad_bytes} bytes",
                "bytes": r.subject.message_bytes,
                "cycles": r.cycles,
                "time_us": r.time_ps / 1e6,
                "energy_uj": r.energy_net_nj / 1e3,
            }
            for r in records
            if r.cycles is not None and r.time_ps is not None and r.energy_net_nj is not None
            if r.build is None or not r.build.offset_bytes
        ]
    )
    if frame.empty:
        return frame
    point = ["board", "kind", "primitive", "operation", "ad", "bytes"]
    return frame.loc[frame.groupby(point)["energy_uj"].idxmin()].sort_values(point)


def _ticks(most: int) -> list[int]:
    """Return sizes to label on an axis that ends at `most`, with no small ones left out."""
    return [0, *(2**n for n in range(3, 17) if 2**n <= most)]


_MARKED = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Colours that readers with any vision tell apart (Okabe and Ito, Color Universal Design, 2008)."""
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "stroke")
_OTHERS, _GREY = "others", "#9a9fa6"
_METRICS = {
    "time": ("time_us", "time (µs)"),
    "energy": ("energy_uj", "energy net of idle (µJ)"),
}
_NEAR_BYTES = 64


def _marked(frame: pd.DataFrame) -> list[str]:
    """Return the primitives that stand out: those that take least, and are not known to be weak."""
    some = frame[frame["main"] & ~frame["unsafe"] & (frame["ad"] == frame["ad"].min())]
    if some.empty:
        some = frame
    near = some.assign(far=(some["bytes"] - _NEAR_BYTES).abs()).sort_values(["far", "energy_uj"])
    nearest = near.drop_duplicates("primitive").sort_values("energy_uj")
    return list(nearest["primitive"][: len(_MARKED)])


def cost_charts(records: Sequence[PrimitiveRecord], kind: str) -> dict[str, dict[str, Any]]:
    """Plot time and energy against message size for one kind of primitive on one board.

    What has one size is bars.

    Returns:
        Specifications by metric ("time", "energy"); empty if nothing was measured.
    """
    frame = _best_builds([r for r in records if r.subject.kind == kind])
    if frame.empty:
        return {}
    marked = _marked(frame)
    frame["shown"] = frame["primitive"].where(frame["primitive"].isin(marked), _OTHERS)
    main = set(frame.loc[frame["main"], "operation"])
    operations = sorted(frame["operation"].unique(), key=lambda o: (o not in main, o))
    associated = sorted(frame["ad"].unique(), key=lambda text: int(text.split()[0]))
    parameters: list[alt.Parameter] = []
    chosen = alt.expr.isValid(alt.datum.bytes)
    choices = [("operation", "operation ", operations)]
    if len(associated) > 1:
        choices.append(("ad", "associated data ", associated))
    for field, label, options in choices:
        parameter = alt.param(
            name=field, value=options[0], bind=alt.binding_select(options=options, name=label)
        )
        parameters.append(parameter)
        chosen = chosen & (alt.datum[field] == parameter)
    base = alt.Chart(alt.NamedData(name=_COSTS)).transform_filter(chosen)
    one_size = frame.groupby("operation")["bytes"].nunique().max() == 1
    if one_size:
        chart, axis = _bars(base, parameters)
    else:
        first = frame[(frame["operation"] == operations[0]) & (frame["ad"] == associated[0])]
        there = set(first["shown"])
        chart, axis = _lines(base, marked, parameters, frame["bytes"].max(), there)
    # Building a chart is slow, and the two differ only in one axis.
    made = responsive(chart, height=24 * len(frame["primitive"].unique()) + 20 if one_size else 300)
    made["datasets"] = {_COSTS: frame.to_dict("records")}
    return {metric: _along(made, *axis(*_METRICS[metric])) for metric in _METRICS}


def _along(made: dict[str, Any], name: str, channel: Any) -> dict[str, Any]:
    """Return a specification with a channel in all of its layers."""
    encoded = channel.to_dict()

    def put(part: dict[str, Any]) -> dict[str, Any]:
        return part | {"encoding": part["encoding"] | {name: encoded}}

    return made | {"layer": [put(part) for part in made["layer"]]}


_TIPS = [
    alt.Tooltip("primitive:N"),
    alt.Tooltip("implementation:N", title="build"),
    alt.Tooltip("bytes:Q", title="message (bytes)"),
    alt.Tooltip("cycles:Q", format=",.0f"),
    alt.Tooltip("time_us:Q", title="time (µs)", format=",.1f"),
    alt.Tooltip("energy_uj:Q", title="energy (µJ)", format=",.3f"),
]


def _lines(
    base: alt.Chart,
    marked: Sequence[str],
    parameters: Sequence[alt.Parameter],
    most: int,
    there: Set[str],
) -> tuple[alt.LayerChart | alt.FacetChart, Any]:
    domain, colours = [*marked, _OTHERS], [*_MARKED[: len(marked)], _GREY]
    highlight = alt.selection_point(fields=["shown"], bind="legend", name="highlight")
    lit = alt.when(highlight).then(alt.value(1.0)).otherwise(alt.value(0.12))
    base = base.encode(
        x=alt.X("bytes:Q", title="message (bytes)")
        .scale(type="symlog", constant=16, nice=False)
        .axis(values=_ticks(most)),
        y=alt.value(0),
        color=alt.Color("shown:N", title=None).scale(domain=domain, range=colours),
        opacity=lit,
        detail="primitive:N",
        tooltip=_TIPS,
    )
    others = alt.datum.shown == _OTHERS
    shape = alt.Shape("shown:N", title=None).scale(
        domain=domain, range=[*_SHAPES[: len(marked)], _SHAPES[-1]]
    )
    layers = [
        # A layer without data has no extent, and Vega warns.
        *([base.transform_filter(others).mark_line(strokeWidth=0.8)] if _OTHERS in there else []),
        *([base.transform_filter(~others).mark_line(strokeWidth=2)] if there - {_OTHERS} else []),
        base.mark_point(filled=True, size=44)
        .encode(shape=shape)
        .add_params(highlight, *parameters),
    ]

    def axis(field: str, title: str) -> tuple[str, alt.Y]:
        return "y", alt.Y(f"{field}:Q", title=title).scale(type="log", nice=False)

    return alt.layer(*layers), axis


def _bars(
    base: alt.Chart, parameters: Sequence[alt.Parameter]
) -> tuple[alt.LayerChart | alt.FacetChart, Any]:
    domain, colours = ["least", _OTHERS], [_MARKED[0], _GREY]
    base = (
        base.transform_calculate(able="datum.unsafe ? 1e300 : datum.energy_uj")
        .transform_joinaggregate(least="min(able)")
        .transform_calculate(lead=f"datum.able == datum.least ? 'least' : '{_OTHERS}'")
    )
    order = alt.EncodingSortField(field="energy_uj", op="min", order="ascending")
    bars = base.mark_bar(size=14).encode(
        x=alt.value(0),
        y=alt.Y("primitive:N", sort=order, title=None).axis(labelLimit=180),
        color=alt.Color("lead:N", title=None, legend=None).scale(domain=domain, range=colours),
        tooltip=_TIPS,
    )

    def axis(field: str, title: str) -> tuple[str, alt.X]:
        return "x", alt.X(f"{field}:Q", title=title).axis(labelFlush=True, labelOverlap=True)

    return alt.layer(bars.add_params(*parameters)), axis


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
