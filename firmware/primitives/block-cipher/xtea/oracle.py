"""XTEA written from the report as 64 Feistel rounds; no well-maintained library has it."""

from joulemark.oracle import Compute, Inputs, Output

MASK = 0xFFFFFFFF
DELTA = 0x9E3779B9  # 2^32 over the golden ratio


def encrypt(key: list[int], block: bytes) -> bytes:
    """Encrypt one block; odd rounds add delta once more and select the key by other bits."""
    left, right = int.from_bytes(block[:4], "big"), int.from_bytes(block[4:], "big")
    for round_ in range(64):
        total = (round_ + 1) // 2 * DELTA & MASK
        chosen = key[total >> (11 if round_ % 2 else 0) & 3]
        mixed = ((right << 4 & MASK) ^ right >> 5) + right ^ total + chosen
        left, right = right, (left + mixed) & MASK
    return left.to_bytes(4, "big") + right.to_bytes(4, "big")


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Encrypt whole blocks."""
    key = [int.from_bytes(inputs.key[i : i + 4], "big") for i in range(0, 16, 4)]
    blocks = (inputs.message[i : i + 8] for i in range(0, len(inputs.message), 8))
    return Output(output=b"".join(encrypt(key, block) for block in blocks))
