"""Images as a table of runs, and one of their costliest functions."""

from collections.abc import Iterator, Sequence
from typing import Any

from joulemark.records.record import Record
from joulemark.report.rows import Table, usual
from joulemark.subjects.image import ImageSubject

MOST_FUNCTIONS = 15
"""Functions in a table, those that take the most energy."""


def tables(records: Sequence[Record[ImageSubject]]) -> Iterator[Table]:
    """Yield the tables."""
    unknown = ("build", "flash B", "RAM B")
    rows = [usual(one) | {"wake-ups": one.value("wake_ups")} for one in records]
    yield Table("Images", [{k: v for k, v in row.items() if k not in unknown} for row in rows])
    for record in records:
        where = f"{record.subject} on {record.conditions.board}"
        if rows := list(_parts(record)):
            yield Table(f"Parts of {where}", rows)
        if rows := list(_threads(record)):
            yield Table(f"Threads of {where}", rows)
        parts = {q.part for q in record.quantities if q.part.startswith("function ")}
        rows = [_row(record, part) for part in parts]
        rows.sort(key=lambda row: (-(row["µJ"] or 0), -(row["cycles"] or 0), row["function"]))
        if rows:
            if all(row["stack B"] is None for row in rows):
                rows = [{k: v for k, v in row.items() if k != "stack B"} for row in rows]
            yield Table(f"Functions of {where}", rows[:MOST_FUNCTIONS])


def _parts(record: Record[ImageSubject]) -> Iterator[dict[str, Any]]:
    """Yield a row of each part of the image, those that take the most energy first."""
    whole_nj = record.energy_gross_nj or 1.0
    found = {q.part: q.value for q in record.quantities if q.name == "energy_gross"}
    for part, nj in sorted(found.items(), key=lambda one: -one[1]):
        if part.startswith("part "):
            time_ps = record.value("time", part) or 0
            yield {
                "part": part.partition(" ")[2],
                "cycles": record.value("cycles", part),
                "ms": time_ps / 1e9,
                "µJ": nj / 1e3,
                "%": 100 * nj / whole_nj,
            }


def _threads(record: Record[ImageSubject]) -> Iterator[dict[str, Any]]:
    for q in record.quantities:
        if q.part.startswith("thread ") and q.name == "stack":
            yield {
                "thread": q.part.partition(" ")[2],
                "stack B": q.value,
                "of B": record.value("stack_size", q.part),
            }


def _row(record: Record[ImageSubject], part: str) -> dict[str, Any]:
    nj = record.value("energy_gross", part)
    return {
        "function": part.partition(" ")[2],
        "calls": record.value("calls", part),
        "cycles": record.value("cycles", part),
        "µJ": None if nj is None else nj / 1e3,
        "stack B": record.value("stack", part),
    }
