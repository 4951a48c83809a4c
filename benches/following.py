"""Compares the processor time of an emulated operation with and without following its secrets.

`.venv/bin/python benches/following.py` prints, for operations on each kind of core, emulated
cycles per microsecond of processor time without and with following, and the ratio of the times.
Plain and followed runs take turns, and a ratio is the median of the turns' own, so that the
machine's load matters little. Outputs are compared with the oracle's.
"""

import time
from dataclasses import dataclass
from statistics import median

from joulemark._engine import Image, Machine
from joulemark.catalogue import chips
from joulemark.catalogue.boards import load_board
from joulemark.catalogue.kinds import BUDGET_CYCLES
from joulemark.catalogue.primitives import Library
from joulemark.images import build_image
from joulemark.measure.leaks import trials
from joulemark.runners.protocol import Device

BOARDS = ("telosb", "stm32vldiscovery", "nrf52840-dk", "raspberry-pi-pico-2")
OPERATIONS = (
    ("aes-128-gcm", "encrypt"),
    ("sha-256", "hash"),
    ("x25519", "agree"),
    ("ml-kem-512", "decapsulate"),
)
TURNS = 5
MOST = 6.0
"""How many times as long as a plain run a followed one may take."""


@dataclass
class Line:
    """A machine's serial line, without any observation."""

    machine: Machine
    port: str

    def send(self, data: bytes) -> None:
        """Send bytes to the chip."""
        self.machine.serial_write(self.port, data)

    def receive(self) -> bytes:
        """Run until the chip has sent a zero byte."""
        stop = self.machine.run(until_serial=0, max_cycles=BUDGET_CYCLES)
        if stop.reason != "serial":
            raise SystemExit(f"no answer: {stop.reason}")
        return self.machine.serial_read(self.port)

    def settle(self) -> None:
        """Nothing is under way."""


def measured(board_name: str, algorithm_name: str, operation: str) -> None:
    """Print a row."""
    board = load_board(board_name)
    library = Library.load()
    algorithm = library.algorithms[algorithm_name]
    ways = [w for w in library.implementations(algorithm) if w.runs_on(board.instruction_set)]
    way = next((w for w in ways if w.secret_independent and not w.accelerators), None)
    if way is None:
        return
    image = build_image(way, board, compiler=board.compiler, optimisation="O2")
    program = Image.load(image.path)
    put = next(iter(trials(algorithm, operation)))

    def run(*, followed: bool) -> tuple[int, float]:
        chip = chips.load_chip(board.chip)
        machine = Machine(chip, program, marker=board.marker.pin)
        device = Device(Line(machine, board.serial.port), attempts=1)
        for slot, data in put.inputs.items():
            device.write(slot, data)
        if followed:
            room = {slot: program.symbols[f"slot_{slot}_bytes"] for slot in put.inputs}
            marks = [(f"{slot} 0", room[slot], len(put.inputs[slot])) for slot in put.inputs]
            machine.follow_secrets([mark for mark in marks if mark[2]])
        before, begin = machine.cycles, time.process_time()
        device.run(operation)
        cycles, seconds = machine.cycles - before, time.process_time() - begin
        for slot, expected in put.expected.items():
            if device.read(slot, len(expected)) != expected:
                raise SystemExit(f"{way} on {board_name} gave a wrong {slot}")
        return cycles, seconds

    ratios, plain, follow = [], [], []
    for _ in range(TURNS):
        cycles, seconds = run(followed=False)
        followed_cycles, longer = run(followed=True)
        if cycles != followed_cycles:
            raise SystemExit("following must take no emulated time")
        ratios.append(longer / seconds)
        plain.append(cycles / seconds / 1e6)
        follow.append(cycles / longer / 1e6)
    ratio = median(ratios)
    mark = "" if ratio <= MOST else f"  above {MOST:g}"
    name = f"{board_name:20} {way!s:24} {operation:12}"
    print(f"{name} {median(plain):8.1f} MHz {median(follow):8.1f} MHz {ratio:6.2f}{mark}")


def main() -> None:
    """Measure all."""
    for board in BOARDS:
        for algorithm, operation in OPERATIONS:
            measured(board, algorithm, operation)


if __name__ == "__main__":
    main()
