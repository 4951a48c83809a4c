"""Marvin written from its paper, as arithmetic on integers; no library has it.

A block is an element of GF(2^n), first byte most significant. The square-complete transform of
Curupira comes from its independent oracle; that of AES computes its S-box by inversion in GF(2^8).
"""

from functools import reduce
from operator import xor

from joulemark.oracle import Compute, Inputs, Output
from joulemark.reference.curupira import square_complete_transform

EXPONENTS = {12: (96, 16, 13, 11, 0), 16: (128, 29, 27, 24, 0)}
C = 0x2A


def multiply(a: int, b: int, polynomial: int) -> int:
    """Multiply in GF(2)[x] modulo a polynomial."""
    product = reduce(xor, (a << i for i in range(b.bit_length()) if b >> i & 1), 0)
    while product.bit_length() >= polynomial.bit_length():
        product ^= polynomial << (product.bit_length() - polynomial.bit_length())
    return product


def aes_sbox(a: int) -> int:
    """Invert and apply the affine map (FIPS 197, section 5.1.1)."""
    inverse = reduce(lambda b, _: multiply(b, a, 0x11B), range(253), a)  # a^254
    rotations = (inverse << i & 0xFF | inverse >> (8 - i) for i in range(5))
    return reduce(xor, rotations, 0x63)


def aes_sct(block: bytes) -> bytes:
    """Apply four unkeyed rounds of AES."""
    state = block
    for _ in range(4):
        rows = [bytes(aes_sbox(b) for b in state[r::4]) for r in range(4)]
        rows = [row[r:] + row[:r] for r, row in enumerate(rows)]
        state = bytes(
            reduce(xor, (multiply(rows[(r + k) % 4][c], (2, 3, 1, 1)[k], 0x11B) for k in range(4)))
            for c in range(4)
            for r in range(4)
        )
    return state


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Authenticate a message; the tag is a whole block."""
    if over is None:
        raise ValueError(f"{variant}: needs a block cipher")
    size = inputs.tag_bytes
    polynomial = sum(1 << e for e in EXPONENTS[size])
    sct = aes_sct if size == 16 else square_complete_transform

    def encrypt(block: int) -> int:
        message = block.to_bytes(size, "big")
        return int.from_bytes(over("", Inputs(key=inputs.key, message=message), None).output, "big")

    offset = total = encrypt(C) ^ C
    for at in range(0, len(inputs.message), size):
        offset = multiply(offset, 1 << 8, polynomial)
        block = int.from_bytes(inputs.message[at : at + size].ljust(size, b"\0"), "big")
        total ^= int.from_bytes(sct((block ^ offset).to_bytes(size, "big")), "big")
    total ^= 1 << (8 * size - 1) ^ 8 * len(inputs.message)
    return Output(tag=encrypt(total).to_bytes(size, "big"))
