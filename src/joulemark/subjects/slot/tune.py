"""The shortest slot of a case: observed with ample time, derived, proved, and proved minimal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from joulemark.errors import BudgetError, VerificationError
from joulemark.images import BuiltImage, Sources, memory
from joulemark.meters.power import Energy
from joulemark.subjects.slot import template as slots
from joulemark.subjects.slot.case import SlotCase
from joulemark.subjects.slot.network import verify
from joulemark.subjects.slot.programs import image_of, spacing
from joulemark.subjects.slot.proof import PROOF_SLOTS, ROUNDS, Bench, Proof, lengthened, proof_of
from joulemark.subjects.slot.seen import seen_slots, steps_of
from joulemark.subjects.slot.star import Star, run_star
from joulemark.subjects.slot.template import Minima
from joulemark.subjects.slot.waterfall import Stretch, cycles_of, energy_of, waterfall

SEEN_SLOTS = 120
"""Few are enough: a slot's work hardly varies, only its phase to the crystal's grid."""
SHORT_SLOTS = 30
"""Few are enough: only the last ones of the shortest slot are looked at."""


@dataclass(frozen=True, kw_only=True)
class Tuned:
    """The shortest slot, with its proof."""

    case: SlotCase
    proof: Proof
    """A run that missed no moment."""
    failures: tuple[Proof, ...]
    """Runs with a tick less in each template part, in the order of BINDING; each misses one."""
    minima: Minima
    steps_ps: Mapping[str, Sequence[int]]
    """Time of each step (sec1, sec2+sec3, sec4), slot by slot, with all that is done around it, on
    the mote where it takes longest."""
    cycles: Mapping[str, Mapping[str, float]]
    """Cycles of each step, by purpose."""
    waterfall: Sequence[Stretch]
    energy: Mapping[str, Energy]
    """Energy of a slot, by kind."""
    flash_bytes: int
    ram_bytes: int
    """RAM of security, by wiring difference; likewise `flash_bytes`."""
    image: BuiltImage
    frame_bytes: int
    acknowledgement_bytes: int
    payload_bytes: int
    """Payload of a data frame; `frame_bytes` and `acknowledgement_bytes` are whole frames."""
    star: Star | None
    """The network that was run with the slot, where one is asked for."""

    @property
    def throughput_bps(self) -> float:
        """Acknowledged payload in the proof, of both motes together."""
        bits = 8 * self.payload_bytes * self.proof.acknowledged
        return bits * slots.TICK_HZ / (self.proof.slots * self.spacing * self.proof.template.slot)

    @property
    def spacing(self) -> int:
        """Slots per link: one slot in this many has a link."""
        return spacing(self.case.subject)


def tune(case: SlotCase, *, proof_slots: int = PROOF_SLOTS) -> Tuned:
    """Derive the shortest slot, run it, and run it a tick shorter.

    Args:
        case: the slot and its board.
        proof_slots: how many slots to run without a missed moment.

    Raises:
        BudgetError: the slot's work does not fit the widest template.
        BuildError: an image cannot be built.
        InputError: the board has no radio, or lacks what the strategy needs.
        VerificationError: a frame was wrong.
    """
    bench = Bench(case, proof_slots)
    run, reports = bench.seen(case.wide, SEEN_SLOTS, profile=True)
    if proof_of(case.wide, reports).late:
        raise BudgetError(f"a slot's work does not fit {slots.ps_of(case.wide.slot) / 1e9:g} ms")
    verify(reports, case)
    found = seen_slots(run, case.wide, case)
    least = slots.slacks(found)
    template = slots.shortened(case.wide, slots.cut(least))
    for _ in range(ROUNDS):
        template, failures = bench.settled(template)
        proof = bench.proof(template, proof_slots)
        if not proof.late:
            break
        # Rare failures show only in many slots.
        template = lengthened(template, proof.late)
    if proof.late or proof.lost:
        raise VerificationError(f"{proof} after {ROUNDS} rounds", str(case.case))
    steps = steps_of(run.frames, found)
    seen, _ = bench.seen(template, SHORT_SLOTS)
    short = seen_slots(seen, template, case)
    cycles = cycles_of(run)
    image = bench.images[0]
    flash_bytes, ram_bytes = _price(case, bench.sources, image)
    lengths = [len(frame.frame) for frame in seen.frames]
    return Tuned(
        case=case,
        proof=proof,
        failures=failures,
        minima=slots.minima(case.wide, least, template, max(steps["sec4"])),
        steps_ps=steps,
        cycles=cycles,
        waterfall=waterfall(seen, short, cycles, case),
        energy=energy_of(seen, short, case.board),
        flash_bytes=flash_bytes,
        ram_bytes=ram_bytes,
        image=image,
        frame_bytes=max(lengths),
        acknowledgement_bytes=min(lengths),
        payload_bytes=reports[0]["payload"],
        star=run_star(case, template) if case.subject.motes else None,
    )


def _price(case: SlotCase, sources: Sources, image: BuiltImage) -> tuple[int, int]:
    """Return flash and RAM of security, by leaving it out."""
    if case.subject.level == 0:
        return 0, 0
    bare = image_of(case, case.wide, 1, 1, sources, bare=True)
    difference = memory.difference(image, bare)
    return difference.flash_bytes, difference.ram_bytes
