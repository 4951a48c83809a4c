"""Builds of implementations for an emulated board, as parameters of tests."""

import shutil
from dataclasses import dataclass

from joulemark._engine import Image
from joulemark.catalogue import boards, chips
from joulemark.catalogue.primitives import Implementation
from joulemark.images import BuiltImage, Sources, build_image
from joulemark.runners.emulator import EmulatedBoard
from joulemark.runners.protocol import Device

BOARD = boards.load_board("telosb")
ARM = boards.load_board("stm32vldiscovery")
"""The board for all tests of its core: its memories keep no state that could blur cycles."""
DSP = boards.load_board("nrf52840-dk")
"""Likewise for code that uses the DSP extension."""
PICO = boards.load_board("raspberry-pi-pico")
"""Likewise for assembly of ARMv6-M."""
PICO_2 = boards.load_board("raspberry-pi-pico-2")
"""Likewise for assembly of RISC-V."""
ROOMY = boards.load_board("openmote-cc2538")
"""In place of ARM for what needs more RAM than it has."""
COMPILERS = {
    BOARD.core: ("clang", *(("gcc",) if shutil.which("msp430-elf-gcc") else ())),
    ARM.core: ("gcc", "clang"),
    PICO.core: ("gcc", "clang"),
    PICO_2.core: ("gcc", "clang"),
}


@dataclass(frozen=True)
class BuildOf:
    """An implementation, and how to build it for the board."""

    implementation: Implementation
    compiler: str
    optimisation: str
    board: boards.Board = BOARD

    def __str__(self) -> str:
        how = f"{self.compiler}-{self.optimisation}"
        return f"{self.implementation}-{self.board.name}-{how}"

    def build(self, sources: Sources | None = None) -> BuiltImage:
        return build_image(
            self.implementation,
            self.board,
            compiler=self.compiler,
            optimisation=self.optimisation,
            sources=sources,
        )

    def start(self, image: Image | None = None) -> tuple[EmulatedBoard, Device]:
        """Start the image on a new board."""
        board, measured = self.board, self.implementation.algorithm.contract.measured
        machine = EmulatedBoard(
            chips.load_chip(board.chip),
            image or Image.load(self.build().path),
            # Emulating devices beside the chip takes time; only accelerators need them.
            wiring=board.wiring if self.implementation.accelerators else None,
            marker=board.marker.pin,
            port=board.serial.port,
            budget_cycles=max(o.cycles_max for o in measured.values()),
        )
        return machine, Device(machine, attempts=1)


def is_for(way: Implementation, board: boards.Board) -> bool:
    """Return whether it is tested on a board; what runs on ARM is tested there alone."""
    elsewhere = board in (DSP, PICO, PICO_2) and way.runs_on(ARM.instruction_set)
    return way.runs_on(board.instruction_set) and not elsewhere


def is_large(way: Implementation) -> bool:
    """Return whether it makes signatures of kilobytes: they need much RAM, and take long."""
    return way.algorithm.sizes.get("signature_bytes", 0) > 1024


def board_for(way: Implementation, board: boards.Board) -> boards.Board:
    """Return the board, or one of the same core with as much RAM as an implementation needs."""
    return ROOMY if board is ARM and is_large(way) else board
