"""A program of parts on an emulated board: the time between its marker's edges.

The program reports on its serial line, up to a zero byte, whether its result is right: `right`,
optionally followed by a space and more text.
"""

from collections.abc import Iterator, Sequence
from typing import Literal

from joulemark._engine import Image
from joulemark.catalogue import boards, chips, datafile
from joulemark.errors import JoulemarkError
from joulemark.images import build_program, toolchain
from joulemark.images.sources import Sources
from joulemark.images.toolchain import Need
from joulemark.meters.model import ModelMeter
from joulemark.meters.power import duration_s
from joulemark.records import bounds
from joulemark.runners.emulator import EmulatedBoard
from joulemark.studies.ways import Answer, Bench


class Asked(datafile.DataModel):
    """One run of an application."""

    board: str
    clock: str = ""
    program: str
    """Its folder under `firmware`."""
    define: str = ""
    """Macros: "NAME=1 OTHER=2"."""
    compiler: str = "clang"
    opt: str = "O3"
    metric: Literal["time", "cycles", "energy_net"] = "time"
    """Energy is of the chip and of all devices that the board wires to it."""


def needs(asked: Sequence[Asked], bench: Bench) -> Iterator[Need]:
    """Yield finders of compilers and linkers."""
    for board, compiler in sorted({(a.board, a.compiler) for a in asked}):
        yield from toolchain.needs(compiler, boards.load_board(board).core)


def best(asked: Asked) -> None:
    """Return None: a program has no better variant."""


def obtain(asked: Sequence[Asked], bench: Bench) -> dict[Asked, Answer]:
    """Build and run each program."""
    sources = Sources()
    return {a: _run(a, sources) for a in asked}


def _run(asked: Asked, sources: Sources) -> Answer:
    board = boards.load_board(asked.board)
    define = {name: int(value) for name, value in (d.split("=") for d in asked.define.split())}
    what = f"{asked.program}{f' with {asked.define}' if asked.define else ''}"
    try:
        image = build_program(
            asked.program,
            board,
            define=define,
            clock=asked.clock or None,
            compiler=asked.compiler,
            optimisation=asked.opt,
            sources=sources,
        )
        machine = EmulatedBoard(
            chips.load_chip(board.chip),
            Image.load(image.path),
            wiring=board.wiring,
            marker=board.marker.pin,
            port=board.serial.port,
        )
        said = machine.receive().rstrip(b"\0").decode("ascii", "replace")
    except JoulemarkError as error:
        return Answer(value=None, how=f"{what}: {error}")
    if said.partition(" ")[0] != "right":
        return Answer(value=None, how=f"{what}: its result is {said!r}")
    window = machine.take_window()
    hz = board.clock_profile(asked.clock or None).hz
    if asked.metric == "energy_net":
        value = ModelMeter(board).energy(window.times).net_nj * 1e-9
    elif asked.metric == "time":
        value = duration_s(window.times)
    else:
        value = float(window.cycles)
    how = f"{what}, {asked.compiler} -{asked.opt}: {window.cycles:,} cycles"
    where = f"emulated {asked.board} at {hz / 1e6:g} MHz"
    errors = bounds.of_board(board, asked.clock or None)
    return Answer(value=value, how=how, source=where, errors=errors)
