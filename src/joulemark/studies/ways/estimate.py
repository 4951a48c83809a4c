"""A case of a campaign, estimated for a Linux machine that is not here; its output is verified."""

from collections.abc import Iterator, Sequence
from typing import Literal

from joulemark.catalogue.machines import load_machine
from joulemark.images.toolchain import Need
from joulemark.records import bounds
from joulemark.records.record import PrimitiveRecord
from joulemark.studies.ways import Answer, Bench, campaign
from joulemark.subjects.primitive import estimated
from joulemark.subjects.primitive.options import PrimitiveOptions

SEED = 1


class Asked(campaign.Asked):
    """One number of one case, whose board is a Linux machine."""

    architecture: str = ""
    """The machine's architecture to compile for; the first of its file if not given."""
    metric: Literal["time", "cycles", "energy_gross"] = "time"


def needs(asked: Sequence[Asked], bench: Bench) -> Iterator[Need]:
    """Yield finders of compilers and of the tools that estimate."""
    for one in asked:
        yield from _wanted(one).needs()


def best(asked: Asked) -> None:
    """Return None: implementations are compared on emulated boards."""


def obtain(asked: Sequence[Asked], bench: Bench) -> dict[Asked, Answer]:
    """Estimate what the store does not have.

    Raises:
        ToolError: a tool that estimates is missing.
    """
    found = estimated.records([_wanted(a) for a in asked], bench.store)
    return {a: _answer(a, of_it) for a, of_it in zip(asked, found, strict=True)}


def _wanted(asked: Asked) -> estimated.Wanted:
    chosen = PrimitiveOptions(
        primitive=(asked.primitive,),
        implementation=(asked.implementation,),
        operation=(asked.operation,),
        opt=(asked.opt,),
        compiler=(asked.compiler or "clang",),
        size=(asked.size,),
        ad_size=(asked.ad_size,),
        seed=SEED,
    )
    return estimated.Wanted(chosen, load_machine(asked.board), asked.architecture)


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
        errors=bounds.of_record(record),
    )
