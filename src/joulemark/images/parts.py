"""The parts of programs: a primitive, the harness around it, drivers, an application, ...

A part is a set of sources with a role. Its cost is the difference between the program with it and
the program without it. Parts other than primitives are folders under firmware/ with a part.toml.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from joulemark.catalogue import datafile
from joulemark.catalogue.primitives import Elsewhere, ImplementationFile, PrimitiveFile
from joulemark.errors import InputError
from joulemark.images.targets import sources_in
from joulemark.project import FIRMWARE, sources

_PRIMITIVES = "primitives"
_WAY = "implementation.toml"

Role = Literal["runtime", "harness", "primitive", "driver", "protocol", "application"]


@dataclass(frozen=True)
class Unit:
    """A source file, and how to compile it."""

    source: Path
    includes: tuple[Path, ...]
    flags: tuple[str, ...]


@dataclass(frozen=True)
class Part:
    """Sources that belong together."""

    name: str
    role: Role
    units: tuple[Unit, ...]


@dataclass(frozen=True)
class Program:
    """Parts in link order, and the image's description of itself."""

    parts: tuple[Part, ...]
    description: Mapping[str, str]
    flags: str
    """Compiler flags of the measured code, for the record."""
    linker_flags: tuple[str, ...] = ()


class PartFile(datafile.DataModel):
    """`part.toml`."""

    title: str
    role: Literal["harness", "driver", "protocol", "application"]
    needs: list[Annotated[str, Field(pattern=r"^[a-z0-9-]+(/[a-z0-9-]+)*$")]] = Field([])
    """Folders under firmware/ of other parts and of implementations of primitives."""
    wired: list[Annotated[str, Field(pattern=r"^[a-z0-9-]+$")]] = Field([])
    """Interfaces that it calls; a program's wiring names the part behind each."""
    wraps: list[Annotated[str, Field(pattern=r"^[a-zA-Z_][a-zA-Z0-9_]*$")]] = Field([])
    """Functions of other parts that it wraps: callers of NAME reach its `__wrap_NAME`, and
    `__real_NAME` is the function itself."""
    operations: list[Annotated[str, Field(pattern=r"^[a-z0-9-]+$")]] = Field([])
    """Operations of an application that runs in the image's command loop, in the order of their
    numbers; they use its slots `message` and `output`."""
    define: dict[Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]*$")], int] = Field({})
    """Macros for all sources of the program."""
    sources: list[Elsewhere] = Field([])
    """C and assembly files outside its folder, or globs, relative to it."""
    include: list[Elsewhere] = Field([])
    """Header folders outside its folder, relative to it."""


def is_part(name: str, firmware: Path = FIRMWARE) -> bool:
    """Return whether a folder is a part or an implementation of a primitive."""
    return _holds_part(_folder(name, firmware))


def _holds_part(folder: Path) -> bool:
    return any((folder / file).is_file() for file in ("part.toml", _WAY))


def _elsewhere(folder: Path, file: PartFile) -> Iterator[Path]:
    for pattern in file.sources:
        there = sorted(folder.glob(pattern))
        if not there:
            where = f"{folder / 'part.toml'}, key sources"
            raise InputError(f"{pattern} matches no file", where, "it is seen from this folder")
        yield from (Path(os.path.normpath(path)) for path in there)


def _folder(name: str, firmware: Path) -> Path:
    """Return the folder of a part under firmware/, or else in a folder of the user's."""
    places = [firmware, *(sources() if firmware == FIRMWARE else ())]
    return next((p for place in places if _holds_part(p := place / name)), firmware / name)


@dataclass(frozen=True)
class PartFolder:
    """A part's folder: its headers, and its C and assembly sources, subfolders included.

    An implementation of a primitive is a part too; the part that needs it defines the macro of its
    variant.
    """

    name: str
    folder: Path
    role: Role
    include_folders: tuple[Path, ...]
    needs: tuple[str, ...] = ()
    wired: tuple[str, ...] = ()
    define: Mapping[str, int] = field(default_factory=dict, hash=False)
    wraps: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    over: str | None = None
    """For an implementation of a primitive: the kind that it is built over."""
    prefix: str = ""
    """For an implementation of a primitive: the prefix of its functions."""
    elsewhere: tuple[Path, ...] = ()
    """Sources outside its folder."""
    is_foreign: bool = False
    """Whether it has code from elsewhere, which takes the headers of the compiler's C library."""

    @classmethod
    def load(cls, name: str, firmware: Path = FIRMWARE) -> "PartFolder":
        """Read the folder of a part or of an implementation of a primitive.

        Raises:
            InputError: the folder has no such file, or the file is invalid.
        """
        folder = _folder(name, firmware)
        if (folder / _WAY).is_file():
            return cls._of_primitive(name, folder, firmware)
        file = datafile.read(folder / "part.toml", PartFile)
        include = (Path(os.path.normpath(folder / each)) for each in file.include)
        return cls(
            name,
            folder,
            file.role,
            (folder, *include),
            tuple(file.needs),
            tuple(file.wired),
            file.define,
            tuple(file.wraps),
            tuple(file.operations),
            elsewhere=tuple(_elsewhere(folder, file)),
            is_foreign=bool(file.sources or file.include),
        )

    @classmethod
    def _of_primitive(cls, name: str, folder: Path, firmware: Path) -> "PartFolder":
        """Read the folder of an implementation, which needs implementations of what it uses.

        If it does not name the implementation of a primitive, it needs the only one without an
        accelerator.
        """
        own = datafile.read(folder / _WAY, ImplementationFile)
        primitive = datafile.read(folder.parent / "primitive.toml", PrimitiveFile)
        needs = dict(own.uses)
        for used in primitive.uses:
            if used in needs:
                continue
            files = (firmware / _PRIMITIVES / used).glob(f"*/{_WAY}")
            ways = [
                path.parent.name
                for path in files
                if datafile.read(path, ImplementationFile).accelerator is None
            ]
            if len(ways) == 1:
                needs[used] = ways[0]
        return cls(
            name,
            folder,
            "primitive",
            (folder, folder.parent, folder.parents[1]),
            tuple(f"{_PRIMITIVES}/{used}/{way}" for used, way in needs.items()),
            over=primitive.over,
            prefix=primitive.prefix,
        )

    @property
    def kind(self) -> str | None:
        """For an implementation of a primitive: its kind."""
        return self.folder.parents[1].name if self.role == "primitive" else None


