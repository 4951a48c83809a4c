"""Runs templates until they fail or pass, and finds the shortest one near a given template."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from joulemark.errors import VerificationError
from joulemark.images import Sources
from joulemark.runners.pair import PairRun
from joulemark.subjects.slot import template as slots
from joulemark.subjects.slot.case import SlotCase
from joulemark.subjects.slot.network import RunningSlots, late_in, verify
from joulemark.subjects.slot.programs import images, spacing, with_template
from joulemark.subjects.slot.template import Template

NEAR_SLOTS = 60
"""Most failures show early: search with few slots, then confirm with many."""
TRIED_SLOTS = 300
PROOF_SLOTS = 10_000
ROUNDS = 8
"""How often a template that is a tick too short or too long may be changed."""
_DOUBLINGS = 12


_SLOTFRAME = 6
"""A common multiple of all slotframe lengths."""


@dataclass(frozen=True, kw_only=True)
class Proof:
    """The outcome of a run with a template."""

    template: Template
    slots: int
    """Slots with a frame; each counts once for both motes."""
    late: Mapping[str, int]
    """Missed moments by name, with how often; moments that were met are not included."""
    acknowledged: int
    """Acknowledged data frames of both motes."""
    lost: int
    """Frames not acknowledged since the leaf joined."""


def proof_of(template: Template, reports: Sequence[Mapping[str, int]]) -> Proof:
    """Combine the counts of both motes."""
    late: dict[str, int] = {}
    for report in reports:
        for name, number in late_in(report).items():
            late[name] = late.get(name, 0) + number
    root, leaf = reports
    acknowledged = sum(report["acknowledged"] for report in reports)
    lost = sum(report["sent"] for report in reports) - acknowledged
    # Before the leaf joins, too, the root asks once every three slots.
    lost -= (root["slots"] - leaf["slots"]) // len(slots.SLOTFRAMES["root"])
    return Proof(
        template=template, slots=root["slots"], late=late, acknowledged=acknowledged, lost=lost
    )


def lengthened(template: Template, late: Mapping[str, int], ticks: int = 1) -> Template:
    """Return the template with more ticks where a moment was missed."""
    offset = ticks * (slots.TX_OFFSET in late or slots.RX_LISTEN in late)
    delay = ticks * (slots.TX_ACK in late or slots.ACK_LISTEN in late)
    # A late end of a slot may only follow from an earlier moment that was late.
    end = ticks * (slots.SLOT_END in late and not offset and not delay)
    return replace(
        template,
        tx_offset=template.tx_offset + offset,
        tx_ack_delay=template.tx_ack_delay + delay,
        slot=template.slot + offset + delay + end,
    )


BINDING = {
    slots.TX_OFFSET: {slots.TX_OFFSET, slots.RX_LISTEN},
    slots.TX_ACK: {slots.TX_ACK, slots.ACK_LISTEN},
    slots.SLOT_END: {slots.SLOT_END},
}
"""Moments fixed by each part of the template; a receiver's guard time can bind tx-offset."""


def shorter(template: Template) -> dict[str, Template]:
    """Return templates with a tick less in each part, by the moment that then comes too early."""
    slot = template.slot - 1
    return {
        slots.TX_OFFSET: replace(template, slot=slot, tx_offset=template.tx_offset - 1),
        slots.TX_ACK: replace(template, slot=slot, tx_ack_delay=template.tx_ack_delay - 1),
        slots.SLOT_END: replace(template, slot=slot),
    }


@dataclass(frozen=True)
class _Known:
    """What is known of a template."""

    asked: int
    """Slots asked for."""
    reports: Sequence[Mapping[str, int]]
    proof: Proof


