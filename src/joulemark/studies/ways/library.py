"""A library's algorithm on a Linux machine: the store's record, else an estimate.

The machine itself measures it: `joulemark run --runner local --library NAME` on it, or with
`--host` from elsewhere, brings the records into the store. Without records, the machine is
estimated, as `joulemark estimate MACHINE --library NAME` does. With a `source`, it is estimated
with a library built from that: a release, processor and compiler as a paper's. Beside it stands
what is there today.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache, partial
from itertools import groupby
from typing import Literal

from joulemark.campaign.estimates import ESTIMATE
from joulemark.campaign.job import Point
from joulemark.catalogue import datafile
from joulemark.catalogue.libraries import load_library
from joulemark.catalogue.machines import Machine, load_machine
from joulemark.conduct import conduct
from joulemark.errors import InputError, ToolError
from joulemark.images import from_source, toolchain
from joulemark.images.architectures import Architecture, architecture
from joulemark.images.from_source import Source
from joulemark.images.toolchain import Need
from joulemark.measure import estimated
from joulemark.records import bounds
from joulemark.records.record import Record
from joulemark.studies.ways import Answer, Bench
from joulemark.subjects.library import LibrarySubject
from joulemark.subjects.library.measure import estimated as work_of
from joulemark.subjects.library.options import LibraryOptions
from joulemark.subjects.library.plan import estimates
from joulemark.subjects.primitive.estimated import needs as needs_of

SEED = 1


class Asked(datafile.DataModel):
    """One figure of an algorithm's operation."""

    machine: str
    library: str
    algorithm: str
    operation: str
    of: Literal["rate", "energy"]
    source: str = ""
    """What to build the library from, for the machine's own processor, as for
    `estimate --library-source`. Empty: what was measured there, else its Debian package."""
    flags: str = ""
    """Further flags of the compiler that builds it."""
    compiler: str = ""
    """An earlier compiler, as for `estimate --library-compiler`."""
    architecture: str = ""
    """The machine's architecture to build for; the first of its file if not given."""
    power: str = ""
    """State in the machine's file whose power an estimate's energy uses; else one core's."""


def needs(asked: Sequence[Asked], bench: Bench) -> Iterator[Need]:
    """Yield finders of what estimates unmeasured rows, and of the libraries to build for them."""
    measured = _measured(bench)
    for one in asked:
        if _row(one) in measured:
            continue
        machine = load_machine(one.machine)
        yield partial(toolchain.find, "clang", "host")
        yield from needs_of(machine, _target(machine, one.architecture))
        if one.source:
            yield partial(_refuse_unbuilt, one.machine, one.library, one.architecture, _source(one))


def _refuse_unbuilt(machine: str, library: str, architecture: str, source: Source) -> None:
    """Build a library; rows of one that cannot be built here are left out.

    Raises:
        ToolError: a compiler is missing, or the source cannot be fetched.
    """
    error = _unbuilt(machine, library, architecture, source)
    if error is not None:
        raise error


@cache
def _unbuilt(machine: str, library: str, architecture: str, source: Source) -> ToolError | None:
    """Return why a library cannot be built; None if it is. It is tried once."""
    try:
        target = _target(load_machine(machine), architecture)
        from_source.build(load_library(library), target, source)
    except ToolError as error:
        return error
    return None


def _source(asked: Asked) -> Source:
    return Source(asked.source, tuple(asked.flags.split()), asked.compiler)


def best(asked: Asked) -> Asked | None:
    """Return the question for what is there today, where an older release is asked for."""
    if not asked.source:
        return None
    today = {"source": "", "flags": "", "compiler": "", "architecture": ""}
    return asked.model_copy(update=today)


_Row = tuple[str, str, str, str, str, str, str, str]
"""Machine, library, source, flags, compiler, architecture, algorithm, operation."""
_Found = dict[_Row, Record[LibrarySubject] | str]
"""A row's record, or what is missing for it."""


