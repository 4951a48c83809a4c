"""An attacker with a radio and no key, near a root in time slots on an emulated board.

    .venv/bin/python tests/support/forged.py telosb hardware 100000 1

In each slot in which the root listens, for a leaf's data or for an acknowledgement, it hears one
frame. This is a genuine one of that slot that was changed, cut, reassembled or stripped of its
security; a genuine one of an earlier or later slot; or a made-up one. Genuine frames are made here
with `cryptography` from what two boards sent to each other. The last two slots have them unchanged,
and the root must accept these two and nothing else. tests/networks/test_forged_on_boards.py runs
part of it.
"""

import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from cryptography.hazmat.primitives.ciphers.aead import AESCCM

from joulemark._engine import Image, Network, Phy, Transmission
from joulemark.analysis.frames import Frame, parse
from joulemark.catalogue import boards, chips
from joulemark.catalogue.boards import Board
from joulemark.images import BuiltImage, build_program
from joulemark.subjects.slot.network import COUNTS, counts
from joulemark.subjects.slot.template import PS, Template, ps_of

PHY = Phy("oqpsk-2450")
KEY = bytes.fromhex("deadbeeffacecafe" * 2)
HOPPING = (16, 17, 23, 18, 26, 15, 25, 22, 19, 11, 12, 13, 24, 14, 20, 21)
"""RFC 8180, section 4.5.2."""
LEAF = bytes.fromhex("024a4d0000000002")
"""The leaf's extended address, as in nonces."""
LOWEST_MHZ = 2405 + 5 * (HOPPING[0] - 11)
"""Frequency of the channel where joining motes look for beacons."""
LEVEL, MIC_BYTES = 5, 4
TEMPLATE = Template(slot=4000, tx_offset=1500, tx_ack_delay=1900)
"""Long enough for AES in software."""
SLOTFRAME = 3
"""Beacon; question and its acknowledgement; answer."""
_AT_ONCE = 3000
KINDS = (
    "changed",
    "cut",
    "replayed",
    "early",
    "swapped",
    "unsecured",
    "weaker",
    "made up",
    "noise",
)


@dataclass(frozen=True)
class Outcome:
    """Outcome for the frames."""

    sent: Counter[str]
    """Forged frames, by kind."""
    heard: int
    counted: dict[str, int]
    """The root's counters at the end."""
    slot_ends_ps: Sequence[int]
    """When the root was done with each slot."""


@lru_cache
def image(board: str, strategy: str, mote: int, boots: str = "none") -> BuiltImage:
    """Build a mote of a secured pair that prints nothing."""
    return build_program(
        "net/tsch-ping",
        boards.load_board(board),
        wiring={
            "ccm-star": f"net/ccm-star/{strategy}",
            "boots": f"boots/{boots}",
            "block-cipher": "primitives/block-cipher/aes/ref",
        },
        define={
            **TEMPLATE.macros,
            "MOTE": mote,
            "TSCH_LEVEL": LEVEL,
            "TSCH_IDLE_SLOTS": 0,
            "TSCH_KEPT_BLOCKS": 1,
            "PING_SLOTS": 0xFFFFFFFF,
        },
    )


class Air:
    """Motes, and frames sent to them from outside.

    Args:
        board: of all motes.
        images: of motes, which hear each other.
    """

    def __init__(self, board: Board, images: Sequence[BuiltImage]) -> None:
        self.board = board
        self.network = Network()
        self.chip = chip = chips.load_chip(board.chip)
        self.images = [Image.load(built.path) for built in images]
        for number, loaded in enumerate(self.images):
            self.network.add(
                chip,
                loaded,
                wiring=board.wiring,
                start_ps=0 if number == 0 else 10**10,
                marker=board.marker.pin,
                trace=True,
            )
        self.attacker = self.network.add_recording()
        for number in range(len(images)):
            self.network.link(self.attacker, number, attenuation_db=50.0)
            for other in range(len(images)):
                if other != number:
                    self.network.link(number, other, attenuation_db=50.0)
        self.frames: list[Transmission] = []

    def run(self, until_ps: int) -> None:
        """Run on until this time."""
        self.network.run(until_ps)
        self.frames += self.network.take_transmissions()

    def send(self, frame: bytes, asn: int, delimiter_ps: int) -> None:
        """Put a frame on the channel of a slot, with a check sequence added."""
        self.network.inject(
            self.attacker,
            PHY,
            delimiter_ps - PHY.synchronisation_ps,
            2405 + 5 * (HOPPING[asn % 16] - 11),
            0.0,
            frame + PHY.check_sequence(frame),
        )

    def hear(self, mote: int, other: int, attenuation_db: float) -> None:
        """Set how well two motes hear each other."""
        self.network.link(mote, other, attenuation_db=attenuation_db)
        self.network.link(other, mote, attenuation_db=attenuation_db)

    def restart(self, mote: int) -> None:
        """Power-cycle a mote."""
        self.network.restart(mote, self.chip, self.images[mote], wiring=self.board.wiring)

    def counts(self, mote: int) -> dict[str, int]:
        """Return a mote's counters."""
        at = self.images[mote].resolve("tsch_count")
        return counts(self.network.read_memory(mote, at, 4 * len(COUNTS)))


