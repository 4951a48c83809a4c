"""A job: the cases that one image serves, and what they are measured with."""

from dataclasses import dataclass, field

from joulemark.campaign.case import Build, Case
from joulemark.catalogue.boards import Board
from joulemark.errors import BuildError
from joulemark.images import BuiltImage

METHOD = 4
"""Counts changes to how cases are measured: results of an older method are not served again."""
LOCAL = "local"
"""Stand-in for board and clock profile where a case runs on this machine."""


RUNS = 5
"""Independent runs of a case with an instrument, where nobody says how many."""


@dataclass(frozen=True, kw_only=True)
class Setup:
    """The means by which a campaign is measured."""

    runner: str = "emulator"
    meter: str = "model"
    unit: str = "emulated"
    """Which specimen of the board."""
    runs: int | None = None
    """Trials of each case, where an instrument measures; else they are the campaign's."""
    details: tuple[object, ...] = ()
    """Further details of it that a result depends on."""


@dataclass(frozen=True, kw_only=True)
class Firmware:
    """Identity of an image: all cases of one firmware run on the same image."""

    board: Board | None = field(hash=False, compare=False, repr=False)
    """None: this machine."""
    board_name: str
    clock: str
    kind: str
    primitive: str
    implementation: str
    build: Build


@dataclass(frozen=True, kw_only=True)
class Point:
    """A case to measure, how often, and the key that its record gets."""

    case: Case
    trials: int
    key: str


@dataclass(frozen=True, kw_only=True)
class Job:
    """Cases of one image."""

    firmware: Firmware
    image: BuiltImage | BuildError
    points: tuple[Point, ...]
    seed: int
    project_commit: str | None
