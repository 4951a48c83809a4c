"""Parse IEEE 802.15.4 frames (IEEE Std 802.15.4-2015, 7.2, 7.4 and 9.4)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from joulemark._engine import Transmission

Kind = Literal["beacon", "data", "acknowledgment", "command", "other"]
_KINDS: dict[int, Kind] = {0: "beacon", 1: "data", 2: "acknowledgment", 3: "command"}
MIC_BYTES = (0, 4, 8, 16, 0, 4, 8, 16)
"""Length of the MIC by security level (table 9-6)."""
_KEY_SOURCE_BYTES = (0, 0, 4, 8)
"""Length of the key source by key identifier mode (table 9-7); modes other than 0 have a key index
after it."""
_HEADER_TERMINATION = (0x7E, 0x7F)
_PAYLOAD_TERMINATION = 0xF
_MLME_GROUP = 1
_SYNCHRONIZATION = 0x1A


class MalformedFrameError(ValueError):
    """A frame that ends within its header, or has invalid or unsupported fields."""


@dataclass(frozen=True)
class Security:
    """An auxiliary security header."""

    level: int
    key_mode: int
    key_source: bytes
    key_index: int | None
    counter: int | None
    """Frame counter; None if it is suppressed and the nonce contains the slot's number."""
    asn_in_nonce: bool

    @property
    def mic_bytes(self) -> int:
        """Length of the MIC."""
        return MIC_BYTES[self.level]


@dataclass(frozen=True)
class Frame:
    """A frame without its frame check sequence."""

    data: bytes
    kind: Kind
    version: int
    sequence: int | None
    destination_pan: int | None
    destination: bytes | None
    """Most significant byte first, as addresses are written."""
    source_pan: int | None
    source: bytes | None
    asks_acknowledgment: bool
    security: Security | None
    open_bytes: int
    """Length of header and header IEs, which are never encrypted."""
    asn: int | None
    """The slot's number in an unencrypted enhanced beacon."""

    @property
    def payload(self) -> bytes:
        """The bytes after the header, without the MIC."""
        mic = 0 if self.security is None else self.security.mic_bytes
        return self.data[self.open_bytes : len(self.data) - mic]

    @property
    def is_broadcast(self) -> bool:
        """Whether it is addressed to all."""
        return self.destination == b"\xff\xff"


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, count: int) -> bytes:
        if self.at + count > len(self.data):
            raise MalformedFrameError(f"ends after {len(self.data)} bytes, within its header")
        taken = self.data[self.at : self.at + count]
        self.at += count
        return taken

    def number(self, count: int) -> int:
        return int.from_bytes(self.take(count), "little")


def _has_pan(version: int, compression: int, destination: int, source: int) -> tuple[bool, bool]:
    """Return whether there are destination and source PAN IDs (table 7-2; before 2015: 7.2.1.5)."""
    if version < 2:
        return destination != 0, source != 0 and not (compression and destination)
    if destination == 0 and source == 0:
        return bool(compression), False
    if source == 0:
        return not compression, False
    if destination == 0:
        return False, not compression
    if destination == source == 3:
        return not compression, False
    return True, not compression


def parse(psdu: bytes) -> Frame:
    """Parse a frame without its frame check sequence.

    Raises:
        MalformedFrameError: it is not a valid frame.
    """
    reader = _Reader(psdu)
    control = reader.number(2)
    kind = _KINDS.get(control & 7, "other")
    version = control >> 12 & 3
    modes = control >> 10 & 3, control >> 14 & 3
    if 1 in modes or version == 3 or kind == "other":
        raise MalformedFrameError(f"has a frame control field of {control:#06x}")
    suppressed = version == 2 and control >> 8 & 1
    sequence = None if suppressed else reader.number(1)
    sizes = (0, 0, 2, 8)
    has = _has_pan(version, control >> 6 & 1, *modes)
    destination_pan = reader.number(2) if has[0] else None
    destination = reader.take(sizes[modes[0]])[::-1] if modes[0] else None
    source_pan = reader.number(2) if has[1] else (destination_pan if modes[1] else None)
    source = reader.take(sizes[modes[1]])[::-1] if modes[1] else None
    security = _security(reader, version) if control >> 3 & 1 else None
    asn = None
    if version == 2 and control >> 9 & 1:
        mic = 0 if security is None else security.mic_bytes
        payload_elements = _header_elements(reader, len(psdu) - mic)
        encrypted = security is not None and security.level >= 4
        if payload_elements and not encrypted:
            asn = _asn(psdu[reader.at : len(psdu) - mic])
    if security is not None and len(psdu) < reader.at + security.mic_bytes:
        raise MalformedFrameError("has no room for its integrity code")
    return Frame(
        psdu,
        kind,
        version,
        sequence,
        destination_pan,
        destination,
        source_pan,
        source,
        bool(control >> 5 & 1),
        security,
        reader.at,
        asn,
    )


