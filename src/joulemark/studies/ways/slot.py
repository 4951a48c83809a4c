"""The shortest time slot of a board at a security level: derived, and proved by two motes."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from joulemark.campaign.case import Build
from joulemark.campaign.subjects.slot import SlotSubject
from joulemark.catalogue import boards, datafile
from joulemark.errors import JoulemarkError
from joulemark.measure.slot import SlotCase, measured
from joulemark.records.record import Record
from joulemark.studies.ways import Answer, Bench

_PS = 1e-12
_TICK = 1 / 32_768


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
    opt: Literal["O3", "O2", "Os"] = "O3"
    metric: Literal["slot", "slot_by_equation", "tx_offset", "tx_ack_delay"] = "slot"


def best(asked: Asked) -> None:
    """Nothing: what is fastest differs by board."""


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
        ),
        build=Build(compiler=asked.compiler, optimisation=asked.opt),
    )


def obtain(asked: Sequence[Asked], bench: Bench) -> dict[Asked, Answer]:
    """Measure what the store does not have; one slot answers all that is asked of it."""
    known: dict[str, Record[SlotSubject] | str] = {}
    answers = {}
    for one in asked:
        case = _case(one)
        digest = case.case.digest
        if digest not in known:
            try:
                known[digest] = measured(case, bench.store)
            except JoulemarkError as error:
                known[digest] = str(error)
        answers[one] = _answer(one, known[digest])
    return answers


def _answer(asked: Asked, found: Record[SlotSubject] | str) -> Answer:
    if isinstance(found, str):
        return Answer(value=None, how=found)
    value = found.value(asked.metric)
    unit = _TICK if asked.metric.startswith("tx_") else _PS
    return Answer(
        value=None if value is None else value * unit,
        how=f"{found.case}; {found.trials} slots",
        source=found.provenance.timing_note,
    )