def obtain(asked: Sequence[Asked], bench: Bench) -> dict[Asked, Answer]:
    """Return the last measurement of each, and estimate the others.

    Raises:
        ToolError: a tool that estimates is missing, or the machine's packages cannot be fetched.
    """
    found = dict(_measured(bench))
    missing = sorted({_row(a) for a in asked} - set(found))
    for group, rows in groupby(missing, key=lambda row: row[:6]):
        found |= _estimated(group, {row[6:] for row in rows}, bench)
    return {a: answer(a, found.get(_row(a))) for a in asked}


def _row(asked: Asked) -> _Row:
    build = asked.source, asked.flags, asked.compiler, asked.architecture
    return asked.machine, asked.library, *build, asked.algorithm, asked.operation


@lru_cache(maxsize=1)
def _measured(bench: Bench) -> _Found:
    """Return the last good record of each row that was measured on its machine.

    A study measures none itself, so it looks through the store once.
    """
    found: _Found = {}
    for record in bench.store.records():
        subject = record.subject
        if (
            record.status == "ok"
            and isinstance(subject, LibrarySubject)
            and record.conditions.runner != ESTIMATE
        ):
            machine, row = record.conditions.board, (subject.algorithm, subject.operation)
            found[machine, subject.library, "", "", "", "", *row] = record  # type: ignore[assignment]
    return found


def _estimated(group: tuple[str, ...], wanted: Collection[tuple[str, ...]], bench: Bench) -> _Found:
    """Estimate rows of one build of a library, and store them."""
    machine, library, place, flags, compiler, made_for = group
    found, got = load_machine(machine), _Found()
    target = _target(found, made_for)
    source = Source(place, tuple(flags.split()), compiler) if place else None
    method = estimated.method()
    chosen = LibraryOptions(library=(library,), seed=SEED)
    try:
        jobs = list(estimates(chosen, found, target, method, source))
    except ToolError as error:
        if source is None:
            raise
        # An experiment that cannot be made here; everything else can.
        return {(*group, *row): str(error) for row in wanted}  # type: ignore[misc]
    for job in jobs:
        points = tuple(p for p in job.points if _name(p) in wanted)
        work = work_of([replace(job, points=points)], found, target)
        for kept in conduct(work, bench.store).records(bench.store):
            subject = kept.subject
            if kept.status == "ok" and isinstance(subject, LibrarySubject):
                row = (*group, subject.algorithm, subject.operation)
                got[row] = kept  # type: ignore[index, assignment]
    return got


def _target(machine: Machine, made_for: str) -> Architecture:
    return architecture(made_for or str(machine.architectures[0]))


def _name(point: Point) -> tuple[str, str]:
    subject = point.case.subject
    assert isinstance(subject, LibrarySubject)  # noqa: S101
    return subject.algorithm, subject.operation


def answer(asked: Asked, record: Record[LibrarySubject] | str | None) -> Answer:
    """Return a figure from a record; if there is none, say what is missing.

    Raises:
        InputError: the machine's file does not have the state whose power is asked for.
    """
    command = f"`joulemark run --runner local --library {asked.library}`"
    if isinstance(record, str):
        return Answer(value=None, how=record)
    if record is None:
        return Answer(value=None, how=f"a {asked.machine}, on which to give {command}")
    size = record.subject.message_bytes or 1
    value: float | None
    if asked.of == "rate":
        value = size / ((record.value("time") or 0) * 1e-12)
    elif asked.power and record.conditions.runner == ESTIMATE:
        state = load_machine(asked.machine).watt(asked.power)
        if state is None:
            what = f"the {asked.machine} has no power in the state {asked.power}"
            raise InputError(what, mend="see its file in machines/")
        value = (record.value("time") or 0) * 1e-12 * state.watt / size
    else:
        energy = record.value("energy_gross")
        value = None if energy is None else energy * 1e-9 / size
    if value is None:
        return Answer(value=None, how=f"a meter: {command} --meter NAME on the {asked.machine}")
    subject, day, errors = record.subject, record.measured_at[:10], bounds.of_record(record)
    name = f"{subject.library} {subject.version}"
    if record.conditions.runner == ESTIMATE:
        by = "estimated, not measured; energy is time at the power of the machine's file"
        return Answer(value=value, how=f"{name}, {by}", source=day, errors=errors)
    how = f"{name}, {record.conditions.meter}, {record.conditions.unit}"
    return Answer(value=value, how=how, source=day, errors=errors)
