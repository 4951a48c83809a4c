"""Slots and their steps, as the marker and the air show them."""

import bisect
from collections.abc import Sequence

from joulemark._engine import MarkerEdge, Transmission
from joulemark.analysis import slot as slots
from joulemark.analysis.slot import Slot, Template, Wait
from joulemark.errors import VerificationError
from joulemark.measure.slot.case import SlotCase
from joulemark.runners.pair import PairRun


def _waits(edges: Sequence[MarkerEdge]) -> list[Wait]:
    found = []
    ready: MarkerEdge | None = None
    for edge in edges:
        if edge.rising:
            ready = edge
        elif ready is not None:
            found.append(
                Wait(
                    ready_ps=ready.time_ps,
                    went_on_ps=edge.time_ps,
                )
            )
            ready = None
    return found


def seen_slots(run: PairRun, template: Template, case: SlotCase) -> list[Slot]:
    """The slots of both motes, as soon as they have found each other.

    Raises:
        VerificationError: none that sends was seen, or none that receives.
    """
    found = []
    for mote, observed in zip(("root", "leaf"), run.motes, strict=True):
        found += slots.regular(
            slots.slots(mote, _waits(observed.edges), prepared=case.subject.ahead == "frame"),
            template,
        )
    if not {"send", "receive"} <= {one.kind for one in found}:
        raise VerificationError("no slotframe was whole", "marker edges")
    return found


def steps_of(frames: Sequence[Transmission], found: Sequence[Slot]) -> dict[str, list[int]]:
    """What each step takes, slot by slot, in picoseconds, on the mote on which it takes longest.

    From what it waits for on the air, or its slot's beginning, until it is done.
    """
    ends = sorted(frame.end_ps for frame in frames)
    times: dict[str, dict[str, list[int]]] = {"sec1": {}, "sec2+sec3": {}, "sec4": {}}

    def note(step: str, mote: str, ps: int) -> None:
        times[step].setdefault(mote, []).append(ps)

    for one in found:
        if one.kind == "send":
            note("sec1", one.mote, one.waits[0].ready_ps - one.start_ps)
            note("sec4", one.mote, one.waits[2].ready_ps - _last(ends, one.waits[2].ready_ps))
        elif one.kind == "receive":
            note("sec2+sec3", one.mote, one.waits[1].ready_ps - _last(ends, one.waits[1].ready_ps))
    return {step: max(by_mote.values(), key=max) for step, by_mote in times.items()}


def _last(ends: Sequence[int], before: int) -> int:
    """The last end of a frame before a time."""
    return ends[bisect.bisect_left(ends, before) - 1]
