"""Cases of primitives on Linux machines that are not here."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from joulemark.campaign.estimates import jobs
from joulemark.campaign.job import Job, Point
from joulemark.catalogue import instruction_sets
from joulemark.catalogue.machines import Machine
from joulemark.conduct import Records, Work, conduct
from joulemark.images import toolchain
from joulemark.images.architectures import Architecture, architecture
from joulemark.images.plugin import build_plugin
from joulemark.images.toolchain import Need
from joulemark.measure import scheduled
from joulemark.measure.estimated import Estimated, method, model
from joulemark.measure.side_by_side import side_by_side
from joulemark.records.record import PrimitiveRecord, of_primitives
from joulemark.records.store import Store
from joulemark.subjects.primitive.options import PrimitiveOptions


def needs(machine: Machine, target: Architecture) -> Iterator[Need]:
    """Yield what is needed to estimate programs for a machine, besides compilers."""
    yield build_plugin
    yield lambda: target.emulator
    if model(machine.core, target.name).target is not None:
        yield from (partial(scheduled.find, name) for name in scheduled.TOOLS)


@dataclass(frozen=True)
class Wanted:
    """Cases wanted for a machine."""

    chosen: PrimitiveOptions
    """Cases of primitives."""
    machine: Machine
    made_for: str = ""
    """Architecture to compile for; the first of the machine's file if empty."""

    @property
    def target(self) -> Architecture:
        """The architecture to compile for."""
        return architecture(self.made_for or str(self.machine.architectures[0]))

    def needs(self) -> Iterator[Need]:
        """Yield a finder for each tool that the cases need."""
        for compiler in self.chosen.compiler or (instruction_sets.compilers("host").default,):
            yield partial(self.target.compiler, compiler)
            if compiler != "gcc":
                yield toolchain.find_linker
        yield from needs(self.machine, self.target)

    def jobs(self) -> Iterator[Job]:
        """Yield the cases by image; each image is built when it is asked for."""
        return jobs(self.chosen, self.machine, self.target, method())


def records(wanted: Sequence[Wanted], store: Store) -> list[list[PrimitiveRecord]]:
    """Return the records of each set of cases: from the store, or estimated now and stored.

    Args:
        wanted: cases, for machines.
        store: serves records and receives the new ones, including failures.

    Raises:
        ToolError: tools are missing; the message names all of them.
    """
    toolchain.refuse_missing(need for one in wanted for need in one.needs())
    keys: list[list[str]] = []
    points: dict[str, Point] = {}
    estimates: dict[str, Callable[[], PrimitiveRecord]] = {}
    for one in wanted:
        keys.append([])
        for job in one.jobs():
            session = Estimated(job, one.machine, one.target)
            keys[-1] += [point.key for point in job.points]
            for point in job.points:
                points[point.key] = point
                estimates.setdefault(point.key, partial(session.record, point))

    def measure(left: Collection[str]) -> Iterator[Records]:
        some = (estimate for key, estimate in estimates.items() if key in left)
        return ([record] for record in side_by_side(some))

    found = conduct(Work(points=list(points.values()), measure=measure), store)
    return [of_primitives(found.records(store, of_it)) for of_it in keys]
