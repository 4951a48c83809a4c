"""Audit the resolution of a published table of rates and energies from a meter with steps.

The steps of a counting meter remain visible in what is computed from it: rate times energy times
the window's length is a whole number of steps. If that holds, the length of the window and the
count of each row follow, and from the count the error bound of each energy. This distinguishes
values printed with few digits from values measured with few.
"""

import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from joulemark.catalogue import datafile
from joulemark.errors import InputError

JOULE = {"Wh": 3600.0, "mWh": 3.6, "uWh": 3.6e-3, "J": 1.0, "mJ": 1e-3, "uJ": 1e-6}
_MIB = 1 << 20
_FAR = 3.5
"""Modified z-score of an outlier (Iglewicz and Hoaglin 1993)."""
_DOUBLED = 2 / 3, 4 / 3
"""A loop that doubles its work until two thirds of the time are over takes a fraction of the time
within these limits."""
_COUNTS_MAX = 10_000_000
"""Most steps of the meter in a window: a table's digits could not tell more from each other."""
Positive = Annotated[float, Field(gt=0)]


class Meter(datafile.DataModel):
    """The smallest step of the meter's display."""

    step: Positive
    unit: Literal["Wh", "mWh", "uWh", "J", "mJ", "uJ"]


class Lengths(datafile.DataModel):
    """Range of whole seconds in which the window's length is searched."""

    least_s: Annotated[int, Field(ge=1)]
    most_s: Annotated[int, Field(ge=1, le=3600)]
    what: str = ""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.least_s > self.most_s:
            raise ValueError("least_s is more than most_s")
        return self


class Device(datafile.DataModel):
    """A machine in the table."""

    name: str
    clock_hz: Positive
    idle_watt: Positive
    """Lower bound of its power."""
    most_watt: Positive
    source: Annotated[str, Field(min_length=1)]


class Pair(datafile.DataModel):
    """The pair of columns of a machine."""

    device: str
    rate: str
    energy: str


class Floor(datafile.DataModel):
    """Lower bound on the cost of a row."""

    row: str
    cycles_per_byte: Positive
    source: Annotated[str, Field(min_length=1)]


class Table(datafile.DataModel):
    """A table, and how its rows were measured."""

    section: str
    """Section of the study that contains its columns and rows."""
    work: Literal["operations", "doubles"]
    """Rates are of operations over the whole window, or of a loop whose calls double in size."""
    first_bytes: Annotated[int, Field(ge=1)] = 1
    """Size of the first call, if calls double."""
    at_once: Annotated[int, Field(ge=1)] = 1
    """Operations between two readings of the clock."""
    reciprocal_decimals: Annotated[int, Field(ge=0)] | None = None
    """Decimals of the milliseconds that rates were computed from, if they were."""
    columns: Annotated[list[Pair], Field(min_length=1)]


class AuditFile(datafile.DataModel):
    """Input of `joulemark audit`."""

    study: str
    """The study file with the numbers, relative to this file's folder."""
    meter: Meter
    window: Lengths
    device: Annotated[list[Device], Field(min_length=1)]
    table: Annotated[list[Table], Field(min_length=1)]
    floor: list[Floor] = Field([])


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A row of one machine, as printed."""

    table: str
    row: str
    what: str
    device: Device
    rate: Decimal
    """Operations or MiB per second."""
    energy_j: float
    """Energy of an operation or a MiB."""
    energy_quantum_j: float
    """Value of its last digit."""
    work: Table
    floor: Floor | None

    @property
    def rate_quantum(self) -> float:
        """Value of the rate's last digit."""
        exponent = self.rate.as_tuple().exponent
        assert isinstance(exponent, int)  # noqa: S101
        return 10.0**exponent

    @property
    def rate_part(self) -> float:
        """Bound on the rounding error of the printed rate, as a fraction."""
        return self.rate_quantum / 2 / float(self.rate)

    @property
    def watt(self) -> float:
        """Power implied by rate and energy."""
        return float(self.rate) * self.energy_j

    @property
    def cycles(self) -> float:
        """Cycles per byte or operation, at the machine's clock."""
        each = self.device.clock_hz / float(self.rate)
        return each / _MIB if self.work.work == "doubles" else each


