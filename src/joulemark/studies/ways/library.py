"""A library's algorithm on a Linux machine: what the store has of it, else an estimate.

The machine itself measures it: `joulemark run --runner local --library NAME` on it, or with
`--host` from afar, brings the records into the store. Where there are none, the machine is
estimated, as `joulemark estimate MACHINE --library NAME` does.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import Literal

from joulemark.campaign.campaign import Campaign
from joulemark.campaign.estimates import ESTIMATE
from joulemark.campaign.libraries import estimates, without
from joulemark.campaign.subjects.library import LibrarySubject
from joulemark.catalogue import datafile
from joulemark.catalogue.machines import load_machine
from joulemark.images.architectures import architecture
from joulemark.images.plugin import build_plugin
from joulemark.measure.estimated_library import EstimatedLibrary
from joulemark.records.record import Record
from joulemark.studies.ways import Answer, Bench

SEED = 1


class Asked(datafile.DataModel):
    """One figure of an algorithm's operation."""

    machine: str
    library: str
    algorithm: str
    operation: str
    of: Literal["rate", "energy"]


def best(asked: Asked) -> None:
    """Nothing: the machine's last record is what there is."""


_Row = tuple[str, str, str, str]
"""Machine, library, algorithm, operation."""


def obtain(asked: Sequence[Asked], bench: Bench) -> dict[Asked, Answer]:
    """Look up the last good record of each; estimate those that have none.

    Raises:
        ToolError: what estimates is missing, or the machine's packages cannot be fetched.
    """
    missing = sorted({_row(a) for a in asked} - set(_stored(bench)))
    if missing:
        _estimate(missing, bench)
    found = _stored(bench)
    return {a: _answer(a, found.get(_row(a))) for a in asked}


def _row(asked: Asked) -> _Row:
    return asked.machine, asked.library, asked.algorithm, asked.operation


def _stored(bench: Bench) -> dict[_Row, Record[LibrarySubject]]:
    """The last good record of each row; one that is estimated only where none was measured."""
    found: dict[_Row, Record[LibrarySubject]] = {}
    for record in bench.store.records():
        subject = record.subject
        if record.status != "ok" or not isinstance(subject, LibrarySubject):
            continue
        row = (record.conditions.board, subject.library, subject.algorithm, subject.operation)
        known = found.get(row)
        estimated = record.conditions.runner == ESTIMATE
        if known is None or not estimated or known.conditions.runner == ESTIMATE:
            found[row] = record  # type: ignore[assignment]
    return found


def _estimate(rows: Sequence[_Row], bench: Bench) -> None:
    """Estimate rows, and keep them in the store."""
    method = hashlib.sha256(build_plugin().read_bytes()).hexdigest()
    for (machine, library), group in groupby(rows, key=lambda row: row[:2]):
        found = load_machine(machine)
        target = architecture(str(found.architectures[0]))
        wanted = {row[2:] for row in group}
        chosen = Campaign(library=(library,), seed=SEED)
        for job in estimates(chosen, found, target, method):
            points = tuple(
                point
                for point in job.points
                if isinstance(point.case.subject, LibrarySubject)
                and (point.case.subject.algorithm, point.case.subject.operation) in wanted
            )
            served = bench.store.served(point.key for point in points)
            left = without([replace(job, points=points)], served)
            for estimated in left:
                for record in EstimatedLibrary(estimated, found, target).records():
                    bench.store.append(record)


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
    name = f"{subject.library} {subject.version}"
    if record.conditions.runner == ESTIMATE:
        by = "estimated, not measured; energy is time at the power of the machine's file"
        return Answer(value=value, how=f"{name}, {by}", source=record.measured_at[:10])
    how = f"{name}, {record.conditions.meter}, {record.conditions.unit}"
    return Answer(value=value, how=how, source=record.measured_at[:10])
