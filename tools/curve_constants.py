"""Writes the constants of elliptic curves as C: firmware/primitives/curve/NAME-constants.h.

The curves are those of joulemark.reference.curves. Everything else is computed: Montgomery forms,
and a comb of four rows of the generator G. Entry i of 8 is (2^(3 c) + s0 2^0 + s1 2^c + s2 2^(2 c))
G, where c is the number of columns and sj is 1 if bit j of i is set, else -1. The curve
edwards25519 (RFC 8032, section 5.1) has each entry as (y - x, y + x, 2 d x y). A prime curve's
columns come in blocks, so that one doubling serves a column of each: block b's entries are 2^(b c /
blocks) times these. Verification uses G, 3 G, ..., 15 G of a prime curve.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from joulemark.reference import curves
from joulemark.reference.curves import BinaryCurve, Point, PrimeCurve

FOLDER = Path(__file__).parents[1] / "firmware" / "primitives" / "curve"
Add = Callable[[Point, Point], Point]


PRIME = (curves.P256, curves.SECP160R1, curves.SECP256K1)
BINARY = curves.SECT233R1

ED_P = 2**255 - 19
ED_D = -121665 * pow(121666, -1, ED_P) % ED_P
ED_ROOT = pow(2, (ED_P - 1) // 4, ED_P)


def edwards_add(one: Point, other: Point) -> Point:
    """Return the sum of two points of edwards25519."""
    (x1, y1), (x2, y2) = one, other
    t = ED_D * x1 * x2 * y1 * y2 % ED_P
    x = (x1 * y2 + x2 * y1) * pow(1 + t, -1, ED_P) % ED_P
    return x, (y1 * y2 + x1 * x2) * pow(1 - t, -1, ED_P) % ED_P


def edwards_base() -> Point:
    """Return the base point: y is 4 / 5, x is even."""
    y = 4 * pow(5, -1, ED_P) % ED_P
    square = (y * y - 1) * pow(ED_D * y * y + 1, -1, ED_P) % ED_P
    root = pow(square, (ED_P + 3) // 8, ED_P)
    if root * root % ED_P != square:
        root = root * ED_ROOT % ED_P
    return (root if root % 2 == 0 else ED_P - root), y


def comb(
    generator: Point, columns: int, add: Add, negative: Callable[[Point], Point]
) -> list[Point]:
    """Return the comb's eight entries."""
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


