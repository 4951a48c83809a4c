"""Quiet time: the board sleeps before and after the window, and the window does not change."""

from dataclasses import dataclass

import pytest

from joulemark._engine import Image, Machine, PowerInterval
from joulemark.catalogue import boards, chips
from joulemark.catalogue.boards import Board
from joulemark.catalogue.primitives import Library
from joulemark.errors import LinkError
from joulemark.images import BuiltImage, build_image
from joulemark.runners.protocol import Device, RunResult

ASLEEP = {
    "telosb": "lpm3",
    "sensortag-cc2650": "idle",
    "openmote-cc2538": "sleep",
    "stm32vldiscovery": "sleep",
}
CODE_OF_A_WINDOW = ("window", "hash", "sha256_update", "sha256_final", "memcpy")


def build(board: Board, compiler: str | None = None) -> BuiltImage:
    library = Library.load()
    way = library.implementation(library["sha-256"], "ref")
    compiler = compiler or ("clang" if board.core == "msp430" else "gcc")
    return build_image(way, board, compiler=compiler, optimisation="O2")


class Watched:
    """A board whose power states and marker edges are all kept."""

    def __init__(self, board: Board) -> None:
        chip = chips.load_chip(board.chip)
        image = Image.load(build(board).path)
        self.machine = Machine(chip, image, marker=board.marker.pin, trace=True)
        self._port = board.serial.port

    def send(self, data: bytes) -> None:
        self.machine.serial_write(self._port, data)

    def receive(self) -> bytes:
        if self.machine.run(until_serial=0, max_cycles=2_000_000_000).reason != "serial":
            raise LinkError("no answer")
        return self.machine.serial_read(self._port)

    def settle(self) -> None:
        pass


@dataclass(frozen=True)
class Observed:
    """Events from a command to its answer."""

    result: RunResult
    cycles: int
    intervals: list[PowerInterval]
    rising_ps: int
    falling_ps: int
    took_ps: int

    def asleep(self, state: str, start_ps: int, end_ps: int) -> float:
        """Return the fraction of an interval that was spent in a power state."""
        overlaps = (
            min(i.end_ps, end_ps) - max(i.start_ps, start_ps)
            for i in self.intervals
            if i.state == state
        )
        return sum(o for o in overlaps if o > 0) / (end_ps - start_ps)


def run(board: Board, quiet_ms: int) -> Observed:
    watched = Watched(board)
    device = Device(watched, attempts=1)
    device.write("message", bytes(range(64)))
    assert device.operations
    machine = watched.machine
    machine.clear_observations()
    began_ps = machine.time_ps
    result = device.run("hash", repetitions=2, quiet_ms=quiet_ms)
    rising, falling = machine.marker_edges
    return Observed(
        result,
        falling.cycles - rising.cycles,
        machine.power_tracks["mcu"],
        rising.time_ps,
        falling.time_ps,
        machine.time_ps - began_ps,
    )


@pytest.mark.parametrize("name", sorted(ASLEEP))
def test_the_board_sleeps_beside_the_window_which_stays_the_same(name: str) -> None:
    board = boards.load_board(name)
    plain = run(board, 0)
    for quiet_ms in (1, 30, 1100):
        seen = run(board, quiet_ms)
        assert (seen.result, seen.cycles) == (plain.result, plain.cycles)
        quiet_ps = quiet_ms * 10**9
        longer = (seen.took_ps - plain.took_ps) / 2 / quiet_ps
        assert 1 <= longer <= 1.01 + 0.1 / quiet_ms
        # Allow for the time from sleep to the marker, and back.
        missing = 50 * 10**6 / quiet_ps
        before = seen.asleep(ASLEEP[name], seen.rising_ps - quiet_ps, seen.rising_ps)
        after = seen.asleep(ASLEEP[name], seen.falling_ps, seen.falling_ps + quiet_ps)
        assert 1 - missing <= before <= 1
        assert 1 - missing <= after <= 1


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_nothing_but_what_it_runs_decides_where_a_window_lies(compiler: str) -> None:
    """Flash wait states depend on the address: the command loop must not move a primitive."""
    symbols = Image.load(build(boards.load_board("sensortag-cc2650"), compiler).path).symbols
    measured = [symbols[name] for name in CODE_OF_A_WINDOW if name in symbols]
    assert len(measured) >= 3
    rest = min(symbols[name] for name in ("start", "main", "hal_init", "harness_receive"))
    assert max(measured) < rest
