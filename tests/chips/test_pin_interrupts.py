"""Pins that interrupt a Cortex-M: which edges and levels are seen, and what wakes the chip."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from joulemark._engine import Image, Machine
from joulemark.catalogue import chips

SOURCE = Path(__file__).with_name("pin_interrupts.c")


@dataclass(frozen=True)
class Chip:
    """Where a chip's programs are; its pins for rising, falling and both edges."""

    vectors: int
    ram: int
    pins: tuple[str, str, str]


CHIPS = {
    "cc2538": Chip(0x00200000, 0x20004000, ("PA1", "PB2", "PC3")),
    "cc2650": Chip(0, 0x20000000, ("DIO1", "DIO2", "DIO3")),
    "nrf52840": Chip(0, 0x20000000, ("P0.01", "P0.02", "P1.03")),
    "stm32f100rb": Chip(0x08000000, 0x20000000, ("PA1", "PB7", "PC12")),
}


class Board:
    """A chip that sleeps, and counts its pins' interrupts."""

    def __init__(self, folder: Path, name: str) -> None:
        chip = CHIPS[name]
        subprocess.run(
            [
                *("arm-none-eabi-gcc", "-mcpu=cortex-m3", "-Os", "-ffreestanding", "-nostdlib"),
                *("-Wall", "-Wextra", "-Werror", f"-D{name.upper()}", "-Wl,-e,reset"),
                f"-Wl,-Ttext={chip.vectors + 0x400:#x},--section-start=.vectors={chip.vectors:#x},"
                f"-Tbss={chip.ram:#x},--section-start=.cca=0x27ffd4",
                *(str(SOURCE), "-o", "program.elf"),
            ],
            cwd=folder,
            check=True,
        )
        image = Image.load(folder / "program.elf")
        self.machine = Machine(chips.load_chip(name), image)
        self.seen = image.symbols["seen"]
        self.pins = chip.pins
        self.run()

    def run(self) -> None:
        stop = self.machine.run(max_cycles=2000)
        assert stop.fault is None, stop.fault.message

    def drive(self, *levels: bool) -> tuple[int, int, int]:
        """Set all pins, and return how often each has interrupted."""
        for pin, high in zip(self.pins, levels, strict=True):
            self.machine.set_pin(pin, high)
        self.run()
        data = self.machine.read_memory(self.seen, 3)
        return data[0], data[1], data[2]


@pytest.mark.parametrize("name", CHIPS)
def test_edges_that_are_asked_for_interrupt_and_wake(tmp_path: Path, name: str) -> None:
    board = Board(tmp_path, name)
    assert board.drive(False, False, False) == (0, 0, 0)
    assert board.drive(True, True, True) == (1, 0, 1)
    assert board.drive(True, True, True) == (1, 0, 1)
    assert board.drive(False, False, False) == (1, 1, 2)
    assert board.drive(True, False, True) == (2, 1, 3)
    assert board.drive(False, True, True) == (2, 1, 3)
    assert board.drive(False, False, False) == (2, 2, 4)


def test_a_level_interrupts_as_long_as_it_lasts(tmp_path: Path) -> None:
    board = Board(tmp_path, "cc2538")
    assert board.drive(False, False, False) == (0, 0, 0)

    def level(high: bool) -> int:
        board.machine.set_pin("PD4", high)
        board.run()
        return board.machine.read_memory(board.seen + 3, 1)[0]

    assert level(False) == 0
    many = level(True)
    assert many > 10
    assert level(False) - many <= 1
    assert level(False) == level(False)
