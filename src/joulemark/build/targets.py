"""What an image is built for: this machine, or a board's chip at one of its clocks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from joulemark.boards import Board
from joulemark.build import toolchain
from joulemark.build.toolchain import Compiler
from joulemark.errors import InputError
from joulemark.project import FIRMWARE

_SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g1")


@dataclass(frozen=True)
class Target:
    """Everything of an image but the primitive and the harness."""

    family: str
    compiler: Compiler
    flags: tuple[str, ...]
    """For all code."""
    include_folders: tuple[Path, ...]
    sources: tuple[Path, ...]
    headers: Mapping[str, str] = field(hash=False)
    """Generated ones."""
    linker_script: str
    """Text of `linker.ld`; empty where the system's is used."""
    link: tuple[str, ...]
    """The linker's command up to the objects."""
    link_end: tuple[str, ...]
    """What follows the objects."""
    linker_version: str
    description: Mapping[str, str] = field(hash=False)
    """Lines of the image's description: board, clock_hz, timer_hz."""


def _sources(folder: Path) -> tuple[Path, ...]:
    return tuple(sorted(p for p in folder.rglob("*") if p.suffix in (".c", ".S")))


def host_target(compiler: str, *, sanitize: bool) -> Target:
    """Describe this machine.

    Raises:
        ToolError: no compiler.
    """
    found = toolchain.find(compiler, "host")
    flags = ("-D_GNU_SOURCE", *(_SANITIZERS if sanitize else ()))
    folder = FIRMWARE / "hal" / "host"
    return Target(
        family="host",
        compiler=found,
        flags=flags,
        include_folders=(folder,),
        sources=_sources(folder),
        headers={},
        linker_script="",
        link=(found.path, *flags),
        link_end=(),
        linker_version=found.version,
        description={"board": "host", "clock_hz": "0", "timer_hz": "1000000000"},
    )


def board_target(board: Board, clock: str | None, compiler: str) -> Target:
    """Describe a board's chip at one of its clocks.

    Raises:
        InputError: no such clock, or a file is wrong.
        ToolError: no compiler.
    """
    raise InputError(f"no firmware for {board.chip} at {clock} with {compiler}")
