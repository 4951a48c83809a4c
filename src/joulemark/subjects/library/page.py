"""Libraries' algorithms as tables: those that take bytes, and those counted in operations."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from joulemark.campaign.estimates import ESTIMATE
from joulemark.records.record import Record
from joulemark.subjects import Subject
from joulemark.subjects.library import LibrarySubject
from joulemark.subjects.library.price import Price, price


@dataclass(frozen=True)
class Row:
    """One operation of an algorithm."""

    title: str
    operation: str
    price: Price


@dataclass(frozen=True)
class Place:
    """A library on a machine, and what its rows were measured with."""

    anchor: str
    machine: str
    library: str
    how: str
    notes: tuple[str, ...]
    tables: tuple[tuple[str, tuple[Row, ...]], ...]
    """By the unit of the rate: `MiB` or `operation`."""
    failed: int


def places(records: Iterable[Record[Subject]]) -> list[Place]:
    """Return the places of all library records."""
    found: dict[tuple[str, str, str], list[Record[LibrarySubject]]] = {}
    for record in records:
        subject, where = record.subject, record.conditions
        if isinstance(subject, LibrarySubject):
            machine = record.provenance.board_title or record.provenance.host
            how = f"{where.runner}, {where.meter}, {where.unit}"
            if where.runner == ESTIMATE:
                how = "estimated, not measured"
            key = (machine, f"{subject.library} {subject.version}", how)
            found.setdefault(key, []).append(record)  # type: ignore[arg-type]
    return [_place(number, *key, found[key]) for number, key in enumerate(sorted(found))]


def _place(
    number: int, machine: str, library: str, how: str, records: list[Record[LibrarySubject]]
) -> Place:
    good = sorted((r for r in records if r.status == "ok"), key=lambda r: r.order)
    rows = [Row(r.about.title, _operation(r), price(r)) for r in good]
    tables = tuple(
        (per, tuple(row for row in rows if row.price.per == per)) for per in ("MiB", "operation")
    )
    # Notes that all of them share.
    common = set.intersection(*(set(r.notes) for r in good)) if good else set()
    return Place(
        anchor=f"library-{number}",
        machine=machine,
        library=library,
        how=how,
        notes=tuple(note for note in (good[0].notes if good else ()) if note in common),
        tables=tuple(table for table in tables if table[1]),
        failed=len(records) - len(good),
    )


def _operation(record: Record[LibrarySubject]) -> str:
    size = record.subject.message_bytes
    return f"{record.subject.operation}, {size} B a call" if size else record.subject.operation


def line(record: Record[LibrarySubject]) -> str:
    """Return a row's price in words."""
    found = price(record)
    text = f"{record.subject}: {found.per_second:,.2f} {found.per}/s"
    if found.gross_uwh is not None:
        text += f", {found.gross_uwh:.4g} µWh/{found.per} gross"
    return text


def tables(
    records: Sequence[Record[LibrarySubject]],
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the tables: algorithms that take bytes, then those counted in operations."""
    ordered = sorted(records, key=lambda record: record.order)
    for per, cycles in (("MiB", "cycles/B"), ("operation", "cycles")):
        some = [r for r in ordered if bool(r.subject.message_bytes) == (per == "MiB")]
        if some:
            yield f"Price of a {per}", [_row(record, per, cycles) for record in some]


def _row(record: Record[LibrarySubject], per: str, cycles: str) -> dict[str, Any]:
    subject, found = record.subject, price(record)
    row: dict[str, Any] = {
        "library": f"{subject.library} {subject.version}",
        "algorithm": subject.algorithm,
        "operation": subject.operation,
        f"{per}/s": found.per_second,
        cycles: found.cycles,
    }
    if found.gross_uj is None:
        return row
    return row | {
        f"µWh/{per}": found.gross_uwh,
        f"µJ/{per}": found.gross_uj,
        "±": None if found.half_width is None else f"{found.half_width:.1%}",
        f"net µJ/{per}": found.net_uj,
    }
