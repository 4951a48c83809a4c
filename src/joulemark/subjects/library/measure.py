"""Measures libraries on the machine that this runs on, or estimates them for another."""

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace

from joulemark import meters
from joulemark.catalogue.machines import Machine
from joulemark.conduct import Means, Records, Work
from joulemark.images.architectures import Architecture
from joulemark.measure.bench import Bench
from joulemark.measure.window import Instrument
from joulemark.records.record import Record
from joulemark.subjects.library import LibrarySubject
from joulemark.subjects.library.estimated import EstimatedLibrary
from joulemark.subjects.library.options import LibraryOptions
from joulemark.subjects.library.plan import LibraryJob
from joulemark.subjects.library.plan import plan as planned
from joulemark.subjects.library.session import LibraryBench, LibrarySession


def plan(options: LibraryOptions, means: Means) -> Work:
    """Build the programs of libraries and find their cases.

    Raises:
        BuildError: a program does not compile.
        InputError: a name matches nothing, or a size does not fit.
        ToolError: compilers or libraries are missing; the error names all of them.
    """
    jobs = planned(options, means.bench.setup)

    def measure(left: Collection[str]) -> Iterator[Records]:
        return ([record] for record in measured(_only(jobs, left), means.bench, means.tell))

    return _work(jobs, measure)


def measured(
    jobs: Sequence[LibraryJob], bench: Bench, tell: Callable[[str], None]
) -> Iterator[Record[LibrarySubject]]:
    """Measure libraries on this machine; yield each record before the next case begins.

    Args:
        jobs: at least one.
        bench: the instrument, if any.
        tell: says something to the user.

    Raises:
        JoulemarkError: a failure that is not a single case's.
    """
    with ExitStack() as opened:
        instrument = None
        if bench.meter is not None:
            machine = jobs[0].machine
            volt = bench.supply_v or (machine.supply_v.value if machine else None)
            meter = opened.enter_context(meters.open_meter(bench.meter, bench.told, supply_v=volt))
            where = "as stated" if bench.supply_v else "as the machine's file says"
            note = f"supply voltage: {volt or math.nan:g} V, {where}, taken as exact"
            instrument = Instrument(meter, 0.0, note)
        windows = LibraryBench(
            instrument=instrument, seconds=bench.seconds, marker=bench.marker, tell=tell
        )
        for job in jobs:
            with LibrarySession(job, windows) as session:
                yield from session.records()


def estimated(jobs: Sequence[LibraryJob], machine: Machine, target: Architecture) -> Work:
    """Return the work of estimating rows for a machine.

    Args:
        jobs: the rows.
        machine: the machine.
        target: its architecture that the programs are built for.
    """

    def measure(left: Collection[str]) -> Iterator[Records]:
        for job in _only(jobs, left):
            yield from ([record] for record in EstimatedLibrary(job, machine, target).records())

    return _work(jobs, measure)


def _work(
    jobs: Sequence[LibraryJob], measure: Callable[[Collection[str]], Iterator[Records]]
) -> Work:
    return Work(points=[point for job in jobs for point in job.points], measure=measure)


def _only(jobs: Sequence[LibraryJob], left: Collection[str]) -> list[LibraryJob]:
    """Return the jobs with only some of their cases."""
    some = [replace(j, points=tuple(p for p in j.points if p.key in left)) for j in jobs]
    return [job for job in some if job.points]
