"""A root and its leaves with a slot that was proved: throughput, latency, power.

Each leaf is asked and answers once a slotframe, with the longest frames. It is measured from when
all leaves have joined.
"""

import struct
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from joulemark._engine import Transmission
from joulemark.analysis.slot import PS, Latency, Template, latency, ps_of
from joulemark.catalogue.networks import Network
from joulemark.errors import VerificationError
from joulemark.measure.slot.case import SlotCase
from joulemark.measure.slot.network import COUNTS, counts, late_in
from joulemark.measure.slot.programs import PROGRAM, SECURITY, macros, spacing, wiring
from joulemark.measure.slot.proof import ROUNDS, lengthened
from joulemark.runners.network import RunningNetwork, fault_error

JOIN_SLOTFRAMES = 20
"""A beacon comes to the channel on which leaves listen once in 16 slotframes."""
SEEN_SLOTFRAMES = 30
ATTENUATION_DB = 60.0
PPM = 40.0
"""Of crystals: the root's are so fast, and its leaves' from so slow to so fast."""
_NEVER = 0xFFFF_FFFF


@dataclass(frozen=True, kw_only=True)
class Star:
    """A network, as it was seen."""

    template: Template
    """Ticks more than the pair's, where many motes met what the pair did not."""
    slots: int
    """So many were seen, of the network."""
    throughput_bps: float
    """Payload that was acknowledged, of all motes together."""
    latency: Latency
    """From any moment at which a leaf has something to tell until the root has it."""
    root_nw: float
    leaf_nw: float
    """The mean of the leaves'."""


def run_star(case: SlotCase, template: Template) -> Star:
    """Run the network, with slots that are a tick longer as long as a mote is late.

    Args:
        case: its subject says how many motes there are.
        template: of the slots, at first.

    Raises:
        FaultError: a mote has faulted.
        VerificationError: a leaf has not joined, or something was lost or refused.
    """
    for _ in range(ROUNDS):
        star, late = _run(case, template)
        if not late:
            return star
        template = lengthened(template, late)
    raise VerificationError(f"{late} after {ROUNDS} rounds", str(case.case))


def _run(case: SlotCase, template: Template) -> tuple[Star, dict[str, int]]:
    """What was seen, and moments that were missed, by name."""
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
    """All frames until then."""
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
        # A frame can be on the air when counting begins and when it ends.
        if abs(one["sent"] - one["acknowledged"]) > 1 or one["acknowledged"] < SEEN_SLOTFRAMES - 1:
            raise VerificationError(f"{what} has lost frames: {one}", where)


def _deliveries(frames: Sequence[Transmission], template: Template) -> list[tuple[int, int]]:
    """Begin of the slot and end of the frame, of what each leaf told the root, by leaf."""
    told: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for frame in frames:
        heard = any(one.mote == 0 and one.outcome == "received" for one in frame.hearings)
        # Bit 0 to 2 of a frame's first byte are its type; data is 1.
        if frame.mote > 0 and heard and frame.frame[0] & 7 == 1:
            start = frame.delimiter_ps - ps_of(template.tx_offset)
            told[frame.mote].append((start, frame.end_ps))
    gaps = []
    for slots in told.values():
        for (before, _), (start, end) in pairwise(slots):
            gaps.append((start - before, end - start))
    return gaps
