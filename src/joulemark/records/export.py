"""Export records to files for other tools: CSV, JSON and Parquet.

In the flat form a record is a row and each quantity a column. In the long form each quantity is a
row with its record's key.
"""

import io
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from joulemark.errors import InputError
from joulemark.records import bounds, tables
from joulemark.records.record import Quantity, Record
from joulemark.records.store import Store
from joulemark.subjects import Subject
from joulemark.wholefile import write_whole

if TYPE_CHECKING:
    import pandas as pd

Format = Literal["csv", "json", "parquet", "customSmallerIsBetter", "bencher"]

_ALWAYS = (
    *("cycles", "cycles_min", "cycles_max", "window_cycles", "empty_cycles"),
    *("instructions", "window_instructions", "empty_instructions"),
    *("time_ps", "timer_time_ps"),
    *("energy_gross_nj", "energy_gross_half_width_nj"),
    *("energy_net_nj", "energy_net_half_width_nj"),
    *("flash_bytes", "ram_bytes", "flash_wiring_bytes", "ram_wiring_bytes"),
    *("stack_bytes", "stack_painted_bytes"),
)
"""Columns that are present even if no record has the quantity."""
_NESTED = ("samples", "notes")
_NOT_TEXT = ("=", "@", "+", "\t", "\r")
"""Characters that start a formula in a spreadsheet, or that it skips before one."""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Control characters other than a tab and the end of a line."""


def export(
    store: Store, form: Format, path: Path | None, *, history: bool = False, long: bool = False
) -> int:
    """Write records to a file or to standard output.

    Args:
        store: the store of the records.
        form: format of the file. In CSV and Parquet, samples and notes are JSON text; in CSV, text
            that a spreadsheet would take for a formula is prefixed with an apostrophe, and control
            characters, which a terminal would obey, are escaped.
        path: the file, which appears whole or not at all; None for standard output.
        history: all records instead of the last one of each case.
        long: one row per quantity instead of per record.

    Returns:
        The number of rows.

    Raises:
        InputError: the file cannot be written.
    """
    records = store.records(history=history)
    if form in {"customSmallerIsBetter", "bencher"}:
        good = [r for r in records if r.status == "ok"]
        whole = _for_action(good) if form == "customSmallerIsBetter" else _for_bencher(good)
        data, count = f"{json.dumps(whole, indent=1, ensure_ascii=False)}\n".encode(), len(whole)
    else:
        frame = long_frame(records) if long else flat_frame(records)
        data, count = _encoded(frame, form), len(frame)
    if path is not None:
        write_whole(path, data, "the export")
        return count
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", "standard output") from error
    return count


_TRACKED = ("cycles", "time", "energy_net", "energy_gross", "flash", "ram", "stack")
"""Quantities that services keep: of each less is better."""


def _tracked(records: Sequence[Record[Subject]]) -> Iterator[tuple[str, Quantity, str]]:
    """Yield the case's name, a quantity, and how far it may be off."""
    for record in records:
        where, build = record.conditions, f" {record.build}" if record.build else ""
        name = f"{record.subject}{build}, {where.board} {where.clock}"
        for quantity in (record.quantity(one) for one in _TRACKED):
            if quantity is not None:
                yield name, quantity, bounds.of_quantity(record, quantity)


def _for_action(records: Sequence[Record[Subject]]) -> list[dict[str, Any]]:
    """Return what github-action-benchmark takes as customSmallerIsBetter."""
    found = []
    for name, q, error in _tracked(records):
        one = {"name": f"{name}: {q.name.replace('_', ' ')}", "unit": q.unit, "value": q.value}
        if q.lower is not None and q.lower != q.upper:
            one["range"] = f"{q.lower:.10g} to {q.upper:.10g}"
        found.append({**one, "extra": error})
    return found


def _for_bencher(records: Sequence[Record[Subject]]) -> dict[str, dict[str, Any]]:
    """Return Bencher's metric format; its measures are named after quantity and unit."""
    found: dict[str, dict[str, Any]] = {}
    for name, q, _ in _tracked(records):
        metric = {"value": q.value}
        if q.lower is not None and q.upper is not None and q.lower != q.upper:
            metric |= {"lower_value": q.lower, "upper_value": q.upper}
        unit = "" if q.unit == q.name else f"-{q.unit.lower()}"
        found.setdefault(name, {})[f"{q.name.replace('_', '-')}{unit}"] = metric
    return found


