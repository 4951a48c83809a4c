"""A tuned slot as the store keeps it."""

import hashlib
import json

from joulemark._engine import Image
from joulemark.campaign.job import METHOD
from joulemark.campaign.versions import engine_digest
from joulemark.catalogue import chips
from joulemark.catalogue.boards import Grade
from joulemark.images import Sources
from joulemark.measure.recorded import Outcome, of_image, recorded
from joulemark.records.record import Quantity, Record, quantity
from joulemark.subjects.slot import SlotSubject
from joulemark.subjects.slot.case import SlotCase
from joulemark.subjects.slot.programs import images
from joulemark.subjects.slot.proof import BINDING
from joulemark.subjects.slot.star import Star
from joulemark.subjects.slot.template import ps_of
from joulemark.subjects.slot.tune import Tuned

SlotRecord = Record[SlotSubject]
_STEPS_BY_SLOT = "steps by slot"
"""Added to the key: records from before they held each step slot by slot are not served again."""


def key(case: SlotCase) -> str:
    """Return the digest of all that the result depends on."""
    image = images(case, case.wide, 1, Sources())[1]
    depends = [
        case.case.digest,
        Image.load(image.path).digest,
        case.board.digest,
        chips.digest(case.board.chip),
        engine_digest(),
        METHOD,
        _STEPS_BY_SLOT,
    ]
    return hashlib.sha256(json.dumps(depends).encode()).hexdigest()


def quantities(tuned: Tuned) -> list[Quantity]:
    """Return all numbers of a slot."""
    template, minima = tuned.proof.template, tuned.minima

    def exact(part: str, name: str, unit: str, value: int) -> Quantity:
        return Quantity(part, name, unit, value, exact=True)

    found = [
        exact("", "slot", "ps", minima.real_ps),
        exact("", "slot_by_equation", "ps", minima.by_equation_ps),
        exact("", "slot_continuous", "ps", minima.continuous_ps),
        exact("", "tx_offset", "ticks", template.tx_offset),
        exact("", "tx_ack_delay", "ticks", template.tx_ack_delay),
        exact("", "slot_ticks", "ticks", template.slot),
        exact("", "flash_wiring", "B", tuned.flash_bytes),
        exact("", "ram_wiring", "B", tuned.ram_bytes),
        exact("", "frame", "B", tuned.frame_bytes),
        exact("", "acknowledgement", "B", tuned.acknowledgement_bytes),
        exact("", "payload", "B", tuned.payload_bytes),
        Quantity("", "throughput", "bit/s", tuned.throughput_bps),
    ]
    found += [
        quantity("time", "ps", times, part=step, value=max(times))
        for step, times in tuned.steps_ps.items()
    ]
    for kind, energy in tuned.energy.items():
        found.append(Quantity(kind, "energy_gross", "nJ", energy.gross_nj, grade=energy.grade))
    for step, parts in tuned.cycles.items():
        found += [
            Quantity(f"{step}: {work}", "cycles", "cycles", cycles)
            for work, cycles in parts.items()
        ]
    for number, one in enumerate(tuned.waterfall):
        part = f"{one.who} {number:02} {one.step}: {one.work}"
        grade = tuned.energy["send"].grade
        found.append(Quantity(part, "time", "ps", one.ps))
        found.append(Quantity(part, "energy_gross", "nJ", one.nj, grade=grade))
    if tuned.star is not None:
        found += _of_star(tuned.star, tuned.energy["send"].grade)
    for part, failure in zip(BINDING, tuned.failures, strict=True):
        found.append(exact(f"a tick less of {part}", "slots", "slots", failure.slots))
        found += [
            exact(f"a tick less of {part}", f"late {name}", "slots", count)
            for name, count in failure.late.items()
        ]
    return found


def _of_star(star: Star, grade: Grade) -> list[Quantity]:
    part = "network"
    latencies = {"mean": star.latency.mean_ps, "95": star.latency.p95_ps}
    latencies["worst"] = star.latency.worst_ps
    return [
        Quantity(part, "throughput", "bit/s", star.throughput_bps),
        *(Quantity(part, f"latency_{name}", "ps", ps) for name, ps in latencies.items()),
        Quantity(part, "slots", "slots", star.slots, exact=True),
        Quantity(part, "slot", "ps", ps_of(star.template.slot), exact=True),
        Quantity(f"{part}: root", "power_gross", "nW", star.root_nw, grade=grade),
        Quantity(f"{part}: leaf", "power_gross", "nW", star.leaf_nw, grade=grade),
    ]


def record(tuned: Tuned) -> SlotRecord:
    """Return the record that the store keeps."""
    case = tuned.case
    return recorded(
        key(case),
        case.subject,
        case.case,
        of_image(case.board, case.clock, 0, tuned.image),
        Outcome(quantities=quantities(tuned), trials=tuned.proof.slots),
    )
