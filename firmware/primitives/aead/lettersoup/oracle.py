"""LetterSoup written from its paper, as arithmetic on integers; no library has it.

Simplicio, Barbuda, Barreto, Carvalho and Margi, "The MARVIN message authentication code and the
LETTERSOUP authenticated encryption scheme", Security and Communication Networks 2(2), 2009. A block
is an element of GF(2^96), first byte most significant. The square-complete transform comes from the
block cipher's independent oracle, which implements Curupira's rounds.
"""

from collections.abc import Iterator
from functools import reduce
from operator import xor

from joulemark.oracle import Compute, Inputs, Output
from joulemark.reference.curupira import square_complete_transform

BLOCK_BYTES = 12
BLOCK_BITS = 96
POLYNOMIAL = 1 << 96 | 1 << 16 | 1 << 13 | 1 << 11 | 1


def times_x8(a: int) -> int:
    """Multiply by x^8."""
    a <<= 8
    for i in reversed(range(BLOCK_BITS, BLOCK_BITS + 8)):
        if a >> i & 1:
            a ^= POLYNOMIAL << (i - BLOCK_BITS)
    return a


def offsets(start: int) -> Iterator[int]:
    """Yield O_1, O_2, ..."""
    while True:
        start = times_x8(start)
        yield start


def blocks_of(data: bytes) -> list[bytes]:
    """Split into blocks, of which the last may be short."""
    return [data[i : i + BLOCK_BYTES] for i in range(0, len(data), BLOCK_BYTES)]


def sct(block: int) -> int:
    """Apply four unkeyed rounds."""
    transformed = square_complete_transform(block.to_bytes(BLOCK_BYTES, "big"))
    return int.from_bytes(transformed, "big")


def accumulate(start: int, data: bytes, tag_bytes: int) -> int:
    """Compute A or D of algorithm 2."""
    padded = (int.from_bytes(block.ljust(BLOCK_BYTES, b"\0"), "big") for block in blocks_of(data))
    terms = (sct(block ^ o) for block, o in zip(padded, offsets(start), strict=False))
    left_out = BLOCK_BITS - 8 * tag_bytes
    marker = (f"{left_out:b}" if left_out else "") + "1"
    return reduce(xor, terms, start) ^ int(marker.ljust(BLOCK_BITS, "0"), 2) ^ 8 * len(data)


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Encrypt and authenticate."""
    if over is None:
        raise ValueError("LetterSoup needs a block cipher")

    def encrypt(block: int) -> int:
        message = block.to_bytes(BLOCK_BYTES, "big")
        result = over("", Inputs(key=inputs.key, message=message), None)
        return int.from_bytes(result.output, "big")

    nonce = int.from_bytes(inputs.nonce, "big")
    r = encrypt(nonce) ^ nonce
    ciphertext = b""
    for block, o in zip(blocks_of(inputs.message), offsets(r), strict=False):
        stream = encrypt(o).to_bytes(BLOCK_BYTES, "big")
        ciphertext += bytes(a ^ b for a, b in zip(block, stream, strict=False))

    a = accumulate(r, ciphertext, inputs.tag_bytes)
    if inputs.ad:
        a ^= sct(accumulate(encrypt(0), inputs.ad, inputs.tag_bytes))
    tag = encrypt(a).to_bytes(BLOCK_BYTES, "big")[: inputs.tag_bytes]
    return Output(output=ciphertext, tag=tag)
