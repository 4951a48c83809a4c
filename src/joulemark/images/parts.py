"""Programs are made of parts: a primitive, the harness around it, drivers, an application, ...

A part of a program is some sources and a role. What a part costs is the difference between the
program with it and the program without it. Parts other than primitives are folders of firmware
with a part.toml.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from joulemark.catalogue import datafile
from joulemark.catalogue.primitives import ImplementationFile, PrimitiveFile
from joulemark.errors import InputError
from joulemark.images.targets import sources_in
from joulemark.project import FIRMWARE

_PRIMITIVES = "primitives"
_WAY = "implementation.toml"

Role = Literal["runtime", "harness", "primitive", "driver", "protocol", "application"]


@dataclass(frozen=True)
class Unit:
    """A source file and how it is compiled."""

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
    """Parts in the order in which they are linked, and what the image says of itself."""

    parts: tuple[Part, ...]
    description: Mapping[str, str]
    flags: str
    """How what is priced is compiled, for the record."""
    linker_flags: tuple[str, ...] = ()


class PartFile(datafile.DataModel):
    """`part.toml`."""

    title: str
    role: Literal["harness", "driver", "protocol", "application"]
    needs: list[Annotated[str, Field(pattern=r"^[a-z0-9-]+(/[a-z0-9-]+)*$")]] = Field([])
    """Folders under firmware/ of other parts, and of primitives' implementations."""
    wired: list[Annotated[str, Field(pattern=r"^[a-z0-9-]+$")]] = Field([])
    """Interfaces that it calls; the wiring of a program names the part behind each."""
    wraps: list[Annotated[str, Field(pattern=r"^[a-zA-Z_][a-zA-Z0-9_]*$")]] = Field([])
    """Functions of other parts in front of which it stands: callers of NAME come to `__wrap_NAME`,
    and `__real_NAME` is the function itself."""
    operations: list[Annotated[str, Field(pattern=r"^[a-z0-9-]+$")]] = Field([])
    """Of an application in the image's command loop, in the order of their numbers: what it can be
    told to do with its slots `message` and `output`."""
    define: dict[Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]*$")], int] = Field({})
    """Macros for all sources of the program."""


def is_part(name: str, firmware: Path = FIRMWARE) -> bool:
    """Whether a folder under firmware/ is that of a part or of a primitive's implementation."""
    return any((firmware / name / file).is_file() for file in ("part.toml", _WAY))


@dataclass(frozen=True)
class PartFolder:
    """A part's folder: its C and assembly sources, subfolders included, and its headers.

    The implementation of a primitive is one too: its variant is a macro of the part that needs it.
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
    """Of a primitive's implementation: the kind that it is built over."""
    prefix: str = ""
    """Of a primitive's implementation: that of its functions."""

    @classmethod
    def load(cls, name: str, firmware: Path = FIRMWARE) -> "PartFolder":
        """Read a part's folder, or that of a primitive's implementation.

        Raises:
            InputError: there is none, or its file is wrong.
        """
        folder = firmware / name
        if (folder / _WAY).is_file():
            return cls._of_primitive(name, folder, firmware)
        file = datafile.read(folder / "part.toml", PartFile)
        return cls(
            name,
            folder,
            file.role,
            (folder,),
            tuple(file.needs),
            tuple(file.wired),
            file.define,
            tuple(file.wraps),
            tuple(file.operations),
        )

    @classmethod
    def _of_primitive(cls, name: str, folder: Path, firmware: Path) -> "PartFolder":
        """Read an implementation's folder: it needs those of the primitives that it uses.

        Where it names none of a primitive's, it needs the only one that runs on any hardware.
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
        """Of a primitive's implementation: its kind."""
        return self.folder.parents[1].name if self.role == "primitive" else None


def closure(
    name: str,
    *,
    also: tuple[str, ...] = (),
    without: tuple[str, ...] = (),
    wiring: Mapping[str, str] | None = None,
    firmware: Path = FIRMWARE,
) -> list[PartFolder]:
    """A part and all that it needs, those that are needed first.

    Args:
        name: of the part.
        also: parts that are there though nobody needs them.
        without: parts that are left out, though they are needed: a source asks
            `__has_include("HEADER")` whether a part that may be left out is there.
        wiring: the parts behind the interfaces that parts are wired to.
        firmware: where the parts are.

    Raises:
        InputError: a part is not there, its file is wrong, parts need each other in a circle, or
            an interface has no part behind it.
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
                raise InputError(f"nothing is wired to {interface}", where, mend)
            needs.append(behind[interface])
        for need in needs:
            yield from visit(need, (*users, name))
        found[name] = part
        yield part

    return [part for wanted in (*also, name) for part in visit(wanted, ())]


def over(folders: list[PartFolder]) -> PartFolder | None:
    """The primitive that others of a program are built over; None where none is.

    A part that has a header over.h of its own says itself what that is.

    Raises:
        InputError: there is none for one that needs it, or more than one.
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
    """How parts are compiled together: each sees the headers of all.

    Args:
        folders: the parts.
        base: folders of headers behind theirs.
        flags: for all of their sources.
        define: macros for all of their sources, over those of the parts' files.
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
                Unit(s, tuple(dict.fromkeys((part.folder, *includes))), options)
                for s in sources_in(part.folder)
                if _owner(s, part.folder) == part.folder
            ),
        )
        for part in folders
    ]


def _owner(source: Path, folder: Path) -> Path:
    """The part that a source is of: a part's folder may have others' in it."""
    for parent in source.parents:
        if parent == folder or (parent / "part.toml").is_file():
            return parent
    return folder
