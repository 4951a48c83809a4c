"""SIMON64/128 written from the paper, on bits: words are lists of 0 and 1.

No well-maintained library has it. The constant sequence z3 comes from a shift register, as the
paper generates it, not from a table.
"""

from joulemark.oracle import Compute, Inputs, Output

N = 32
ROUNDS = 44

Bits = list[int]  # most significant first


def z3() -> Bits:
    """Generate z3: a register of five bits that starts as 1 0 0 0 1, with 0 1 0 1 ... added."""
    w = [1, 0, 0, 0, 1]
    while len(w) < 62:
        w.append(w[-5] ^ w[-4] ^ w[-3] ^ w[-2])
    return [bit ^ (i & 1) for i, bit in enumerate(w)]


def to_bits(data: bytes) -> Bits:
    """Read a little-endian word."""
    word = int.from_bytes(data, "little")
    return [word >> i & 1 for i in reversed(range(N))]


def to_bytes(bits: Bits) -> bytes:
    """Write a little-endian word."""
    return int("".join(map(str, bits)), 2).to_bytes(N // 8, "little")


def left(x: Bits, j: int) -> Bits:
    """Rotate left; right if j is negative."""
    return x[j:] + x[:j]


def add(*words: Bits) -> Bits:
    """Add over GF(2)."""
    return [sum(bits) & 1 for bits in zip(*words, strict=True)]


def round_keys(key: bytes) -> list[Bits]:
    """Evaluate the key schedule for m = 4; c is 2^32 - 4."""
    z = z3()
    k = [to_bits(key[i : i + 4]) for i in range(0, 16, 4)]
    for i in range(ROUNDS - 4):
        c = [1] * (N - 2) + [0, 0]
        t = add(left(k[i + 3], -3), k[i + 1])
        k.append(add(c, [0] * (N - 1) + [z[i]], k[i], t, left(t, -1)))
    return k


def encrypt(keys: list[Bits], block: bytes) -> bytes:
    """Encrypt one block."""
    y, x = to_bits(block[:4]), to_bits(block[4:])
    for k in keys:
        product = [a & b for a, b in zip(left(x, 1), left(x, 8), strict=True)]
        x, y = add(y, product, left(x, 2), k), x
    return to_bytes(y) + to_bytes(x)


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Encrypt whole blocks."""
    keys = round_keys(inputs.key)
    blocks = (inputs.message[i : i + 8] for i in range(0, len(inputs.message), 8))
    return Output(output=b"".join(encrypt(keys, block) for block in blocks))
