"""The shortest time slot of a board at a security level: derived, and proved by two motes."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

from pydantic import Field

from joulemark.campaign.case import Build
from joulemark.catalogue import boards, datafile
from joulemark.conduct import Means, conduct
from joulemark.images import toolchain
from joulemark.images.toolchain import Need
from joulemark.records import bounds
from joulemark.records.record import Record
from joulemark.studies.ways import Answer, Bench
from joulemark.subjects import Subject
from joulemark.subjects.slot import Ahead, SlotSubject
from joulemark.subjects.slot.case import SlotCase
from joulemark.subjects.slot.measure import work
from joulemark.subjects.slot.proof import TRIED_SLOTS


class Asked(datafile.DataModel):
    """One number of a slot."""

    board: str
    clock: str = ""
    strategy: Literal["software", "hybrid", "hardware"]
    level: Annotated[int, Field(ge=0, le=7)]
    key_id_mode: Annotated[int, Field(ge=0, le=3)] = 1
    counter_carried: bool = False
    cipher: str = "ref"
    compiler: Literal["clang", "gcc"] = "clang"
    opt: Literal["O3", "O2", "Os", "O0"] = "O3"
    keys_stay: bool = False
    streamed: bool = False
    ahead: Ahead = ""
    plain: bool = False
    metric: Literal[
        "slot",
        "slot_by_equation",
        "tx_offset",
        "tx_ack_delay",
        "flash_wiring",
        "ram_wiring",
        "energy_gross",
        "frame",
        "payload",
        "throughput",
        "acknowledgement",
        "time",
        "time_range",
        "cycles",
    ] = "slot"
    part: str = ""
    """Part of the slot, for metrics of a part: "send", "sec1", ..."""


def needs(asked: Sequence[Asked], bench: Bench) -> Iterator[Need]:
    """Yield finders of compilers and linkers."""
    for board, compiler in sorted({(a.board, a.compiler) for a in asked}):
        yield from toolchain.needs(compiler, boards.load_board(board).core)


def best(asked: Asked) -> Asked | None:
    """Return the same with the driver that waits for no byte; what else is fastest differs."""
    return asked.model_copy(update={"plain": False}) if asked.plain else None


def _case(asked: Asked) -> SlotCase:
    board = boards.load_board(asked.board)
    secured = asked.level > 0
    return SlotCase(
        board=board,
        clock=asked.clock or board.default_clock,
        subject=SlotSubject(
            strategy=asked.strategy if secured else "",
            level=asked.level,
            key_id_mode=asked.key_id_mode if secured else 1,
            counter_carried=asked.counter_carried and secured,
            cipher=asked.cipher if secured and asked.strategy == "software" else "",
            keys_stay=asked.keys_stay and secured,
            streamed=asked.streamed and secured,
            ahead=asked.ahead if secured else "",
            plain=asked.plain,
        ),
        build=Build(compiler=asked.compiler, optimisation=asked.opt),
    )


def obtain(asked: Sequence[Asked], bench: Bench) -> dict[Asked, Answer]:
    """Measure what the store does not have; one slot answers all questions about it."""
    cases = {one: _case(one) for one in asked}
    found = conduct(work(cases.values(), TRIED_SLOTS, Means(workers=bench.workers)), bench.store)
    records = {record.case.digest: record for record in found.records(bench.store)}
    return {one: _answer(one, records[case.case.digest]) for one, case in cases.items()}


_RANGE = "_range"
"""Suffix of metrics that are the longest of all slots less the shortest."""
_UNITS = {"ps": 1e-12, "ticks": 1 / 32_768, "nJ": 1e-9}


def _answer(asked: Asked, found: Record[Subject]) -> Answer:
    if found.failure is not None:
        return Answer(value=None, how=found.failure)
    metric = asked.metric.removesuffix(_RANGE)
    quantity = found.quantity(metric, asked.part)
    value = None
    if quantity is not None:
        value = quantity.range if metric != asked.metric else quantity.value
    return Answer(
        value=None if quantity is None or value is None else value * _UNITS.get(quantity.unit, 1),
        how=f"{found.case}; {found.trials} slots",
        errors=bounds.of_record(found),
    )
