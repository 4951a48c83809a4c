"""A library's algorithm on a Linux machine: what the store has of that machine.

Only the machine itself can measure it, so nothing is measured here: `joulemark run --runner local
--library NAME` on it, or with `--host` from afar, brings the records into the store.
"""

from collections.abc import Sequence
from typing import Literal

from joulemark.campaign.subjects.library import LibrarySubject
from joulemark.catalogue import datafile
from joulemark.records.record import Record
from joulemark.studies.ways import Answer, Bench


class Asked(datafile.DataModel):
    """One figure of an algorithm's operation."""

    machine: str
    library: str
    algorithm: str
    operation: str
    of: Literal["rate", "energy"]


def best(asked: Asked) -> None:
    """Nothing: the machine's last record is what there is."""


def obtain(asked: Sequence[Asked], bench: Bench) -> dict[Asked, Answer]:
    """Look up the last good record of each."""
    found: dict[tuple[str, str, str, str], Record[LibrarySubject]] = {}
    for record in bench.store.records():
        subject = record.subject
        if record.status == "ok" and isinstance(subject, LibrarySubject):
            named = (subject.library, subject.algorithm, subject.operation)
            found[record.conditions.board, *named] = record  # type: ignore[assignment]
    return {
        a: _answer(a, found.get((a.machine, a.library, a.algorithm, a.operation))) for a in asked
    }


def _answer(asked: Asked, record: Record[LibrarySubject] | None) -> Answer:
    command = f"`joulemark run --runner local --library {asked.library}`"
    if record is None:
        return Answer(value=None, how=f"a {asked.machine}, on which to give {command}")
    size = record.subject.message_bytes or 1
    value: float | None
    if asked.of == "rate":
        value = size / ((record.value("time") or 0) * 1e-12)
    else:
        energy = record.value("energy_gross")
        value = None if energy is None else energy * 1e-9 / size
    if value is None:
        return Answer(value=None, how=f"a meter: {command} --meter NAME on the {asked.machine}")
    subject = record.subject
    how = (
        f"{subject.library} {subject.version}, {record.conditions.meter}, {record.conditions.unit}"
    )
    return Answer(value=value, how=how, source=record.measured_at[:10])
