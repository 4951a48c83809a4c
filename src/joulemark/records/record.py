"""Records: a case's result with everything about how it was obtained.

Units are part of the names. A quantity that was not obtained is absent; a failed record has none.
"""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, Literal, NamedTuple, TypeVar

from joulemark.campaign.case import Build, Case, Conditions
from joulemark.catalogue.boards import MCU, Grade
from joulemark.subjects import About, Subject
from joulemark.subjects.primitive import PrimitiveSubject

Status = Literal["ok", "failed"]
Bounds = Literal["range", "interval"]
"""The observed minimum and maximum, or the ends of a 95% confidence interval."""
ResultGrade = Grade | Literal["estimated"]
"""Grade of a result: that of a constant, or "estimated" if it comes from a model."""
Finding = Literal[
    "independent of data",
    "addresses independent of data",
    "time depends on data",
    "addresses depend on data",
    "secrets decide",
    "handles none",
]
DEPENDENT = frozenset[str]({"time depends on data", "addresses depend on data", "secrets decide"})
Sample = Mapping[str, int | str]
"""Values of one trial, by name with its unit."""

_WHOLE_BELOW = 2.0**63
"""Upper bound of a database's integers."""


def number(value: float) -> int | float:
    """Convert an integral number to int, so that equal numbers look alike everywhere.

    Raises:
        ValueError: the number is not finite.
    """
    if isinstance(value, int):
        return value
    if not math.isfinite(value):
        raise ValueError(f"{value} is no result")
    return int(value) if value.is_integer() and abs(value) < _WHOLE_BELOW else value


class Quantity(NamedTuple):
    """One number of a result."""

    part: str
    """Part of the subject or board that it belongs to; empty for the whole subject."""
    name: str
    unit: str
    value: int | float
    lower: int | float | None = None
    upper: int | float | None = None
    bounds: Bounds | None = None
    """Meaning of `lower` and `upper`."""
    grade: ResultGrade | None = None
    """The weakest grade among the constants that contributed to it."""
    exact: bool = False
    """Deterministic, and the same in all trials."""

    @property
    def half_width(self) -> float | None:
        """Half the width of the 95% confidence interval, if there is one."""
        if self.bounds != "interval" or self.lower is None or self.upper is None:
            return None
        return (self.upper - self.lower) / 2

    @property
    def range(self) -> float | None:
        """The maximum minus the minimum of all trials, if known."""
        if self.bounds != "range" or self.lower is None or self.upper is None:
            return None
        return self.upper - self.lower

    def column(self, statistic: str = "") -> str:
        """Return its name in a table with a column for each quantity: `energy_net_nj`.

        Args:
            statistic: the statistic in the column, if it is not the value: "min", "half_width".
        """
        unit = "bytes" if self.unit == "B" else re.sub(r"\W+", "_", self.unit.lower())
        words = [*self.part.split(), *self.name.split("_")]
        unit = "" if unit in words else unit
        return "_".join(word for word in (*words, statistic, unit) if word)


def quantity(
    name: str,
    unit: str,
    values: Iterable[float],
    *,
    part: str = "",
    value: float | None = None,
    grade: ResultGrade | None = None,
    exact: bool = False,
) -> Quantity:
    """Return a quantity from the values of trials: their mean, minimum and maximum.

    Args:
        name: name of the quantity.
        unit: unit of the values.
        values: at least one value.
        part: the part that it belongs to.
        value: value to use instead of the mean.
        grade: weakest grade of its inputs.
        exact: whether equal inputs give equal values; the quantity is exact if all values are
            equal too.
    """
    seen = [number(v) for v in values]
    low, high = min(seen), max(seen)
    middle = number(math.fsum(seen) / len(seen) if low != high else low)
    return Quantity(
        part,
        name,
        unit,
        middle if value is None else number(value),
        low,
        high,
        "range",
        grade,
        exact and low == high,
    )


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """The circumstances of a result, beyond its case."""

    seed: int
    """Seed of the random inputs."""
    host: str
    clock_hz: int
    """Clock of the core; 0 if it varies."""
    chip: str
    board_title: str = ""
    board_digest: str = ""
    chip_digest: str = ""
    timing_note: str = ""
    """How far time may be off, and what says so; empty on hardware: `bounds` says it."""
    memories_keep_state: bool | None = None
    """Whether the chip has caches or line buffers, so that equal work can take unequal times."""
    compiler_version: str | None = None
    flags: str | None = None
    image_digest: str | None = None
    build_id: str | None = None
    project_commit: str | None = None
    """The commit, with "+dirty" if the tree differed from it."""
    engine_version: str | None = None


Subject_co = TypeVar("Subject_co", bound=Subject, covariant=True)


