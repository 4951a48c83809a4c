"""Locations of the project's data and firmware, and of the build cache."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from platformdirs import user_cache_path

_PACKAGED = Path(__file__).parent / "data"
"""In a wheel; a checkout has the same folders beside `src`."""
IS_PACKAGED = not os.environ.get("JOULEMARK_ROOT") and (_PACKAGED / "chips").is_dir()
_CHECKOUT = Path(os.environ.get("JOULEMARK_ROOT") or Path(__file__).parents[2])
ROOT = (_PACKAGED if IS_PACKAGED else _CHECKOUT).resolve()
CHIPS = ROOT / "chips"
BOARDS = ROOT / "boards"
MACHINES = ROOT / "machines"
LIBRARIES = ROOT / "libraries"
FIRMWARE = ROOT / "firmware"
STUDIES = ROOT / "studies"
NETWORKS = ROOT / "networks"
SCENARIOS = ROOT / "scenarios"
BUILD = user_cache_path("joulemark") / "build" if IS_PACKAGED else ROOT / "build"
_SOURCE = "JOULEMARK_SOURCE"
"""Environment variable with the folders of a user's own primitives, so that workers inherit it."""


Folders = str | Path | Iterable[str | Path]
"""A user's folder, or several."""


def sources() -> tuple[Path, ...]:
    """Return the folders of a user's own primitives and implementations."""
    return tuple(Path(f).resolve() for f in os.environ.get(_SOURCE, "").split(os.pathsep) if f)


def set_sources(folders: Iterable[Path]) -> None:
    """Add a user's folders for this process and the processes that it starts."""
    os.environ[_SOURCE] = os.pathsep.join(str(folder.resolve()) for folder in folders)


@contextmanager
def using(folders: Folders | None) -> Iterator[None]:
    """Take a user's folders for a while; those of the environment if none are given."""
    before = os.environ.get(_SOURCE)
    if folders is not None:
        set_sources([Path(folders)] if isinstance(folders, str | Path) else map(Path, folders))
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(_SOURCE, None)
        else:
            os.environ[_SOURCE] = before


INSTRUMENTS = os.environ.get("JOULEMARK_INSTRUMENTS")
"""Folder of a lab's own instruments: drivers in `meters`, simulations in `simulated`."""
