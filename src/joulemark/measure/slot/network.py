"""What runs a network of two, and what its motes counted."""

import struct
from collections.abc import Callable, Mapping, Sequence

from joulemark.analysis import slot as slots
from joulemark.analysis.slot import Template
from joulemark.errors import VerificationError
from joulemark.images import BuiltImage
from joulemark.measure.slot.case import SlotCase
from joulemark.runners.pair import PairRun, RunningPair

COUNTS = (
    *(f"late {name}" for name in slots.DEADLINES),
    "slots",
    "sent",
    "acknowledged",
    "received",
    "refused",
    "joins",
)
"""tsch_counts of firmware/net/tsch/tsch.h: words of 32 bits."""


_JOIN_SLOTS = 60
_END = "done\n"
"""What a mote says last."""


class RunningSlots:
    """Two motes that end after so many slots: they can be stopped before, and go on.

    Args:
        case: what they do.
        built: the root's and the leaf's image, with the template and the end in them.
        template: of the slots.
        end: the slot, by its number, in which the motes end.
        seen: keep all that can be seen.
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
        """Run to the end; what both counted.

        Args:
            enough: told the counters of both, says whether to stop before. Then a mote has said
                nothing by itself, or half of it.
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
    """A mote's counters, from its memory."""
    return dict(zip(COUNTS, struct.unpack(f"<{len(COUNTS)}I", seen), strict=True))


def late_in(report: Mapping[str, int]) -> dict[str, int]:
    """Moments that were missed, by name."""
    return {name: report[f"late {name}"] for name in slots.DEADLINES if report[f"late {name}"] > 0}


def verify(reports: Sequence[Mapping[str, int]], case: SlotCase) -> None:
    """Every question was answered, and rightly: the root compares each byte.

    Raises:
        VerificationError: one was not.
    """
    root, leaf = reports
    wrong = root["wrong"] + root["refused"] + leaf["refused"]
    if wrong or not root["answered"] or root["received"] != root["answered"]:
        what = f"{wrong} frames were wrong or refused, and {root['answered']} questions answered"
        raise VerificationError(what, str(case.case))
