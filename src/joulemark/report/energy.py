"""Recorded currents as a page: each run with its window, and the distribution of the runs."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from joulemark.analysis.energy_of_samples import Estimate, Run, find_window
from joulemark.meters.samples import Counted, Samples
from joulemark.report import page
from joulemark.report.charts import responsive

_POINTS = 800
"""Points of a plotted trace, as many as a screen shows: least, mean and most of their samples."""


@dataclass(frozen=True)
class Recorded:
    """One run: the recording and its evaluation."""

    got: Samples | Counted
    run: Run


def trace_chart(samples: Samples, run: Run) -> dict[str, Any]:
    """Plot current over time with the idle level; the window is shaded."""
    window = find_window(samples)
    edges = np.linspace(0, len(samples.current_a), min(_POINTS, len(samples.current_a)) + 1)
    starts = edges[:-1].astype(int)
    counts = np.diff(edges.astype(int))
    ma = samples.current_a * 1e3
    frame = pd.DataFrame(
        {
            "s": samples.start_s[starts],
            "least": np.minimum.reduceat(ma, starts),
            "mean": np.add.reduceat(ma, starts) / counts,
            "most": np.maximum.reduceat(ma, starts),
        }
    )
    spans = pd.DataFrame([{"from": window.start_s, "to": window.end_s}])
    base = alt.Chart(frame).encode(x=alt.X("s:Q", title="time (s)").scale(nice=False))
    shaded = alt.Chart(spans).mark_rect(color="#0b6e4f", opacity=0.12).encode(x="from:Q", x2="to:Q")
    band = base.mark_area(color="#4c78a8", opacity=0.35).encode(
        y=alt.Y("least:Q", title="current (mA)"), y2="most:Q"
    )
    line = base.mark_line(color="#4c78a8", strokeWidth=1).encode(y="mean:Q")
    idle = (
        alt.Chart(pd.DataFrame([{"idle": run.idle_a * 1e3}]))
        .mark_rule(color="#b3261e", strokeDash=[4, 3])
        .encode(y="idle:Q")
    )
    return responsive(alt.layer(shaded, band, line, idle), height=180)


def runs_chart(runs: Sequence[Run], gross: Estimate, net: Estimate | None) -> dict[str, Any]:
    """Plot each run's energy, with the mean and its 95 % interval; outliers are hollow."""
    kinds = [("gross", gross, [r.gross_j for r in runs])]
    if net is not None:
        kinds.append(("net", net, [r.net_j for r in runs]))
    points = pd.DataFrame(
        [
            {"kind": kind, "run": i + 1, "uj": joule * 1e6, "far": i in estimate.outliers}
            for kind, estimate, values in kinds
            for i, joule in enumerate(values)
        ]
    )
    intervals = pd.DataFrame(
        [
            {
                "kind": kind,
                "mean": estimate.mean * 1e6,
                "from": (estimate.mean - estimate.half_width_95) * 1e6,
                "to": (estimate.mean + estimate.half_width_95) * 1e6,
            }
            for kind, estimate, _ in kinds
        ]
    )
    y = alt.Y("kind:N", title=None)
    span = alt.Chart(intervals).mark_bar(color="#0b6e4f", opacity=0.18, size=34)
    mean = alt.Chart(intervals).mark_tick(color="#0b6e4f", thickness=2, size=34)
    dots = alt.Chart(points).mark_point(size=60, color="#4c78a8")
    tooltip = ["kind:N", "run:Q", alt.Tooltip("uj:Q", title="µJ", format=",.6g")]
    x = alt.X("from:Q", title="energy per operation (µJ)").scale(zero=False, nice=False)
    layers = alt.layer(
        span.encode(x=x, x2="to:Q", y=y),
        mean.encode(x="mean:Q", y=y),
        dots.encode(
            x="uj:Q",
            y=y,
            tooltip=tooltip,
            fillOpacity=alt.when(alt.datum.far).then(alt.value(0)).otherwise(alt.value(1)),
            fill=alt.value("#4c78a8"),
        ),
    )
    return responsive(layers, height=60 * len(kinds) + 20)


def write_page(
    recorded: Sequence[Recorded],
    repetitions: int,
    estimates: tuple[Estimate, Estimate | None] | None,
    path: Path,
) -> None:
    """Write the page.

    Args:
        recorded: the runs.
        repetitions: executions in each.
        estimates: gross and net over them; None if there is one run.
        path: the HTML file, written whole or not at all.

    Raises:
        JoulemarkError: it cannot be written.
    """
    charts = {
        f"run-{i + 1}": trace_chart(r.got, r.run)
        for i, r in enumerate(recorded)
        if isinstance(r.got, Samples)
    }
    if estimates is not None:
        charts["runs"] = runs_chart([r.run for r in recorded], *estimates)
    html = page.render(
        "energy.html.jinja",
        recorded=recorded,
        repetitions=repetitions,
        estimates=dict(zip(("gross", "net"), estimates, strict=True)) if estimates else {},
        data=page.packed(json.dumps({"plots": charts})),
        drawn=list(charts),
    )
    page.write(html, path)
