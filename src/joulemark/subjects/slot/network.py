"""Runs a network of two motes, and reads their counters."""

import struct
from collections.abc import Callable, Mapping, Sequence

from joulemark.errors import VerificationError
from joulemark.images import BuiltImage
from joulemark.runners.pair import PairRun, RunningPair
from joulemark.subjects.slot import template as slots
from joulemark.subjects.slot.case import SlotCase
from joulemark.subjects.slot.template import Template

COUNTS = (
    *(f"late {name}" for name in slots.DEADLINES),
    "slots",
    "sent",
    "acknowledged",
    "received",
    "refused",
    "joins",
)
"""tsch_counts of firmware/net/tsch/tsch.h: 32-bit words."""


_JOIN_SLOTS = 60
_END = "done\n"
"""The last thing that a mote prints."""


class RunningSlots:
    """Two motes that end at a given slot; they can be stopped earlier and resumed.

    Args:
        case: what they do.
        built: the root's and the leaf's image, with template and end filled in.
        template: of the slots.
        end: number of the slot in which the motes end.
        seen: keep all that can be observed.
        profile: count cycles by function.
    """

    def __init__(
        self,
        case: SlotCase,
        built: Sequence[BuiltImage],
        template: Template,
        end: int,
        *,
        seen: bool = False,
        profile: bool = False,
    ) -> None:
        self._limit_ps = 5 * 10**12 + slots.ps_of(template.slot) * (end + _JOIN_SLOTS)
        self._pair = RunningPair(
            case.board,
            built,
            profile=profile,
            trace=seen,
            watched=("tsch_count", 4 * len(COUNTS)),
        )

    def run(
        self, enough: Callable[[Sequence[Mapping[str, int]]], bool] | None = None
    ) -> tuple[PairRun, list[dict[str, int]]]:
        """Run to the end, and return the run and the counters of both motes.

        Args:
            enough: given the counters of both, returns whether to stop early. A mote stopped early
                has not printed its report, or only part of it.
        """
        run = self._pair.run(
            until_said=_END,
            limit_ps=self._limit_ps,
            enough=None if enough is None else lambda seen: enough([counts(one) for one in seen]),
        )
        reports = [counts(one) for one in run.watched]
        for report, mote in zip(reports, run.motes, strict=True):
            said, end, _ = mote.text.partition(_END)
            pairs = (line.rpartition(" ") for line in said.splitlines() if end)
            report |= {name: int(number) for name, _, number in pairs}
        return run, reports


def counts(seen: bytes) -> dict[str, int]:
    """Return a mote's counters, from its memory."""
    return dict(zip(COUNTS, struct.unpack(f"<{len(COUNTS)}I", seen), strict=True))


def late_in(report: Mapping[str, int]) -> dict[str, int]:
    """Return the missed moments by name, with how often each was missed."""
    return {name: report[f"late {name}"] for name in slots.DEADLINES if report[f"late {name}"] > 0}


def verify(reports: Sequence[Mapping[str, int]], case: SlotCase) -> None:
    """Check that every question was answered correctly: the root compares each byte.

    Raises:
        VerificationError: one was not.
    """
    root, leaf = reports
    wrong = root["wrong"] + root["refused"] + leaf["refused"]
    if wrong or not root["answered"] or root["received"] != root["answered"]:
        what = f"{wrong} frames were wrong or refused, and {root['answered']} questions answered"
        raise VerificationError(what, str(case.case))
