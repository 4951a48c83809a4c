"""A case of a campaign: a primitive's operation on an emulated board, its output verified."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Annotated, Literal

from pydantic import Field

from joulemark.campaign.job import Firmware, Job, Setup
from joulemark.campaign.plan import Plan, plan
from joulemark.catalogue import boards, datafile
from joulemark.conduct import Means, conduct
from joulemark.images import toolchain
from joulemark.images.toolchain import Need
from joulemark.records import bounds
from joulemark.records.record import PrimitiveRecord, of_primitives
from joulemark.studies.ways import Answer, Bench
from joulemark.subjects.primitive.measure import of_plan
from joulemark.subjects.primitive.options import PrimitiveOptions

SEED = 1
TRIALS = 2
_BEST = ("O2", "O3", "Os")
"""The optimisation levels that `opt = "*"` stands for."""
SI = {"time": 1e-12, "energy_net": 1e-9, "energy_gross": 1e-9}


class Asked(datafile.DataModel):
    """One number of one case; where names are globs, the least of all that match."""

    board: str
    clock: str = ""
    primitive: str
    implementation: str = "ref"
    operation: str
    size: Annotated[int, Field(ge=0)] = 0
    ad_size: Annotated[int, Field(ge=0)] = 0
    compiler: str = ""
    opt: str = "O3"
    metric: Literal["time", "cycles", "energy_net", "energy_gross", "flash", "ram", "stack"] = (
        "time"
    )


def needs(asked: Sequence[Asked], bench: Bench) -> Iterator[Need]:
    """Yield finders of compilers and linkers."""
    for board, compiler in sorted({(a.board, a.compiler) for a in asked}):
        yield from toolchain.needs(compiler, boards.load_board(board).core)


def best(asked: Asked) -> Asked:
    """Return the question for the fastest implementation at any optimisation level."""
    return asked.model_copy(update={"implementation": "*", "opt": "*", "compiler": ""})


def obtain(asked: Sequence[Asked], bench: Bench) -> dict[Asked, Answer]:
    """Measure what the store does not have, and choose."""
    by_primitive: dict[tuple[str, str], list[PrimitiveRecord]] = defaultdict(list)
    for record in measured(_campaigns(asked), bench):
        by_primitive[record.conditions.board, record.subject.primitive].append(record)
    return {a: _answer(a, by_primitive[a.board, a.primitive]) for a in asked}


def measured(campaigns: Iterable[PrimitiveOptions], bench: Bench) -> list[PrimitiveRecord]:
    """Return the records of all cases of some campaigns: from the store, or measured now."""
    jobs: dict[Firmware, Job] = {}
    for campaign in campaigns:
        for job in plan(campaign, Setup(), builder=bench.workers).jobs:
            known = jobs.get(job.firmware, replace(job, points=()))
            points = {point.key: point for point in (*known.points, *job.points)}
            jobs[job.firmware] = replace(known, points=tuple(points.values()))
    work = of_plan(Plan(tuple(jobs.values())), Means(workers=bench.workers))
    return of_primitives(conduct(work, bench.store).records(bench.store))


def _campaigns(asked: Sequence[Asked]) -> Iterator[PrimitiveOptions]:
    """Yield campaigns that together have exactly the cases that are asked for."""
    wanted: dict[Asked, set[str]] = defaultdict(set)
    for a in asked:
        wanted[a.model_copy(update={"primitive": "", "metric": "time"})].add(a.primitive)
    for a, primitives in wanted.items():
        given = {"clock": a.clock, "compiler": a.compiler}
        yield PrimitiveOptions.model_validate(
            {
                **{name: value for name, value in given.items() if value},
                "board": a.board,
                "primitive": tuple(sorted(primitives)),
                "implementation": a.implementation,
                "opt": _BEST if a.opt == "*" else a.opt,
                "operation": a.operation,
                "size": a.size,
                "ad_size": a.ad_size,
                "seed": SEED,
                "trials": TRIALS,
            }
        )


def _matches(asked: Asked, record: PrimitiveRecord) -> bool:
    subject, where, build = record.subject, record.conditions, record.build
    return (
        build is not None
        and (not asked.clock or where.clock == asked.clock)
        and fnmatchcase(subject.implementation, asked.implementation)
        and subject.operation == asked.operation
        and subject.message_bytes in (asked.size, 0)
        and subject.ad_bytes == asked.ad_size
        and (not asked.compiler or build.compiler == asked.compiler)
        and asked.opt in (build.optimisation, "*")
    )


def _answer(asked: Asked, records: Sequence[PrimitiveRecord]) -> Answer:
    found = [r for r in records if _matches(asked, r)]
    good = [(v, r) for r in found if r.status == "ok" and (v := r.value(asked.metric)) is not None]
    if not good:
        reason = next((r.failure for r in found if r.failure), "there is no such case")
        what = f"{asked.primitive}/{asked.implementation} {asked.operation}"
        return Answer(value=None, how=f"{what} on {asked.board}: {reason}")
    value, record = min(good, key=lambda pair: pair[0])
    subject = record.subject
    where = record.conditions
    return Answer(
        value=value * SI.get(asked.metric, 1.0),
        how=f"{subject.primitive}/{subject.implementation}, {record.build}",
        source=f"emulated {where.board}, clock {where.clock}"
        f" ({record.provenance.clock_hz / 1e6:g} MHz), {record.provenance.compiler_version}",
        errors=bounds.of_record(record),
    )
