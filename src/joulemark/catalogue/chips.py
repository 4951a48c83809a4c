"""Find chips and let the engine read their files."""

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from joulemark import meaning
from joulemark.catalogue import datafile, files
from joulemark.errors import InputError
from joulemark.project import CHIPS

if TYPE_CHECKING:
    from joulemark._engine import Chip


def names() -> list[str]:
    """Return the names of all chips."""
    return files.names(CHIPS)


@lru_cache
def load_chip(name: str) -> "Chip":
    """Read a chip's file.

    Raises:
        InputError: no chip has that name, or its file is invalid.
    """
    from joulemark._engine import Chip, ChipError

    try:
        return Chip.load(path_of(name))
    except ChipError as error:
        raise InputError(str(error)) from error


def room(name: str, kind: str) -> int:
    """Return the bytes of a chip's largest memory of a kind, flash or ram; 0 if it has none."""
    return max((m.size for m in load_chip(name).memories if m.kind == kind), default=0)


@lru_cache
def digest(name: str) -> str:
    """Return the digest of the values in a chip's file and in those of chips that it is like.

    See `meaning`.

    Raises:
        InputError: no chip has that name, or its file cannot be read.
    """
    path = path_of(name)
    own = meaning.of_table(path)
    like = datafile.table(path).get("like")
    return meaning.of_values(own, digest(str(like))) if like else own


def path_of(name: str) -> Path:
    """Return the path of a chip's file.

    Raises:
        InputError: no chip has that name.
    """
    return files.path_of(CHIPS, name, "chip")
