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
    """The slots of both motes, as soon as they have found each other."""
    found = []
    for mote, observed in zip(("root", "leaf"), run.motes, strict=True):
        found += slots.regular(
            slots.slots(mote, _waits(observed.edges), prepared=case.subject.ahead == "frame"),
            template,
        )
    if not found:
        raise VerificationError("no slotframe was whole", "marker edges")
    return found


def steps_of(frames: Sequence[Transmission], found: Sequence[Slot]) -> dict[str, int]:
    """The longest of each step: from what it waits for on the air until it is done."""
    ends = sorted(frame.end_ps for frame in frames)
    longest = {"sec1": 0, "sec2+sec3": 0, "sec4": 0}

    def note(step: str, ps: int) -> None:
        longest[step] = max(longest[step], ps)

    for one in found:
        if one.kind == "send":
            note("sec1", one.waits[0].ready_ps - one.start_ps)
            note("sec4", one.waits[2].ready_ps - _last(ends, one.waits[2].ready_ps))
        elif one.kind == "receive":
            note("sec2+sec3", one.waits[1].ready_ps - _last(ends, one.waits[1].ready_ps))
    return longest


def _last(ends: Sequence[int], before: int) -> int:
    """The last end of a frame before a time."""
    return ends[bisect.bisect_left(ends, before) - 1]
