"""Find data files by name, in the project's folder and in a user's folders of the same name."""

from collections.abc import Iterable
from pathlib import Path

from joulemark import project
from joulemark.catalogue.near import near
from joulemark.errors import InputError


def names(folder: Path) -> list[str]:
    """Return the names of all data files of a folder, including users' files."""
    return sorted({path.stem for place in places(folder) for path in place.glob("*.toml")})


def path_of(folder: Path, name: str, what: str) -> Path:
    """Return the path of a data file.

    Args:
        folder: the project's folder of such files.
        name: the file's name without its extension.
        what: what the file describes, for messages.

    Raises:
        InputError: no file has that name.
    """
    for place in places(folder):
        path = place / f"{name}.toml"
        if "/" not in name and path.is_file():
            return path
    raise InputError(f"no such {what}", name, near(name, names(folder)))


def given(text: str, folder: Path, known: Iterable[str]) -> Path:
    """Return the path of a file that a user gives, or of a known file given by name.

    Args:
        text: the file or the name.
        folder: the project's folder of such files.
        known: names of the files there and in a user's folders.

    Raises:
        InputError: it is neither.
    """
    path = Path(text)
    if path.exists() or path.suffix == ".toml" or "/" in text:
        return path
    names = sorted(known)
    if text in names:
        return next(p for place in places(folder) if (p := place / f"{text}.toml").is_file())
    what = "there is no such file, and none of that name is shipped"
    raise InputError(what, text, near(text, names))


def places(folder: Path) -> list[Path]:
    """Return a folder of the project, and the folders of that name in a user's folders.

    Raises:
        InputError: the project has no such folder.
    """
    if not folder.is_dir():
        mend = "unset JOULEMARK_ROOT, or let it name a tree of Joulemark"
        raise InputError("there is no such folder", str(folder), mend)
    return [folder, *(source / folder.name for source in project.sources())]
