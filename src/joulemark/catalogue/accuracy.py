"""How far a chip's emulated cycles are from silicon's: one file a chip, beside the chip's."""

from functools import lru_cache
from typing import Annotated, Self

from pydantic import Field, model_validator

from joulemark.catalogue import chips, datafile
from joulemark.catalogue.boards import Board, Grade, Source

Fraction = Annotated[float, Field(ge=0, le=1)]


class Accuracy(datafile.DataModel):
    """Errors of emulated cycles relative to silicon's, in the configuration that firmware runs in.

    A chip without `programs` was not compared.
    """

    lowest: float | None = None
    """The lowest error of a program; minus `highest` where only the errors' sizes are known."""
    highest: float | None = None
    """The highest error of a program."""
    mean: Annotated[float, Field(ge=0)] | None = None
    """The mean of the errors' sizes."""
    exact: Fraction | None = None
    """The share of programs whose cycles were exact."""
    programs: Annotated[int, Field(gt=0)] | None = None
    of: Annotated[str, Field(min_length=1)]
    """What the programs are, or what is assumed."""
    source: Source
    grade: Grade
    currents_factor: Annotated[float, Field(gt=1)] | None = None
    """Within what factor of a board's its inferred currents are, as the chip's file estimates."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        given = {value is None for value in (self.lowest, self.highest, self.programs)}
        if len(given) != 1:
            raise ValueError("lowest, highest and programs belong together: give all or none")
        if self.bound is None and self.grade != "inferred":
            raise ValueError("grade: what was not compared is inferred")
        return self

    @property
    def bound(self) -> float | None:
        """The size of the largest error seen; None if nothing was compared."""
        if self.lowest is None or self.highest is None:
            return None
        return max(-self.lowest, self.highest)

    def __str__(self) -> str:
        if self.lowest is None or self.highest is None:
            return f"not compared ({self.of})"
        what = f"{self.programs} {self.of}"
        if self.bound == 0:
            return f"exact ({self.programs} of {what})"
        symmetric = self.lowest == -self.highest
        size = (
            f"±{_percent(self.highest)}"
            if symmetric
            else f"{_percent(self.lowest)} to {'+' * (self.highest > 0)}{_percent(self.highest)}"
        )
        more = [] if self.mean is None else [f"mean {_percent(self.mean)}"]
        more += [] if self.exact is None else [f"{_percent(self.exact)} exact"]
        more += [self.grade] if self.grade == "inferred" else []
        return f"{size} ({', '.join([what, *more])})"


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.3g}%"


UNKNOWN = Accuracy(
    of="no file of its accuracy",
    source="a file chips/accuracy/CHIP.toml would say what was compared",
    grade="inferred",
)


@lru_cache
def of_chip(name: str) -> Accuracy:
    """Read a chip's accuracy, `accuracy/NAME.toml` beside its file; `UNKNOWN` without one.

    Raises:
        InputError: no chip has that name, or the file is invalid.
    """
    path = chips.path_of(name)
    path = path.parent / "accuracy" / path.name
    return datafile.read(path, Accuracy) if path.is_file() else UNKNOWN


def of_program(board: Board) -> str:
    """Describe how far a board's emulated time is from a real board's if the clock is not ours.

    What a profile of the board says of its clock rests on what this project's firmware does.
    """
    return f"{of_chip(board.chip)}; clock as the program sets it, whose error is not counted"


def of_clock(board: Board, clock: str | None) -> str:
    """Describe how far a board's emulated time is from a real board's at a clock."""
    profile = board.clock_profile(clock)
    told = f"{of_chip(board.chip)}; clock ±{_percent(profile.tolerance.bound)}"
    if profile.rated_from_v is not None:
        here = f"here {board.supply_v.value:g} V"
        told += f", {profile.hz / 1e6:.4g} MHz rated from {profile.rated_from_v:g} V on ({here})"
    return told
