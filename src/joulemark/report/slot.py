"""A slot's waterfall as a page: what each microsecond of it goes into."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd

from joulemark.analysis.slot import ps_of
from joulemark.campaign.subjects.slot import LEVELS
from joulemark.measure.slot import Tuned
from joulemark.report import page
from joulemark.report.charts import responsive

_US = 1e6


def title(tuned: Tuned) -> str:
    """What was made as short as can be."""
    return str(tuned.case.case)


def rows(tuned: Tuned) -> list[dict[str, Any]]:
    """Stretches of a slot of both motes, one after the other, in microseconds.

    Steps of security have the mean of their cycles; what is left between them is waiting and the
    slot machine.
    """
    hz = tuned.case.board.clock_profile(tuned.case.clock).hz
    template = tuned.proof.template
    air_us = 32.0
    stretches: list[tuple[str, str, float]] = []

    def step(name: str, until_us: float) -> None:
        used = 0.0
        for work, cycles in tuned.waterfall.get(name, {}).items():
            us = cycles / hz * 1e6
            stretches.append((name, work, us))
            used += us
        if until_us > used:
            stretches.append((name, "slot machine and radio's turnaround", until_us - used))

    step("sec1", ps_of(template.tx_offset) / _US)
    stretches.append(("frame", "on the air", (1 + tuned.frame_bytes) * air_us))
    answer_us = ps_of(template.tx_ack_delay) / _US
    sec2 = sum(tuned.waterfall.get("sec2", {}).values()) / hz * 1e6
    step("sec2", sec2)
    step("sec3", answer_us - sec2)
    stretches.append(("acknowledgement", "on the air", (1 + tuned.acknowledgement_bytes) * air_us))
    passed = sum(us for _, _, us in stretches)
    step("sec4", ps_of(template.slot) / _US - passed)
    found = []
    at = 0.0
    for name, work, us in stretches:
        found.append({"step": name, "work": work, "from": at, "to": at + us, "us": us})
        at += us
    return found


def chart(tuned: Sequence[Tuned]) -> dict[str, Any]:
    """A bar a slot."""
    frame = pd.DataFrame(
        [
            {
                **row,
                "slot": f"{one.case.subject.strategy or 'none'}, {LEVELS[one.case.subject.level]}",
            }
            for one in tuned
            for row in rows(one)
        ]
    )
    bars = (
        alt.Chart(frame)
        .mark_bar(stroke="white", strokeWidth=0.5)
        .encode(
            x=alt.X("from:Q", title="time in the slot (µs)"),
            x2="to:Q",
            y=alt.Y("slot:N", title=None, sort=None),
            color=alt.Color("work:N", title=None, sort=None).scale(scheme="tableau20"),
            tooltip=["step:N", "work:N", alt.Tooltip("us:Q", format=",.0f")],
        )
    )
    return responsive(bars, height=60 + 34 * len(tuned))


def write_page(tuned: Sequence[Tuned], path: Path) -> None:
    """Write the page.

    Raises:
        InputError: it cannot be written.
    """
    html = page.render(
        "slot.html.jinja",
        tuned=[(title(one), one, rows(one)) for one in tuned],
        data=page.packed(json.dumps({"plots": {"waterfall": chart(tuned)}})),
    )
    page.write(html, path)
