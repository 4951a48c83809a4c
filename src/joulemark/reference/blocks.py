"""Block ciphers that the libraries used as oracles lack, from their specifications."""

from collections.abc import Callable
from functools import cache

Block = Callable[[bytes], bytes]
"""Encrypts whole blocks independently (ECB)."""
_MASK = 0xFFFFFFFF
# Rivest, "The RC5 Encryption Algorithm", 1995, section 4.3: Odd((e - 2) * 2^32), Odd((phi - 1) *
# 2^32).
_P32, _Q32 = 0xB7E15163, 0x9E3779B9


def _rotate(value: int, by: int) -> int:
    by &= 31
    return (value << by | value >> (32 - by)) & _MASK


def _rivest_schedule(key: bytes, count: int) -> list[int]:
    """Expand a key of RC5 or RC6 to `count` words."""
    words = [int.from_bytes(key[i : i + 4], "little") for i in range(0, len(key), 4)]
    table = [(_P32 + i * _Q32) & _MASK for i in range(count)]
    a = b = 0
    for n in range(3 * max(count, len(words))):
        i, j = n % count, n % len(words)
        a = table[i] = _rotate(table[i] + a + b & _MASK, 3)
        b = words[j] = _rotate(words[j] + a + b & _MASK, a + b)
    return table


def _words(data: bytes, at: int, count: int) -> list[int]:
    return [int.from_bytes(data[i : i + 4], "little") for i in range(at, at + 4 * count, 4)]


def rc5(key: bytes, rounds: int = 16) -> Block:
    """Return RC5-32 with a key (Rivest 1995)."""
    s = _rivest_schedule(key, 2 * rounds + 2)

    def encrypt(data: bytes) -> bytes:
        out = bytearray()
        for at in range(0, len(data), 8):
            a, b = _words(data, at, 2)
            a, b = a + s[0] & _MASK, b + s[1] & _MASK
            for i in range(2, len(s), 2):
                a = _rotate(a ^ b, b) + s[i] & _MASK
                b = _rotate(b ^ a, a) + s[i + 1] & _MASK
            out += a.to_bytes(4, "little") + b.to_bytes(4, "little")
        return bytes(out)

    return encrypt


def rc6(key: bytes, rounds: int = 20) -> Block:
    """Return RC6-32 with a key (Rivest, Robshaw, Sidney, Yin: The RC6 Block Cipher, 1998)."""
    s = _rivest_schedule(key, 2 * rounds + 4)

    def encrypt(data: bytes) -> bytes:
        out = bytearray()
        for at in range(0, len(data), 16):
            a, b, c, d = _words(data, at, 4)
            b, d = b + s[0] & _MASK, d + s[1] & _MASK
            for i in range(2, 2 * rounds + 2, 2):
                t = _rotate(b * (2 * b + 1) & _MASK, 5)
                u = _rotate(d * (2 * d + 1) & _MASK, 5)
                a = _rotate(a ^ t, u) + s[i] & _MASK
                c = _rotate(c ^ u, t) + s[i + 1] & _MASK
                a, b, c, d = b, c, d, a
            a, c = a + s[-2] & _MASK, c + s[-1] & _MASK
            out += b"".join(x.to_bytes(4, "little") for x in (a, b, c, d))
        return bytes(out)

    return encrypt


# Schneier et al., "Twofish: A 128-Bit Block Cipher", 1998: sections 4.3.5 (q0 and q1, each made of
# four tables of sixteen nibbles), 4.2 and 4.3 (MDS and RS, with their polynomials).
_NIBBLES = (
    ("817d6f320b59eca4", "ecb81235f4a6709d", "ba5e6d90c8f32471", "d7f4126e9b3085ca"),
    ("28bdf76e31940ac5", "1e2b4c376da5f908", "4c75169a0ed82b3f", "b951c3de647f208a"),
)
_MDS = (
    (0x01, 0xEF, 0x5B, 0x5B),
    (0x5B, 0xEF, 0xEF, 0x01),
    (0xEF, 0x5B, 0x01, 0xEF),
    (0xEF, 0x01, 0xEF, 0x5B),
)
_MDS_POLYNOMIAL, _RS_POLYNOMIAL = 0x169, 0x14D
_RS = (
    (0x01, 0xA4, 0x55, 0x87, 0x5A, 0x58, 0xDB, 0x9E),
    (0xA4, 0x56, 0x82, 0xF3, 0x1E, 0xC6, 0x68, 0xE5),
    (0x02, 0xA1, 0xFC, 0xC1, 0x47, 0xAE, 0x3D, 0x19),
    (0xA4, 0x55, 0x87, 0x5A, 0x58, 0xDB, 0x9E, 0x03),
)
_ORDER_128 = ((0, 0, 1), (1, 0, 0), (0, 1, 1), (1, 1, 0))
"""For each byte of h, q0 or q1 in the three layers of a 128-bit key (figure 2)."""


