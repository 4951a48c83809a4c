"""Records of any subject as lines and tables: those of its `page.py`, or the usual columns."""

import importlib.util
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from joulemark import subjects
from joulemark.records import bounds
from joulemark.records.record import Record
from joulemark.subjects import Subject


class Table(NamedTuple):
    """A table of some records."""

    title: str
    rows: Sequence[Mapping[str, Any]]
    """They have the same columns."""
    errors: Sequence[str] = ()
    """How far its figures may be off, and those of the tables before it that say nothing."""


def tables(records: Sequence[Record[Subject]]) -> Iterator[Table]:
    """Yield the tables of good records, type by type."""
    ordered = sorted(records, key=lambda r: (r.subject.type, r.order))
    for name, group in itertools.groupby(ordered, lambda record: record.subject.type):
        some = list(group)
        found = [Table(*one) for one in _of_page(name, "tables", _usual)(some)]
        if found and not found[-1].errors:
            found[-1] = found[-1]._replace(errors=bounds.lines(map(bounds.of_record, some)))
        yield from found


def line(record: Record[Subject]) -> str:
    """Return the outcome of a case in a line."""
    if record.status == "failed":
        return f"{record.subject}: failed: {record.failure}"
    text: str = _of_page(record.subject.type, "line", _usual_line)(record)
    return text


def _of_page(name: str, function: str, otherwise: Any) -> Any:
    """Return a function of a type's page, or the usual one."""
    if importlib.util.find_spec(f"{subjects.__name__}.{name}.page") is None:
        return otherwise
    return getattr(subjects.module(name, "page"), function, otherwise)


def _usual(records: Sequence[Record[Subject]]) -> Iterator[Table]:
    for title, some in itertools.groupby(records, lambda record: record.about.group):
        rows = [usual(record) for record in some]
        used = [name for name in rows[0] if any(row[name] not in (None, "") for row in rows)]
        yield Table(title, [{name: row[name] for name in used} for row in rows])


def _usual_line(record: Record[Subject]) -> str:
    cells = [f"{name} {value:,.6g}" for name, value in _numbers(record).items() if value]
    return f"{record.case}: {', '.join(cells)}"


def usual(record: Record[Subject]) -> dict[str, Any]:
    """Return a record's row with the usual columns."""
    where = record.conditions
    return {
        "what": str(record.subject),
        "board": where.board,
        "clock": where.clock,
        "build": str(record.build or ""),
    } | _numbers(record)


def _numbers(record: Record[Subject]) -> dict[str, float | None]:
    time_ps, gross_nj = record.time_ps, record.energy_gross_nj
    return {
        "cycles": record.cycles,
        "ms": None if time_ps is None else time_ps / 1e9,
        "µJ": None if gross_nj is None else gross_nj / 1e3,
        "flash B": record.flash_bytes,
        "RAM B": record.ram_bytes,
        "stack B": record.stack_bytes,
    }
