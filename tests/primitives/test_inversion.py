"""Inversion modulo the curves' primes and orders, with limbs of both widths."""

import ctypes
import random
import subprocess
from pathlib import Path

import pytest

import curve_constants
from joulemark.project import ROOT
from joulemark.reference.curves import P256, SECP160R1, SECP256K1, SECT233R1

SOURCE = """
#define MODULAR(name) tried_##name
#define MODULAR_BYTES {bytes}
#define MODULAR_MODULUS {modulus}
#define MODULAR_INVERSE {inverse}
#define MODULAR_R2 {r2}
#define MODULAR_WORD_BITS {word_bits}
#include "field/montgomery.h"
void inverted(tried_fe out, const tried_fe a) {{ tried_invert(out, a); }}
"""
MODULI = {
    "p256": P256.p,
    "p256-order": P256.order,
    "secp256k1": SECP256K1.p,
    "secp256k1-order": SECP256K1.order,
    "secp160r1": SECP160R1.p,
    "secp160r1-order": SECP160R1.order,
    "sect233r1-order": SECT233R1.order,
}
# Widths of an element's words and of the multiplier's, as the implementations combine them.
WIDTHS = ((32, 32), (32, 16), (16, 16))


@pytest.mark.parametrize("name", MODULI)
def test_inversion(tmp_path: Path, name: str) -> None:
    modulus, source = MODULI[name], random.Random(name)
    count = (modulus.bit_length() + 31) // 32
    r = 1 << 32 * count
    end = min(r, 2 * modulus)
    edges = [0, 1, 2, 3, modulus // 2, modulus - 1, modulus, modulus + 1, r % modulus, end - 1]
    edges += [1 << bit for bit in range(0, modulus.bit_length(), 7)]
    cases = [*edges, *(source.randrange(end) for _ in range(200))]
    for word_bits, order_bits in WIDTHS:
        text = SOURCE.format(
            bytes=4 * count,
            modulus=curve_constants.words(modulus, count),
            inverse=f"0x{-pow(modulus, -1, 2**32) % 2**32:08x}u",
            r2=curve_constants.words(r * r % modulus, count),
            word_bits=word_bits,
        )
        path = tmp_path / f"inversion{word_bits}-{order_bits}.c"
        path.write_text(text, encoding="utf-8")
        library = path.with_suffix(".so")
        flags = ["-O1", "-shared", "-fPIC", "-Wno-unused", f"-DORDER_WORD_BITS={order_bits}"]
        include = f"-I{ROOT / 'firmware' / 'primitives'}"
        subprocess.run(["cc", *flags, include, str(path), "-o", str(library)], check=True)
        inverted = ctypes.CDLL(str(library)).inverted
        for value in cases:
            out = ctypes.create_string_buffer(4 * count)
            inverted(out, value.to_bytes(4 * count, "little"))
            # 1 / a in Montgomery form: the input represents a / r, and the result is r^2 / a.
            known = pow(value, -1, modulus) * r * r % modulus if value % modulus else 0
            assert int.from_bytes(out.raw, "little") == known, (value, word_bits, order_bits)
