"""Find the shortest time slot from the slack before each of its deadlines.

Times are in picoseconds, the slot's template in ticks of the 32,768 Hz crystal. A mote's marker is
high while it waits: a slot is a sequence of such waits, with work between them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

TICK_HZ = 32_768
PS = 10**12

TX_OFFSET, RX_LISTEN, ACK_LISTEN, TX_ACK, SLOT_END = (
    "tx-offset",
    "rx-listen",
    "ack-listen",
    "tx-ack-delay",
    "slot-end",
)
"""Events that a slot waits for: firmware/net/tsch/tsch.h."""
DEADLINES = (TX_OFFSET, RX_LISTEN, ACK_LISTEN, TX_ACK, SLOT_END)
"""All deadlines, in the firmware's order."""
SLOTS = {
    "beacon": (TX_OFFSET, SLOT_END),
    "scan": (RX_LISTEN, SLOT_END),
    "send": (TX_OFFSET, ACK_LISTEN, SLOT_END),
    "receive": (RX_LISTEN, TX_ACK, SLOT_END),
    "prepare": (SLOT_END,),
}
"""Kinds of slots, and what each waits for if nothing fails."""
SLOTFRAMES = {
    "root": ("beacon", "send", "receive"),
    "leaf": ("scan", "receive", "send"),
}
"""Successive kinds of slots of the two motes, in slotframes without idle slots."""

MAX_TX_US = 4256
"""TsMaxTx of the paper and of IEEE Std 802.15.4-2015: from the preamble to the end of 127 bytes."""
MAX_ACK_US = 2400
"""TsMaxAck."""


def ticks_of(ps: int) -> int:
    """Return the whole ticks in a time."""
    return ps * TICK_HZ // PS


def ps_of(ticks: int) -> int:
    """Return the time of a number of ticks."""
    return ticks * PS // TICK_HZ


@dataclass(frozen=True, kw_only=True)
class Template:
    """A slot's template, in ticks: firmware/net/tsch/timing.h."""

    slot: int
    tx_offset: int
    tx_ack_delay: int
    guard: int = 36
    ack_guard: int = 13

    @property
    def macros(self) -> dict[str, int]:
        """The firmware's macros for it."""
        return {f"TSCH_{name.upper()}_TICKS": value for name, value in vars(self).items()}


@dataclass(frozen=True, kw_only=True)
class Wait:
    """A wait: from when a mote was ready until it continued."""

    ready_ps: int
    went_on_ps: int

    @property
    def slack_ps(self) -> int:
        """The time left before the deadline."""
        return self.went_on_ps - self.ready_ps


@dataclass(frozen=True, kw_only=True)
class Slot:
    """A slot of a mote."""

    mote: str
    kind: str
    start_ps: int
    waits: tuple[Wait, ...]

    @property
    def deadlines(self) -> tuple[str, ...]:
        """Names of the deadlines that it waits for."""
        return SLOTS[self.kind]

    def wait(self, deadline: str) -> Wait | None:
        """Return its wait for a deadline; None if it has none."""
        names = self.deadlines
        return self.waits[names.index(deadline)] if deadline in names else None


