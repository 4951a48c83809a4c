"""Read the frames of a pcap or pcapng file, to replay them."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from joulemark.errors import InputError

if TYPE_CHECKING:
    from joulemark._engine import Phy

_PCAP = {b"\xd4\xc3\xb2\xa1": ("<", 10**6), b"\xa1\xb2\xc3\xd4": (">", 10**6)}
_PCAP |= {b"\x4d\x3c\xb2\xa1": ("<", 10**3), b"\xa1\xb2\x3c\x4d": (">", 10**3)}
_PCAPNG = b"\x0a\x0d\x0d\x0a"
WITH_FCS, WITHOUT_FCS, TAP = 195, 230, 283
"""Link types (tcpdump.org/linktypes.html)."""
_PHY = "oqpsk-2450"
"""The PHY of these link types' frames on channels 11 to 26."""


@dataclass(frozen=True)
class Frame:
    """A captured frame."""

    phy: "Phy"
    time_ps: int
    frequency_mhz: int
    psdu: bytes
    """Including its frame check sequence."""


def read_capture(path: Path, channel: int | None) -> list[Frame]:
    """Read a capture of IEEE 802.15.4 frames.

    Args:
        path: a pcap or pcapng file with link type 195, 230 or 283 (TAP).
        channel: channel of frames for which the file does not record it.

    Raises:
        InputError: the file cannot be read or is cut short, or a frame or its channel is invalid.
    """
    from joulemark._engine import Phy

    phy = Phy(_PHY)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", str(path)) from error
    try:
        packets = list(_pcapng(data) if data[:4] == _PCAPNG else _pcap(data))
    except (struct.error, KeyError, IndexError, ValueError) as error:
        what = "is no capture of pcap or pcapng, or is cut short"
        raise InputError(what, str(path), "capture it anew") from error
    frames = []
    for number, (time_ps, link_type, packet) in enumerate(packets, 1):
        where = f"{path}, packet {number}"
        told, psdu = _psdu(link_type, packet, phy, where)
        on = told or channel
        if on is None:
            raise InputError("does not tell its channel", where, "give the recording a channel")
        frequency_mhz = phy.frequency_mhz(on) if on < 256 else None
        if frequency_mhz is None:
            raise InputError(f"is on channel {on}", where, "channels are 11 to 26")
        if not phy.check_bytes <= len(psdu) <= phy.frame_bytes_max:
            mend = f"frames have {phy.check_bytes} to {phy.frame_bytes_max}"
            raise InputError(f"has {len(psdu)} bytes", where, mend)
        frames.append(Frame(phy, time_ps, frequency_mhz, psdu))
    if not frames:
        raise InputError("has no frames", str(path))
    return sorted(frames, key=lambda frame: frame.time_ps)


def _pcap(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    order, unit = _PCAP[data[:4]]
    link_type = struct.unpack(order + "I", data[20:24])[0] & 0xFFFF
    at = 24
    while at < len(data):
        seconds, fraction, length, _ = struct.unpack(order + "IIII", data[at : at + 16])
        packet = data[at + 16 : at + 16 + length]
        if len(packet) != length:
            raise ValueError(length)
        yield seconds * 10**12 + fraction * unit, link_type, packet
        at += 16 + length


def _pcapng(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    order = "<"
    interfaces: list[tuple[int, int]] = []
    at = 0
    while at < len(data):
        if data[at : at + 4] == _PCAPNG:
            order = "<" if data[at + 8 : at + 12] == b"\x4d\x3c\x2b\x1a" else ">"
            interfaces = []
        kind, length = struct.unpack(order + "II", data[at : at + 8])
        body = data[at + 8 : at + length - 4]
        if length < 12 or at + length > len(data):
            raise ValueError(length)
        if kind == 1:
            link_type = struct.unpack(order + "H", body[:2])[0]
            interfaces.append((link_type, _resolution(body[8:], order)))
        elif kind == 6:
            number, high, low, size = struct.unpack(order + "IIII", body[:16])
            link_type, per_second = interfaces[number]
            time_ps = (high << 32 | low) * 10**12 // per_second
            yield time_ps, link_type, body[20 : 20 + size]
        at += length


def _resolution(options: bytes, order: str) -> int:
    """Return the ticks per second of an interface's time stamps."""
    at = 0
    while at + 4 <= len(options):
        code, length = struct.unpack(order + "HH", options[at : at + 4])
        if code == 9:
            value = options[at + 4]
            return int(2 ** (value & 0x7F)) if value & 0x80 else int(10**value)
        at += 4 + (length + 3) // 4 * 4
    return 10**6


def _psdu(link_type: int, packet: bytes, phy: "Phy", where: str) -> tuple[int | None, bytes]:
    """Return the channel, if recorded, and the frame with its check sequence."""
    if link_type == WITH_FCS:
        return None, packet
    if link_type == WITHOUT_FCS:
        return None, packet + phy.check_sequence(packet)
    if link_type != TAP:
        mend = f"{WITH_FCS}, {WITHOUT_FCS} and {TAP} are IEEE 802.15.4"
        raise InputError(f"is of link type {link_type}", where, mend)
    length = int.from_bytes(packet[2:4], "little")
    channel, has_fcs = None, False
    at = 4
    while at + 4 <= length:
        kind, size = struct.unpack("<HH", packet[at : at + 4])
        value = packet[at + 4 : at + 4 + size]
        if kind == 0:
            has_fcs = value[0] != 0
        elif kind == 3:
            channel = int.from_bytes(value[:2], "little")
        at += 4 + (size + 3) // 4 * 4
    frame = packet[length:]
    return channel, frame if has_fcs else frame + phy.check_sequence(frame)
