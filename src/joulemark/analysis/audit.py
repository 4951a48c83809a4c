"""Limits of the digits of a published table: a rate and an energy a row, by a meter of steps.

A meter that counts in steps leaves its steps in what is computed from it: rate times energy times
the window's length is a whole number of them. Where it is, the length of the window and the count
of each row are known, and with the count how far each energy can be off. What is printed with few
digits is told apart from what was measured with few.
"""

import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Annotated, Any, Literal

from pydantic import Field

from joulemark.catalogue import datafile
from joulemark.errors import InputError

JOULE = {"Wh": 3600.0, "mWh": 3.6, "uWh": 3.6e-3, "J": 1.0, "mJ": 1e-3, "uJ": 1e-6}
_MIB = 1 << 20
_FAR = 3.5
"""Modified z-score of an outlier (Iglewicz and Hoaglin 1993)."""
_DOUBLED = 2 / 3, 4 / 3
"""A loop that doubles until two thirds of the time are over takes these parts of it."""
Positive = Annotated[float, Field(gt=0)]


class Meter(datafile.DataModel):
    """The smallest step of what was read."""

    step: Positive
    unit: Literal["Wh", "mWh", "uWh", "J", "mJ", "uJ"]


class Lengths(datafile.DataModel):
    """Whole seconds among which the window's length is looked for."""

    least_s: Annotated[int, Field(ge=1)]
    most_s: Annotated[int, Field(ge=1, le=3600)]
    what: str = ""


class Device(datafile.DataModel):
    """A machine of the table."""

    name: str
    clock_hz: Positive
    idle_watt: Positive
    """Less than this it cannot draw."""
    most_watt: Positive
    source: Annotated[str, Field(min_length=1)]


class Pair(datafile.DataModel):
    """The two columns of a machine."""

    device: str
    rate: str
    energy: str


class Floor(datafile.DataModel):
    """The least that a row can take."""

    row: str
    cycles_per_byte: Positive
    source: Annotated[str, Field(min_length=1)]


class Table(datafile.DataModel):
    """A table, and how its rows were measured."""

    section: str
    """Of the study whose columns and rows it has."""
    work: Literal["operations", "doubles"]
    """Rates of operations over the whole window; or of a loop whose calls double."""
    first_bytes: Annotated[int, Field(ge=1)] = 1
    """Of the first call, where they double."""
    at_once: Annotated[int, Field(ge=1)] = 1
    """Operations between two looks at the clock."""
    reciprocal_decimals: Annotated[int, Field(ge=0)] | None = None
    """Decimals of the milliseconds that a rate was made of, where it was made so."""
    columns: Annotated[list[Pair], Field(min_length=1)]


class AuditFile(datafile.DataModel):
    """Input of `joulemark audit`."""

    study: str
    """The file that has the numbers, from this one's folder."""
    meter: Meter
    window: Lengths
    device: Annotated[list[Device], Field(min_length=1)]
    table: Annotated[list[Table], Field(min_length=1)]
    floor: list[Floor] = Field([])


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A row of one machine, as it is printed."""

    table: str
    row: str
    what: str
    device: Device
    rate: Decimal
    """Of operations or MiB in a second."""
    energy_j: float
    """Of an operation or a MiB."""
    energy_quantum_j: float
    """Of its last digit."""
    work: Table
    floor: Floor | None

    @property
    def rate_quantum(self) -> float:
        """Of the rate's last digit."""
        exponent = self.rate.as_tuple().exponent
        assert isinstance(exponent, int)  # noqa: S101
        return 10.0**exponent

    @property
    def rate_part(self) -> float:
        """How far the printed rate can be off, as a fraction."""
        return self.rate_quantum / 2 / float(self.rate)

    @property
    def watt(self) -> float:
        """The power that rate and energy imply."""
        return float(self.rate) * self.energy_j

    @property
    def cycles(self) -> float:
        """Of a byte or an operation, at the machine's clock."""
        each = self.device.clock_hz / float(self.rate)
        return each / _MIB if self.work.work == "doubles" else each


