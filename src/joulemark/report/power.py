"""A program's current over time, part by part: as CSV, and as a page to scroll and measure in."""

import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from joulemark.catalogue.boards import MCU, RADIO, Board
from joulemark.errors import InputError
from joulemark.meters.model import ModelMeter
from joulemark.meters.power import by_part, occupancy
from joulemark.records import bounds
from joulemark.report import page
from joulemark.wholefile import write_whole

if TYPE_CHECKING:
    from joulemark._engine import PowerInterval

_MOST_STEPS = 2_000_000

_Step = tuple[tuple[float, ...], int]
"""Currents of the parts in amperes, and the time in picoseconds until which they are drawn."""


def write_power(
    tracks: Mapping[str, "Sequence[PowerInterval]"],
    board: Board,
    name: str,
    path: Path,
    start_ps: int = 0,
) -> None:
    """Write the current of a board's parts over time.

    Args:
        tracks: power states by part.
        board: the board whose currents to use.
        name: of the program, for the page.
        path: a .csv or .html file.
        start_ps: when the tracks begin.

    Raises:
        InputError: there are too many changes, or the file cannot be written.
    """
    meter = ModelMeter(board)
    order = sorted(tracks, key=lambda part: (part != MCU, part != RADIO, part))
    steps = _merged(by_part({part: tracks[part] for part in order}, meter.current_of))
    # A part that never draws current of its own gets no track.
    drawing = [n for n in range(len(order)) if any(amperes[n] for amperes, _ in steps)]
    if len(steps) > _MOST_STEPS:
        what = f"{len(steps):,} changes of the current are too many"
        raise InputError(what, str(path), "run less of it: --from, --stop-at, --max-cycles")
    if path.suffix == ".csv":
        text = io.StringIO()
        parts = [f"{order[n]}_ampere" for n in drawing]
        text.write(",".join(["start_s,end_s,ampere", *parts, "current_grade"]))
        grade = meter.energy(occupancy(tracks, start_ps, steps[-1][1])).grade if steps else None
        begin = start_ps
        for amperes, end_ps in steps:
            values = [sum(amperes), *(amperes[n] for n in drawing)]
            numbers = ",".join(f"{value:.9g}" for value in values)
            text.write(f"\n{begin * 1e-12:.12g},{end_ps * 1e-12:.12g},{numbers},{grade}")
            begin = end_ps
        text.write("\n")
        write_whole(path, text.getvalue().encode(), "the current")
        return
    end_ps = steps[-1][1] if steps else start_ps
    times = occupancy(tracks, start_ps, end_ps)
    trace = {
        "start_s": start_ps * 1e-12,
        "end_s": [end * 1e-12 for _, end in steps],
        "tracks": [[amperes[n] for amperes, _ in steps] for n in drawing],
        "supply_v": board.supply_v.value,
    }
    html = page.render(
        "power.html.jinja",
        name=name,
        errors=bounds.of_program(board, meter.energy(times).grade),
        board=board,
        parts=[order[n] for n in drawing],
        data=page.packed(json.dumps(trace)),
        states=[
            (part, state, hz, ps * 1e-12, meter.current_of(part, state, hz))
            for (part, state, hz), ps in sorted(times.items(), key=lambda i: (i[0][0] != MCU, i[0]))
        ],
        script=page.asset("power.js"),
    )
    page.write(html, path)


def _merged(steps: Iterable[_Step]) -> list[_Step]:
    """Merge consecutive steps with equal currents."""
    result: list[_Step] = []
    for amperes, end_ps in steps:
        if result and result[-1][0] == amperes:
            result[-1] = (amperes, end_ps)
        else:
            result.append((amperes, end_ps))
    return result
