"""A template is run until it fails, or does not; and the shortest near one is found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from joulemark.analysis import slot as slots
from joulemark.analysis.slot import Template
from joulemark.errors import VerificationError
from joulemark.images import Sources
from joulemark.measure.slot.case import SlotCase
from joulemark.measure.slot.network import RunningSlots, late_in, verify
from joulemark.measure.slot.programs import images, spacing, with_template
from joulemark.runners.pair import PairRun

NEAR_SLOTS = 60
"""What is late is mostly so soon: the template is looked for in few slots, then tried in many."""
TRIED_SLOTS = 300
PROOF_SLOTS = 10_000
ROUNDS = 8
"""How often a template that is a tick too short, or too long, is changed."""
_DOUBLINGS = 12


_SLOTFRAME = 6
"""A multiple of all slotframes' lengths."""


@dataclass(frozen=True, kw_only=True)
class Proof:
    """A run under a template."""

    template: Template
    slots: int
    """With a frame, of both motes together."""
    late: Mapping[str, int]
    """Moments that were not met, by name; those that were are not in it."""
    acknowledged: int
    """Frames of data, of both motes together."""
    lost: int
    """Frames that were not acknowledged, since the leaf has joined."""


def proof_of(template: Template, reports: Sequence[Mapping[str, int]]) -> Proof:
    """Both motes' counts together."""
    late: dict[str, int] = {}
    for report in reports:
        for name, number in late_in(report).items():
            late[name] = late.get(name, 0) + number
    root, leaf = reports
    acknowledged = sum(report["acknowledged"] for report in reports)
    lost = sum(report["sent"] for report in reports) - acknowledged
    # The root asks once in three slots before the leaf has joined, too.
    lost -= (root["slots"] - leaf["slots"]) // len(slots.SLOTFRAMES["root"])
    return Proof(
        template=template, slots=root["slots"], late=late, acknowledged=acknowledged, lost=lost
    )


def lengthened(template: Template, late: Mapping[str, int], ticks: int = 1) -> Template:
    """More ticks where a moment was missed."""
    offset = ticks * (slots.TX_OFFSET in late or slots.RX_LISTEN in late)
    delay = ticks * (slots.TX_ACK in late or slots.ACK_LISTEN in late)
    # What is late at the end of a slot can come of what was late in it.
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
"""Moments that a part of the template fixes; a receiver's guard time can bind tx-offset."""


def shorter(template: Template) -> dict[str, Template]:
    """A tick less of each part of a template, by the moment that it makes too early."""
    slot = template.slot - 1
    return {
        slots.TX_OFFSET: replace(template, slot=slot, tx_offset=template.tx_offset - 1),
        slots.TX_ACK: replace(template, slot=slot, tx_ack_delay=template.tx_ack_delay - 1),
        slots.SLOT_END: replace(template, slot=slot),
    }


@dataclass(frozen=True)
class _Known:
    """What came of a template."""

    asked: int
    """So many slots."""
    reports: Sequence[Mapping[str, int]]
    proof: Proof


class Bench:
    """Runs of a case: the template is changed in the image, in place.

    Args:
        case: which.
        most: so many slots are run of what is proved.
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
        """Run so many slots, and keep all that can be seen of them."""
        return self._begin(template, count, seen=True, profile=profile).run()

    def run(self, template: Template, count: int) -> Sequence[Mapping[str, int]]:
        """What both counted in so many slots, or until one is late.

        Where fewer are asked for than may be yet, the motes stop there and go on from there; they
        end after the most, so that more take another run.
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
        """So many slots that have a link, as slot numbers: whole slotframes."""
        count *= spacing(self.case.subject)
        return count + -count % _SLOTFRAME

    def tried(self, template: Template, count: int) -> Proof:
        """Run until something is late, if it is not known whether something is.

        What is late once in many slots is so though few would not show it.
        """
        known = self._known.get(template)
        if known is None or (not known.proof.late and known.asked < count):
            reports = self.run(template, count)
            known = self._known[template] = _Known(count, reports, proof_of(template, reports))
        return known.proof

    def proof(self, template: Template, count: int) -> Proof:
        """Run so many slots, or until one is late; every answer is right.

        Raises:
            VerificationError: one was not.
        """
        proof = self.tried(template, count)
        if not proof.late:
            verify(self._known[template].reports, self.case)
        return proof

    def _long_enough(self, template: Template, count: int) -> Template:
        """A template that misses nothing: more and more is added, then what is too much taken off.

        The slot comes last: what its other parts lose is first left to its end.
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
        """The shortest template near one, and the failures of those that are a tick shorter.

        What was derived is right to the time that looking at the clock takes; but what is made in
        idle slots was not seen to end.

        Raises:
            VerificationError: none was found.
        """
        for count in (NEAR_SLOTS, TRIED_SLOTS):
            template, failures = self._settled(template, count)
        for part, failure in failures.items():
            if not BINDING[part] & set(failure.late):
                what = f"a tick less of {part} misses another moment alone: {failure}"
                raise VerificationError(what, str(self.case.case))
        return template, tuple(failures.values())

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