def pair(board: str, strategy: str, slots: int, leaf_boots: str = "none") -> Air:
    """Return a root and its leaf that have run for this many slots."""
    images = [image(board, strategy, 1), image(board, strategy, 2, leaf_boots)]
    air = Air(boards.load_board(board), images)
    air.run(slots * ps_of(TEMPLATE.slot) + PS)
    return air


@lru_cache
def genuine(board: str, strategy: str) -> tuple[bytes, bytes]:
    """Return a leaf's data and acknowledgement frames, without check sequence, unsecured."""
    air = pair(board, strategy, 60)
    beacon = next(frame for frame in air.frames if frame.mote == 0)
    found = {}
    for kind in ("data", "acknowledgment"):
        for sent in air.frames:
            frame = parse(bytes(sent.frame[:-2]))
            if sent.mote == 1 and frame.kind == kind:
                lead = TEMPLATE.tx_offset
                if kind != "data":
                    lead += round((128 * PHY.byte_ps) / ps_of(1)) + TEMPLATE.tx_ack_delay
                passed_ps = sent.delimiter_ps - ps_of(lead) - beacon.delimiter_ps
                asn = round(passed_ps / ps_of(TEMPLATE.slot) + TEMPLATE.tx_offset / TEMPLATE.slot)
                nonce = LEAF + asn.to_bytes(5, "big")
                header, sealed = frame.data[: frame.open_bytes], frame.data[frame.open_bytes :]
                opened = AESCCM(KEY, tag_length=MIC_BYTES).decrypt(nonce, sealed, header)
                found[kind] = header + opened
                break
    return found["data"], found["acknowledgment"]


def secured(plain: bytes, asn: int) -> bytes:
    """Return a frame of a slot as the leaf would send it."""
    at = opened(plain).open_bytes
    nonce = LEAF + asn.to_bytes(5, "big")
    return plain[:at] + AESCCM(KEY, tag_length=MIC_BYTES).encrypt(nonce, plain[at:], plain[:at])


@lru_cache
def opened(plain: bytes) -> Frame:
    """Parse its header; parsing needs a MIC to follow."""
    return parse(plain + bytes(MIC_BYTES))


def unsecured(plain: bytes, level: int) -> bytes:
    """Return the same frame at another level with an arbitrary MIC, or without security."""
    at = plain.index(bytes([LEVEL | 0x68]))  # level, key mode 1, no counter, slot in the nonce
    if level:
        mic = (0, 4, 8, 16)[level % 4]
        return plain[:at] + bytes([level | 0x68]) + plain[at + 1 :] + bytes(mic)
    return bytes([plain[0] & ~8]) + plain[1:at] + plain[at + 2 :]


def forged(kind: str, plain: bytes, other: bytes, asn: int, rng: random.Random) -> bytes:
    """Return a frame that must not be accepted in a slot."""
    right, header = secured(plain, asn), plain[: opened(plain).open_bytes]
    # After 128 slotframes, sequence numbers repeat.
    elsewhen = rng.choice((1, 2, 50, 128, 256)) * SLOTFRAME
    makers: dict[str, Callable[[], bytes]] = {
        "changed": lambda: changed(right, rng),
        "cut": lambda: right[: rng.randrange(1, len(right))],
        "replayed": lambda: secured(plain, max(0, asn - elsewhen)),
        "early": lambda: secured(plain, asn + elsewhen),
        "swapped": lambda: secured(other, asn),
        "unsecured": lambda: unsecured(plain, 0),
        "weaker": lambda: unsecured(plain, rng.choice((1, 2, 3, 4, 6, 7)))[:125],
        "made up": lambda: header + rng.randbytes(len(right) - len(header)),
        "noise": lambda: rng.randbytes(rng.randrange(1, 126)),
    }
    return makers[kind]()