def _encoded(frame: "pd.DataFrame", form: Format) -> bytes:
    import pandas as pd

    if form == "json":
        text = frame.to_json(orient="records", indent=1, force_ascii=False, double_precision=15)
        return text.encode()
    for name in frame.select_dtypes("object"):
        texts = [None if v is None else json.dumps(v, ensure_ascii=False) for v in frame[name]]
        frame[name] = pd.array(texts, dtype="string")
    if form == "csv":
        for name in frame.select_dtypes("string"):
            formula = frame[name].str.startswith(_NOT_TEXT, na=False)
            frame.loc[formula, name] = "'" + frame.loc[formula, name]
            # The csv module does not quote a carriage return, which ends a line for readers.
            plain = frame[name].str.replace("\r", "\n")
            frame[name] = plain.str.replace(_CONTROL, _escaped, regex=True)
        # A count in a column with gaps is a float for pandas; doubles hold 15 digits.
        return frame.to_csv(index=False, float_format="%.15g").encode()
    buffer = io.BytesIO()
    frame.to_parquet(buffer, index=False)
    return buffer.getvalue()


def _escaped(control: re.Match[str]) -> str:
    return f"\\x{ord(control[0]):02x}"


def flat_frame(records: Sequence[Record[Subject]]) -> "pd.DataFrame":
    """Return one row per record, with a column for each value and quantity."""
    import pandas as pd

    rows = [{**_described(r), **dict(_flat(r))} for r in records]
    names = dict.fromkeys([*(name for row in rows for name in row), *_ALWAYS])
    columns = {name: _column([row.get(name) for row in rows]) for name in names}
    nested = {name: columns.pop(name, []) for name in _NESTED}
    return pd.DataFrame(columns | nested)


def _column(values: list[Any]) -> Any:
    """Return values with their own type; integers stay integers if some records lack a value."""
    import pandas as pd

    kinds = {type(value) for value in values} - {type(None)}
    if kinds & {list, tuple, dict}:
        return pd.Series(values, dtype="object")
    numbers = "Int64" if kinds == {int} else "Float64"
    dtype: Any = (
        {str: "string", bool: "boolean"}.get(next(iter(kinds)), numbers) if kinds else "Float64"
    )
    return pd.array(values, dtype=dtype)


def long_frame(records: Sequence[Record[Subject]]) -> "pd.DataFrame":
    """Return one row per quantity, with its record's key, subject and conditions."""
    import pandas as pd

    kept = ("key", "case_digest", "measured_at", "board", "clock", "runner", "meter", "unit")
    columns = [n for n in kept if n != "unit"]
    columns += ["specimen", "subject", "build", *Quantity._fields, "error"]
    rows: dict[str, list[Any]] = {name: [] for name in columns}
    for record in records:
        described = _described(record)
        head = {name: described[name] for name in kept} | {
            "specimen": described["unit"],
            "subject": str(record.subject),
            "build": str(record.build or ""),
        }
        for quantity in record.quantities:
            for name, value in {
                **head,
                **quantity._asdict(),
                "error": bounds.of_quantity(record, quantity),
            }.items():
                rows[name].append(value)
    return pd.DataFrame({name: _column(values) for name, values in rows.items()})


def _described(record: Record[Subject]) -> dict[str, Any]:
    row = tables.record_row(record)
    tagged = row.pop("subject")
    row.pop("timing_note")
    return {
        **{name: row.pop(name) for name in ("key", "case_digest", "measured_at")},
        **{name: row.pop(name) for name in ("status", "failure", "board", "clock", "chip")},
        "subject_type": tagged["type"],
        "subject": str(record.subject),
        **{name: value for name, value in tagged.items() if name != "type"},
        **row,
        "exact": record.exact if record.quantities else None,
        "energy_grade": record.energy_grade,
        "time_error": bounds.of_time(record) if record.quantities else None,
        "energy_error": bounds.of_energy(record) or None,
    }


def _flat(record: Record[Subject]) -> Iterator[tuple[str, int | float]]:
    for quantity in record.quantities:
        yield quantity.column(), quantity.value
        if quantity.half_width is not None:
            yield quantity.column("half_width"), quantity.half_width
        elif quantity.lower is not None and quantity.upper is not None:
            yield quantity.column("min"), quantity.lower
            yield quantity.column("max"), quantity.upper
