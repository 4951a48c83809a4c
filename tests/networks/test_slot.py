"""How short a slot can be: derived from known times, and from two emulated boards."""

import dataclasses
import random
import struct
from types import SimpleNamespace
from typing import Any

import pytest

from joulemark.subjects.slot import network
from joulemark.subjects.slot import template as slots
from joulemark.subjects.slot.proof import TRIED_SLOTS, Bench, lengthened
from joulemark.subjects.slot.template import Slot, Template, Wait

WIDE = Template(slot=3000, tx_offset=1000, tx_ack_delay=1200)
LEAD = 12
AIR = 134
ACK_AIR = 36


def marker(work: dict[str, int], slotframes: int, mote: str, rng: random.Random) -> list[Wait]:
    """Return the waits of a mote whose work in each slot takes at most this many picoseconds."""
    waits = []
    ps = slots.ps_of
    for number in range(3 * slotframes):
        kind = slots.SLOTFRAMES[mote][number % 3]
        start = ps(WIDE.slot * number)
        sent = WIDE.tx_offset + AIR
        moments = {
            slots.TX_OFFSET: (0, WIDE.tx_offset - LEAD),
            slots.RX_LISTEN: (0, WIDE.tx_offset - 50),
            slots.ACK_LISTEN: (sent, sent + WIDE.tx_ack_delay - 30),
            slots.TX_ACK: (sent, sent + WIDE.tx_ack_delay - LEAD),
            slots.SLOT_END: (sent + WIDE.tx_ack_delay + ACK_AIR, WIDE.slot),
        }
        for deadline in slots.SLOTS[kind]:
            begins, ends = moments[deadline]
            busy = work[deadline] - (rng.randrange(1000) if number % 7 else 0)
            waits.append(
                Wait(
                    ready_ps=start + ps(begins) + busy,
                    went_on_ps=start + ps(ends),
                )
            )
    return waits


WORK = {
    slots.TX_OFFSET: 7_000_000_000,
    slots.RX_LISTEN: 60_000_000,
    slots.ACK_LISTEN: 5_000_000,
    slots.TX_ACK: 9_000_000_000,
    slots.SLOT_END: 3_000_000_000,
}


def test_the_minimum_is_the_sum_of_the_work() -> None:
    rng = random.Random(1)
    found: list[Slot] = []
    for mote in slots.SLOTFRAMES:
        whole = slots.slots(mote, marker(WORK, 20, mote, rng))
        # The first slotframe has no wait before it to begin with.
        assert len(whole) == 57
        found += slots.regular(whole, WIDE)
    least = slots.slacks(found)
    assert least[slots.TX_OFFSET].kind == "send"
    assert least[slots.TX_ACK].kind == "receive"
    by = slots.cut(least)
    rest = slots.ps_of(WIDE.slot) - by.slot_ps
    work = WORK[slots.TX_OFFSET] + WORK[slots.TX_ACK] + WORK[slots.SLOT_END]
    fixed = slots.ps_of(LEAD + AIR + LEAD + ACK_AIR)
    assert abs(rest - work - fixed) < 10
    tuned = slots.shortened(WIDE, by)
    assert 0 <= slots.ps_of(tuned.slot) - rest < 3 * slots.ps_of(1) + 10
    # Nothing is cut that was not there.
    assert tuned.guard == WIDE.guard
    assert tuned.tx_offset >= LEAD


def test_a_moment_has_to_be_ahead() -> None:
    """What would be ready exactly when it is due is late."""
    by = slots.Cut(
        tx_offset_ps=slots.ps_of(32768), tx_ack_delay_ps=slots.ps_of(32768) + 1, end_ps=0
    )
    tuned = slots.shortened(Template(slot=99999, tx_offset=40000, tx_ack_delay=40000), by)
    assert (tuned.tx_offset, tuned.tx_ack_delay) == (40000 - 32767, 40000 - 32768)


def test_slots_before_a_loss_are_left_out() -> None:
    waits = marker(WORK, 20, "root", random.Random(2))
    broken = dataclasses.replace(waits[81], went_on_ps=waits[81].went_on_ps + 10**9)
    found = slots.regular(slots.slots("root", [*waits[:81], broken, *waits[82:]]), WIDE)
    assert 25 < len(found) < 30


def test_slots_that_a_leaf_corrects_are_kept() -> None:
    """A leaf that sees each beacon four ticks late is corrected by the acknowledgement after it."""
    late = {0: 4, 2: -5}
    found = []
    for number, slot in enumerate(slots.slots("leaf", marker(WORK, 20, "leaf", random.Random(2)))):
        last = slot.waits[-1]
        went_on_ps = last.went_on_ps + slots.ps_of(late.get(number % 3, 0))
        waits = (*slot.waits[:-1], dataclasses.replace(last, went_on_ps=went_on_ps))
        found.append(dataclasses.replace(slot, waits=waits))
    assert slots.regular(found, WIDE) == found