def multiplied(a: int, b: int, polynomial: int) -> int:
    """Multiply in GF(2^8)."""
    product = 0
    while b:
        if b & 1:
            product ^= a
        a, b = a << 1, b >> 1
        if a & 0x100:
            a ^= polynomial
    return product


@cache
def _q(which: int) -> tuple[int, ...]:
    t = [[int(c, 16) for c in row] for row in _NIBBLES[which]]
    table = []
    for x in range(256):
        a, b = x >> 4, x & 15
        for first, second in ((t[0], t[1]), (t[2], t[3])):
            a, b = a ^ b, a ^ (b >> 1 | b << 3 & 8) ^ (8 * a & 15)
            a, b = first[a], second[b]
        table.append(b << 4 | a)
    return tuple(table)


def _h(x: int, words: tuple[bytes, bytes]) -> int:
    """Compute the function h for a 128-bit key, with two words of key material."""
    result = 0
    for column, order in enumerate(_ORDER_128):
        y = _q(order[0])[x >> 8 * column & 0xFF] ^ words[1][column]
        y = _q(order[2])[_q(order[1])[y] ^ words[0][column]]
        for row in range(4):
            result ^= multiplied(y, _MDS[row][column], _MDS_POLYNOMIAL) << 8 * row
    return result


def twofish(key: bytes) -> Block:
    """Return Twofish with a 128-bit key."""
    parts = [key[i : i + 4] for i in range(0, 16, 4)]
    even, odd = (parts[0], parts[2]), (parts[1], parts[3])
    s = []
    for i in (0, 8):
        half = key[i : i + 8]
        word = bytearray(4)
        for row in range(4):
            for column in range(8):
                word[row] ^= multiplied(half[column], _RS[row][column], _RS_POLYNOMIAL)
        s.append(bytes(word))
    k = []
    for i in range(20):
        a = _h(2 * i * 0x01010101, even)
        b = _rotate(_h((2 * i + 1) * 0x01010101, odd), 8)
        k += [a + b & _MASK, _rotate(a + 2 * b & _MASK, 9)]
    # Sections 4.3 and 4.3.3: the words of S are used in reverse order.
    tables = [[_h(x << 8 * n, (s[1], s[0])) for x in range(256)] for n in range(4)]
    zero = _h(0, (s[1], s[0]))

    def g(x: int) -> int:
        value = zero
        for n in range(4):
            # h is the XOR of one term per byte. A table also contains the other bytes' terms for
            # zero; the four tables contain each three times, and h(0) cancels them.
            value ^= tables[n][x >> 8 * n & 0xFF]
        return value

    def encrypt(data: bytes) -> bytes:
        out = bytearray()
        for at in range(0, len(data), 16):
            a, b, c, d = (w ^ k[n] for n, w in enumerate(_words(data, at, 4)))
            for r in range(16):
                t, u = g(a), g(_rotate(b, 8))
                f = t + u + k[2 * r + 8] & _MASK
                e = t + 2 * u + k[2 * r + 9] & _MASK
                a, b, c, d = _rotate(c ^ f, 31), _rotate(d, 1) ^ e, a, b
            out += b"".join(
                (w ^ k[n + 4]).to_bytes(4, "little") for n, w in enumerate((c, d, a, b))
            )
        return bytes(out)

    return encrypt