@dataclass(frozen=True, kw_only=True)
class Count:
    """A whole number of the meter's steps that explains a cell."""

    counts: int
    rate: float
    """Before it was rounded, where the count tells it."""
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
    """Of which one is true; none where no whole number of steps explains it."""
    milliseconds: float | None
    """That its rate was made of."""
    impossible: tuple[str, ...]
    outlier: bool
    """Its power is far from that of the others of its machine and table, by more than a count."""

    @property
    def rounding(self) -> float:
        """How far what its rate was made of can be off by its digits, as a fraction."""
        decimals = self.cell.work.reciprocal_decimals
        if self.milliseconds is None or decimals is None:
            return self.cell.rate_part
        return 10.0**-decimals / 2 / self.milliseconds


@dataclass(frozen=True, kw_only=True)
class Audit:
    """Findings on all tables."""

    step: str
    window_s: int | None
    """The length that explains most of the tables of operations; None where none does."""
    whole: int
    """Cells of them that are whole numbers of steps then."""
    tried: int
    by_chance: float
    """Logarithm to 10 of the probability that numbers at random would be as whole."""
    findings: tuple[Finding, ...]

    def of(self, table: str, device: str) -> list[Finding]:
        """Those of one machine in one table."""
        return [f for f in self.findings if (f.cell.table, f.cell.device.name) == (table, device)]


def read(path: Path) -> tuple[AuditFile, list[Cell]]:
    """Read what is to be audited.

    Raises:
        InputError: a file is wrong, or one names what the other has not.
    """
    file = datafile.read(path, AuditFile)
    study = path.parent / file.study
    try:
        # Decimals, since "16.00" says more than 16.
        tables = tomllib.loads(study.read_text(encoding="utf-8"), parse_float=Decimal)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {error}", str(study)) from error
    sections = {s.get("name"): s for s in tables.get("section", [])}
    return file, [cell for table in file.table for cell in _cells(file, table, sections, path)]


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
    """Find the window's length, each cell's counts, and what cannot be."""
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
    """Steps of the meter in a window of operations, and how far they can be from whole ones.

    Rounding moves them, and that the window ends with an operation and not before.
    """
    rate = float(cell.rate)
    counts = rate * cell.energy_j * seconds / step_j
    late = cell.work.at_once / (rate * seconds)
    return counts, counts * (cell.rate_part + cell.energy_quantum_j / 2 / cell.energy_j + late)


def _chance(cells: Sequence[Cell], seconds: float, step_j: float) -> float | None:
    """Logarithm of the chance that all cells are whole; None where one is not."""
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
        # Of so much work the energy of all of it is a whole number of steps, and what is printed
        # was computed with the rounded rate.
        for counts in range(1, int(cell.watt * longest / step_j) + 2):
            true = cell.energy_j * rate * mib / (counts * step_j)
            if abs(true - rate) <= half and shortest <= mib / true <= longest:
                found.add(Count(counts=counts, rate=true, seconds=mib / true))
        mib *= 2
    yield from sorted(found, key=lambda count: abs(count.rate - rate))


def _milliseconds(cell: Cell) -> float | None:
    """The rounded milliseconds that a rate was made of, where there are such."""
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
    """Those that are far off, and farther than one count and its rounding can bring them."""
    middle = median(watts)
    spread = median(abs(w - middle) for w in watts)
    far = max(_FAR * spread / 0.6745, 1.5 * count_w)
    return {i for i, w in enumerate(watts) if abs(w - middle) > far}


def power(findings: Sequence[Finding]) -> tuple[float, float]:
    """Mean and deviation of the powers that rows imply."""
    watts = [finding.cell.watt for finding in findings]
    return fmean(watts), stdev(watts) if len(watts) > 1 else 0.0
