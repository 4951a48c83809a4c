"""Slots and their steps, as observed from markers and the air."""

import bisect
from collections.abc import Sequence

from joulemark._engine import MarkerEdge, Transmission
from joulemark.errors import VerificationError
from joulemark.runners.pair import PairRun
from joulemark.subjects.slot import template as slots
from joulemark.subjects.slot.case import SlotCase
from joulemark.subjects.slot.template import Slot, Template, Wait


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
    """Return the slots of both motes from the time that they have found each other.

    Raises:
        VerificationError: no sending slot was observed, or no receiving one.
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
    """Return each step's times in picoseconds, slot by slot, on the mote where it takes longest.

    A step lasts from the frame that it waits for, or from its slot's beginning, until it is done.
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
    """Return when the last frame before a time ended."""
    return ends[bisect.bisect_left(ends, before) - 1]
