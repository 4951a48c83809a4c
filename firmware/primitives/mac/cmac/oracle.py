"""CMAC by the cryptography package (OpenSSL); over a cipher that it lacks, written from SP 800-38B.

The version written here computes in GF(2^b) with integers and derives the constant R_b from its
definition.
"""

from functools import cache
from itertools import combinations

from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.cmac import CMAC

from joulemark.oracle import Compute, Inputs, Output


def remainder(a: int, b: int) -> int:
    """Return the remainder of polynomials over GF(2)."""
    while a.bit_length() >= b.bit_length():
        a ^= b << (a.bit_length() - b.bit_length())
    return a


def is_irreducible(p: int) -> bool:
    """Run Ben-Or's test: no common factor with x^(2^i) - x for any degree up to half."""
    power = 2
    for _ in range((p.bit_length() - 1) // 2):
        power = remainder(int(f"{power:b}", 4), p)  # squares: inserts zeros between the bits
        a, b = p, power ^ 2
        while b:
            a, b = b, remainder(a, b)
        if a != 1:
            return False
    return True


@cache
def first_irreducible(degree: int) -> int:
    """Return the lexicographically first with the fewest terms (SP 800-38B, section 5.3)."""
    for middle in (1, 3):  # trinomials, then pentanomials
        for top in range(middle, degree):
            for rest in sorted(tuple(reversed(t)) for t in combinations(range(1, top), middle - 1)):
                polynomial = 1 << degree | 1 << top | sum(1 << t for t in rest) | 1
                if is_irreducible(polynomial):
                    return polynomial
    raise ValueError(degree)


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Authenticate a message."""
    if variant.startswith("aes-"):
        mac = CMAC(AES(inputs.key))
        mac.update(inputs.message)
        return Output(tag=mac.finalize())
    if over is None:
        raise ValueError(f"{variant}: needs a block cipher")

    def encrypt(block: int) -> int:
        result = over("", Inputs(key=inputs.key, message=block.to_bytes(size, "big")), None)
        return int.from_bytes(result.output, "big")

    size = inputs.tag_bytes
    polynomial = first_irreducible(8 * size)
    blocks = [inputs.message[i : i + size] for i in range(0, len(inputs.message), size)] or [b""]
    last = blocks.pop()
    subkey = encrypt(0) << 1
    if len(last) < size:
        subkey <<= 1
        last = (last + b"\x80").ljust(size, b"\0")
    mac_block = 0
    for block in blocks:
        mac_block = encrypt(mac_block ^ int.from_bytes(block, "big"))
    subkey = remainder(subkey, polynomial)
    return Output(
        tag=encrypt(mac_block ^ int.from_bytes(last, "big") ^ subkey).to_bytes(size, "big")
    )
