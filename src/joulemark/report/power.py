"""A program's current over time: as CSV, and as a page to scroll and measure in."""

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from joulemark.catalogue.boards import MCU, Board
from joulemark.errors import InputError
from joulemark.meters.model import ModelMeter
from joulemark.meters.power import occupancy, total
from joulemark.report import page
from joulemark.wholefile import write_whole

if TYPE_CHECKING:
    from joulemark._engine import PowerInterval

_MOST_STEPS = 2_000_000


def write_power(
    tracks: Mapping[str, "Sequence[PowerInterval]"],
    board: Board,
    name: str,
    path: Path,
    start_ps: int = 0,
) -> None:
    """Write the board's current over time.

    Args:
        tracks: power states by part.
        board: whose currents to use.
        name: of the program, for the page.
        path: a .csv or .html file.
        start_ps: when the tracks begin.

    Raises:
        InputError: there is too much of it, or it cannot be written.
    """
    meter = ModelMeter(board)
    steps = _merged(list(total(tracks, meter.current_of)))
    if len(steps) > _MOST_STEPS:
        what = f"{len(steps):,} changes of the current are too many"
        raise InputError(what, str(path), "run less of it: --from, --stop-at, --max-cycles")
    if path.suffix == ".csv":
        text = io.StringIO()
        text.write("start_s,end_s,ampere\n")
        begin = start_ps
        for ampere, end_ps in steps:
            text.write(f"{begin * 1e-12:.12g},{end_ps * 1e-12:.12g},{ampere:.9g}\n")
            begin = end_ps
        write_whole(path, text.getvalue().encode(), "the current")
        return
    end_ps = steps[-1][1] if steps else start_ps
    times = occupancy(tracks, start_ps, end_ps)
    trace = {
        "start_s": start_ps * 1e-12,
        "end_s": [end * 1e-12 for _, end in steps],
        "ampere": [ampere for ampere, _ in steps],
        "supply_v": board.supply_v.value,
    }
    html = page.render(
        "power.html.jinja",
        plots=False,
        name=name,
        board=board,
        data=page.packed(json.dumps(trace)),
        states=[
            (part, state, hz, ps * 1e-12, meter.current_of(part, state, hz))
            for (part, state, hz), ps in sorted(times.items(), key=lambda i: (i[0][0] != MCU, i[0]))
        ],
        script=page.asset("power.js"),
    )
    page.write(html, path)


def _merged(steps: list[tuple[float, int]]) -> list[tuple[float, int]]:
    """Without changes from a current to the same."""
    result: list[tuple[float, int]] = []
    for ampere, end_ps in steps:
        if result and result[-1][0] == ampere:
            result[-1] = (ampere, end_ps)
        else:
            result.append((ampere, end_ps))
    return result
