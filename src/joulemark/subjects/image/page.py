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
        parts = {q.part for q in record.quantities if q.part.startswith("function ")}
        rows = [_row(record, part) for part in parts]
        rows.sort(key=lambda row: (-(row["µJ"] or 0), -(row["cycles"] or 0), row["function"]))
        if rows:
            title = f"Functions of {record.subject} on {record.conditions.board}"
            yield Table(title, rows[:MOST_FUNCTIONS])


def _row(record: Record[ImageSubject], part: str) -> dict[str, Any]:
    nj = record.value("energy_gross", part)
    return {
        "function": part.partition(" ")[2],
        "calls": record.value("calls", part),
        "cycles": record.value("cycles", part),
        "µJ": None if nj is None else nj / 1e3,
        "stack B": record.value("stack", part),
    }
