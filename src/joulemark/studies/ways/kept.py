"""A kept measurement of what this repository cannot hold, such as another project's image.

`tools/inside_image.py` writes the file that keeps it: for each system the image's digest, and the
time that AES took in it and alone. Anyone with the image can measure it again with that tool.
"""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from joulemark.catalogue import datafile, files
from joulemark.errors import InputError
from joulemark.images.toolchain import Need
from joulemark.project import STUDIES
from joulemark.studies.ways import Answer, Bench


class Asked(datafile.DataModel):
    """One number of an entry."""

    file: str
    """Path under `studies`."""
    entry: str
    metric: Literal["inside", "alone", "clock"]
    """Time of a block inside the system, or alone at the system's clock; or that clock in Hz."""


Count = Annotated[int, Field(gt=0)]


class Entry(datafile.DataModel):
    """A measurement of one system's image."""

    system: str
    """Its name, and where its image is from."""
    file: str
    sha256: str
    hook: str
    calls_hook: bool
    what: str
    clock_hz: Count
    blocks: Count
    alone_cycles: Count
    inside_cycles: Count
    interrupt_cycles: dict[str, int]
    engine: str


class Kept(datafile.DataModel):
    """Contents of such a file: entries by name."""

    entry: dict[str, Entry]


def needs(asked: Sequence[Asked], bench: Bench) -> tuple[Need, ...]:
    """Return nothing: a file is only read."""
    return ()


def best(asked: Asked) -> None:
    """Return None: a kept measurement has no better variant."""


def obtain(asked: Sequence[Asked], bench: Bench) -> dict[Asked, Answer]:
    """Read the files.

    Raises:
        InputError: one is wrong, or has no such entry.
    """
    return {a: _answer(a, _entry(a)) for a in asked}


def _entry(asked: Asked) -> Entry:
    paths = [place / asked.file for place in files.places(STUDIES)]
    path = next((path for path in paths if path.is_file()), paths[0])
    found = datafile.read(path, Kept).entry
    if asked.entry not in found:
        what = f"there is no entry {asked.entry}"
        raise InputError(what, str(path), f"there are {', '.join(found)}")
    return found[asked.entry]


def _answer(asked: Asked, entry: Entry) -> Answer:
    if asked.metric == "clock":
        value = float(entry.clock_hz)
    else:
        cycles = entry.inside_cycles if asked.metric == "inside" else entry.alone_cycles
        value = cycles / entry.clock_hz / entry.blocks
    image = f"{entry.system}, {entry.file}, SHA-256 {entry.sha256[:12]}"
    return Answer(value=value, how=f"{entry.what}; inside {image}", source=f"engine {entry.engine}")
