"""The origin of OCB3's constants: a rule gives them, for blocks of 96 bits as for 128.

The residue belongs to the lexicographically first irreducible polynomial with the fewest terms. The
shift makes the 64 functions that cut Offset_0 out of Stretch strongly XOR-universal: each of them,
and the sum of any two, is invertible (Krovetz and Rogaway, FSE 2011). Among such shifts it is the
largest of those with the smallest remainder modulo 8 (M. Wooding, ocb-tv, README). For 128 bits
that gives RFC 7253's constants; for 96 bits those of draft-krovetz-ocb-wideblock-00.
"""

import runpy
from itertools import combinations

import pytest

from joulemark.project import FIRMWARE

ORACLE = runpy.run_path(str(FIRMWARE / "primitives/aead/ocb3/oracle.py"))
RESIDUE_AND_SHIFT: dict[int, tuple[int, int]] = ORACLE["RESIDUE_AND_SHIFT"]
FUNCTIONS = 64


def multiply(a: int, b: int, modulus: int) -> int:
    degree = modulus.bit_length() - 1
    product = 0
    while b:
        if b & 1:
            product ^= a
        b >>= 1
        a <<= 1
        if a >> degree:
            a ^= modulus
    return product


def divisor(a: int, b: int) -> int:
    """Return the greatest common divisor of two polynomials."""
    while b:
        while a.bit_length() >= b.bit_length():
            a ^= b << (a.bit_length() - b.bit_length())
        a, b = b, a
    return a


def is_irreducible(modulus: int) -> bool:
    """Apply Rabin's test for degrees 96 = 2^5 * 3 and 128 = 2^7."""
    degree = modulus.bit_length() - 1
    primes = [p for p in (2, 3) if degree % p == 0]
    power = 2
    for i in range(1, degree + 1):
        power = multiply(power, power, modulus)
        if any(i == degree // p for p in primes) and divisor(modulus, power ^ 2) != 1:
            return False
    return power == 2


def function(bits: int, shift: int, bottom: int) -> list[int]:
    """Return rows, first bit first: the bits of Ktop that each bit of Offset_0 is the sum of."""
    stretch = [1 << i for i in range(bits)]
    stretch += [1 << i | (1 << (i + shift) if i + shift < bits else 0) for i in range(bits)]
    return stretch[bottom : bottom + bits]


def is_invertible(rows: list[int]) -> bool:
    rows = list(rows)
    for column in range(len(rows)):
        pivot = next((i for i in range(column, len(rows)) if rows[i] >> column & 1), None)
        if pivot is None:
            return False
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for i in range(column + 1, len(rows)):
            if rows[i] >> column & 1:
                rows[i] ^= rows[column]
    return True


def is_universal(bits: int, shift: int) -> bool:
    functions = [function(bits, shift, bottom) for bottom in range(FUNCTIONS)]
    return all(map(is_invertible, functions)) and all(
        is_invertible([x ^ y for x, y in zip(a, b, strict=True)])
        for a, b in combinations(functions, 2)
    )


@pytest.mark.parametrize("block_bytes", RESIDUE_AND_SHIFT)
def test_residue_is_the_first_irreducible_polynomial_with_fewest_terms(block_bytes: int) -> None:
    bits = 8 * block_bytes
    residue, _ = RESIDUE_AND_SHIFT[block_bytes]
    assert not any(is_irreducible(1 << bits | 1 << k | 1) for k in range(1, bits))
    candidates = (
        1 << a | 1 << b | 1 << c | 1
        for a in range(3, bits)
        for b in range(2, a)
        for c in range(1, b)
    )
    assert next(r for r in candidates if is_irreducible(1 << bits | r)) == residue


@pytest.mark.slow
@pytest.mark.parametrize("block_bytes", RESIDUE_AND_SHIFT)
def test_shift_is_the_last_universal_one_of_the_smallest_remainder(block_bytes: int) -> None:
    bits = 8 * block_bytes
    _, shift = RESIDUE_AND_SHIFT[block_bytes]
    order = sorted(range(1, bits), key=lambda c: (c % 8, -c))
    assert next(c for c in order if is_universal(bits, c)) == shift
