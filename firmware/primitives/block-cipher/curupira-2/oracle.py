"""Curupira-2 written from the paper: its key schedule as arithmetic on polynomials over GF(2).

No library has it. The rounds are those of the independent oracle of Curupira-1; the key is one
integer, whereas the C code moves bytes.
"""

from joulemark.oracle import Compute, Inputs, Output
from joulemark.reference.curupira import encrypt, sbox, select, to_matrix

P96 = 1 << 96 | 1 << 16 | 1 << 13 | 1 << 11 | 1
ROUNDS = 10


def times_x8(a: int) -> int:
    """Multiply by x^8 in GF(2^96)."""
    for _ in range(8):
        a <<= 1
        if a >> 96:
            a ^= P96
    return a


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Encrypt whole blocks."""
    k = int.from_bytes(inputs.key, "big")
    keys = [select(to_matrix(inputs.key))]
    for r in range(ROUNDS):
        k = times_x8(k ^ sbox(r) << 88)
        keys.append(select(to_matrix(k.to_bytes(12, "big"))))
    blocks = (inputs.message[i : i + 12] for i in range(0, len(inputs.message), 12))
    return Output(output=b"".join(encrypt(keys, block) for block in blocks))
