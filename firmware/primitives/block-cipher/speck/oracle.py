"""SPECK64/128 written from the paper: the key schedule as its recurrences, on lists.

No well-maintained library has it.
"""

from joulemark.oracle import Compute, Inputs, Output

N = 32
MASK = (1 << N) - 1
ROUNDS = 27
ALPHA, BETA = 8, 3


def left(x: int, j: int) -> int:
    """Rotate a word to the left."""
    return (x << j | x >> (N - j)) & MASK


def round_keys(key: bytes) -> list[int]:
    """Evaluate the recurrences l[i + m - 1] = ... and k[i + 1] = ...; l[0] follows k[0]."""
    words = [int.from_bytes(key[i : i + 4], "little") for i in range(0, 16, 4)]
    k, ell = words[:1], words[1:]
    for i in range(ROUNDS - 1):
        ell.append(((k[i] + left(ell[i], N - ALPHA)) & MASK) ^ i)
        k.append(left(k[i], BETA) ^ ell[i + 3])
    return k


def encrypt(keys: list[int], block: bytes) -> bytes:
    """Encrypt one block."""
    y, x = int.from_bytes(block[:4], "little"), int.from_bytes(block[4:], "little")
    for k in keys:
        x = ((left(x, N - ALPHA) + y) & MASK) ^ k
        y = left(y, BETA) ^ x
    return y.to_bytes(4, "little") + x.to_bytes(4, "little")


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Encrypt whole blocks."""
    keys = round_keys(inputs.key)
    blocks = (inputs.message[i : i + 8] for i in range(0, len(inputs.message), 8))
    return Output(output=b"".join(encrypt(keys, block) for block in blocks))
