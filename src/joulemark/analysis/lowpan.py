"""Take UDP datagrams out of 6LoWPAN frames, and count what carried them.

Understands what `firmware/net/udp` sends: compressed headers of neighbours (RFC 6282) and fragments
(RFC 4944, section 5.3).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from joulemark.analysis.frames import Frame, MalformedFrameError, parse

if TYPE_CHECKING:
    from joulemark._engine import Transmission

_FIRST, _NEXT = 0b11000, 0b11100
_FIRST_BYTES, _NEXT_BYTES = 4, 5
_UNIT = 8
_HEADERS = 48
"""IPv6's and UDP's headers before compression, which sizes and offsets of fragments count."""
_IPHC = b"\x7e\x33"
_UDP, _UDP_MASK = 0xF0, 0xFC
_PORT_8, _PORT_4 = 0xF000, 0xF0B0


@dataclass
class Datagram:
    """A datagram as it was sent once, with everything that was on the air for it."""

    mote: int
    begin_ps: int
    end_ps: int
    """End of its last frame, without the acknowledgement."""
    source: int = 0
    destination: int = 0
    data: bytes = b""
    is_whole: bool = False
    """Whether all of its fragments were sent."""
    frames: int = 0
    """Frames, each counted once."""
    lowpan_bytes: int = 0
    """Compressed headers and those of fragments."""
    frame_bytes: int = 0
    """IEEE 802.15.4: preambles, delimiters, lengths, headers and check sequences."""
    again_frames: int = 0
    """Frames sent again for want of an acknowledgement."""
    again_bytes: int = 0
    """All of their bytes."""
    ack_frames: int = 0
    ack_bytes: int = 0
    """Acknowledgements, from the other side; all of their bytes."""
    air_ps: int = 0
    """Time on the air of all of these."""

    @property
    def on_air_bytes(self) -> int:
        """All bytes on the air, the other side's acknowledgements included."""
        own = len(self.data) + self.lowpan_bytes + self.frame_bytes
        return own + self.again_bytes + self.ack_bytes


def _head(at: bytes) -> tuple[int, int, int] | None:
    """Return the ports of compressed headers, and the headers' length."""
    if at[:2] != _IPHC or len(at) < 3 or at[2] & _UDP_MASK != _UDP:
        return None
    form, rest = at[2] & 3, at[3:]
    if form == 3:
        return _PORT_4 | rest[0] >> 4, _PORT_4 | rest[0] & 15, 6
    if form == 2:
        return _PORT_8 | rest[0], int.from_bytes(rest[1:3]), 8
    source = int.from_bytes(rest[:2])
    if form == 1:
        return source, _PORT_8 | rest[2], 8
    return source, int.from_bytes(rest[2:4]), 9


class _Sender:
    """What a mote has sent."""

    def __init__(self) -> None:
        self.sequence: int | None = None
        self.last: Datagram | None = None
        self.left = 0
        """Bytes of the last datagram that are still to come."""


class Reassembly:
    """Datagrams in frames that come one after the other; frames of other kinds are left out."""

    def __init__(self) -> None:
        self.found: list[Datagram] = []
        """In the order in which they were begun."""
        self._senders: dict[int, _Sender] = {}

    def add(self, sent: "Transmission") -> Datagram | None:
        """Take a frame; return the datagram that it makes whole."""
        try:
            frame = parse(sent.frame[: -sent.phy.check_bytes])
        except MalformedFrameError:
            return None
        whole, air_ps = len(sent.frame) + sent.phy.overhead_bytes, sent.end_ps - sent.begin_ps
        if frame.kind == "acknowledgment":
            for mote, sender in self._senders.items():
                if mote != sent.mote and sender.sequence == frame.sequence and sender.last:
                    sender.last.ack_frames += 1
                    sender.last.ack_bytes += whole
                    sender.last.air_ps += air_ps
            return None
        if frame.kind != "data":
            return None
        sender = self._senders.setdefault(sent.mote, _Sender())
        is_again = sender.last is not None and frame.sequence == sender.sequence
        datagram = sender.last if is_again else _take(sent, frame, sender, self.found)
        if datagram is None:
            return None
        sender.sequence = frame.sequence
        datagram.air_ps += air_ps
        datagram.end_ps = sent.end_ps
        if is_again:
            datagram.again_frames += 1
            datagram.again_bytes += whole
            return None
        datagram.frames += 1
        datagram.frame_bytes += whole - len(frame.payload)
        return datagram if datagram.is_whole else None


def datagrams(frames: "Iterable[Transmission]") -> list[Datagram]:
    """Return the datagrams in frames, in the order in which they were begun."""
    reassembly = Reassembly()
    for sent in sorted(frames, key=lambda t: t.begin_ps):
        reassembly.add(sent)
    return reassembly.found


def _take(
    sent: "Transmission", frame: Frame, sender: _Sender, found: list[Datagram]
) -> Datagram | None:
    """Take a frame's payload; return its datagram, or None if it is of none."""
    payload = frame.payload
    kind = payload[0] >> 3 if payload else 0
    last = sender.last
    if kind == _NEXT:
        if last is None or sender.left == 0:
            return None
        data = payload[_NEXT_BYTES:]
        last.lowpan_bytes += _NEXT_BYTES
    else:
        begin = _FIRST_BYTES if kind == _FIRST else 0
        head = _head(payload[begin:])
        if head is None:
            return None
        source, destination, length = head
        data = payload[begin + length :]
        last = Datagram(sent.mote, sent.begin_ps, sent.end_ps, source, destination)
        last.lowpan_bytes = begin + length
        size = (payload[0] & 7) << 8 | payload[1]
        sender.left = size - _HEADERS if kind == _FIRST else len(data)
        sender.last = last
        found.append(last)
    last.data += data
    sender.left -= len(data)
    last.is_whole = sender.left == 0
    return last