@pytest.mark.parametrize("said", ["sent 3\nacknowl", "sent 3\nacknowledged 3\ndon", ""])
def test_what_a_mote_had_half_said_is_left_out(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run stops as soon as a moment is missed, when a mote may already be printing."""
    seen = struct.pack("<11I", *range(11))
    run = SimpleNamespace(
        watched=[seen, seen],
        motes=[SimpleNamespace(text="sent 1\nanswered 7\ndone\n"), SimpleNamespace(text=said)],
    )
    pair = SimpleNamespace(run=lambda **_: run)
    monkeypatch.setattr(network, "RunningPair", lambda *_, **__: pair)
    case: Any = SimpleNamespace(board=None)
    _, (root, leaf) = network.RunningSlots(case, [], WIDE, 60).run(lambda _: True)
    assert (root["sent"], root["answered"]) == (1, 7)
    assert leaf == network.counts(seen)


def test_by_equation() -> None:
    """The standard's times of frame and acknowledgement replace those on the air."""
    least = slots.slacks(
        s for m in slots.SLOTFRAMES for s in slots.slots(m, marker(WORK, 9, m, random.Random(3)))
    )
    tuned = Template(slot=900, tx_offset=300, tx_ack_delay=400)
    found = slots.minima(WIDE, least, tuned, sec4_ps=5)
    assert found.by_equation_ps == slots.ps_of(700) + 4_256_000_000 + 2_400_000_000 + 5
    assert found.real_ps == slots.ps_of(900)


@pytest.mark.parametrize("name", sorted(slots.SLOTFRAMES))
def test_both_motes_do_the_same_slots_together(name: str) -> None:
    assert len(slots.SLOTFRAMES[name]) == 3
    opposite = {"beacon": "scan", "send": "receive", "receive": "send"}
    assert [opposite[k] for k in slots.SLOTFRAMES["root"]] == list(slots.SLOTFRAMES["leaf"])


def test_latency_is_that_of_a_moment_drawn_evenly() -> None:
    """Gaps of different lengths, against moments tried one by one."""
    rng = random.Random(4)
    deliveries = [(rng.randrange(1000, 90_000), rng.randrange(100, 400)) for _ in range(40)]
    waits = [gap - at + took for gap, took in deliveries for at in range(gap)]
    waits.sort()
    told = slots.latency(deliveries)
    assert abs(told.mean_ps - sum(waits) / len(waits)) < 1
    assert abs(told.p95_ps - waits[len(waits) * 95 // 100]) <= 2
    assert told.worst_ps == waits[-1]


class Rare(Bench):
    """Runs of a slot that needs 900 ticks; at 899, a moment is missed once in 5,000 slots."""

    def __init__(self) -> None:
        self._known = {}
        self.ran: list[tuple[Template, int]] = []

    def run(self, template: Template, count: int) -> Any:
        """Return what the motes would have counted."""
        self.ran.append((template, count))
        names = [*(f"late {name}" for name in slots.DEADLINES), "sent", "acknowledged"]
        late = dict.fromkeys(names, 0) | {"slots": count}
        missing = 900 - template.slot
        if missing > 1 or (missing == 1 and count >= 5000):
            late[f"late {slots.SLOT_END}"] = 1
        for part, at in ((slots.TX_OFFSET, 100), (slots.TX_ACK, 200)):
            has = {slots.TX_OFFSET: template.tx_offset, slots.TX_ACK: template.tx_ack_delay}[part]
            late[f"late {part}"] = int(has < at)
        return late, dict.fromkeys(late, 0) | {"slots": count}


class Chance(Rare):
    """200 ticks to the acknowledgement fail once in 100 slots, and sooner in short ones."""

    def run(self, template: Template, count: int) -> Any:
        """Return what the motes would have counted."""
        root, leaf = super().run(template, count)
        if template.tx_ack_delay == 200 and (count >= 100 or template.slot < 900):
            root |= {f"late {slots.TX_ACK}": 1, f"late {slots.SLOT_END}": 0}
        return root, leaf


def test_what_few_slots_do_not_show_is_no_failure() -> None:
    """A tick less misses only the acknowledgement, which many slots show to be at fault."""
    template, failures = Chance().settled(Template(slot=900, tx_offset=100, tx_ack_delay=200))
    assert (template.slot, template.tx_ack_delay) == (899, 201)
    assert all(failure.late for failure in failures)


class Seldom(Rare):
    """200 ticks to the acknowledgement fail once in 1,000 slots, and sooner in short ones."""

    def run(self, template: Template, count: int) -> Any:
        """Return what the motes would have counted."""
        root, leaf = super().run(template, count)
        if template.tx_ack_delay == 200 and (count >= 1000 or template.slot < 900):
            root |= {f"late {slots.TX_ACK}": 1, f"late {slots.SLOT_END}": 0}
        return root, leaf


def test_what_a_shorter_slot_shows_of_another_moment_is_looked_for_in_more_slots() -> None:
    template, failures = Seldom().settled(Template(slot=900, tx_offset=100, tx_ack_delay=200))
    assert (template.slot, template.tx_ack_delay) == (899, 201)
    assert all(failure.late for failure in failures)


def test_what_is_late_once_in_many_slots_is_not_tried_in_few_again() -> None:
    """Otherwise many slots would lengthen a template, and few would shorten it again."""
    bench = Rare()
    template, _ = bench.settled(Template(slot=903, tx_offset=100, tx_ack_delay=200))
    assert template.slot == 899
    found = bench.tried(template, 10_000)
    assert found.late
    template, failures = bench.settled(lengthened(template, found.late))
    assert template.slot == 900
    assert found in failures
    assert not bench.tried(template, 10_000).late
    assert (899, TRIED_SLOTS) in {(one.slot, count) for one, count in bench.ran}
    # Nothing is run again whose outcome is known.
    assert len(bench.ran) == len(set(bench.ran))