@dataclass(frozen=True, kw_only=True)
class Count:
    """A whole number of the meter's steps that explains a cell."""

    counts: int
    rate: float
    """The rate before rounding, if the count determines it."""
    seconds: float

    @property
    def part(self) -> float:
        """One step, as a fraction of the reading."""
        return 1 / self.counts


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Findings on a cell."""

    cell: Cell
    counts: tuple[Count, ...]
    """Possible counts, one of which is true; empty if no whole number of steps explains it."""
    milliseconds: float | None
    """The milliseconds that its rate was computed from, if known."""
    impossible: tuple[str, ...]
    outlier: bool
    """Its power is an outlier among its machine's in the table, by more than a count explains."""

    @property
    def rounding(self) -> float:
        """Bound on the rounding error of the milliseconds behind the rate, or of the rate itself.

        It is a fraction.
        """
        decimals = self.cell.work.reciprocal_decimals
        if self.milliseconds is None or decimals is None:
            return self.cell.rate_part
        return 10.0**-decimals / 2 / self.milliseconds


@dataclass(frozen=True, kw_only=True)
class Audit:
    """Findings on all tables."""

    step: str
    window_s: int | None
    """The window's length that best explains all tables of operations; None if none does."""
    whole: int
    """Number of their cells that are whole numbers of steps with this length."""
    tried: int
    by_chance: float
    """Decimal logarithm of the probability that random numbers would be as close to whole."""
    findings: tuple[Finding, ...]

    def of(self, table: str, device: str) -> list[Finding]:
        """Return the findings on one machine in one table."""
        return [f for f in self.findings if (f.cell.table, f.cell.device.name) == (table, device)]


def read(path: Path) -> tuple[AuditFile, list[Cell]]:
    """Read an audit's file and the cells of its study.

    Raises:
        InputError: a file is invalid, or one names something that the other does not have.
    """
    file = datafile.read(path, AuditFile)
    study = path.parent / file.study
    try:
        # Decimal, because "16.00" states more digits than 16.
        tables = tomllib.loads(study.read_text(encoding="utf-8"), parse_float=Decimal)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {error}", str(study)) from error
    sections = {s.get("name"): s for s in tables.get("section", [])}
    cells = [cell for table in file.table for cell in _cells(file, table, sections, path)]
    least_j = max((cell.watt for cell in cells), default=0.0) * file.window.most_s / _COUNTS_MAX
    least = least_j / JOULE[file.meter.unit]
    if file.meter.step < least:
        what = f"a window would have more than {_COUNTS_MAX:,} steps, which no table shows"
        mend = f"give the step of the meter's display, at least {least:.2g} {file.meter.unit}"
        raise InputError(what, f"{path}, key meter.step", mend)
    return file, cells


def _cells(
    file: AuditFile, table: Table, sections: Mapping[str, Any], path: Path
) -> Iterator[Cell]:
    where = f"{path}, table {table.section}"
    section = sections.get(table.section)
    if section is None or "row" not in section:
        mend = f"there are {', '.join(name for name, s in sections.items() if 'row' in s)}"
        raise InputError(f"the study has no table {table.section}", str(path), mend)
    units = {column["name"]: column["unit"] for column in section["column"]}
    devices = {device.name: device for device in file.device}
    floors = {floor.row: floor for floor in file.floor}
    for pair in table.columns:
        if pair.device not in devices:
            raise InputError(f"there is no device {pair.device}", where)
        for name in (pair.rate, pair.energy):
            if name not in units:
                raise InputError(
                    f"there is no column {name}", where, f"there are {', '.join(units)}"
                )
        unit = units[pair.energy].partition("/")[0]
        if unit not in JOULE:
            raise InputError(f"{units[pair.energy]} is no energy", where)
        at = {name: index for index, name in enumerate(units)}
        for row in section["row"]:
            rate, energy = (Decimal(row["values"][at[n]]) for n in (pair.rate, pair.energy))
            if rate <= 0 or energy <= 0:
                raise InputError(f"row {row['id']} has no positive rate and energy", where)
            exponent = energy.as_tuple().exponent
            assert isinstance(exponent, int)  # noqa: S101
            yield Cell(
                table=table.section,
                row=row["id"],
                what=row["what"],
                device=devices[pair.device],
                rate=rate,
                energy_j=float(energy) * JOULE[unit],
                energy_quantum_j=10.0**exponent * JOULE[unit],
                work=table,
                floor=floors.get(row["id"]),
            )


