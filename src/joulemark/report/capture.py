"""Frames on the air as a capture for Wireshark: pcapng of IEEE 802.15.4 TAP and Bluetooth LE."""

import struct
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from joulemark.errors import InputError

_TAP = 283
_BLUETOOTH_LE = 251
_ADVERTISING = 0x8E89BED6
"""The access address of advertising: Bluetooth Core Specification 5.4, volume 6, part B, 2.1.2."""
_NANOSECONDS = 9
_COMMENT = 1


def _options(*options: tuple[int, bytes]) -> bytes:
    written = b"".join(
        struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)
        for code, value in options
    )
    return written + bytes(4)


def _block(kind: int, body: bytes) -> bytes:
    length = len(body) + 12
    return struct.pack("<II", kind, length) + body + struct.pack("<I", length)


def _value(kind: int, value: bytes) -> bytes:
    return struct.pack("<HH", kind, len(value)) + value + bytes(-len(value) % 4)


class Capture:
    """A capture file being written.

    Args:
        path: the file.

    Raises:
        InputError: it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._file: BinaryIO = path.open("wb")
        except OSError as error:
            raise self._failed(error) from error
        section = struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)
        application = (4, b"joulemark")
        self._write(_block(0x0A0D0D0A, section + _options(application)))
        resolution = (9, bytes([_NANOSECONDS]))
        for link, name in ((_TAP, b"medium"), (_BLUETOOTH_LE, b"Bluetooth LE")):
            interface = struct.pack("<HHI", link, 0, 0)
            self._write(_block(1, interface + _options((2, name), resolution)))

    def add(
        self,
        psdu: bytes,
        *,
        begin_ps: int,
        delimiter_ps: int,
        end_ps: int,
        channel: int | None,
        rssi_dbm: float | None,
        asn: int | None,
        slot_start_ps: int | None,
        slot_us: int | None,
        comment: str,
    ) -> None:
        """Add a frame.

        Args:
            psdu: the frame with its check sequence.
            begin_ps: when its preamble began.
            delimiter_ps: when its start-of-frame delimiter ended.
            end_ps: when it ended.
            channel: 11 to 26; None if it was sent at another frequency.
            rssi_dbm: the received power; None if nobody heard it.
            asn: the number of its slot, which nonces need.
            slot_start_ps: when its slot began.
            slot_us: the length of a slot.
            comment: the frame's fate according to the medium.
        """
        values = _value(0, b"\x01")
        if rssi_dbm is not None:
            values += _value(1, struct.pack("<f", rssi_dbm))
        if channel is not None:
            values += _value(3, struct.pack("<HB", channel, 0))
        values += _value(5, struct.pack("<Q", delimiter_ps // 1000))
        values += _value(6, struct.pack("<Q", end_ps // 1000))
        if asn is not None:
            values += _value(7, struct.pack("<Q", asn))
        if slot_start_ps is not None:
            values += _value(8, struct.pack("<Q", slot_start_ps // 1000))
        if slot_us is not None:
            values += _value(9, struct.pack("<I", slot_us))
        packet = struct.pack("<BBH", 0, 0, 4 + len(values)) + values + psdu
        self._packet(0, packet, begin_ps, comment)

    def add_bluetooth(self, packet: bytes, *, begin_ps: int, sync: int, comment: str) -> None:
        """Add a packet of Bluetooth LE.

        Args:
            packet: what follows the access address, not whitened.
            begin_ps: when its preamble began.
            sync: its access address; 0 for that of advertising.
            comment: the packet's fate according to the medium.
        """
        address = struct.pack("<I", sync or _ADVERTISING)
        self._packet(1, address + packet, begin_ps, comment)

    def _packet(self, interface: int, packet: bytes, begin_ps: int, comment: str) -> None:
        time = begin_ps // 1000
        size = len(packet)
        header = struct.pack("<IIIII", interface, time >> 32, time & 0xFFFFFFFF, size, size)
        body = header + packet + bytes(-len(packet) % 4)
        self._write(_block(6, body + _options((_COMMENT, comment.encode()))))

    def _write(self, data: bytes) -> None:
        try:
            self._file.write(data)
        except OSError as error:
            raise self._failed(error) from error

    def _failed(self, error: OSError) -> InputError:
        what = f"the capture cannot be written: {error.strerror}"
        return InputError(what, str(self._path), "choose another file")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._file.close()
        except OSError as late:
            if error is None:
                raise self._failed(late) from late
