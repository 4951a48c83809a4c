"""Data files by their names: in the project's folder, and in those of the same name of a user."""

from pathlib import Path

from joulemark import project
from joulemark.catalogue.near import near
from joulemark.errors import InputError


def names(folder: Path) -> list[str]:
    """The names of all data files of a folder of the project."""
    return sorted({path.stem for place in _places(folder) for path in place.glob("*.toml")})


def path_of(folder: Path, name: str, what: str) -> Path:
    """A data file.

    Args:
        folder: of the project.
        name: of the file, without its ending.
        what: it describes, for messages.

    Raises:
        InputError: there is none of that name.
    """
    for place in _places(folder):
        path = place / f"{name}.toml"
        if "/" not in name and path.is_file():
            return path
    raise InputError(f"no such {what}", name, near(name, names(folder)))


def _places(folder: Path) -> list[Path]:
    return [folder, *(source / folder.name for source in project.sources())]
