"""Jobs: the cases of one image, and how they are measured."""

from dataclasses import dataclass, field

from joulemark.campaign.case import Build, Case
from joulemark.catalogue.boards import Board
from joulemark.errors import BuildError
from joulemark.images import BuiltImage

METHOD = 4
"""Version of the measuring method; results of an older one are not reused."""
LOCAL = "local"
"""Board and clock profile of a case that runs on this machine."""


RUNS = 5
"""Default number of independent runs of a case with an instrument."""


@dataclass(frozen=True, kw_only=True)
class Setup:
    """How a campaign is measured."""

    runner: str = "emulator"
    meter: str = "model"
    unit: str = "emulated"
    """The specimen of the board."""
    runs: int | None = None
    """Trials of each case with an instrument; None for the campaign's."""
    details: tuple[object, ...] = ()
    """Further details that a result depends on."""


@dataclass(frozen=True, kw_only=True)
class Firmware:
    """Identity of an image: all cases of one firmware run on the same image."""

    board: Board | None = field(hash=False, compare=False, repr=False)
    """None for this machine."""
    board_name: str
    clock: str
    kind: str
    primitive: str
    implementation: str
    build: Build


@dataclass(frozen=True, kw_only=True)
class Point:
    """A case to measure, its number of trials, and the key of its record."""

    case: Case
    trials: int
    key: str
    least_trials: int = 0
    """A record of the store with fewer trials does not serve."""
    seed: int | None = None
    """Seed of the inputs if one is asked for: then a record of other inputs does not serve. It is
    no part of the key, under which the case is found whatever its inputs were."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """The cases of one image."""

    firmware: Firmware
    image: BuiltImage | BuildError
    points: tuple[Point, ...]
    seed: int
    project_commit: str | None
