"""What an image is built for: this machine, or a board's chip at one of its clocks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from joulemark import boards
from joulemark._engine import Chip
from joulemark.boards import Board, Clock
from joulemark.build import msp430, toolchain
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
    chip = boards.load_chip(board.chip)
    profile = board.clock_profile(clock)
    try:
        describe = _FAMILIES[chip.core]
    except KeyError:
        raise InputError(f"no firmware for the core {chip.core}", f"chip {chip.name}") from None
    return describe(board, chip, profile, compiler)


def _msp430(board: Board, chip: Chip, clock: Clock, compiler: str) -> Target:
    found = toolchain.find(compiler, chip.core)
    folder = FIRMWARE / "hal" / chip.core
    link: tuple[str, ...]
    flags: tuple[str, ...]
    if found.name == "clang":
        linker = toolchain.find_linker()
        flags = ("--target=msp430", f"-mmcu={chip.name}", "-nostdlibinc")
        link = (linker.path, "-m", "msp430elf")
        sources = _sources(folder)
        libraries: tuple[str, ...] = ()
        linker_version = linker.version
    else:
        # GCC has its own runtime helpers, with its own ways to call them.
        # Registers are at addresses that GCC takes for a null pointer's otherwise.
        flags = ("-mcpu=msp430", "-mhwmult=16bit", "-ffreestanding", "--param=min-pagesize=0")
        link = (found.path, *flags[:2], "-nostdlib", "-Wl,--no-warn-rwx-segments")
        own = folder / "runtime"
        sources = tuple(s for s in _sources(folder) if s.parent != own or s.stem == "memory")
        libraries = ("-lmul_16", "-lgcc", "-lmul_16")
        linker_version = found.version
    return Target(
        family=chip.core,
        compiler=found,
        flags=flags,
        include_folders=(folder, folder / "libc"),
        sources=sources,
        headers={
            "chip.h": msp430.chip_header(chip),
            "board.h": msp430.board_header(board, clock),
        },
        linker_script=msp430.linker_script(chip),
        link=(*link, *_linker_flags(found, "-T", "linker.ld", "--gc-sections", "-Map=image.map")),
        link_end=libraries,
        linker_version=linker_version,
        description={
            "board": board.name,
            "clock_hz": str(clock.hz),
            "timer_hz": str(clock.hz),
        },
    )


def _linker_flags(compiler: Compiler, *flags: str) -> tuple[str, ...]:
    if compiler.name == "clang":
        return flags
    return tuple(f"-Wl,{flag}" for flag in flags)


_FAMILIES: Mapping[str, Callable[[Board, Chip, Clock, str], Target]] = {"msp430": _msp430}
