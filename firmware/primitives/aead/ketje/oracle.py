"""Ketje Sr version 1, written from its specification; no library has it.

Bertoni, Daemen, Peeters, Van Assche and Van Keer, "CAESAR submission: Ketje v1", 2014: MonkeyDuplex
and MonkeyWrap on bit strings, over Keccak-p[400] as defined by FIPS 202, algorithms 1 to 7. It
shares nothing with the C code, and reproduces all 194 results of the designers'
TestVectors/KetjeSr.txt, whose keys and nonces have all lengths in bits (the vector file says where
they are).
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
    """Convert bytes to bits, the lowest bit of each byte first."""
    return [byte >> i & 1 for byte in data for i in range(8)]


def to_bytes(bits: Bits) -> bytes:
    """Invert `to_bits`."""
    return bytes(
        sum(bit << i for i, bit in enumerate(bits[at : at + 8])) for at in range(0, len(bits), 8)
    )


@cache
def round_constant_bit(t: int) -> int:
    """Return rc(t) of FIPS 202, algorithm 5."""
    register = [1, 0, 0, 0, 0, 0, 0, 0]
    for _ in range(t % 255):
        register = [0, *register]
        for tap in (0, 4, 5, 6):
            register[tap] ^= register[8]
        register = register[:8]
    return register[0]


def place(x: int, y: int, z: int) -> int:
    """Return the index of A[x, y, z] in a string, FIPS 202, section 3.1.2."""
    return LANE_BITS * (5 * (y % 5) + x % 5) + z % LANE_BITS


def rho_and_pi() -> list[int]:
    """Return the index that each bit comes from, by FIPS 202, algorithms 2 and 3."""
    offset = {(0, 0): 0}
    x, y = 1, 0
    for t in range(24):
        offset[x, y] = (t + 1) * (t + 2) // 2
        x, y = y, (2 * x + 3 * y) % 5
    return [
        place(from_x := (x + 3 * y) % 5, x, z - offset[from_x, x])
        for y in range(5)
        for x in range(5)
        for z in range(LANE_BITS)
    ]


PLACES = [(x, y, z) for y in range(5) for x in range(5) for z in range(LANE_BITS)]
COLUMNS = [[place(x, y, z) for y in range(5)] for x in range(5) for z in range(LANE_BITS)]
"""The bits with the same x and z; a column's number is the index of its first bit."""
THETA = [(place(x - 1, 0, z), place(x + 1, 0, z - 1)) for x, _, z in PLACES]
RHO_AND_PI = rho_and_pi()
CHI = [(place(x + 1, y, z), place(x + 2, y, z)) for x, y, z in PLACES]


def keccak_p(state: Bits, rounds: int) -> Bits:
    """Run FIPS 202, algorithm 7, on bits."""
    a = state
    for index in range(ROUNDS - rounds, ROUNDS):
        c = [sum([a[i] for i in column]) % 2 for column in COLUMNS]
        a = [bit ^ c[left] ^ c[right] for bit, (left, right) in zip(a, THETA, strict=True)]
        a = [a[i] for i in RHO_AND_PI]
        a = [bit ^ ((1 - a[one]) & a[two]) for bit, (one, two) in zip(a, CHI, strict=True)]
        for j in range(LANE_BITS.bit_length()):
            a[2**j - 1] ^= round_constant_bit(j + 7 * index)
    return a


def pad10star1(width: int, length: int) -> Bits:
    """Return the padding of FIPS 202, section 5.1, for a string shorter than the width."""
    return [1] + [0] * (width - length - 2) + [1]


class MonkeyDuplex:
    """The duplex construction with two numbers of rounds."""

    def __init__(self, start: Bits) -> None:
        self._state = keccak_p(start + pad10star1(WIDTH_BITS, len(start)), START_ROUNDS)

    def _duplex(self, sigma: Bits, output_bits: int, rounds: int) -> Bits:
        rate = RHO_BITS + 4
        block = sigma + pad10star1(rate, len(sigma)) + [0] * (WIDTH_BITS - rate)
        self._state = keccak_p([a ^ b for a, b in zip(self._state, block, strict=True)], rounds)
        return self._state[:output_bits]

    def step(self, sigma: Bits, output_bits: int) -> Bits:
        """Make a duplexing call with few rounds."""
        return self._duplex(sigma, output_bits, STEP_ROUNDS)

    def stride(self, sigma: Bits, output_bits: int) -> Bits:
        """Make a duplexing call with more rounds."""
        return self._duplex(sigma, output_bits, STRIDE_ROUNDS)


def blocks_of(data: Bits) -> list[Bits]:
    """Split into at least one block; all but the last have rho bits."""
    return [data[at : at + RHO_BITS] for at in range(0, len(data), RHO_BITS)] or [[]]


class MonkeyWrap:
    """A session of wraps, each of which also authenticates those before it."""

    def __init__(self, key: Bits, nonce: Bits) -> None:
        packed_bytes = (len(key) + 16) // 8
        pack = to_bits(bytes([packed_bytes])) + key + [1]
        pack += [0] * (8 * packed_bytes - len(pack))
        self._duplex = MonkeyDuplex(pack + nonce)

    def wrap(self, ad: Bits, plaintext: Bits, tag_bits: int) -> tuple[Bits, Bits]:
        """Return ciphertext and tag."""
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
    """Make one wrap at the start of a session."""
    session = MonkeyWrap(to_bits(inputs.key), to_bits(inputs.nonce))
    ciphertext, tag = session.wrap(
        to_bits(inputs.ad), to_bits(inputs.message), 8 * inputs.tag_bytes
    )
    return Output(output=to_bytes(ciphertext), tag=to_bytes(tag))
