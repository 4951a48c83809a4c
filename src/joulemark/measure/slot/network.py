"""What runs a network of two, and what its motes counted."""

import struct
from collections.abc import Mapping, Sequence

from joulemark.analysis import slot as slots
from joulemark.analysis.slot import Template
from joulemark.errors import VerificationError
from joulemark.images import BuiltImage
from joulemark.measure.slot.case import SlotCase
from joulemark.runners.pair import PairRun, run_pair

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


def run_slots(
    case: SlotCase,
    built: Sequence[BuiltImage],
    template: Template,
    count: int,
    *,
    profile: bool = False,
    trace: bool = False,
    until_late: bool = False,
) -> tuple[PairRun, list[dict[str, int]]]:
    """Run slots; what both counted.

    Where the run stops because one is late, a mote has said nothing by itself, or half of it.
    """
    limit_ps = 5 * 10**12 + slots.ps_of(template.slot) * (count + _JOIN_SLOTS)
    run = run_pair(
        case.board,
        built,
        until_said=_END,
        limit_ps=limit_ps,
        profile=profile,
        trace=trace,
        watched=("tsch_count", 4 * len(COUNTS)),
        enough=(lambda seen: any(late_in(counts(one)) for one in seen)) if until_late else None,
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
