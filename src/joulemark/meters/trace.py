"""Read traces recorded elsewhere: CSV with a header, LabVIEW .lvm, PPK2, Joulescope.

Columns are identified by their names and units. If that is ambiguous or impossible, an error says
what to state; nothing is guessed. LabVIEW's format: National Instruments, "Specification for the
LabVIEW Measurement File (.lvm)".
"""

import csv
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import numpy.typing as npt

from joulemark.errors import InputError
from joulemark.meters.options import Option, StatedAccuracy
from joulemark.meters.samples import Accuracy, Samples, check

Floats = npt.NDArray[np.float64]

# By a unit's symbol: the quantity that it measures, and its size.
_UNITS = {
    **{f"{p}a": ("current", s) for p, s in {"": 1.0, "m": 1e-3, "u": 1e-6, "n": 1e-9}.items()},
    **{f"{p}s": ("time", s) for p, s in {"": 1.0, "m": 1e-3, "u": 1e-6, "n": 1e-9}.items()},
    **{f"{p}v": ("voltage", s) for p, s in {"": 1.0, "m": 1e-3}.items()},
}
_WORDS = {"time": "time", "timestamp": "time", "current": "current", "voltage": "voltage"}
_HEADER_UNIT = re.compile(r"^(?P<name>.*?)\s*[(\[]\s*(?P<unit>[^)\]]+?)\s*[)\]]\s*$")
_DIGITAL = re.compile(r"^d0$", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Choice:
    """Facts that the user states because the file does not.

    Args:
        supply_v: supply voltage at the board.
        accuracy: bound on the error of the recording meter, as a fraction of the reading.
        time: name of the column of times.
        current: name of the column of currents.
        time_unit: unit of the times, if the column's name does not state it.
        current_unit: unit of the currents, if the column's name does not state it.
    """

    supply_v: float
    accuracy: StatedAccuracy
    time: Annotated[str | None, Option("--time-column", "Name of the column of times.", "t")] = None
    current: Annotated[
        str | None, Option("--current-column", "Name of the column of currents.", "board")
    ] = None
    time_unit: Annotated[
        str | None, Option("--time-unit", "Unit of the times: s, ms, us, ns.", "ms")
    ] = None
    current_unit: Annotated[
        str | None, Option("--current-unit", "Unit of the currents: A, mA, uA, nA.", "uA")
    ] = None


@dataclass(frozen=True)
class _Table:
    where: str
    header: list[str]
    rows: list[list[str]]
    first_line: int
    decimal: str = "."
    interval_s: float | None = None
    """Sampling interval, if the file states it instead of times."""


def read(path: Path, choice: Choice) -> Samples:
    """Read a trace.

    Args:
        path: the file.
        choice: facts that the file does not state.

    Raises:
        InputError: the file cannot be read, is cut short or is ambiguous; the error names the file
            and, if there is one, the line, and says what to state.
    """
    table = _read_table(path)
    where = str(path)
    current = _column(table, "current", choice.current)
    current_a = _numbers(table, current) * _scale(table, current, "current", choice.current_unit)
    if table.interval_s is not None:
        start_s = np.arange(len(current_a), dtype=np.float64) * table.interval_s
    else:
        time = _column(table, "time", choice.time)
        start_s = _numbers(table, time) * _scale(table, time, "time", choice.time_unit)
    if len(start_s) < 2:
        raise InputError(f"{len(start_s)} samples are no trace", where)
    steps = np.diff(start_s)
    back = np.flatnonzero(steps <= 0)
    if len(back):
        line = table.first_line + int(back[0]) + 1
        raise InputError("time does not go on", f"{where}, line {line}", "sort or cut the file")
    marker = next((name for name in table.header if _DIGITAL.match(name)), "")
    samples = Samples(
        start_s,
        current_a,
        float(np.median(steps)),
        choice.supply_v,
        Accuracy(choice.accuracy, 0.0),
        edges_s=_edges(table, marker, start_s),
        marker=marker,
        where=where,
    )
    check(samples)
    return samples


def _read_table(path: Path) -> _Table:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", str(path)) from error
    except UnicodeDecodeError as error:
        raise InputError("is not text", str(path), "export it as CSV or .lvm") from error
    lines = text.splitlines()
    if not lines:
        raise InputError("is empty", str(path))
    if lines[0].startswith("LabVIEW Measurement"):
        table = _labview(path, lines)
    else:
        table = _csv(path, lines)
    for number, row in enumerate(table.rows):
        if len(row) < len(table.header):
            raise InputError(
                f"is cut short: {len(row)} of {len(table.header)} columns",
                f"{path}, line {table.first_line + number}",
                "export it again",
            )
    if not text.endswith("\n"):
        raise InputError(
            "is cut short: its last line does not end", f"{path}, line {len(lines)}", "export again"
        )
    return table


def _csv(path: Path, lines: list[str]) -> _Table:
    """Parse CSV with column names in the last line before the numbers, which may begin with #."""

    def split(line: str) -> list[str]:
        separator = max("\t;,", key=line.count)
        try:
            return next(csv.reader([line.lstrip("# ")], delimiter=separator), [])
        except csv.Error as error:
            mend = "export it as CSV, one line a sample"
            raise InputError(f"is no CSV: {error}", str(path), mend) from error

    start = next(
        (i for i, line in enumerate(lines) if line.strip() and all(map(_is_number, split(line)))),
        len(lines),
    )
    names = [i for i, line in enumerate(lines[:start]) if line.strip()]
    if not names:
        raise InputError(
            "has no line of column names",
            f"{path}, line 1",
            "put one before the numbers, such as time (s),current (mA)",
        )
    header = [name.strip() for name in split(lines[names[-1]])]
    if start == len(lines):
        # No line consists of numbers only: take the first line as names, so that later checks find
        # out why.
        header, start = [name.strip() for name in split(lines[names[0]])], names[0] + 1
    return _Table(str(path), header, [split(line) for line in lines[start:]], start + 1)


def _labview(path: Path, lines: list[str]) -> _Table:
    """Parse .lvm: a header of tags and values, a header of the segment, then the data."""
    ends = [i for i, line in enumerate(lines) if line.startswith("***End_of_Header***")]
    if len(ends) < 2 or ends[1] + 1 == len(lines):
        raise InputError("is cut short: it ends in its header", str(path), "export it again")
    if len(ends) > 2:
        raise InputError(
            f"has {len(ends) - 1} segments",
            str(path),
            "keep one: a run is one segment",
        )
    separator = "\t"
    tags: dict[str, list[str]] = {}
    for line in lines[1 : ends[1]]:
        if line.startswith("Separator"):
            separator = {"Tab": "\t", "Comma": ","}.get(line[len("Separator") + 1 :].strip(), "\t")
        name, *values = [part.strip() for part in line.split(separator)]
        tags[name] = values
    decimal = (tags.get("Decimal_Separator") or ["."])[0]
    header = [name.strip() for name in lines[ends[1] + 1].split(separator)]
    rows = [line.split(separator) for line in lines[ends[1] + 2 :] if line.strip()]
    if header and header[-1] == "Comment":
        header = header[:-1]
        rows = [row[: len(header)] for row in rows]
    units = tags.get("Y_Unit_Label", [])
    no_x = (tags.get("X_Columns") or ["One"])[0] == "No"
    first = 1
    named = [
        f"{name} ({unit})" if unit and not _HEADER_UNIT.match(name) else name
        for name, unit in zip(header[first:], [*units, *[""] * len(header)], strict=False)
    ]
    if no_x:
        delta = (tags.get("Delta_X") or [""])[0].replace(decimal, ".")
        if not _is_number(delta):
            raise InputError("neither times nor Delta_X are in it", str(path))
        return _Table(str(path), ["", *named], rows, ends[1] + 3, decimal, interval_s=float(delta))
    # The X axis of a LabVIEW waveform is in seconds (X_Dimension Time).
    dimension = (tags.get("X_Dimension") or [""])[0]
    x_name = "time (s)" if dimension == "Time" else header[0]
    return _Table(str(path), [x_name, *named], rows, ends[1] + 3, decimal)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _parts(name: str) -> tuple[str, str | None]:
    """Split a column's name into the name without its unit, and the unit."""
    match = _HEADER_UNIT.match(name)
    if match:
        return match["name"], match["unit"]
    return name, None


def _unit(symbol: str) -> tuple[str, float] | None:
    # Unicode has two signs for micro. M is mega, which no trace uses, not milli.
    plain = symbol.strip().replace("\N{MICRO SIGN}", "u").replace("\N{GREEK SMALL LETTER MU}", "u")
    return None if plain.startswith("M") else _UNITS.get(plain.lower())


def _measures(name: str) -> str | None:
    """Return the quantity in a column, by its unit or else by its name."""
    plain, unit = _parts(name)
    known = _unit(unit) if unit else None
    if known:
        return known[0]
    return _WORDS.get(plain.strip().lower())


def _column(table: _Table, what: str, chosen: str | None) -> int:
    if chosen is not None:
        found = [i for i, name in enumerate(table.header) if chosen in (name, _parts(name)[0])]
        if len(found) != 1:
            raise InputError(
                f"{len(found)} columns are called {chosen!r}",
                table.where,
                f"the columns are {', '.join(map(repr, table.header))}",
            )
        return found[0]
    found = [i for i, name in enumerate(table.header) if _measures(name) == what]
    if len(found) == 1:
        return found[0]
    names = ", ".join(repr(table.header[i]) for i in found)
    raise InputError(
        f"{len(found)} columns could be the {what}: {names}" if found else f"no column is a {what}",
        table.where,
        f"give --{what}-column; the columns are {', '.join(map(repr, table.header))}",
    )


def _scale(table: _Table, column: int, what: str, chosen: str | None) -> float:
    name = table.header[column]
    stated = _parts(name)[1]
    symbol = chosen or stated
    if symbol is None:
        raise InputError(
            f"the unit of column {name!r} is not known", table.where, f"give --{what}-unit"
        )
    known = _unit(symbol)
    if known is None or known[0] != what:
        units = ", ".join(u for u, (kind, _) in _UNITS.items() if kind == what)
        raise InputError(
            f"column {name!r} is in {symbol}, which is no unit of {what}",
            table.where,
            f"units are {units}",
        )
    if chosen and stated and _unit(stated) != known:
        raise InputError(
            f"column {name!r} says {stated}, and {chosen} was given", table.where, "leave one out"
        )
    return known[1]


def _numbers(table: _Table, column: int) -> Floats:
    result = np.empty(len(table.rows))
    for i, row in enumerate(table.rows):
        text = row[column].strip()
        try:
            value = float(text.replace(table.decimal, ".") if table.decimal != "." else text)
        except ValueError:
            value = float("nan")
        if not np.isfinite(value):
            raise InputError(
                f"{text!r} is not a number",
                f"{table.where}, line {table.first_line + i}",
                "the run has to be measured again, or cut before it",
            )
        result[i] = value
    return result


def _edges(table: _Table, marker: str, start_s: Floats) -> tuple[float, ...]:
    """Return the edges of the digital input D0, which is a column in exports of the PPK2."""
    if not marker:
        return ()
    level = _numbers(table, table.header.index(marker)) > 0.5
    changes = np.flatnonzero(np.diff(level.astype(np.int8))) + 1
    return tuple(float(t) for t in start_s[changes])