def changed(frame: bytes, rng: random.Random) -> bytes:
    """Flip some of its bits."""
    number = int.from_bytes(frame, "little")
    for bit in rng.sample(range(8 * len(frame)), rng.choice((1, 1, 2, 3, 8))):
        number ^= 1 << bit
    return number.to_bytes(len(frame), "little")


def attack(
    board: str,
    strategy: str,
    choices: Iterator[str],
    count: int,
    rng: random.Random,
    *,
    wrong: Sequence[bytes] = (),
) -> Outcome:
    """Send this many frames to a root, and then two genuine ones.

    Args:
        board: the root's.
        strategy: how its CCM* is done.
        choices: kinds of frames, one after the other.
        count: how many.
        rng: the source of randomness.
        wrong: instead: differences of data frames' MICs from the right ones, one frame each.
    """
    data, acknowledgement = genuine(board, strategy)
    described = boards.load_board(board)
    air = Air(described, [image(board, strategy, 1)])
    while not air.frames:
        air.run(air.network.time_ps + ps_of(TEMPLATE.slot))
    begun = air.frames[0].delimiter_ps  # of the beacon of slot 0
    first = air.frames[0].frame[2]
    sent: Counter[str] = Counter()
    asn, done = SLOTFRAME, 0
    total = len(wrong) or count

    def answering(asn: int) -> bytes:
        """Return an acknowledgement with its question's number; beacons are numbered too."""
        number = first + 2 * (asn // SLOTFRAME) + 1 & 0xFF
        return acknowledgement[:2] + bytes([number]) + acknowledgement[3:]

    def at(asn: int) -> tuple[int, int]:
        """Return when data and an acknowledgement are due."""
        first = begun + asn * TEMPLATE.slot * PS // 32_768
        return first, first + 128 * PHY.byte_ps + ps_of(TEMPLATE.tx_ack_delay)

    while done < total:
        for _ in range(min(_AT_ONCE, total - done)):
            if wrong:
                right = secured(data, asn + 2)
                mic = int.from_bytes(right[-MIC_BYTES:]) ^ int.from_bytes(wrong[done])
                frame = right[:-MIC_BYTES] + mic.to_bytes(MIC_BYTES)
                air.send(frame, asn + 2, at(asn + 2)[0])
                asn, done = asn + SLOTFRAME, done + 1
                continue
            kind = next(choices)
            sent[kind] += 1
            if done % 2 == 0:
                frame = forged(kind, answering(asn), data, asn + 1, rng)
                air.send(bytes(frame), asn + 1, at(asn + 1)[1])
            else:
                frame = forged(kind, data, acknowledgement, asn + 2, rng)
                air.send(bytes(frame), asn + 2, at(asn + 2)[0])
                asn += SLOTFRAME
            done += 1
        if done == total:
            asn += SLOTFRAME
            air.send(secured(answering(asn), asn + 1), asn + 1, at(asn + 1)[1])
            air.send(secured(data, asn + 2), asn + 2, at(asn + 2)[0])
            asn += SLOTFRAME
        air.run(at(asn)[0] + ps_of(1) - ps_of(TEMPLATE.tx_offset))
    heard = sum(
        one.outcome == "received"
        for frame in air.frames
        if frame.mote == air.attacker
        for one in frame.hearings
    )
    ends = [edge.time_ps for edge in air.network.marker_edges(0) if edge.rising]
    return Outcome(sent, heard, air.counts(0), ends)


def endless(rng: random.Random) -> Iterator[str]:
    """Yield all kinds over and over, in changing order."""
    while True:
        yield from rng.sample(KINDS, len(KINDS))


def main() -> None:
    """Attack a board."""
    board, strategy, count, seed = sys.argv[1:]
    rng = random.Random(int(seed))
    outcome = attack(board, strategy, endless(rng), int(count), rng)
    print(f"{board}, {strategy}: {outcome.heard:,} heard, of them 2 genuine; {outcome.sent}")
    print(outcome.counted)
    if (outcome.counted["received"], outcome.counted["acknowledged"]) != (1, 1):
        sys.exit("a forged frame was taken, or a genuine one was not")


if __name__ == "__main__":
    main()
