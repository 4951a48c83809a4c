"""Hashes: of a buffer repeated as one message, or of one message per call."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from joulemark.oracles import PERIOD, Algorithm, Random, Values, difference
from joulemark.reference.blocks import multiplied

# Barreto and Rijmen, "The Whirlpool Hashing Function", 2003 (ISO/IEC 10118-3): the mini-boxes E and
# R of section 3.3 and appendix B, the row of the circulant matrix of section 3.5.
_E = (0x1, 0xB, 0x9, 0xC, 0xD, 0x6, 0xF, 0x3, 0xE, 0x8, 0x7, 0x4, 0xA, 0x2, 0x5, 0x0)
_R = (0x7, 0xC, 0xB, 0xD, 0xE, 0x4, 0x9, 0xF, 0x6, 0x3, 0x8, 0xA, 0x2, 0x5, 0x1, 0x0)
_ROW = (0x01, 0x01, 0x04, 0x01, 0x08, 0x05, 0x02, 0x09)
_POLYNOMIAL = 0x11D
_ROUNDS = 10


def _substitute(x: int) -> int:
    high, low = _E[x >> 4], _E.index(x & 15)
    mixed = _R[high ^ low]
    return _E[high ^ mixed] << 4 | _E.index(low ^ mixed)


@cache
def _tables() -> tuple[tuple[int, ...], ...]:
    """Tabulate substitution and row mixing: by column and byte, the contribution to a row."""
    boxes = [_substitute(x) for x in range(256)]
    return tuple(
        tuple(
            int.from_bytes(
                bytes(multiplied(s, _ROW[(n - column) % 8], _POLYNOMIAL) for n in range(8)), "big"
            )
            for s in boxes
        )
        for column in range(8)
    )


def _round(rows: list[int]) -> list[int]:
    """Substitute bytes, shift columns and mix rows."""
    t = _tables()
    return [
        t[0][rows[i] >> 56]
        ^ t[1][rows[i - 1] >> 48 & 0xFF]
        ^ t[2][rows[i - 2] >> 40 & 0xFF]
        ^ t[3][rows[i - 3] >> 32 & 0xFF]
        ^ t[4][rows[i - 4] >> 24 & 0xFF]
        ^ t[5][rows[i - 5] >> 16 & 0xFF]
        ^ t[6][rows[i - 6] >> 8 & 0xFF]
        ^ t[7][rows[i - 7] & 0xFF]
        for i in range(8)
    ]


def _rows(block: bytes) -> list[int]:
    return [int.from_bytes(block[i : i + 8], "big") for i in range(0, 64, 8)]


def whirlpool(message: bytes) -> bytes:
    """Return the Whirlpool hash of a message."""
    constants = [
        int.from_bytes(bytes(_substitute(8 * r + j) for j in range(8)), "big")
        for r in range(_ROUNDS)
    ]
    padded = message + b"\x80"
    padded += bytes(-(len(padded) + 32) % 64) + (8 * len(message)).to_bytes(32, "big")
    chained = [0] * 8
    for at in range(0, len(padded), 64):
        block = _rows(padded[at : at + 64])
        key = chained
        state = [b ^ k for b, k in zip(block, key, strict=True)]
        for constant in constants:
            key = _round(key)
            key[0] ^= constant
            state = [s ^ k for s, k in zip(_round(state), key, strict=True)]
        chained = [c ^ s ^ b for c, s, b in zip(chained, state, block, strict=True)]
    return b"".join(row.to_bytes(8, "big") for row in chained)


_HASHES: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "md5": ("MD5", lambda m: hashlib.md5(m, usedforsecurity=False).digest()),
    "sha-1": ("SHA-1", lambda m: hashlib.sha1(m, usedforsecurity=False).digest()),
    "sha-256": ("SHA-256", lambda m: hashlib.sha256(m).digest()),
    "sha-512": ("SHA-512", lambda m: hashlib.sha512(m).digest()),
    "sha3-256": ("SHA3-256", lambda m: hashlib.sha3_256(m).digest()),
    "sha3-512": ("SHA3-512", lambda m: hashlib.sha3_512(m).digest()),
    "whirlpool": ("Whirlpool", whirlpool),
}


@cache
def _expected(name: str, message: bytes) -> bytes:
    return _HASHES[name][1](message)


@dataclass(frozen=True, kw_only=True)
class Hash(Algorithm):
    """`hash`: PERIOD updates with a buffer, as one message; `digest`: one message per call."""

    group: str = "Hashes"
    operations: tuple[str, ...] = ("hash", "digest")
    sized: bool = True

    def inputs(self, operation: str, message_bytes: int, draw: Random) -> dict[str, bytes]:
        """Draw the buffer."""
        return {"message": draw(message_bytes)}

    def problem(self, operation: str, inputs: Values, outputs: Values) -> str | None:
        """Compare the digest."""
        message = inputs["message"] * (1 if operation == "digest" else PERIOD)
        return difference("output", outputs["output"], _expected(self.name, message))


ALGORITHMS = tuple(Hash(name=name, title=title) for name, (title, _) in _HASHES.items())
