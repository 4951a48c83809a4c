"""A root and its leaves with a proved slot: throughput, latency, power.

Each leaf is asked and answers once per slotframe, with frames of maximum length. Measurement
begins once all leaves have joined.
"""

import struct
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from joulemark._engine import Transmission
from joulemark.catalogue.networks import Network
from joulemark.errors import VerificationError
from joulemark.runners.network import RunningNetwork, fault_error
from joulemark.subjects.slot.case import SlotCase
from joulemark.subjects.slot.network import COUNTS, counts, late_in
from joulemark.subjects.slot.programs import PROGRAM, SECURITY, macros, spacing, wiring
from joulemark.subjects.slot.proof import ROUNDS, lengthened
from joulemark.subjects.slot.template import PS, Latency, Template, latency, ps_of

JOIN_SLOTFRAMES = 20
"""Leaves listen on one channel, which a beacon reaches once in 16 slotframes."""
SEEN_SLOTFRAMES = 30
ATTENUATION_DB = 60.0
PPM = 40.0
"""Crystal errors: the root's is this fast; its leaves' range from this slow to this fast."""
_NEVER = 0xFFFF_FFFF


@dataclass(frozen=True, kw_only=True)
class Star:
    """A network, as observed."""

    template: Template
    """Longer than the pair's by some ticks where many motes met what the pair did not."""
    slots: int
    """Observed slots of the network."""
    throughput_bps: float
    """Acknowledged payload of all motes together."""
    latency: Latency
    """From any moment at which a leaf has something to report until the root has it."""
    root_nw: float
    leaf_nw: float
    """Mean over the leaves."""


def run_star(case: SlotCase, template: Template) -> Star:
    """Run the network, lengthening the slots by a tick for as long as any mote is late.

    Args:
        case: its subject says how many motes there are.
        template: the initial template.

    Raises:
        FaultError: a mote faulted.
        VerificationError: a leaf did not join, or something was lost or refused.
    """
    for _ in range(ROUNDS):
        star, late = _run(case, template)
        if not late:
            return star
        template = lengthened(template, late)
    raise VerificationError(f"{late} after {ROUNDS} rounds", str(case.case))


def _run(case: SlotCase, template: Template) -> tuple[Star, dict[str, int]]:
    """Return the observations, and the missed moments by name."""
    motes = case.subject.motes
    running = RunningNetwork(_network(case, template))
    slotframe = spacing(case.subject) * (2 * motes - 1)
    slotframe_s = ps_of(slotframe * template.slot) / PS
    begin_s = JOIN_SLOTFRAMES * slotframe_s
    end_s = begin_s + SEEN_SLOTFRAMES * slotframe_s
    _advance(running, begin_s)
    before, drawn = _counts(running), [running.energy(n).gross_nj for n in range(motes)]
    frames = _advance(running, end_s)
    after = _counts(running)
    seen = [
        {name: now[name] - was[name] for name in COUNTS}
        for was, now in zip(before, after, strict=True)
    ]
    _verify(before, seen, case)
    seconds = end_s - begin_s
    nw = [(running.energy(n).gross_nj - drawn[n]) / seconds for n in range(motes)]
    payload_bits = 8 * _byte(running, "tsch_payload_bytes")
    late = Counter[str]()
    for one in seen:
        late.update(late_in(one))
    star = Star(
        template=template,
        slots=SEEN_SLOTFRAMES * slotframe,
        throughput_bps=payload_bits * sum(one["acknowledged"] for one in seen) / seconds,
        latency=latency(_deliveries(frames, template)),
        root_nw=nw[0],
        leaf_nw=sum(nw[1:]) / (motes - 1),
    )
    return star, dict(late)


def _network(case: SlotCase, template: Template) -> Network:
    motes = case.subject.motes
    define = macros(case.subject, template, _NEVER) | {"MOTES": motes, "MOTE": 1}
    alike = {
        "board": case.board.name,
        "program": PROGRAM,
        "without": [] if case.subject.level > 0 else [SECURITY],
        "wiring": wiring(case.subject),
        "compiler": case.build.compiler,
        "optimisation": case.build.optimisation,
        "clock": case.clock,
    }
    root: dict[str, Any] = {
        **alike,
        "name": "root",
        "define": define,
        "crystal": {"ppm": PPM},
        "start_s": 0.1,
    }
    leaf: dict[str, Any] = {
        **alike,
        "name": "leaf",
        "define": define | {"MOTE": 2},
        "numbered": "MOTE",
    }
    leaf |= {"count": motes - 1}
    leaf |= {"spread_ppm": PPM} if motes > 2 else {"crystal": {"ppm": -PPM}}
    network = Network.model_validate(
        {
            "title": str(case.subject),
            "everyone": {"attenuation_db": ATTENUATION_DB},
            "mote": [root, leaf],
        }
    )
    network._path = Path("slot")
    return network


def _advance(running: RunningNetwork, until_s: float) -> list[Transmission]:
    """Run until then, and return all frames."""
    frames: list[Transmission] = []
    for piece in running.run(until_s):
        if piece.faults:
            number, stop = piece.faults[0]
            raise fault_error(running.names[number], stop)
        frames += piece.transmissions
    return frames


def _counts(running: RunningNetwork) -> list[dict[str, int]]:
    size = 4 * len(COUNTS)
    return [
        counts(running.engine.read_memory(number, seat.image.resolve("tsch_count"), size))
        for number, seat in enumerate(running.seats)
    ]


def _byte(running: RunningNetwork, symbol: str) -> int:
    at = running.seats[0].image.resolve(symbol)
    (value,) = struct.unpack("B", running.engine.read_memory(0, at, 1))
    return int(value)


def _verify(
    before: Sequence[dict[str, int]], seen: Sequence[dict[str, int]], case: SlotCase
) -> None:
    where = str(case.case)
    absent = sum(one["joins"] == 0 for one in before[1:])
    if absent:
        what = f"{absent} leaves have not joined after {JOIN_SLOTFRAMES} slotframes"
        raise VerificationError(what, where)
    for number, one in enumerate(seen):
        what = f"mote {number + 1} of {len(seen)}"
        if one["refused"] or one["joins"]:
            raise VerificationError(f"{what} has refused frames or lost the root: {one}", where)
        # A frame may be in flight when counting begins and when it ends.
        if abs(one["sent"] - one["acknowledged"]) > 1 or one["acknowledged"] < SEEN_SLOTFRAMES - 1:
            raise VerificationError(f"{what} has lost frames: {one}", where)


def _deliveries(frames: Sequence[Transmission], template: Template) -> list[tuple[int, int]]:
    """Return two times of each data frame from a leaf that the root heard, leaf by leaf.

    They are from the slot of the leaf's previous frame to this frame's slot, and from the beginning
    of this slot to the end of the frame.
    """
    told: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for frame in frames:
        heard = any(one.mote == 0 and one.outcome == "received" for one in frame.hearings)
        # Bits 0 to 2 of a frame's first byte are its type; data is 1.
        if frame.mote > 0 and heard and frame.frame[0] & 7 == 1:
            start = frame.delimiter_ps - ps_of(template.tx_offset)
            told[frame.mote].append((start, frame.end_ps))
    gaps = []
    for slots in told.values():
        for (before, _), (start, end) in pairwise(slots):
            gaps.append((start - before, end - start))
    return gaps
