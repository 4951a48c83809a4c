"""What link-layer security adds to frames, and secured frames, by IEEE Std 802.15.4-2015.

A slot's four operations are those of sciancalepore-2016, figure 2: `sec1` secures the data frame,
`sec2` unsecures it, and `sec3` and `sec4` do so with the acknowledgement. Frames of data are as
long as frames can be, as in the paper.
"""

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from cryptography.hazmat.primitives.ciphers.aead import AESCCM

_ROW = "Data frame, ENC-MIC-32"
_SECURITY_CONTROL, _KEY_INDEX, _MIC = 1, 1, 4
"""Bytes: figure 9-12 and table 9-6. The frame counter is left out, since the slot has a number."""

_KEY = bytes.fromhex("deadbeeffacecafe") * 2
_OWN, _PEER, _PAN, _INDEX, _SEQUENCE = 1, 2, 0x4A4D, 2, 7
_DATA, _ACK = 1, 2
_PSDU = 127 - 2
"""Longest frame without its check sequence."""


class Step(NamedTuple):
    """An operation of the measuring application, and what it must give."""

    row: str
    operation: str
    message: bytes
    output: bytes


def _eui64(mote: int) -> bytes:
    return bytes.fromhex("024a4d00000000") + bytes([mote])


def _header(kind: int, sender: int, receiver: int) -> bytes:
    """Frame control (figure 7-2), addresses, auxiliary security header (section 9.4)."""
    secured, version, extended = 1 << 3, 2 << 12, 3
    control = kind | secured | version | extended << 10 | extended << 14
    control |= 1 << 5 if kind == _DATA else 1 << 9
    addresses = _PAN.to_bytes(2, "little") + _eui64(receiver)[::-1] + _eui64(sender)[::-1]
    level, mode, suppressed, by_slot = 5, 1 << 3, 1 << 5, 1 << 6
    security = bytes([level | mode | suppressed | by_slot, _INDEX])
    return control.to_bytes(2, "little") + bytes([_SEQUENCE]) + addresses + security


def _secured(kind: int, sender: int, receiver: int, asn: int, text: bytes) -> bytes:
    """A frame: of data the text is hidden, of an acknowledgement all is open."""
    head = _header(kind, sender, receiver)
    if kind == _ACK:
        head, text = head + text, b""
    nonce = _eui64(sender) + asn.to_bytes(5, "big")
    return head + AESCCM(_KEY, tag_length=_MIC).encrypt(nonce, text, head)


def steps(random: Random, trials: int) -> Iterator[Step]:
    """Everything that the measuring application is told after a boot, in order."""
    room = _PSDU - len(_header(_DATA, _OWN, _PEER)) - _MIC
    asn = random.getrandbits(39)
    for _ in range(trials):
        payload = random.randbytes(room)
        # Header element 0x1e with two bytes (section 7.4.2.7).
        correction = random.randbytes(2)
        element = (0x1E << 7 | 2).to_bytes(2, "little") + correction
        for name, kind, told, text in (
            ("data", _DATA, payload, payload),
            ("ack", _ACK, correction, element),
        ):
            # Of a neighbour, nothing is taken of a slot that is over.
            asn += random.randint(1, 1000)
            number = asn.to_bytes(5, "little")
            row = "data frame" if kind == _DATA else "acknowledgement"
            sent = _secured(kind, _OWN, _PEER, asn, text)
            yield Step(f"{row}: secure", f"secure-{name}", number + told, sent)
            came = _secured(kind, _PEER, _OWN, asn, text)
            yield Step(f"{row}: unsecure", f"unsecure-{name}", number + came, text)


def on_air() -> dict[str, int]:
    """Bytes that it adds to what is sent."""
    return {_ROW: _SECURITY_CONTROL + _KEY_INDEX + _MIC}


def seen(_payload: bytes) -> tuple[str, str, bool]:
    """What a data frame is of."""
    return _ROW, "frame", False
