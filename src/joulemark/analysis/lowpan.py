"""Take UDP datagrams out of 6LoWPAN frames, and count what carried them.

Understands UDP of neighbours behind compressed headers (RFC 6282), extension headers included, or
behind uncompressed ones, and fragments in their order (RFC 4944, sections 5.1 and 5.3).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from joulemark.analysis.frames import Frame, MalformedFrameError, parse

if TYPE_CHECKING:
    from joulemark._engine import Transmission

_FIRST, _NEXT = 0b11000, 0b11100
_FIRST_BYTES, _NEXT_BYTES = 4, 5
_IPV6_BYTES, _UDP_BYTES = 40, 8
"""Headers before compression, which sizes and offsets of fragments count."""
_UNCOMPRESSED, _IPHC, _IPHC_MASK = 0x41, 0x60, 0xE0
_UDP, _UDP_MASK, _CHECKSUM_ELIDED = 0xF0, 0xF8, 4
_EXTENSION, _EXTENSION_MASK, _IPV6_AGAIN = 0xE0, 0xF0, 7
_NEXT_IS_UDP = 17
_TRAFFIC = (4, 3, 1, 0)
_SOURCE = ((16, 8, 2, 0), (0, 8, 2, 0))
_DESTINATION = (((16, 8, 2, 0), (0, 8, 2, 0)), ((16, 6, 4, 1), (6, 0, 0, 0)))
"""Bytes of addresses by multicast, context and mode (RFC 6282, section 3.1.1)."""
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


@dataclass(frozen=True)
class _Head:
    """Headers up to UDP's."""

    source: int
    destination: int
    """Ports."""
    length: int
    whole: int
    """Bytes as they are, and before compression."""


def _head(at: bytes) -> _Head | None:
    """Return the headers that a packet begins with, or None if they do not lead to UDP."""
    try:
        if at[0] == _UNCOMPRESSED:
            return _plain(at, 1 + _IPV6_BYTES, _IPV6_BYTES) if at[7] == _NEXT_IS_UDP else None
        return _compressed(at) if at[0] & _IPHC_MASK == _IPHC else None
    except IndexError:
        return None


def _plain(at: bytes, begin: int, before: int) -> _Head:
    """Return what ends with UDP's header as it is, behind this many bytes of other headers."""
    if len(at) < begin + _UDP_BYTES:
        raise IndexError
    ports = int.from_bytes(at[begin : begin + 2]), int.from_bytes(at[begin + 2 : begin + 4])
    return _Head(*ports, begin + _UDP_BYTES, before + _UDP_BYTES)


def _compressed(at: bytes) -> _Head | None:
    first, second = at[0], at[1]
    multicast, by_context = second >> 3 & 1, second >> 2 & 1
    is_compressed = bool(first & 4)
    length = 2 + (second >> 7) + _TRAFFIC[first >> 3 & 3]
    if not is_compressed and at[length] != _NEXT_IS_UDP:
        return None
    length += (not is_compressed) + (first & 3 == 0)
    length += _SOURCE[second >> 6 & 1][second >> 4 & 3]
    length += _DESTINATION[multicast][by_context][second & 3]
    if not is_compressed:
        return _plain(at, length, _IPV6_BYTES)
    return _next_headers(at, length)


def _next_headers(at: bytes, length: int) -> _Head | None:
    """Return the head whose compressed headers after IPv6's begin there."""
    whole = _IPV6_BYTES
    while at[length] & _EXTENSION_MASK == _EXTENSION:
        if at[length] >> 1 & 7 == _IPV6_AGAIN:
            return None
        names_next = not at[length] & 1
        if names_next and at[length + 1] != _NEXT_IS_UDP:
            return None
        size = at[length + 1 + names_next]
        length += 2 + names_next + size
        whole += -(-(2 + size) // 8) * 8
        if names_next:
            return _plain(at, length, whole)
    form = at[length]
    if form & _UDP_MASK != _UDP:
        return None
    rest = at[length + 1 :]
    checksum = 0 if form & _CHECKSUM_ELIDED else 2
    source, destination, ports = int.from_bytes(rest[:2]), int.from_bytes(rest[2:4]), 4
    if form & 3 == 3:
        source, destination, ports = _PORT_4 | rest[0] >> 4, _PORT_4 | rest[0] & 15, 1
    elif form & 3 == 2:
        source, destination, ports = _PORT_8 | rest[0], int.from_bytes(rest[1:3]), 3
    elif form & 3 == 1:
        destination, ports = _PORT_8 | rest[2], 3
    return _Head(source, destination, length + 1 + ports + checksum, whole + _UDP_BYTES)


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
        data = payload[begin + head.length :]
        last = Datagram(sent.mote, sent.begin_ps, sent.end_ps, head.source, head.destination)
        last.lowpan_bytes = begin + head.length
        size = (payload[0] & 7) << 8 | payload[1]
        sender.left = size - head.whole if kind == _FIRST else len(data)
        sender.last = last
        found.append(last)
    last.data += data
    sender.left -= len(data)
    last.is_whole = sender.left == 0
    return last
