"""A program of parts on two emulated boards in one air: the windows between a marker's edges.

Board 1 is built with the macro MOTE=1, board 2 with MOTE=2. Each reports on its serial line, up to
a zero byte, whether its result is right: `right`, a space, and a letter for each of its windows.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from joulemark.catalogue import boards, datafile
from joulemark.catalogue.boards import Board
from joulemark.errors import JoulemarkError
from joulemark.images import build_program, toolchain
from joulemark.images.sources import Sources
from joulemark.images.toolchain import Need
from joulemark.meters.model import ModelMeter
from joulemark.meters.power import Energy, duration_s, occupancy
from joulemark.records import bounds
from joulemark.runners.pair import Observed, run_pair
from joulemark.studies.ways import Answer, Bench

_LIMIT_PS = 60 * 10**12
"""Of a run, in the network's time."""


class Asked(datafile.DataModel):
    """One number of one board's windows."""

    board: str
    clock: str = ""
    program: str
    """Its folder under `firmware`."""
    define: str = ""
    """Macros of both boards: "NAME=1 OTHER=2"."""
    compiler: str = "clang"
    opt: str = "O3"
    mote: Literal[1, 2]
    """Whose windows."""
    windows: str
    """Their letter."""
    metric: Literal["time", "energy_net"] = "time"
    of: Literal["mean", "min", "max"] = "mean"


@dataclass(frozen=True, kw_only=True)
class _Window:
    time_s: float
    energy: Energy


_Windows = dict[tuple[int, str], list[_Window]]
"""By board and letter."""


def needs(asked: Sequence[Asked], bench: Bench) -> Iterator[Need]:
    """Yield finders of compilers and linkers."""
    for board, compiler in sorted({(a.board, a.compiler) for a in asked}):
        yield from toolchain.needs(compiler, boards.load_board(board).core)


def best(asked: Asked) -> None:
    """Return None: a program has no better variant."""


def obtain(asked: Sequence[Asked], bench: Bench) -> dict[Asked, Answer]:
    """Build and run each pair once, and answer all questions about it."""
    sources = Sources()
    runs: dict[Asked, list[Asked]] = defaultdict(list)
    for one in asked:
        same = {"mote": 1, "windows": "", "metric": "time", "of": "mean"}
        runs[one.model_copy(update=same)].append(one)
    return {
        one: answer
        for run, questions in runs.items()
        for one, answer in _answers(run, questions, sources)
    }


def _answers(
    run: Asked, questions: Sequence[Asked], sources: Sources
) -> Iterator[tuple[Asked, Answer]]:
    board = boards.load_board(run.board)
    what = f"{run.program}{f' with {run.define}' if run.define else ''}"
    try:
        windows = _run(run, board, sources)
    except JoulemarkError as error:
        yield from ((one, Answer(value=None, how=f"{what}: {error}")) for one in questions)
        return
    for one in questions:
        found = windows.get((one.mote, one.windows), [])
        yield one, _answer(one, board, f"{what}, {run.compiler} -{run.opt}", found)


def _run(run: Asked, board: Board, sources: Sources) -> _Windows:
    """Run both boards, and return their windows.

    Raises:
        JoulemarkError: a program cannot be built or run, or says that its result is wrong.
    """
    define = {name: int(value, 0) for name, value in (d.split("=") for d in run.define.split())}
    images = [
        build_program(
            run.program,
            board,
            define={**define, "MOTE": mote},
            clock=run.clock or None,
            compiler=run.compiler,
            optimisation=run.opt,
            sources=sources,
        )
        for mote in (1, 2)
    ]
    seen = run_pair(board, images, until_said="\0", limit_ps=_LIMIT_PS)
    found: _Windows = defaultdict(list)
    for mote, observed in enumerate(seen.motes, start=1):
        for letter, window in _windows(observed, mote, ModelMeter(board)):
            found[mote, letter].append(window)
    return found


def _windows(observed: Observed, mote: int, meter: ModelMeter) -> Iterator[tuple[str, _Window]]:
    said = observed.text.rstrip("\0")
    outcome, _, letters = said.partition(" ")
    times_ps = [edge.time_ps for edge in observed.edges]
    pairs = list(zip(times_ps[::2], times_ps[1::2], strict=False))
    if outcome != "right" or len(letters) != len(pairs):
        raise JoulemarkError(f"board {mote} says {said!r}, and has {len(pairs)} windows")
    for letter, (begin_ps, end_ps) in zip(letters, pairs, strict=True):
        times = occupancy(observed.power, begin_ps, end_ps)
        yield letter, _Window(time_s=duration_s(times), energy=meter.energy(times))


def _answer(asked: Asked, board: Board, what: str, found: Sequence[_Window]) -> Answer:
    if not found:
        return Answer(value=None, how=f"{what}: board {asked.mote} has no window {asked.windows!r}")
    is_time = asked.metric == "time"
    values = [one.time_s if is_time else one.energy.net_nj * 1e-9 for one in found]
    least, most = min(values), max(values)
    value = {"mean": fmean(values), "min": least, "max": most}[asked.of]
    scale, unit = (1e3, "ms") if is_time else (1e6, "µJ")
    spread = f"{least * scale:.4g} to {most * scale:.4g} {unit}"
    hz = board.clock_profile(asked.clock or None).hz
    grade = None if is_time else found[0].energy.grade
    return Answer(
        value=value,
        how=f"{what}: {asked.of} of {len(found)} windows, {spread}",
        source=f"two emulated {asked.board} at {hz / 1e6:g} MHz",
        errors=bounds.of_board(board, asked.clock or None, grade),
    )