def _security(reader: _Reader, version: int) -> Security:
    control = reader.number(1)
    suppressed = version == 2 and control >> 5 & 1
    mode = control >> 3 & 3
    counter = None if suppressed else reader.number(4)
    source = reader.take(_KEY_SOURCE_BYTES[mode])
    index = reader.number(1) if mode else None
    in_nonce = bool(version == 2 and control >> 6 & 1) or bool(suppressed)
    return Security(control & 7, mode, source, index, counter, in_nonce)


def _header_elements(reader: _Reader, end: int) -> bool:
    """Skip header IEs, and return whether payload IEs follow (7.4.2)."""
    while reader.at + 2 <= end:
        descriptor = reader.number(2)
        if descriptor >> 15:
            raise MalformedFrameError("has a payload element among those of its header")
        reader.take(descriptor & 0x7F)
        element = descriptor >> 7 & 0xFF
        if element in _HEADER_TERMINATION:
            return element == _HEADER_TERMINATION[0]
    return False


def _asn(data: bytes) -> int | None:
    """Return the ASN in a TSCH synchronization IE among payload IEs (7.4.4.2); None if none."""
    reader = _Reader(data)
    try:
        while reader.at < len(data):
            descriptor = reader.number(2)
            group, content = descriptor >> 11 & 0xF, _Reader(reader.take(descriptor & 0x7FF))
            if group == _PAYLOAD_TERMINATION:
                return None
            while group == _MLME_GROUP and content.at < len(content.data):
                nested = content.number(2)
                if nested >> 15:
                    content.take(nested & 0x7FF)
                    continue
                element = content.take(nested & 0xFF)
                if nested >> 8 & 0x7F == _SYNCHRONIZATION and len(element) >= 5:
                    return int.from_bytes(element[:5], "little")
    except MalformedFrameError:
        return None
    return None


def name(address: bytes | None) -> str:
    """Format an address."""
    if address is None:
        return "?"
    return "all" if address == b"\xff\xff" else address.hex()


_ADVERTISING = (
    "ADV_IND",
    "ADV_DIRECT_IND",
    "ADV_NONCONN_IND",
    "SCAN_REQ",
    "SCAN_RSP",
    "CONNECT_IND",
    "ADV_SCAN_IND",
    "ADV_EXT_IND",
)
"""PDU types of advertising: Bluetooth Core Specification 5.4, volume 6, part B, 2.3."""


BLUETOOTH = "gfsk-1m"
"""The name of Bluetooth LE's PHY."""


def describe_sent(sent: "Transmission") -> str:
    """Describe what was on the air in a few words."""
    if not sent.frame:
        return "carrier"
    frame = sent.frame[: -sent.phy.check_bytes]
    if sent.phy.name == BLUETOOTH:
        return describe_bluetooth(frame, sent.sync)
    return describe(frame)


def describe_bluetooth(packet: bytes, sync: int) -> str:
    """Describe a packet of Bluetooth LE in a few words.

    Args:
        packet: what follows the access address, without the check sequence.
        sync: its access address; 0 for that of advertising.
    """
    if sync:
        return f"a packet of connection {sync:08x}"
    kind = packet[0] & 15 if packet else len(_ADVERTISING)
    if kind >= len(_ADVERTISING):
        return "an unknown packet of advertising"
    sender = packet[7:1:-1].hex(":")
    return f"{_ADVERTISING[kind]} of {sender}" if sender else _ADVERTISING[kind]


def describe(psdu: bytes) -> str:
    """Describe a frame in a few words; `psdu` excludes the frame check sequence."""
    try:
        frame = parse(psdu)
    except MalformedFrameError as error:
        return f"no frame: it {error}"
    words: list[str] = [frame.kind]
    if frame.sequence is not None:
        words.append(f"{frame.sequence}")
    if frame.kind != "acknowledgment" or frame.source is not None:
        words.append(f"{name(frame.source)} to {name(frame.destination)}")
    if frame.security is not None:
        words.append(f"level {frame.security.level}")
    return " ".join(words)
