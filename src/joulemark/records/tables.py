"""The tables of a results store, and conversion between records and rows."""

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, get_args

import sqlalchemy as sa
from pydantic import TypeAdapter

from joulemark import subjects
from joulemark.campaign.case import Build, Conditions
from joulemark.campaign.job import LOCAL
from joulemark.catalogue.boards import Grade
from joulemark.records.record import (
    Bounds,
    Provenance,
    Quantity,
    Record,
    Sample,
    Status,
    number,
)
from joulemark.subjects import About, Subject

SCHEMA_VERSION = 5

metadata = sa.MetaData()


class _Number(sa.types.UserDefinedType[int | float]):
    """An exact integer or float of any size: SQLite's columns and NUMERIC hold both."""

    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        return "NUMERIC"

    def bind_processor(self, dialect: sa.Dialect) -> Any:
        if dialect.name == "sqlite":
            return None
        return lambda value: None if value is None else Decimal(repr(value))

    def result_processor(self, dialect: sa.Dialect, coltype: object) -> Any:
        def number_of(value: Any) -> int | float | None:
            if value is None or type(value) is int:
                return value
            if isinstance(value, float):
                return number(value)
            if isinstance(value, Decimal):
                whole = value == value.to_integral_value() and abs(value) < 2**63
                return int(value) if whole else float(value)
            raise ValueError(f"{value!r} is not a number")

        return number_of


def _optional(name: str, kind: Any) -> sa.Column[Any]:
    return sa.Column(name, kind, nullable=True)


def _needed(name: str, kind: Any, *, index: bool = False) -> sa.Column[Any]:
    return sa.Column(name, kind, nullable=False, index=index)


records = sa.Table(
    "records",
    metadata,
    sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), primary_key=True),
    _needed("key", sa.String, index=True),
    _needed("case_digest", sa.String, index=True),
    _needed("measured_at", sa.String),
    _needed("status", sa.String),
    _optional("failure", sa.String),
    # Subject
    _needed("subject", sa.JSON),
    _needed("title", sa.String),
    _needed("subject_group", sa.String),
    _needed("main", sa.Boolean),
    _needed("baseline", sa.Boolean),
    _optional("subject_status", sa.String),
    _optional("security_bits", sa.BigInteger),
    _optional("secret_independent_claim", sa.Boolean),
    _optional("one_time_key", sa.Boolean),
    # Build
    _optional("compiler", sa.String),
    _optional("optimisation", sa.String),
    _optional("variant", sa.String),
    # Conditions
    _needed("board", sa.String),
    _needed("clock", sa.String),
    _needed("runner", sa.String),
    _needed("meter", sa.String),
    _needed("unit", sa.String),
    _needed("repetitions_asked", sa.BigInteger),
    # Provenance
    *(
        _needed(name, kind)
        for name, kind in (
            ("seed", sa.BigInteger),
            ("host", sa.String),
            ("clock_hz", sa.BigInteger),
            ("chip", sa.String),
            ("board_title", sa.String),
            ("board_digest", sa.String),
            ("chip_digest", sa.String),
            ("timing_note", sa.String),
        )
    ),
    _optional("memories_keep_state", sa.Boolean),
    _optional("compiler_version", sa.String),
    _optional("flags", sa.String),
    _optional("image_digest", sa.String),
    _optional("build_id", sa.String),
    _optional("project_commit", sa.String),
    _optional("engine_version", sa.String),
    # Result
    _needed("repetitions", sa.BigInteger),
    _optional("trials", sa.BigInteger),
    _optional("addresses_equal", sa.Boolean),
    _optional("finding", sa.String),
    _needed("samples", sa.JSON),
    _needed("notes", sa.JSON),
)
quantities = sa.Table(
    "quantities",
    metadata,
    sa.Column("record", sa.ForeignKey(records.c.id), primary_key=True),
    sa.Column("part", sa.String, primary_key=True),
    sa.Column("name", sa.String, primary_key=True),
    _needed("unit", sa.String),
    _needed("value", _Number),
    _optional("lower", _Number),
    _optional("upper", _Number),
    _optional("bounds", sa.String),
    _optional("grade", sa.String),
    _needed("exact", sa.Boolean),
    sqlite_with_rowid=False,
)
schema = sa.Table("joulemark_schema", metadata, sa.Column("version", sa.Integer, nullable=False))

_ABOUT = {
    "group": "subject_group",
    "status": "subject_status",
    "secret_independent": "secret_independent_claim",
}
"""Columns whose names differ from those in a record's part."""
_CONDITIONS = {"repetitions": "repetitions_asked"}
_SAMPLES = TypeAdapter(tuple[Sample, ...])
_NOTES = TypeAdapter(tuple[str, ...])
_KINDS: Mapping[type, tuple[type, ...]] = {
    sa.String: (str,),
    sa.BigInteger: (int,),
    sa.Boolean: (bool,),
}
_EXPECTED = [
    (c.name, (*kinds, type(None)) if c.nullable else kinds)
    for c in records.c
    if (kinds := _KINDS.get(type(c.type))) is not None and c.name != "id"
]
_UNIT = re.compile(r"(?:[pnµumkMG]?(?:s|Hz|J|W|A|V|B|bit)(?:/s)?)|[a-z_]+s|")
"""Units of what is measured, or the plural of what is counted; empty for a ratio."""
_DIFFERS = re.compile(r"[pnµumkMG]?[JWAVB]")
"""Units of values that may be negative: net of idle, or by the difference of two images."""
_STATUSES = {*get_args(Status)}
_BOUNDS = {None, *get_args(Bounds)}
_GRADES = {None, *get_args(Grade), "estimated"}


