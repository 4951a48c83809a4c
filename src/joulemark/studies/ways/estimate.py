"""A case of a campaign on a Linux machine that is not here: estimated, its output verified."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from joulemark.campaign.campaign import Campaign
from joulemark.campaign.estimates import jobs
from joulemark.campaign.job import Job
from joulemark.catalogue.machines import Machine, load_machine
from joulemark.images.architectures import Architecture, architecture
from joulemark.images.families import host
from joulemark.images.toolchain import Need
from joulemark.measure import estimated
from joulemark.measure.estimated import Estimated
from joulemark.measure.side_by_side import side_by_side
from joulemark.records.record import PrimitiveRecord, of_primitives
from joulemark.studies.ways import Answer, Bench, campaign

SEED = 1


class Asked(campaign.Asked):
    """One number of one case, whose board is a machine."""

    architecture: str = ""
    """What of the machine the code is for; its file's first if not given."""
    metric: Literal["time", "cycles", "energy_gross"] = "time"


@dataclass(frozen=True)
class Wanted:
    """Cases for a machine."""

    chosen: Campaign
    """Of primitives."""
    machine: Machine
    made_for: str = ""
    """What of it they are compiled for; its file's first if empty."""

    @property
    def target(self) -> Architecture:
        """What they are compiled for."""
        return architecture(self.made_for or str(self.machine.architectures[0]))

    def needs(self) -> Iterator[Need]:
        """What finds each tool that they take."""
        for compiler in self.chosen.compiler or (host.DEFAULT_COMPILER,):
            yield partial(self.target.compiler, compiler)
        yield from estimated.needs(self.machine, self.target)

    def jobs(self) -> Iterator[Job]:
        """The cases by image, each built when it is asked for."""
        return jobs(self.chosen, self.machine, self.target, estimated.method())


def needs(asked: Sequence[Asked], bench: Bench) -> Iterator[Need]:
    """Compilers, and what estimates."""
    for one in asked:
        yield from _wanted(one).needs()


def best(asked: Asked) -> None:
    """Nothing: the ways to write it are compared where they are emulated."""


def obtain(asked: Sequence[Asked], bench: Bench) -> dict[Asked, Answer]:
    """Estimate what the store does not have.

    Raises:
        ToolError: what estimates is missing.
    """
    found = records([_wanted(a) for a in asked], bench)
    return {a: _answer(a, of_it) for a, of_it in zip(asked, found, strict=True)}


def _wanted(asked: Asked) -> Wanted:
    chosen = Campaign(
        primitive=(asked.primitive,),
        implementation=(asked.implementation,),
        operation=(asked.operation,),
        opt=(asked.opt,),
        compiler=(asked.compiler or "clang",),
        size=(asked.size,),
        ad_size=(asked.ad_size,),
        seed=SEED,
    )
    return Wanted(chosen, load_machine(asked.board), asked.architecture)


def records(wanted: Sequence[Wanted], bench: Bench) -> list[list[PrimitiveRecord]]:
    """The records of each that is wanted: from the store, or estimated now.

    Args:
        wanted: cases, for machines.
        bench: with the store.

    Raises:
        ToolError: what estimates is missing.
    """
    keys: list[list[str]] = [[] for _ in wanted]
    begun: set[str] = set()

    def left() -> Iterator[Callable[[], PrimitiveRecord]]:
        for one, of_it in zip(wanted, keys, strict=True):
            for job in one.jobs():
                of_job = [point.key for point in job.points]
                of_it.extend(of_job)
                begun.update(bench.store.served(of_job))
                session = Estimated(job, one.machine, one.target)
                for point in job.points:
                    if point.key not in begun:
                        begun.add(point.key)
                        yield partial(session.record, point)

    for record in side_by_side(left()):
        bench.store.append(record)
    served = [bench.store.served(of_it) for of_it in keys]
    return [of_primitives(bench.store.load(s.id for s in of_it.values())) for of_it in served]


def _answer(asked: Asked, records: Sequence[PrimitiveRecord]) -> Answer:
    good = [(v, r) for r in records if (v := r.value(asked.metric)) is not None]
    if not good:
        what = f"{asked.primitive}/{asked.implementation} {asked.operation} on {asked.board}"
        return Answer(value=None, how=f"{what}: there is no such case")
    value, record = min(good, key=lambda pair: pair[0])
    return Answer(
        value=value * campaign.SI.get(asked.metric, 1.0),
        how=f"{record.subject.primitive}/{record.subject.implementation}, {record.build}",
        source=f"estimated {record.provenance.board_title} at "
        f"{record.provenance.clock_hz / 1e6:g} MHz, {record.provenance.compiler_version}",
    )
