"""Attributes each microsecond and microjoule of a slot to a purpose."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from joulemark._engine import Transmission
from joulemark.catalogue.boards import Board
from joulemark.meters.model import ModelMeter
from joulemark.meters.power import Energy, occupancy
from joulemark.runners.pair import PairRun
from joulemark.subjects.slot.case import SlotCase
from joulemark.subjects.slot.template import Slot

WAITING = "waiting for bytes"


@dataclass(frozen=True, kw_only=True)
class Stretch:
    """A part of a slot: from one observable moment to the next, or a share of that."""

    who: str
    """ "sender" or "receiver"."""
    step: str
    work: str
    ps: float
    nj: float


STEPS = {
    "load_data": "sec1",
    "take_data": "sec2",
    "load_acknowledgement": "sec3",
    "take_acknowledgement": "sec4",
}
"""Functions of firmware/net/tsch/tsch.c, each called once in a slot that has the step."""
WORK = (
    ("wait_for_bytes", WAITING),
    ("radio_wait_frame", WAITING),
    ("radio_aes", "hardware AES"),
    ("radio_ccm", "hardware CCM*"),
    ("aes_", "AES"),
    ("ccm", "CCM*'s glue"),
    ("crypto_", "CCM*'s glue"),
    ("counter_", "CCM*'s glue"),
    ("radio_", "to and from the radio"),
    ("frame_", "headers and elements"),
    ("check", "table look-up"),
    ("security_", "nonce and procedures"),
    ("tsch_next", "payload"),
)
"""Purposes of functions by name prefix; other functions share their nearest caller's purpose."""


def cycles_of(run: PairRun) -> dict[str, dict[str, float]]:
    """Return the cycles of each step by purpose: the mean over all slots of both motes."""
    cycles: dict[str, dict[str, float]] = {step: {} for step in STEPS.values()}
    calls = dict.fromkeys(STEPS.values(), 0)
    for mote in run.motes:
        assert mote.profile is not None  # noqa: S101
        for function in mote.profile.functions:
            if function.name in STEPS:
                calls[STEPS[function.name]] += function.calls
        for path in mote.profile.paths:
            names = list(path.path)
            step = next((STEPS[name] for name in names if name in STEPS), None)
            if step is not None:
                work = _work(names)
                cycles[step][work] = cycles[step].get(work, 0) + path.self_cycles
    return {
        step: {
            work: count / calls[step] for work, count in sorted(parts.items(), key=lambda p: -p[1])
        }
        for step, parts in cycles.items()
        if calls[step]
    }


def _work(names: Sequence[str]) -> str:
    for name in reversed(names):
        for prefix, work in WORK:
            if name.startswith(prefix):
                return work
    return "slot machine"


def _moments(slot: Slot, frames: Sequence[Transmission]) -> list[tuple[str, str, int]]:
    """Return step, work and end of each stretch of a slot, in order."""
    begin, end = slot.start_ps, slot.waits[-1].went_on_ps
    data, acknowledgement = (f for f in frames if begin < f.begin_ps < end)
    first, second, last = slot.waits
    if slot.kind == "send":
        return [
            ("sec1", "", first.ready_ps),
            ("grid", "wait for tx-offset", first.went_on_ps),
            ("frame", "radio's turnaround", data.begin_ps),
            ("frame", "on the air", data.end_ps),
            ("listen", "slot machine", second.ready_ps),
            ("listen", "wait for the acknowledgement", second.went_on_ps),
            ("listen", "turnaround and guard", acknowledgement.begin_ps),
            ("acknowledgement", "on the air", acknowledgement.end_ps),
            ("sec4", "", last.ready_ps),
            ("grid", "wait for the slot's end", end),
        ]
    return [
        ("listen", "slot machine", first.ready_ps),
        ("listen", "wait for the frame", first.went_on_ps),
        ("listen", "turnaround and guard", data.begin_ps),
        ("frame", "on the air", data.end_ps),
        ("sec2+sec3", "", second.ready_ps),
        ("grid", "wait for tx-ack-delay", second.went_on_ps),
        ("acknowledgement", "radio's turnaround", acknowledgement.begin_ps),
        ("acknowledgement", "on the air", acknowledgement.end_ps),
        ("end", "slot machine", last.ready_ps),
        ("end", "wait for the slot's end", end),
    ]


def _shares(
    step: str, ps: int, cycles: Mapping[str, Mapping[str, float]], case: SlotCase
) -> list[tuple[str, str, float]]:
    """Return how a step's time divides among the purposes of its cycles."""
    if case.subject.streamed and step != "sec1":
        # Most work was done while the frame arrived: the share of only the rest is known.
        first, _, second = step.partition("+")
        hz = case.board.clock_profile(case.clock).hz
        shares = [
            (second, work, count / hz * 1e12 / ps) for work, count in cycles.get(second, {}).items()
        ]
        return [(first, "after the frame's end", 1 - sum(part for *_, part in shares)), *shares]
    parts = [
        (one, work, count) for one in step.split("+") for work, count in cycles.get(one, {}).items()
    ]
    whole = sum(count for *_, count in parts)
    return [(one, work, count / whole) for one, work, count in parts]


def waterfall(
    run: PairRun,
    found: Sequence[Slot],
    cycles: Mapping[str, Mapping[str, float]],
    case: SlotCase,
) -> list[Stretch]:
    """Return all stretches of a slot of the sender and of the receiver, by observed moments.

    Use the last slot of each kind. The time of a security step is that slot's; it is divided in
    proportion to the mean cycles of functions.
    """
    meter = ModelMeter(case.board)
    motes = dict(zip(("root", "leaf"), run.motes, strict=True))
    stretches = []
    for kind, who in (("send", "sender"), ("receive", "receiver")):
        slot = [one for one in found if one.kind == kind][-1]
        power = motes[slot.mote].power
        at = slot.start_ps
        for step, work, until in _moments(slot, run.frames):
            nj = meter.energy(occupancy(power, at, until)).gross_nj
            shares = [(step, work, 1.0)] if work else _shares(step, until - at, cycles, case)
            for name, what, part in shares or [(step, "slot machine", 1.0)]:
                stretches.append(
                    Stretch(who=who, step=name, work=what, ps=(until - at) * part, nj=nj * part)
                )
            at = until
    return stretches


def energy_of(run: PairRun, found: Sequence[Slot], board: Board) -> dict[str, Energy]:
    """Return the energy of the last slot of each kind, start to end, by the board's currents."""
    meter = ModelMeter(board)
    motes = dict(zip(("root", "leaf"), run.motes, strict=True))
    return {
        one.kind: meter.energy(
            occupancy(motes[one.mote].power, one.start_ps, one.waits[-1].went_on_ps)
        )
        for one in found
    }