def _names(kind: Any, renamed: Mapping[str, str]) -> list[tuple[str, str]]:
    return [(f.name, renamed.get(f.name, f.name)) for f in dataclasses.fields(kind)]


_PARTS = {
    "about": (About, _names(About, _ABOUT)),
    "conditions": (Conditions, _names(Conditions, _CONDITIONS)),
    "provenance": (Provenance, _names(Provenance, {})),
}
_BUILD = _names(Build, {})
_OWN = ("key", "measured_at", "status", "failure", "repetitions", "trials", "addresses_equal")


def record_row(record: Record[Subject]) -> dict[str, Any]:
    """Convert a record to a row of `records`."""
    row = {name: getattr(record, name) for name in _OWN}
    for part, (_, names) in _PARTS.items():
        row |= {column: getattr(getattr(record, part), name) for name, column in names}
    row |= {column: getattr(record.build, name, None) for name, column in _BUILD}
    return row | {
        "case_digest": record.case.digest,
        "subject": record.subject.tagged,
        "finding": record.finding,
        "samples": [dict(s) for s in record.samples],
        "notes": list(record.notes),
    }


def quantity_rows(record: Record[Subject], identity: int) -> list[dict[str, Any]]:
    """Convert a record's quantities to rows of `quantities`."""
    return [{"record": identity, **q._asdict()} for q in record.quantities]


def record(row: Mapping[Any, Any], found: Sequence[Quantity]) -> Record[Subject]:
    """Convert a row and its quantities to a record.

    Raises:
        ValueError: the row holds a value that is invalid in a record; the error names both.
    """
    try:
        made = _record(row, found)
        refuse_impossible(made)
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(f"record {row['id']}: {str(error).splitlines()[0]}") from error
    return made


def refuse_impossible(record: Record[Subject]) -> None:
    """Check a record for values that nothing can have.

    Raises:
        ValueError: there is one; the error names its column.
    """
    varies = record.conditions.runner == LOCAL
    for name, value, least in (
        ("clock_hz", record.provenance.clock_hz, 0 if varies else 1),
        ("repetitions", record.repetitions, 1),
        ("trials", record.trials, 1),
    ):
        if value is not None and value < least:
            raise ValueError(f"{name} is {value}")
    if not _is_utc(record.measured_at):
        raise ValueError(f"measured_at is {record.measured_at!r}")
    for q in record.quantities:
        if not _UNIT.fullmatch(q.unit):
            raise ValueError(f"unit of {q.part or 'the whole'} {q.name} is {q.unit!r}")
        if q.value < 0 and not _DIFFERS.fullmatch(q.unit):
            raise ValueError(f"value of {q.part or 'the whole'} {q.name} is {q.value} {q.unit}")


def _is_utc(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).utcoffset() == timedelta(0)
    except ValueError:
        return False


def _record(row: Mapping[Any, Any], found: Sequence[Quantity]) -> Record[Subject]:
    for name, kinds in _EXPECTED:
        if type(row[name]) not in kinds:
            raise ValueError(f"{name} is {row[name]!r}")
    if row["status"] not in _STATUSES:
        raise ValueError(f"status is {row['status']!r}")
    parts = {
        part: kind(**{name: row[column] for name, column in names})
        for part, (kind, names) in _PARTS.items()
    }
    built = {name: row[column] for name, column in _BUILD}
    return Record(
        **{name: row[name] for name in _OWN},
        **parts,
        subject=subjects.subject(row["subject"]),
        build=None if built["compiler"] is None else Build(**built),
        samples=_SAMPLES.validate_python(row["samples"]),
        notes=_NOTES.validate_python(row["notes"]),
        quantities=tuple(found),
    )


def quantity(row: Sequence[Any]) -> Quantity:
    """Convert a row without its record's id to a quantity.

    Raises:
        ValueError: the row holds a value that is invalid in a quantity.
    """
    made = Quantity(*row)
    texts = type(made.part) is str and type(made.name) is str and type(made.unit) is str
    if not texts or made.value is None or made.bounds not in _BOUNDS or made.grade not in _GRADES:
        raise ValueError(f"quantity {made!r}")
    return made


QUANTITY = [quantities.c[name] for name in Quantity._fields]


def by_record(rows: Iterable[Sequence[Any]]) -> dict[int, list[Quantity]]:
    """Group rows of quantities, which start with their record's id, by record."""
    result: dict[int, list[Quantity]] = {}
    for row in rows:
        try:
            result.setdefault(row[0], []).append(quantity(row[1:]))
        except ValueError as error:
            raise ValueError(f"record {row[0]}: {error}") from error
    return result