NOT_WIRED = "nothing is wired to "


class UnwiredError(InputError):
    """An interface that a part is wired to has no part behind it."""

    @property
    def interface(self) -> str:
        """The interface."""
        return self.what.removeprefix(NOT_WIRED)


def closure(
    name: str,
    *,
    also: tuple[str, ...] = (),
    without: tuple[str, ...] = (),
    wiring: Mapping[str, str] | None = None,
    firmware: Path = FIRMWARE,
) -> list[PartFolder]:
    """Return a part and everything it needs, dependencies first.

    Args:
        name: name of the part.
        also: parts to add although no part needs them.
        without: parts to leave out although they are needed: a source uses
            `__has_include("HEADER")` to test whether such a part is present.
        wiring: the parts behind the interfaces that parts are wired to.
        firmware: folder of the parts.

    Raises:
        InputError: a part is missing, its file is invalid, or parts need each other in a circle.
        UnwiredError: an interface has no part behind it.
    """
    found: dict[str, PartFolder] = {}
    behind = wiring or {}

    def visit(name: str, users: tuple[str, ...]) -> Iterator[PartFolder]:
        if name in users:
            circle = " needs ".join((*users[users.index(name) :], name))
            raise InputError(
                f"is a circle: {circle}", f"{firmware / name / 'part.toml'}, key needs"
            )
        if name in found or name in without:
            return
        part = PartFolder.load(name, firmware)
        needs = list(part.needs)
        for interface in part.wired:
            if interface not in behind:
                where = f"{part.folder / 'part.toml'}, key wired"
                mend = f"say in the wiring which part is the {interface}"
                raise UnwiredError(f"{NOT_WIRED}{interface}", where, mend)
            needs.append(behind[interface])
        for need in needs:
            yield from visit(need, (*users, name))
        found[name] = part
        yield part

    return [part for wanted in (*also, name) for part in visit(wanted, ())]


def over(folders: list[PartFolder]) -> PartFolder | None:
    """Return the primitive that other parts are built over, or None if there is no such part.

    None also if a part has its own header over.h, which makes that choice itself.

    Raises:
        InputError: a part needs such a primitive and the program has none, or several.
    """
    kinds = sorted({part.over for part in folders if part.over is not None})
    if not kinds or any((part.folder / "over.h").is_file() for part in folders):
        return None
    found = [part for part in folders if part.kind in kinds]
    if len(found) != 1:
        names = ", ".join(part.name for part in found) or "none"
        users = ", ".join(part.name for part in folders if part.over is not None)
        raise InputError(f"{users}: they need one {' and one '.join(kinds)}, there is {names}")
    return found[0]


def compiled(
    folders: list[PartFolder],
    base: tuple[Path, ...],
    flags: tuple[str, ...],
    define: Mapping[str, int],
) -> list[Part]:
    """Return how to compile parts together: each sees the headers of all others.

    Args:
        folders: the parts.
        base: header folders that are searched after theirs.
        flags: compiler flags for all of their sources.
        define: macros for all of their sources, which override those of the parts' files.
    """
    own = (folder for part in folders for folder in part.include_folders)
    includes = tuple(dict.fromkeys((*own, *base)))
    defines = {k: v for part in folders for k, v in part.define.items()} | dict(define)
    options = (*flags, *(f"-D{k}={v}" for k, v in sorted(defines.items())))
    return [
        Part(
            part.name,
            part.role,
            tuple(
                Unit(source, tuple(dict.fromkeys((part.folder, *seen))), options)
                for source in dict.fromkeys((*_own_sources(part), *part.elsewhere))
            ),
        )
        for part in folders
        # What stands in for the C library has what compilers call, and no more.
        for seen in [[f for f in includes if not part.is_foreign or f.name != "libc"]]
    ]


def _own_sources(part: PartFolder) -> list[Path]:
    return [s for s in sources_in(part.folder) if _owner(s, part.folder) == part.folder]


def _owner(source: Path, folder: Path) -> Path:
    """Return the folder of a source's part: a part's folder may contain other parts."""
    for parent in source.parents:
        if parent == folder or (parent / "part.toml").is_file():
            return parent
    return folder
