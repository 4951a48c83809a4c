"""Secured frames of IEEE Std 802.15.4-2015, and the bytes that link-layer security adds to them.

The four operations of a slot are those of sciancalepore-2016, figure 2: `sec1` secures the data
frame, `sec2` unsecures it, and `sec3` and `sec4` do the same for the acknowledgement. Data frames
have the maximum length, as in the paper.
"""

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from cryptography.hazmat.primitives.ciphers.aead import AESCCM

_ROW = "Data frame, ENC-MIC-32"
_SECURITY_CONTROL, _KEY_INDEX, _MIC = 1, 1, 4
"""Lengths in bytes: figure 9-12 and table 9-6. The slot number replaces the frame counter."""

_KEY = bytes.fromhex("deadbeeffacecafe") * 2
_OWN, _PEER, _PAN, _INDEX, _SEQUENCE = 1, 2, 0x4A4D, 2, 7
_DATA, _ACK = 1, 2
_PSDU = 127 - 2
"""Longest frame without its FCS."""


class Step(NamedTuple):
    """An operation of the measuring application, and its expected output."""

    row: str
    operation: str
    message: bytes
    output: bytes


def _eui64(mote: int) -> bytes:
    return bytes.fromhex("024a4d00000000") + bytes([mote])


def _header(kind: int, sender: int, receiver: int) -> bytes:
    """Return frame control (figure 7-2), addresses and auxiliary security header (section 9.4)."""
    secured, version, extended = 1 << 3, 2 << 12, 3
    control = kind | secured | version | extended << 10 | extended << 14
    control |= 1 << 5 if kind == _DATA else 1 << 9
    addresses = _PAN.to_bytes(2, "little") + _eui64(receiver)[::-1] + _eui64(sender)[::-1]
    level, mode, suppressed, by_slot = 5, 1 << 3, 1 << 5, 1 << 6
    security = bytes([level | mode | suppressed | by_slot, _INDEX])
    return control.to_bytes(2, "little") + bytes([_SEQUENCE]) + addresses + security


def _secured(kind: int, sender: int, receiver: int, asn: int, text: bytes) -> bytes:
    """Return a secured frame: a data frame's text is encrypted, an acknowledgement's is not."""
    head = _header(kind, sender, receiver)
    if kind == _ACK:
        head, text = head + text, b""
    nonce = _eui64(sender) + asn.to_bytes(5, "big")
    return head + AESCCM(_KEY, tag_length=_MIC).encrypt(nonce, text, head)


def steps(random: Random, trials: int) -> Iterator[Step]:
    """Yield all operations of the measuring application after a boot, in order."""
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
            # From a known neighbour, frames of past slots are rejected.
            asn += random.randint(1, 1000)
            number = asn.to_bytes(5, "little")
            row = "data frame" if kind == _DATA else "acknowledgement"
            sent = _secured(kind, _OWN, _PEER, asn, text)
            yield Step(f"{row}: secure", f"secure-{name}", number + told, sent)
            came = _secured(kind, _PEER, _OWN, asn, text)
            yield Step(f"{row}: unsecure", f"unsecure-{name}", number + came, text)


def on_air() -> dict[str, int]:
    """Return the number of bytes that security adds to a frame."""
    return {_ROW: _SECURITY_CONTROL + _KEY_INDEX + _MIC}


def seen(_payload: bytes) -> tuple[str, str, bool]:
    """Return the row that a data frame belongs to."""
    return _ROW, "frame", False