class Bench:
    """Runs of a case; the template is patched into the image in place.

    Args:
        case: the case.
        most: how many slots a proof runs.
    """

    def __init__(self, case: SlotCase, most: int) -> None:
        self.case = case
        self.most = most
        self.sources = Sources()
        self.images = images(case, case.wide, 1, self.sources)
        self._known: dict[Template, _Known] = {}
        self._stopped: dict[Template, RunningSlots] = {}

    def seen(
        self, template: Template, count: int, *, profile: bool = False
    ) -> tuple[PairRun, list[dict[str, int]]]:
        """Run this many slots, and keep all that can be observed."""
        return self._begin(template, count, seen=True, profile=profile).run()

    def run(self, template: Template, count: int) -> Sequence[Mapping[str, int]]:
        """Return both motes' counters after this many slots, or as soon as one is late.

        Where fewer than `most` slots are asked for, the motes stop there and can be resumed. They
        end after `most` slots, so more than that take a new run.
        """
        running = self._stopped.pop(template, None)
        if running is None or count > self.most:
            running = self._begin(template, max(count, self.most))

        def enough(reports: Sequence[Mapping[str, int]]) -> bool:
            done = count < self.most and all(one["slots"] >= count for one in reports)
            return done or any(late_in(one) for one in reports)

        _, reports = running.run(enough)
        if count < self.most and not any(late_in(one) for one in reports):
            self._stopped[template] = running
        return reports

    def _begin(
        self, template: Template, count: int, *, seen: bool = False, profile: bool = False
    ) -> RunningSlots:
        end = self._numbers(count)
        built = [with_template(self.case, image, template, end) for image in self.images]
        return RunningSlots(self.case, built, template, end, seen=seen, profile=profile)

    def _numbers(self, count: int) -> int:
        """Return the slot numbers that this many slots with a link span, in whole slotframes."""
        count *= spacing(self.case.subject)
        return count + -count % _SLOTFRAME

    def tried(self, template: Template, count: int) -> Proof:
        """Run until something is late, unless the outcome is known.

        A template that was late once in many slots has failed, even if fewer would not show it.
        """
        known = self._known.get(template)
        if known is None or (not known.proof.late and known.asked < count):
            reports = self.run(template, count)
            known = self._known[template] = _Known(count, reports, proof_of(template, reports))
        return known.proof

    def proof(self, template: Template, count: int) -> Proof:
        """Run this many slots, or until one is late; check that every answer is right.

        Raises:
            VerificationError: one was not.
        """
        proof = self.tried(template, count)
        if not proof.late:
            verify(self._known[template].reports, self.case)
        return proof

    def _long_enough(self, template: Template, count: int) -> Template:
        """Return a template that misses nothing: add ever more ticks, then bisect the excess away.

        The slot's length comes last: what the other parts give up first falls to the slot's end.
        """
        long = template
        for doubling in range(_DOUBLINGS):
            late = self.tried(long, count).late
            if not late:
                break
            long = lengthened(long, late, 2**doubling)
        for part in ("tx_offset", "tx_ack_delay", "slot"):
            fails, passes = getattr(template, part) - 1, getattr(long, part)
            while passes - fails > 1 and long != template:
                middle = (passes + fails) // 2
                if self.tried(replace(long, **{part: middle}), count).late:
                    fails = middle
                else:
                    passes = middle
            long = replace(long, **{part: passes})
        return long

    def settled(self, template: Template) -> tuple[Template, tuple[Proof, ...]]:
        """Return the shortest template near a given one, and the failures of those a tick shorter.

        The derived template is accurate to the time that a look at the clock takes, except that the
        end of work done in idle slots was not observed.

        Raises:
            VerificationError: none was found.
        """
        for _ in range(ROUNDS):
            for count in (NEAR_SLOTS, TRIED_SLOTS):
                template, failures = self._settled(template, count)
            others = [(p, f) for p, f in failures.items() if not BINDING[p] & set(f.late)]
            if not others:
                return template, tuple(failures.values())
            # A moment that the tick does not move is missed so seldom that it took other slots to
            # show: the template then misses it too, in more of them.
            late = self.tried(template, PROOF_SLOTS).late
            if not late:
                break
            template = lengthened(template, late)
        what = "; ".join(f"a tick less of {p} misses another moment alone: {f}" for p, f in others)
        raise VerificationError(what, str(self.case.case))

    def _settled(self, template: Template, count: int) -> tuple[Template, Mapping[str, Proof]]:
        template = self._long_enough(template, count)
        for _ in range(ROUNDS):
            late = self.tried(template, count).late
            if late:
                template = lengthened(template, late)
                continue
            failures = {p: self.tried(short, count) for p, short in shorter(template).items()}
            passing = [f.template for f in failures.values() if not f.late]
            if not passing:
                return template, failures
            template = passing[0]
        raise VerificationError(f"no shortest slot in {ROUNDS} rounds", str(self.case.case))
