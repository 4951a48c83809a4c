"""A security architecture's modules, as `joulemark architecture` prices them."""

import math
from collections.abc import Iterator, Sequence
from statistics import fmean, variance
from typing import Literal

from joulemark.campaign.case import Build
from joulemark.catalogue import boards, datafile
from joulemark.catalogue.architectures import load_architecture
from joulemark.conduct import Means, conduct
from joulemark.images import toolchain
from joulemark.images.toolchain import Need
from joulemark.records import bounds
from joulemark.records.record import Record, of_type
from joulemark.studies.ways import Answer, Bench
from joulemark.subjects.architecture import ArchitectureSubject, Aspect
from joulemark.subjects.architecture.measure import Pricing, parsed_wire

_SEED = 1
_REPETITIONS, _EXECUTIONS = 10, 20
_DEVIATION = "deviation"
_READINGS, _STEP_S = 20, 32e-6
"""What a deviation is of: so many times, read by a timer of such steps."""
_SI = {
    "time": 1e-12,
    "energy_gross": 1e-9,
    "power_by_time": 1e-9,
    "radio_energy": 1e-9,
}


class Asked(datafile.DataModel):
    """One number of a row."""

    board: str
    clock: str = ""
    architecture: str
    aspect: Aspect
    row: str
    compiler: str = "clang"
    opt: str = "Os"
    wire: str = ""
    """`INTERFACE=PART`, as of `joulemark architecture --wire`; several with spaces between."""
    metric: Literal[
        "flash",
        "with all flash",
        "ram",
        "time",
        "cycles",
        "energy_gross",
        "power_by_time",
        "on_air",
        "radio_energy",
        "deviation",
    ]
    """`deviation` is what 20 single times deviate by, read by a timer of 32 us."""


def needs(asked: Sequence[Asked], bench: Bench) -> Iterator[Need]:
    """Yield finders of compilers and linkers."""
    for board, compiler in sorted({(a.board, a.compiler) for a in asked}):
        yield from toolchain.needs(compiler, boards.load_board(board).core)


def best(asked: Asked) -> Asked | None:
    """Return the question for the architecture's own wiring; None if it is asked already."""
    return asked.model_copy(update={"wire": ""}) if asked.wire else None


def obtain(asked: Sequence[Asked], bench: Bench) -> dict[Asked, Answer]:
    """Price each architecture once per board and build."""
    answers = {}
    priced: dict[tuple[str, ...], list[Record[ArchitectureSubject]]] = {}
    for a in asked:
        key = _key(a)
        if key not in priced:
            aspects = {b.aspect for b in asked if _key(b) == key}
            priced[key] = _priced(a, aspects, bench)
        answers[a] = _answer(a, priced[key])
    return answers


def _key(asked: Asked) -> tuple[str, ...]:
    return asked.architecture, asked.board, asked.clock, asked.compiler, asked.opt, asked.wire


def _priced(asked: Asked, aspects: set[Aspect], bench: Bench) -> list[Record[ArchitectureSubject]]:
    board = boards.load_board(asked.board)
    pricing = Pricing(
        architecture=load_architecture(asked.architecture),
        board=board,
        clock=asked.clock or board.default_clock,
        build=Build(compiler=asked.compiler, optimisation=asked.opt),
        repetitions=_REPETITIONS,
        executions=_EXECUTIONS,
        seed=_SEED,
        wire=dict(map(parsed_wire, asked.wire.split())),
    )
    work = pricing.work(Means(workers=bench.workers), aspects)
    found = conduct(work, bench.store)
    for error in work.errors.values():
        raise error
    return of_type(found.records(bench.store), ArchitectureSubject)


def _deviation(record: Record[ArchitectureSubject]) -> float | None:
    """Return the deviation of single times as a coarse timer reads them, expected over its phase.

    A time of n + f steps is read as n steps, or with a probability of f as one more.
    """
    if record.samples is None or len(record.samples) < _READINGS:
        return None
    steps = [
        int(sample["window_cycles"]) / record.provenance.clock_hz / _STEP_S
        for sample in record.samples[:_READINGS]
    ]
    parts = [step % 1 for step in steps]
    return _STEP_S * math.sqrt(variance(steps) + fmean(f * (1 - f) for f in parts))


def _answer(asked: Asked, records: Sequence[Record[ArchitectureSubject]]) -> Answer:
    named = f"{asked.architecture}, {asked.row}"
    if asked.wire:
        named += f" ({asked.wire})"
    for record in records:
        subject = record.subject
        if (subject.aspect, subject.row) == (asked.aspect, asked.row):
            part, _, name = asked.metric.rpartition(" ")
            value = _deviation(record) if name == _DEVIATION else record.value(name, part)
            if value is None:
                return Answer(value=None, how=f"{named}: {record.failure or 'no such number'}")
            hz = record.provenance.clock_hz / 1e6
            errors = bounds.of_record(record)
            where = f"{record.conditions.board} at {hz:g} MHz, {record.build}"
            return Answer(
                value=value * _SI.get(asked.metric, 1.0), how=named, source=where, errors=errors
            )
    rows = ", ".join(r.subject.row for r in records if r.subject.aspect == asked.aspect)
    return Answer(value=None, how=f"{named}: there is no such row; there are {rows}")
