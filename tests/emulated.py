"""Builds of implementations for an emulated board, as parameters of tests."""

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from joulemark import boards
from joulemark._engine import Image
from joulemark.build import BuiltImage, build_image
from joulemark.build.toolchain import OPTIMISATIONS
from joulemark.primitives import Implementation
from joulemark.protocol import Device
from joulemark.runners.emulator import EmulatedBoard

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

BOARD = boards.load_board("telosb")
COMPILERS = ("clang", *(("gcc",) if shutil.which("msp430-elf-gcc") else ()))


@dataclass(frozen=True)
class BuildOf:
    """An implementation, and how it is built for the board."""

    implementation: Implementation
    compiler: str
    optimisation: str

    def __str__(self) -> str:
        return f"{self.implementation}-{self.compiler}-{self.optimisation}"

    def build(self) -> BuiltImage:
        return build_image(
            self.implementation, BOARD, compiler=self.compiler, optimisation=self.optimisation
        )

    def start(self) -> tuple[EmulatedBoard, Device]:
        """The image on a board of its own."""
        chip = boards.load_chip(BOARD.chip)
        machine = EmulatedBoard(
            chip, Image.load(self.build().path), marker=BOARD.marker.pin, port=BOARD.serial.port
        )
        return machine, Device(machine, attempts=1)


def builds(
    implementations: Iterable[Implementation], optimisations: Iterable[str] = OPTIMISATIONS
) -> "list[ParameterSet]":
    """All builds that can be made here; all but clang's smallest are slow."""
    return [
        pytest.param(
            BuildOf(way, compiler, optimisation),
            id=f"{way}-{compiler}-{optimisation}",
            marks=[pytest.mark.slow] if (compiler, optimisation) != ("clang", "Os") else [],
        )
        for way in implementations
        if way.runs_on(BOARD.core)
        for compiler in COMPILERS
        for optimisation in optimisations
    ]
