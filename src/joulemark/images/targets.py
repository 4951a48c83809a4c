"""Targets of a build: this machine, or a board's chip at one of its clocks."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from joulemark.catalogue import chips
from joulemark.catalogue.boards import Board
from joulemark.images import families
from joulemark.images.toolchain import Compiler


@dataclass(frozen=True)
class Target:
    """Everything of an image except the primitive and the harness."""

    instruction_set: str
    """Its instruction set, as implementations name it in their `cores`."""
    compiler: Compiler
    flags: tuple[str, ...]
    """Compiler flags for all code."""
    include_folders: tuple[Path, ...]
    sources: tuple[Path, ...]
    headers: Mapping[str, str] = field(hash=False)
    """Texts of generated headers, by name."""
    linker_script: str
    """Text of `linker.ld`; empty if the system's is used."""
    link: tuple[str, ...]
    """The linker's command up to the objects."""
    link_end: tuple[str, ...]
    """Arguments after the objects."""
    linker_version: str
    description: Mapping[str, str] = field(hash=False)
    """Lines of the image's description: board, clock_hz, timer_hz."""
    ram_bytes: int = 0
    """Size of the largest RAM; 0 where the stack is not measured."""

    def linker_flag(self, flag: str) -> str:
        """Return a linker flag in the form that the linking command takes."""
        return flag if "lld" in Path(self.link[0]).name else f"-Wl,{flag}"


def sources_in(folder: Path) -> tuple[Path, ...]:
    """Return the C and assembly files under a folder, sorted."""
    return tuple(sorted(p for p in folder.rglob("*") if p.suffix in (".c", ".S")))


def board_target(board: Board, clock: str | None, compiler: str) -> Target:
    """Describe a board's chip at one of its clocks.

    Raises:
        InputError: no such clock, or a file is invalid.
        ToolError: the compiler is missing.
    """
    chip = chips.load_chip(board.chip)
    target: Target = families.load(chip.core).describe(
        board, chip, board.clock_profile(clock), compiler
    )
    return replace(target, ram_bytes=chips.room(board.chip, "ram"))