def audit(file: AuditFile, cells: Sequence[Cell]) -> Audit:
    """Find the window's length, each cell's counts, and impossible values."""
    step_j = file.meter.step * JOULE[file.meter.unit]
    timed = [cell for cell in cells if cell.work.work == "operations"]
    window_s, by_chance = None, 0.0
    for seconds in range(file.window.least_s, file.window.most_s + 1):
        chance = _chance(timed, seconds, step_j)
        if chance is not None and chance < by_chance:
            window_s, by_chance = seconds, chance
    findings = []
    for table, device in dict.fromkeys((c.table, c.device.name) for c in cells):
        group = [c for c in cells if (c.table, c.device.name) == (table, device)]
        far = _outliers([c.watt for c in group], 0.0 if window_s is None else step_j / window_s)
        for index, cell in enumerate(group):
            findings.append(
                Finding(
                    cell=cell,
                    counts=() if window_s is None else tuple(_counts(cell, window_s, step_j)),
                    milliseconds=_milliseconds(cell),
                    impossible=tuple(_impossible(cell)),
                    outlier=index in far,
                )
            )
    return Audit(
        step=f"{file.meter.step:g} {file.meter.unit}",
        window_s=window_s,
        whole=sum(bool(f.counts) for f in findings if f.cell in timed),
        tried=len(timed),
        by_chance=by_chance,
        findings=tuple(findings),
    )


def _read_counts(cell: Cell, seconds: float, step_j: float) -> tuple[float, float]:
    """Return the meter's steps in a window of operations, and how far they can be from integers.

    They differ by rounding, and because the window ends only when an operation does.
    """
    rate = float(cell.rate)
    counts = rate * cell.energy_j * seconds / step_j
    late = cell.work.at_once / (rate * seconds)
    return counts, counts * (cell.rate_part + cell.energy_quantum_j / 2 / cell.energy_j + late)


def _chance(cells: Sequence[Cell], seconds: float, step_j: float) -> float | None:
    """Return the logarithm of the chance that all cells are whole; None if one is not."""
    logarithm = 0.0
    for cell in cells:
        counts, rounding = _read_counts(cell, seconds, step_j)
        if abs(counts - round(counts)) > rounding or round(counts) < 1:
            return None
        logarithm += math.log10(min(1.0, 2 * rounding))
    return logarithm


def _counts(cell: Cell, window_s: int, step_j: float) -> Iterator[Count]:
    if cell.work.work == "operations":
        counts, rounding = _read_counts(cell, window_s, step_j)
        whole = round(counts)
        if whole >= 1 and abs(counts - whole) <= rounding:
            yield Count(counts=whole, rate=float(cell.rate), seconds=window_s)
        return
    rate, half = float(cell.rate), cell.rate_quantum / 2
    shortest, longest = (part * window_s for part in _DOUBLED)
    mib = cell.work.first_bytes / _MIB
    found = set()
    while mib <= (rate + half) * longest:
        # The total energy of this much work is a whole number of steps, and the printed energy was
        # computed with the rounded rate.
        for counts in range(1, int(cell.watt * longest / step_j) + 2):
            true = cell.energy_j * rate * mib / (counts * step_j)
            if abs(true - rate) <= half and shortest <= mib / true <= longest:
                found.add(Count(counts=counts, rate=true, seconds=mib / true))
        mib *= 2
    yield from sorted(found, key=lambda count: abs(count.rate - rate))


def _milliseconds(cell: Cell) -> float | None:
    """Return the rounded milliseconds that a rate was computed from; None if there are none."""
    decimals = cell.work.reciprocal_decimals
    if decimals is None:
        return None
    made = round(1000 / float(cell.rate), decimals)
    if made <= 0 or abs(1000 / made - float(cell.rate)) > cell.rate_quantum / 2 * (1 + 1e-9):
        return None
    return made


def _impossible(cell: Cell) -> Iterator[str]:
    device = cell.device
    if cell.watt < device.idle_watt:
        yield f"{cell.watt:.2f} W is less than the {device.idle_watt:g} W of the idle machine"
    if cell.watt > device.most_watt:
        yield f"{cell.watt:.2f} W is more than the {device.most_watt:g} W of its supply"
    if cell.floor is not None and cell.cycles < cell.floor.cycles_per_byte:
        needed = cell.floor.cycles_per_byte * float(cell.rate) * _MIB
        yield f"needs a clock of {needed / 1e6:.0f} MHz, and has {device.clock_hz / 1e6:.0f}"


def _outliers(watts: Sequence[float], count_w: float) -> set[int]:
    """Return indices of outliers that deviate more than a count and its rounding can explain."""
    middle = median(watts)
    spread = median(abs(w - middle) for w in watts)
    far = max(_FAR * spread / 0.6745, 1.5 * count_w)
    return {i for i, w in enumerate(watts) if abs(w - middle) > far}


def power(findings: Sequence[Finding]) -> tuple[float, float]:
    """Return mean and standard deviation of the powers implied by rows."""
    watts = [finding.cell.watt for finding in findings]
    return fmean(watts), stdev(watts) if len(watts) > 1 else 0.0