def comb_blocks(order: int) -> tuple[int, int]:
    """Return how many blocks of columns a comb has, up to four, and how many columns per block.

    The additions of point_multiply_base rely on this: the row of the highest digits begins more
    than three bits below the top of the order.
    """
    for blocks in (4, 2, 1):
        columns = -(-order.bit_length() // (4 * blocks))
        if (4 * blocks - 1) * columns + 3 < order.bit_length():
            return blocks, columns
    raise ValueError("the order is too short for a comb of four rows")


def words(value: int, count: int) -> str:
    """Return an integer in 32-bit words, lowest first; W writes each as a word of the field."""
    parts = (f"W(0x{value >> 32 * i & 0xFFFFFFFF:08x})" for i in range(count))
    return "{" + ", ".join(parts) + "}"


def define(name: str, text: str) -> str:
    """Return a macro."""
    return f"#define {name} {text}"


def table(name: str, entries: Sequence[Sequence[str]]) -> str:
    """Return a macro for an array of points."""
    rows = ["{" + ", ".join(entry) + "}" for entry in entries]
    return define(name, "{ \\\n    " + ", \\\n    ".join(rows) + "}")


def modulus(prefix: str, value: int, count: int) -> list[str]:
    """Return the macros that arithmetic modulo a number needs."""
    return [
        define(f"{prefix}_BYTES", str(4 * count)),
        define(f"{prefix}_MODULUS", words(value, count)),
        define(f"{prefix}_INVERSE", f"0x{-pow(value, -1, 2**32) % 2**32:08x}u"),
        define(f"{prefix}_R2", words(2 ** (64 * count) % value, count)),
    ]


def scalar_lines(order: int) -> list[str]:
    """Return the macros for scalars."""
    bits = order.bit_length()
    return [
        *modulus("ORDER", order, (bits + 31) // 32),
        define("SCALAR_BITS", str(bits)),
        define("SCALAR_BYTES", str((bits + 7) // 8)),
    ]


def prime_lines(curve: PrimeCurve) -> list[str]:
    """Return the constants of a curve over a prime field."""
    count = (curve.p.bit_length() + 31) // 32
    blocks, columns = comb_blocks(curve.order)

    def form(value: int) -> str:
        return words((value << 32 * count) % curve.p, count)

    def add(one: Point, other: Point) -> Point:
        found = curve.add(one, other)
        if found is None:
            raise ValueError("infinity")
        return found

    x, y = curve.generator
    entries = []
    for block in range(blocks):
        base = curve.times(1 << columns * block)
        if base is None:
            raise ValueError("infinity")
        entries += comb(base, blocks * columns, add, curve.negative)
    odd = []
    for i in range(1, 16, 2):
        multiple = curve.times(i)
        if multiple is None:
            raise ValueError("infinity")
        odd.append([form(v) for v in multiple])
    return [
        *modulus("FIELD", curve.p, count),
        *scalar_lines(curve.order),
        define("CURVE_A_IS_ZERO", str(int(curve.a == 0))),
        define("CURVE_ONE", form(1)),
        define("CURVE_B", form(curve.b)),
        define("CURVE_GENERATOR", "{" + f"{form(x)}, {form(y)}, {form(1)}" + "}"),
        table("CURVE_ODD_MULTIPLES", odd),
        define("COMB_BLOCKS", str(blocks)),
        define("COMB_COLUMNS", str(columns)),
        table("CURVE_COMB", [(form(x), form(y)) for x, y in entries]),
    ]


def easy_lines(curve: PrimeCurve) -> list[str]:
    """Return the constants of a curve for arithmetic that knows only the shape of its prime."""
    bits = curve.p.bit_length()
    count = bits // 32
    columns = (curve.order.bit_length() + 2) // 3

    def plain(value: int, words: int = count) -> str:
        parts = (f"0x{value >> 32 * i & 0xFFFFFFFF:08x}u" for i in range(words))
        return "{" + ", ".join(parts) + "}"

    # 2^bits - p as a signed sum of few powers of two: the non-adjacent form.
    terms, rest, exponent = [], (1 << bits) - curve.p, 0
    while rest:
        if rest & 1:
            sign = 2 - rest % 4
            terms.append(f"{{{exponent}, {sign}}}")
            rest -= sign
        rest, exponent = rest >> 1, exponent + 1
    entries = []
    for i in range(1, 8):
        entry = curve.times(sum(1 << columns * row for row in range(3) if i >> row & 1))
        if entry is None:
            raise ValueError("infinity")
        entries.append([plain(v) for v in entry])
    return [
        define("FIELD_BITS", str(bits)),
        define("EASY_MODULUS", plain(curve.p)),
        define("EASY_TERMS", "{" + ", ".join(reversed(terms)) + "}"),
        define("EASY_B", plain(curve.b)),
        define("EASY_ORDER", plain(curve.order, count + 1)),
        define("EASY_COLUMNS", str(columns)),
        table("EASY_COMB", entries),
    ]


def binary_lines(curve: BinaryCurve) -> list[str]:
    """Return the constants of a curve over a binary field, in as many words as for a prime one."""
    count = (curve.degree + 31) // 32
    x, y = curve.generator
    return [
        define("CURVE_IS_BINARY", "1"),
        *scalar_lines(curve.order),
        define("CURVE_B", words(curve.b, count)),
        define("CURVE_GENERATOR", "{" + f"{words(x, count)}, {words(y, count)}" + "}"),
    ]


def edwards_lines() -> list[str]:
    """Return the constants of edwards25519."""
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
    """Return the text of each header by name."""
    lines = {curve.name: prime_lines(curve) for curve in PRIME}
    lines |= {f"{c.name}-easy": easy_lines(c) for c in (curves.P256, curves.SECP160R1)}
    lines[BINARY.name] = binary_lines(BINARY)
    lines["edwards25519"] = edwards_lines()
    notes = ["/* Written by tools/curve_constants.py. */", "/* clang-format off */"]
    return {f"{name}-constants.h": "\n".join([*notes, *text, ""]) for name, text in lines.items()}


if __name__ == "__main__":
    for name, text in headers().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
