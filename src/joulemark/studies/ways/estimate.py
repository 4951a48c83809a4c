"""A case of a campaign on a Linux machine that is not here: estimated, its output verified."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Literal

from joulemark.campaign.campaign import Campaign
from joulemark.campaign.estimates import jobs
from joulemark.catalogue.machines import Machine, load_machine
from joulemark.images.architectures import architecture
from joulemark.measure import estimated
from joulemark.measure.estimated import Estimated
from joulemark.records.record import PrimitiveRecord, of_primitives
from joulemark.studies.ways import Answer, Bench, campaign

SEED = 1


class Asked(campaign.Asked):
    """One number of one case, whose board is a machine."""

    architecture: str = ""
    """What of the machine the code is for; its file's first if not given."""
    metric: Literal["time", "cycles", "energy_gross"] = "time"


def best(asked: Asked) -> None:
    """Nothing: the ways to write it are compared where they are emulated."""


def obtain(asked: Sequence[Asked], bench: Bench) -> dict[Asked, Answer]:
    """Estimate what the store does not have.

    Raises:
        ToolError: what estimates is missing.
    """
    by_case = _records(asked, bench)
    return {a: _answer(a, by_case.get(a, [])) for a in asked}


def _records(asked: Sequence[Asked], bench: Bench) -> dict[Asked, list[PrimitiveRecord]]:
    found: dict[Asked, list[PrimitiveRecord]] = defaultdict(list)
    for one in asked:
        chosen = Campaign(
            primitive=(one.primitive,),
            implementation=(one.implementation,),
            operation=(one.operation,),
            opt=(one.opt,),
            compiler=(one.compiler or "clang",),
            size=(one.size,),
            ad_size=(one.ad_size,),
            seed=SEED,
        )
        found[one] += records(chosen, load_machine(one.board), one.architecture, bench)
    return found


def records(
    chosen: Campaign, machine: Machine, made_for: str, bench: Bench
) -> list[PrimitiveRecord]:
    """The good records of a campaign's cases: from the store, or estimated now.

    Args:
        chosen: of primitives.
        machine: that they are for.
        made_for: what of it they are compiled for; its file's first if empty.
        bench: with the store.

    Raises:
        ToolError: what estimates is missing.
    """
    target = architecture(made_for or str(machine.architectures[0]))
    found: list[PrimitiveRecord] = []
    for job in jobs(chosen, machine, target, estimated.method()):
        keys = [point.key for point in job.points]
        served = bench.store.served(keys)
        if left := [point for point in job.points if point.key not in served]:
            with Estimated(job, machine, target) as session:
                for point in left:
                    bench.store.append(session.record(point))
            served = bench.store.served(keys)
        found += of_primitives(bench.store.load(s.id for s in served.values()))
    return found


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