@dataclass(frozen=True, kw_only=True)
class Record(Generic[Subject_co]):
    """One measured case.

    The raw samples are kept. Each sample is one trial with its own random inputs, so the range of
    `cycles` over the samples is also evidence for or against independence of secrets.
    """

    key: str
    """Digest of everything that the result depends on; an equal key is an unchanged case."""
    measured_at: str
    """UTC, ISO 8601."""
    status: Status
    failure: str | None = None
    """The error message of a failed record."""

    subject: Subject_co
    build: Build | None
    conditions: Conditions
    about: About
    provenance: Provenance

    repetitions: int
    """Executions per window."""
    trials: int | None = None
    """Executions with fresh random inputs; the output of each was verified."""
    addresses_equal: bool | None = None
    """Whether all trials accessed the same addresses in the same order; None if not observable."""
    quantities: tuple[Quantity, ...] = ()
    """Sorted by part and name."""
    samples: tuple[Sample, ...] = ()
    notes: tuple[str, ...] = ()
    """Notes needed to judge the numbers, such as inferred constants."""

    def __post_init__(self) -> None:
        in_order = tuple(sorted(self.quantities, key=lambda q: q[:2]))
        object.__setattr__(self, "quantities", in_order)

    @cached_property
    def case(self) -> Case:
        """The measured case; all records of a case share its digest."""
        return Case(subject=self.subject, build=self.build, conditions=self.conditions)

    @property
    def order(self) -> tuple[object, ...]:
        """Sort key of records, independent of when a case was measured."""
        c, b = self.conditions, self.build
        built = (b.compiler, b.optimisation, b.variant) if b is not None else ("", "", "")
        where = (c.board, c.clock, c.runner, c.meter, c.unit)
        return (*where, self.subject.type, self.subject.order, built, c.repetitions)

    @cached_property
    def _by_name(self) -> Mapping[tuple[str, str], Quantity]:
        return {(q.part, q.name): q for q in self.quantities}

    def quantity(self, name: str, part: str = "") -> Quantity | None:
        """Return a quantity; None if it is absent."""
        return self._by_name.get((part, name))

    def value(self, name: str, part: str = "") -> int | float | None:
        """Return a quantity's value; None if it is absent."""
        found = self.quantity(name, part)
        return None if found is None else found.value

    def _whole(self, name: str) -> int | None:
        value = self.value(name)
        return None if value is None else round(value)

    @property
    def cycles(self) -> int | float | None:
        """Cycles of one execution, net of the empty window; a warm one if memories keep state."""
        return self.value("cycles")

    @property
    def cycles_min(self) -> int | float | None:
        """The minimum over all trials."""
        found = self.quantity("cycles")
        return None if found is None else found.lower

    @property
    def cycles_max(self) -> int | float | None:
        """The maximum over all trials."""
        found = self.quantity("cycles")
        return None if found is None else found.upper

    @property
    def instructions(self) -> int | float | None:
        """Instructions of one execution, net of the empty window."""
        return self.value("instructions")

    @property
    def time_ps(self) -> int | None:
        """Time of one execution."""
        return self._whole("time")

    @property
    def energy_gross_nj(self) -> float | None:
        """Energy drawn by the board during one execution."""
        return self.value("energy_gross")

    @property
    def energy_net_nj(self) -> float | None:
        """Energy of one execution minus what the board would have drawn idle in the same time."""
        return self.value("energy_net")

    @property
    def energy_grade(self) -> ResultGrade | None:
        """The weakest grade among the currents that contributed to the energy."""
        found = self.quantity("energy_gross")
        return None if found is None else found.grade

    @property
    def flash_bytes(self) -> int | None:
        """The subject's share of the image."""
        return self._whole("flash")

    @property
    def ram_bytes(self) -> int | None:
        """The subject's context and data, without message buffers."""
        return self._whole("ram")

    @property
    def stack_bytes(self) -> int | None:
        """High-water mark of the stack."""
        return self._whole("stack")

    @property
    def exact(self) -> bool:
        """Whether cycles are deterministic and the same in all trials."""
        found = self.quantity("cycles")
        return found is not None and found.exact

    @property
    def power_states_ps(self) -> dict[str, int]:
        """Time in each power state of the microcontroller in the window."""
        return {
            q.name.removeprefix(IN_STATE): round(q.value)
            for q in self.quantities
            if q.part == MCU and q.name.startswith(IN_STATE)
        }

    @property
    def finding(self) -> Finding | None:
        """What is known of secrets, by trials and by following; None if nothing is.

        An operation on public values, such as a verification, is not judged.
        """
        if isinstance(self.subject, PrimitiveSubject) and self.about.secret_independent is None:
            return "handles none"
        by_trials = self._by_trials()
        decided = self.value(DECIDED)
        if by_trials in DEPENDENT or decided is None:
            return by_trials
        return "secrets decide" if decided else by_trials or "independent of data"

    def _by_trials(self) -> Finding | None:
        cycles = self.quantity("cycles")
        if self.trials is None or self.trials < 2 or cycles is None:
            return None
        if self.addresses_equal is None:
            return None  # On a real board, timer and clock vary regardless of data.
        same = cycles.lower == cycles.upper and self.value("cycles_cold") in {None, cycles.lower}
        if not same and not self.provenance.memories_keep_state:
            return "time depends on data"
        if not self.addresses_equal:
            return "addresses depend on data"
        return "independent of data" if same else "addresses independent of data"

    @property
    def contradicts(self) -> bool:
        """Whether the implementation claims independence of secrets and is found to leak."""
        return self.about.secret_independent is True and self.finding in DEPENDENT


DECIDED = "secrets_decide"
"""Quantity: instructions that leak what a secret decides, found by following it."""
IN_STATE = "in_"
"""Prefix of the quantities that are the time in a power state."""


PrimitiveRecord = Record[PrimitiveSubject]


SubjectT = TypeVar("SubjectT", bound=Subject)


def of_type(records: Iterable[Record[Subject]], kind: type[SubjectT]) -> list[Record[SubjectT]]:
    """Return the records whose subject is of a type."""
    return [r for r in records if isinstance(r.subject, kind)]  # type: ignore[misc]


def of_primitives(records: Iterable[Record[Subject]]) -> list[PrimitiveRecord]:
    """Return the records whose subject is a primitive's operation."""
    return of_type(records, PrimitiveSubject)
