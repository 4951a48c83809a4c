"""Libraries whose algorithms are measured: one folder each, with its file and its program."""

from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, PrivateAttr

from joulemark.catalogue import datafile
from joulemark.errors import InputError
from joulemark.project import LIBRARIES


class FromSource(datafile.DataModel):
    """How a library is built from its source for another machine."""

    package: str
    """Debian's source package."""
    makefile: str
    target: str
    """Target of the makefile that builds the static library."""
    archive: str
    """The static library that is built; a glob, because Debian renames some."""
    include: str
    """Folder on the include path of programs."""
    repository: str | None = None
    """Git repository with a tag for each release."""


class LibraryFile(datafile.DataModel):
    """`library.toml`; docs/adding-a-library.md is the contract."""

    title: str
    language: Literal["c", "c++"]
    source: str
    link: Annotated[list[str], Field(min_length=1)]
    header: str
    """One of the library's headers: if it is missing, the library is not installed."""
    package: str
    """Debian package that contains the header."""
    from_source: FromSource | None = None

    _folder: Path = PrivateAttr()

    @property
    def name(self) -> str:
        """Name of its folder."""
        return self._folder.name

    @property
    def program(self) -> Path:
        """Source of its program."""
        return self._folder / self.source


def names() -> list[str]:
    """Return the names of all libraries."""
    return sorted(path.parent.name for path in LIBRARIES.glob("*/library.toml"))


@lru_cache
def load_library(name: str) -> LibraryFile:
    """Read a library's file.

    Raises:
        InputError: no library has that name, or its file is invalid.
    """
    path = LIBRARIES / name / "library.toml"
    if "/" in name or not path.is_file():
        raise InputError("no such library", name, f"there are {', '.join(names())}")
    library = datafile.read(path, LibraryFile)
    library._folder = path.parent
    if not library.program.is_file():
        raise InputError(f"there is no {library.source}", f"{path}, key source")
    return library
