"""Instruction sets, as data: one TOML file each, here or in `instruction_sets/` of a user's folder.

A chip's file names its core, which is an instruction set; a set that extends it adds what some of
its chips can do besides. The firmware of an instruction set is in the folder of its core under
`firmware/hal`, and `images/families` has what its images need.
"""

from collections.abc import Callable, Collection
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, Field

from joulemark import project
from joulemark.catalogue import datafile, files
from joulemark.catalogue.near import near
from joulemark.errors import InputError

_FOLDER = Path(__file__).parent
_T = TypeVar("_T")


class Compilers(datafile.DataModel):
    """`[compilers]`: what makes code for it."""

    default: Literal["clang", "gcc"]
    clang_target: str | None = None
    """As `clang --print-targets` names it; every clang will do if not given."""
    gcc: str
    """Name of GCC's program."""
    get_gcc: str
    """How to install it."""
    linker: Literal["gcc", "lld"] | None = None
    """Links what clang compiles; each compiler links for itself if not given."""


class Calls(datafile.DataModel):
    """`[calls]`: the registers of a call, as the engine names them."""

    arguments: Annotated[list[str], Field(min_length=2)]
    """Of the first arguments."""
    returns_to: str | None = None
    """Of the return address; it is on top of the stack if not given."""


class InstructionSet(datafile.DataModel):
    """An instruction set's file."""

    title: str
    extends: str | None = None
    """The set whose code it runs too, and whose compilers and firmware are its own."""
    cpus: list[str] = Field([])
    """Of a set that extends another: the chips' `cpu` that have it."""
    compilers: Compilers | None = None
    calls: Calls | None = None
    supercop: list[str] = Field([])
    """What SUPERCOP's file `architectures` calls its machines."""
    disassembly: list[str] = Field([])
    """Options of llvm-objdump: all extensions of any chip; what one lacks is not in its images."""


def names() -> list[str]:
    """Return the names of all instruction sets."""
    return files.names(_FOLDER)


def load(name: str) -> InstructionSet:
    """Read an instruction set's file.

    Raises:
        InputError: there is no such set, or its file is invalid.
    """
    return _read(files.path_of(_FOLDER, name, "instruction set"))


@lru_cache
def _read(path: Path) -> InstructionSet:
    return datafile.read(path, InstructionSet)


def compilers(name: str) -> Compilers:
    """Return the compilers of an instruction set, or of the one that it extends.

    Raises:
        InputError: there is no such set, or it has no compilers.
    """
    return _own_or_extended(name, "compilers", lambda found: found.compilers)


def calls(name: str) -> Calls:
    """Return the registers of a call of an instruction set, or of the one that it extends.

    Raises:
        InputError: there is no such set, or it does not say.
    """
    return _own_or_extended(name, "calls", lambda found: found.calls)


def _own_or_extended(name: str, key: str, table: Callable[[InstructionSet], _T | None]) -> _T:
    found = load(name)
    own = table(found)
    if own is not None:
        return own
    if found.extends is not None:
        return _own_or_extended(found.extends, key, table)
    where = str(files.path_of(_FOLDER, name, "instruction set"))
    raise InputError("this table is missing", f"{where}, key {key}")


def of_chip(core: str, cpu: str) -> str:
    """Return the instruction set of a chip.

    Args:
        core: the core that its file names.
        cpu: the model of the core that its file names.

    Raises:
        InputError: a file is invalid.
    """
    extended = (n for n in names() if load(n).extends == core and cpu in load(n).cpus)
    return next(extended, core)


def with_extensions(some: Collection[str]) -> frozenset[str]:
    """Return instruction sets and those that extend one of them."""
    return _with_extensions(frozenset(some), project.sources())


@lru_cache
def _with_extensions(some: frozenset[str], _sources: tuple[Path, ...]) -> frozenset[str]:
    return some | {name for name in names() if load(name).extends in some}


def _known(name: str) -> str:
    if name not in names():
        raise ValueError(f"no instruction set {name}; {near(name, names())}")
    return name


Name = Annotated[str, AfterValidator(_known)]
"""The name of an instruction set that has a file."""
