"""SipHash-2-4 written from its paper as ARX on Python integers.

Python's own dictionaries use SipHash-1-3, and no well-maintained library has 2-4.
"""

from joulemark.oracle import Compute, Inputs, Output

MASK = (1 << 64) - 1
# SipRound in order: (target word, added word, rotation of the added word); two targets rotate by
# 32.
HALF_ROUNDS = ((0, 1, 13), (2, 3, 16), (2, 1, 17), (0, 3, 21))


def rotate(x: int, n: int) -> int:
    """Rotate a word left."""
    return (x << n | x >> (64 - n)) & MASK


def rounds(v: list[int], count: int) -> None:
    """Apply SipRounds."""
    for _ in range(count):
        for i, (target, other, by) in enumerate(HALF_ROUNDS):
            v[target] = (v[target] + v[other]) & MASK
            v[other] = rotate(v[other], by) ^ v[target]
            if i in (0, 2):
                v[target] = rotate(v[target], 32)


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Authenticate a message."""
    k = [int.from_bytes(inputs.key[i : i + 8], "little") for i in (0, 8)] * 2
    start = b"somepseudorandomlygeneratedbytes"
    v = [int.from_bytes(start[8 * i : 8 * i + 8], "big") ^ k[i] for i in range(4)]
    padded = inputs.message.ljust(len(inputs.message) // 8 * 8 + 7, b"\0")
    padded += bytes([len(inputs.message) % 256])
    for at in range(0, len(padded), 8):
        m = int.from_bytes(padded[at : at + 8], "little")
        v[3] ^= m
        rounds(v, 2)
        v[0] ^= m
    v[2] ^= 0xFF
    rounds(v, 4)
    return Output(tag=(v[0] ^ v[1] ^ v[2] ^ v[3]).to_bytes(8, "little"))
