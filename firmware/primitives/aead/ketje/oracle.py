"""Ketje Sr version 1, written from its specification; no library has it.

Bertoni, Daemen, Peeters, Van Assche and Van Keer, "CAESAR submission: Ketje v1", 2014: MonkeyDuplex
and MonkeyWrap on strings of bits, over Keccak-p[400] as FIPS 202, algorithms 1 to 7, defines it. It
shares nothing with the C code, and gives all 194 results of the designers' TestVectors/KetjeSr.txt,
whose keys and nonces have all lengths in bits (the vector file says where they are).
"""

from functools import cache
from itertools import pairwise

from joulemark.oracle import Compute, Inputs, Output

Bits = list[int]

WIDTH_BITS = 400
LANE_BITS = 16
ROUNDS = 20
RHO_BITS = 32
STEP_ROUNDS = 1
STRIDE_ROUNDS = 6
START_ROUNDS = 12


def to_bits(data: bytes) -> Bits:
    """Bytes as bits, the lowest bit of each byte first."""
    return [byte >> i & 1 for byte in data for i in range(8)]


def to_bytes(bits: Bits) -> bytes:
    """The inverse of `to_bits`."""
    return bytes(
        sum(bit << i for i, bit in enumerate(bits[at : at + 8])) for at in range(0, len(bits), 8)
    )


@cache
def round_constant_bit(t: int) -> int:
    """FIPS 202, algorithm 5: rc(t)."""
    register = [1, 0, 0, 0, 0, 0, 0, 0]
    for _ in range(t % 255):
        register = [0, *register]
        for tap in (0, 4, 5, 6):
            register[tap] ^= register[8]
        register = register[:8]
    return register[0]


def keccak_p(state: Bits, rounds: int) -> Bits:
    """FIPS 202, algorithm 7, on bits: A[x, y, z] is bit w(5y + x) + z."""
    w = LANE_BITS
    cells = range(5)
    a = {(x, y, z): state[w * (5 * y + x) + z] for x in cells for y in cells for z in range(w)}
    for index in range(ROUNDS - rounds, ROUNDS):
        c = {(x, z): sum(a[x, y, z] for y in cells) % 2 for x in cells for z in range(w)}
        a = {
            (x, y, z): bit ^ c[(x - 1) % 5, z] ^ c[(x + 1) % 5, (z - 1) % w]
            for (x, y, z), bit in a.items()
        }
        rotated = {(0, 0, z): a[0, 0, z] for z in range(w)}
        x, y = 1, 0
        for t in range(24):
            for z in range(w):
                rotated[x, y, z] = a[x, y, (z - (t + 1) * (t + 2) // 2) % w]
            x, y = y, (2 * x + 3 * y) % 5
        moved = {(x, y, z): rotated[(x + 3 * y) % 5, x, z] for x, y, z in rotated}
        a = {
            (x, y, z): bit ^ ((1 - moved[(x + 1) % 5, y, z]) & moved[(x + 2) % 5, y, z])
            for (x, y, z), bit in moved.items()
        }
        for j in range(w.bit_length()):
            a[0, 0, 2**j - 1] ^= round_constant_bit(j + 7 * index)
    return [a[x, y, z] for y in cells for x in cells for z in range(w)]


def pad10star1(width: int, length: int) -> Bits:
    """FIPS 202, section 5.1, for a string shorter than the width."""
    return [1] + [0] * (width - length - 2) + [1]


class MonkeyDuplex:
    """The duplex with two numbers of rounds."""

    def __init__(self, start: Bits) -> None:
        self._state = keccak_p(start + pad10star1(WIDTH_BITS, len(start)), START_ROUNDS)

    def _duplex(self, sigma: Bits, output_bits: int, rounds: int) -> Bits:
        rate = RHO_BITS + 4
        block = sigma + pad10star1(rate, len(sigma)) + [0] * (WIDTH_BITS - rate)
        self._state = keccak_p([a ^ b for a, b in zip(self._state, block, strict=True)], rounds)
        return self._state[:output_bits]

    def step(self, sigma: Bits, output_bits: int) -> Bits:
        """A duplexing call with few rounds."""
        return self._duplex(sigma, output_bits, STEP_ROUNDS)

    def stride(self, sigma: Bits, output_bits: int) -> Bits:
        """A duplexing call with more rounds."""
        return self._duplex(sigma, output_bits, STRIDE_ROUNDS)


def blocks_of(data: Bits) -> list[Bits]:
    """At least one block, of rho bits but the last."""
    return [data[at : at + RHO_BITS] for at in range(0, len(data), RHO_BITS)] or [[]]


class MonkeyWrap:
    """A session of wraps, each of which authenticates what came before it too."""

    def __init__(self, key: Bits, nonce: Bits) -> None:
        packed_bytes = (len(key) + 16) // 8
        pack = to_bits(bytes([packed_bytes])) + key + [1]
        pack += [0] * (8 * packed_bytes - len(pack))
        self._duplex = MonkeyDuplex(pack + nonce)

    def wrap(self, ad: Bits, plaintext: Bits, tag_bits: int) -> tuple[Bits, Bits]:
        """Ciphertext and tag."""
        a, b = blocks_of(ad), blocks_of(plaintext)
        for block in a[:-1]:
            self._duplex.step([*block, 0, 0], 0)
        z = self._duplex.step([*a[-1], 0, 1], len(b[0]))
        ciphertext = [p ^ s for p, s in zip(b[0], z, strict=True)]
        for block, following in pairwise(b):
            z = self._duplex.step([*block, 1, 1], len(following))
            ciphertext += [p ^ s for p, s in zip(following, z, strict=True)]
        tag = self._duplex.stride([*b[-1], 1, 0], RHO_BITS)
        while len(tag) < tag_bits:
            tag += self._duplex.step([0], RHO_BITS)
        return ciphertext, tag[:tag_bits]


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """One wrap at the start of a session."""
    session = MonkeyWrap(to_bits(inputs.key), to_bits(inputs.nonce))
    ciphertext, tag = session.wrap(
        to_bits(inputs.ad), to_bits(inputs.message), 8 * inputs.tag_bytes
    )
    return Output(output=to_bytes(ciphertext), tag=to_bytes(tag))
