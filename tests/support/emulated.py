"""Builds of implementations for an emulated board, as parameters of tests."""

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from joulemark._engine import Image
from joulemark.catalogue import boards, chips
from joulemark.catalogue.primitives import Implementation
from joulemark.images import BuiltImage, build_image
from joulemark.images.toolchain import OPTIMISATIONS
from joulemark.runners.emulator import EmulatedBoard
from joulemark.runners.protocol import Device

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

BOARD = boards.load_board("telosb")
ARM = boards.load_board("stm32vldiscovery")
"""The board for all tests of its core: its memories keep no state that could blur cycles."""
DSP = boards.load_board("nrf52840-dk")
"""Likewise for code that uses the DSP extension."""
COMPILERS = {
    BOARD.core: ("clang", *(("gcc",) if shutil.which("msp430-elf-gcc") else ())),
    ARM.core: ("gcc", "clang"),
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

    def build(self) -> BuiltImage:
        return build_image(
            self.implementation, self.board, compiler=self.compiler, optimisation=self.optimisation
        )

    def start(self) -> tuple[EmulatedBoard, Device]:
        """Start the image on a new board."""
        board = self.board
        machine = EmulatedBoard(
            chips.load_chip(board.chip),
            Image.load(self.build().path),
            # Emulating devices beside the chip takes time; only accelerators need them.
            wiring=board.wiring if self.implementation.accelerators else None,
            marker=board.marker.pin,
            port=board.serial.port,
        )
        return machine, Device(machine, attempts=1)


def is_for(way: Implementation, board: boards.Board) -> bool:
    """Return whether it is tested on a board; what runs on ARM is tested there, not on DSP."""
    elsewhere = board is DSP and way.runs_on(ARM.instruction_set)
    return way.runs_on(board.instruction_set) and not elsewhere


def _is_made(build: BuildOf) -> bool:
    """Return whether a build is tested: all are, but only two of portable code on ARM."""
    how = (build.compiler, build.optimisation)
    twice = how in {("gcc", "O3"), ("clang", "Os")}
    return build.board is BOARD or build.implementation.cores is not None or twice


def _is_slow(build: BuildOf) -> bool:
    """Return whether it is slow: all but one per implementation, on ARM per one for its core."""
    how = (build.compiler, build.optimisation)
    if build.board is BOARD:
        return how != ("clang", "Os")
    return how != ("gcc", "Os") or build.implementation.parts[0].file.cores is None


def builds(
    implementations: Iterable[Implementation],
    optimisations: Iterable[str] = OPTIMISATIONS,
    on: Iterable[boards.Board] = (BOARD, ARM, DSP),
) -> "list[ParameterSet]":
    """Return all builds that can be made here, most of them marked slow."""
    found = [
        BuildOf(way, compiler, optimisation, board)
        for way in implementations
        for board in on
        if is_for(way, board)
        for compiler in COMPILERS[board.core]
        for optimisation in optimisations
    ]
    return [
        pytest.param(build, id=str(build), marks=[pytest.mark.slow] if _is_slow(build) else [])
        for build in found
        if _is_made(build)
    ]
