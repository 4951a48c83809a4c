"""Data files by their names: in the project's folder, and in those of the same name of a user."""

from collections.abc import Iterable
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


def given(text: str, folder: Path, known: Iterable[str]) -> Path:
    """A file that a user gives, or one that is shipped, by its name.

    Args:
        text: the file or the name.
        folder: of those that are shipped.
        known: their names.

    Raises:
        InputError: it is neither.
    """
    path = Path(text)
    if path.exists() or path.suffix == ".toml" or "/" in text:
        return path
    names = sorted(known)
    if text in names:
        return folder / f"{text}.toml"
    what = "there is no such file, and none of that name is shipped"
    raise InputError(what, text, near(text, names))


def _places(folder: Path) -> list[Path]:
    if not folder.is_dir():
        mend = "unset JOULEMARK_ROOT, or let it name a tree of Joulemark"
        raise InputError("there is no such folder", str(folder), mend)
    return [folder, *(source / folder.name for source in project.sources())]
