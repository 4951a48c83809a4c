"""Writes the constants of elliptic curves as C: firmware/primitives/curve/NAME-constants.h.

Curves over a prime field are taken from SP 800-186 (P-256) and SEC 2, version 1.0 (secp160r1): p,
b, the generator and its order. Everything else is computed: Montgomery's forms, and a comb of the
generator G of four rows. Entry i of 8 is (2^(3 c) + s0 2^0 + s1 2^c + s2 2^(2 c)) G, c being the
number of columns, and s 1 for a bit of i that is set and else -1; the curve edwards25519 (RFC 8032,
section 5.1) has it as (y - x, y + x, 2 d x y).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "firmware" / "primitives" / "curve"
Point = tuple[int, int]
Add = Callable[[Point, Point], Point]


@dataclass(frozen=True)
class Prime:
    """A curve y^2 = x^3 - 3 x + b over a prime field."""

    name: str
    p: int
    b: int
    generator: Point
    order: int

    def add(self, one: Point, other: Point) -> Point:
        """Sum of two points of which none is the other's negative."""
        (x1, y1), (x2, y2) = one, other
        if one == other:
            slope = (3 * x1 * x1 - 3) * pow(2 * y1, -1, self.p)
        else:
            slope = (y2 - y1) * pow(x2 - x1, -1, self.p)
        x = (slope * slope - x1 - x2) % self.p
        return x, (slope * (x1 - x) - y1) % self.p


PRIME = (
    Prime(
        "p256",
        2**256 - 2**224 + 2**192 + 2**96 - 1,
        0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B,
        (
            0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
            0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
        ),
        0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551,
    ),
    Prime(
        "secp160r1",
        2**160 - 2**31 - 1,
        0x1C97BEFC54BD7A8B65ACF89F81D4D4ADC565FA45,
        (0x4A96B5688EF573284664698968C38BB913CBFC82, 0x23A628553168947D59DCC912042351377AC5FB32),
        0x0100000000000000000001F4C8F927AED3CA752257,
    ),
)

ED_P = 2**255 - 19
ED_D = -121665 * pow(121666, -1, ED_P) % ED_P
ED_ROOT = pow(2, (ED_P - 1) // 4, ED_P)


def edwards_add(one: Point, other: Point) -> Point:
    """Sum of two points of edwards25519."""
    (x1, y1), (x2, y2) = one, other
    t = ED_D * x1 * x2 * y1 * y2 % ED_P
    x = (x1 * y2 + x2 * y1) * pow(1 + t, -1, ED_P) % ED_P
    return x, (y1 * y2 + x1 * x2) * pow(1 - t, -1, ED_P) % ED_P


def edwards_base() -> Point:
    """The base point: y is 4 / 5, x even."""
    y = 4 * pow(5, -1, ED_P) % ED_P
    square = (y * y - 1) * pow(ED_D * y * y + 1, -1, ED_P) % ED_P
    root = pow(square, (ED_P + 3) // 8, ED_P)
    if root * root % ED_P != square:
        root = root * ED_ROOT % ED_P
    return (root if root % 2 == 0 else ED_P - root), y


def comb(
    generator: Point, columns: int, add: Add, negative: Callable[[Point], Point]
) -> list[Point]:
    """The eight entries."""
    rows = [generator]
    for _ in range(3):
        point = rows[-1]
        for _ in range(columns):
            point = add(point, point)
        rows.append(point)
    entries = []
    for i in range(8):
        entry = rows[3]
        for bit in range(3):
            entry = add(entry, rows[bit] if i >> bit & 1 else negative(rows[bit]))
        entries.append(entry)
    return entries


def words(value: int, count: int) -> str:
    """An integer in words of 32 bits, the lowest first; W writes each as the field's words are."""
    parts = (f"W(0x{value >> 32 * i & 0xFFFFFFFF:08x})" for i in range(count))
    return "{" + ", ".join(parts) + "}"


def define(name: str, text: str) -> str:
    """Write a macro."""
    return f"#define {name} {text}"


def table(name: str, entries: Sequence[Sequence[str]]) -> str:
    """Write a macro for an array of points."""
    rows = ["{" + ", ".join(entry) + "}" for entry in entries]
    return define(name, "{ \\\n    " + ", \\\n    ".join(rows) + "}")


def modulus(prefix: str, value: int, count: int) -> list[str]:
    """What arithmetic modulo a number needs."""
    return [
        define(f"{prefix}_BYTES", str(4 * count)),
        define(f"{prefix}_MODULUS", words(value, count)),
        define(f"{prefix}_INVERSE", f"0x{-pow(value, -1, 2**32) % 2**32:08x}u"),
        define(f"{prefix}_R2", words(2 ** (64 * count) % value, count)),
    ]


def prime_lines(curve: Prime) -> list[str]:
    """The constants of a curve over a prime field."""
    count = (curve.p.bit_length() + 31) // 32
    bits = curve.order.bit_length()
    columns = (bits + 3) // 4

    def form(value: int) -> str:
        return words((value << 32 * count) % curve.p, count)

    x, y = curve.generator
    entries = comb(curve.generator, columns, curve.add, lambda a: (a[0], curve.p - a[1]))
    return [
        *modulus("FIELD", curve.p, count),
        *modulus("ORDER", curve.order, (bits + 31) // 32),
        define("SCALAR_BITS", str(bits)),
        define("SCALAR_BYTES", str((bits + 7) // 8)),
        define("CURVE_ONE", form(1)),
        define("CURVE_B", form(curve.b)),
        define("CURVE_GENERATOR", "{" + f"{form(x)}, {form(y)}, {form(1)}" + "}"),
        define("COMB_COLUMNS", str(columns)),
        table("CURVE_COMB", [(form(x), form(y)) for x, y in entries]),
    ]


def edwards_lines() -> list[str]:
    """The constants of edwards25519."""
    entries = comb(edwards_base(), 64, edwards_add, lambda a: (ED_P - a[0], a[1]))
    return [
        define("EDWARDS25519_D", words(ED_D, 8)),
        define("EDWARDS25519_2D", words(2 * ED_D % ED_P, 8)),
        define("EDWARDS25519_ROOT", words(ED_ROOT, 8)),
        table(
            "EDWARDS25519_COMB",
            [[words(v % ED_P, 8) for v in (y - x, y + x, 2 * ED_D * x * y)] for x, y in entries],
        ),
    ]


def headers() -> dict[str, str]:
    """Each header's text, by its name."""
    lines = {curve.name: prime_lines(curve) for curve in PRIME}
    lines["edwards25519"] = edwards_lines()
    notes = ["/* Written by tools/curve_constants.py. */", "/* clang-format off */"]
    return {f"{name}-constants.h": "\n".join([*notes, *text, ""]) for name, text in lines.items()}


if __name__ == "__main__":
    for name, text in headers().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