def slots(mote: str, waits: Sequence[Wait], *, prepared: bool = False) -> list[Slot]:
    """Divide a mote's waits into slots, counting back from the last, which ends a slotframe.

    Only whole slotframes are returned, with a wait before them. They may include waits from before
    the motes had found each other, which `regular` removes.

    Args:
        mote: "root" or "leaf".
        waits: waits seen on its marker.
        prepared: whether each slot is followed by a slot in which the next one is prepared.
    """
    kinds: tuple[str, ...] = SLOTFRAMES[mote]
    if prepared:
        kinds = tuple(kind for one in kinds for kind in (one, "prepare"))
    size = sum(len(SLOTS[kind]) for kind in kinds)
    found: list[Slot] = []
    for number in range((len(waits) - 1) // size, 0, -1):
        at = len(waits) - number * size
        for kind in kinds:
            count = len(SLOTS[kind])
            before = waits[at - 1]
            found.append(
                Slot(
                    mote=mote,
                    kind=kind,
                    start_ps=before.went_on_ps,
                    waits=tuple(waits[at : at + count]),
                )
            )
            at += count
    return found


_CORRECTION_TICKS = 8
"""Largest correction of a leaf's slot length. Without optimisation at 8 MHz it sees the start of a
frame four ticks late and adjusts to it; the root's next acknowledgement reverts that."""


def regular(found: Sequence[Slot], template: Template) -> list[Slot]:
    """Return the last slots whose length is the template's, apart from the leaf's corrections.

    Earlier slots in which a frame was lost have different waits, and seem longer or shorter.
    """
    due = ps_of(template.slot)
    for number in range(len(found) - 1, -1, -1):
        slot = found[number]
        length = slot.waits[-1].went_on_ps - slot.start_ps
        if abs(length - due) > ps_of(_CORRECTION_TICKS):
            return list(found[number + 1 :])
    return list(found)


@dataclass(frozen=True, kw_only=True)
class Slack:
    """The least slack before a deadline over all slots of both motes."""

    deadline: str
    ps: int
    mote: str
    kind: str


def slacks(found: Iterable[Slot]) -> dict[str, Slack]:
    """Return the least slack of each deadline."""
    least: dict[str, Slack] = {}
    for slot in found:
        for deadline, wait in zip(slot.deadlines, slot.waits, strict=True):
            known = least.get(deadline)
            if known is None or wait.slack_ps < known.ps:
                least[deadline] = Slack(
                    deadline=deadline, ps=wait.slack_ps, mote=slot.mote, kind=slot.kind
                )
    return least


@dataclass(frozen=True, kw_only=True)
class Cut:
    """How much each part of a template can be shortened: the least slack before its end."""

    tx_offset_ps: int
    tx_ack_delay_ps: int
    end_ps: int

    @property
    def slot_ps(self) -> int:
        """How much the slot can be shortened."""
        return self.tx_offset_ps + self.tx_ack_delay_ps + self.end_ps


def cut(least: dict[str, Slack]) -> Cut:
    """Return how much each part of the template can be shortened."""
    return Cut(
        tx_offset_ps=min(least[TX_OFFSET].ps, least[RX_LISTEN].ps),
        tx_ack_delay_ps=min(least[TX_ACK].ps, least[ACK_LISTEN].ps),
        end_ps=least[SLOT_END].ps,
    )


def shortened(template: Template, by: Cut) -> Template:
    """Return the shortest template on the crystal's grid; a deadline must be in the future."""
    offset, delay, end = (
        max(0, ticks_of(ps) - (ps * TICK_HZ % PS == 0))
        for ps in (by.tx_offset_ps, by.tx_ack_delay_ps, by.end_ps)
    )
    return replace(
        template,
        tx_offset=template.tx_offset - offset,
        tx_ack_delay=template.tx_ack_delay - delay,
        slot=template.slot - offset - delay - end,
    )


@dataclass(frozen=True, kw_only=True)
class Latency:
    """Latency of a message that may be ready at any moment, in picoseconds."""

    mean_ps: float
    p95_ps: float
    """95th percentile."""
    worst_ps: float


def latency(deliveries: Sequence[tuple[int, int]]) -> Latency:
    """Compute the latency of a message that is ready at a uniformly distributed moment.

    A message that is ready within the gap before a slot is sent in that slot: it waits between
    nothing and the whole gap, and then for the time that the slot takes to deliver it.

    Args:
        deliveries: for each slot, the gap since the previous one, and the time from its start to
            delivery.
    """
    whole = sum(gap for gap, _ in deliveries)
    mean = sum(gap * (gap / 2 + took) for gap, took in deliveries) / whole
    worst = max(gap + took for gap, took in deliveries)

    def below(limit: float) -> float:
        return sum(min(max(limit - took, 0), gap) for gap, took in deliveries) / whole

    low, high = 0.0, float(worst)
    while high - low > 1:
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) < 0.95 else (low, middle)
    return Latency(mean_ps=mean, p95_ps=high, worst_ps=float(worst))


@dataclass(frozen=True, kw_only=True)
class Minima:
    """Three lower bounds on the slot's length, in picoseconds."""

    by_equation_ps: int
    """Eq. (1) of sciancalepore-2016: TsTxOffset + TsMaxTx + TsTxAckDelay + TsMaxAck + sec4."""
    real_ps: int
    """On the crystal's grid, with the real acknowledgement; proved by running it."""
    continuous_ps: int
    """Without the grid: every deadline is when the slowest slot is ready."""


def minima(wide: Template, least: dict[str, Slack], tuned: Template, sec4_ps: int) -> Minima:
    """Compute the three minima.

    Args:
        wide: the template with which the slacks were observed.
        least: the slacks.
        tuned: the template that was proved.
        sec4_ps: the longest time from an acknowledgement's end until the sender is done.
    """
    equation = ps_of(tuned.tx_offset + tuned.tx_ack_delay) + sec4_ps
    equation += (MAX_TX_US + MAX_ACK_US) * 10**6
    return Minima(
        by_equation_ps=equation,
        real_ps=ps_of(tuned.slot),
        continuous_ps=ps_of(wide.slot) - cut(least).slot_ps,
    )
