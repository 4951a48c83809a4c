"""Writes firmware/primitives/curve/edwards25519-constants.h: the curve's constants and its comb.

The comb of the base point B (RFC 8032, section 5.1): entry i of 8 is
(2^192 + s0 2^0 + s1 2^64 + s2 2^128) B, where s is 1 for a bit of i that is set and else -1, as
(y - x, y + x, 2 d x y).
"""

from pathlib import Path

P = 2**255 - 19
D = -121665 * pow(121666, -1, P) % P
BASE_Y = 4 * pow(5, -1, P) % P
COLUMNS = 64

Point = tuple[int, int]


def base_x() -> int:
    """The even x that goes with BASE_Y."""
    square = (BASE_Y**2 - 1) * pow(D * BASE_Y**2 + 1, -1, P) % P
    root = pow(square, (P + 3) // 8, P)
    if root * root % P != square:
        root = root * pow(2, (P - 1) // 4, P) % P
    return root if root % 2 == 0 else P - root


def add(a: Point, b: Point) -> Point:
    """Sum of two points."""
    (x1, y1), (x2, y2) = a, b
    t = D * x1 * x2 * y1 * y2 % P
    x = (x1 * y2 + x2 * y1) * pow(1 + t, -1, P) % P
    return x, (y1 * y2 + x1 * x2) * pow(1 - t, -1, P) % P


def negative(a: Point) -> Point:
    """The point that makes the neutral one of it."""
    return P - a[0], a[1]


def words(value: int) -> str:
    """An element as the header writes it, the lowest word first."""
    parts = (f"W(0x{value >> 32 * i & 0xFFFFFFFF:08x})" for i in range(8))
    return "{" + ", ".join(parts) + "}"


def header() -> str:
    """The header's text."""
    power = (base_x(), BASE_Y)
    powers = [power]
    for _ in range(3):
        for _ in range(COLUMNS):
            power = add(power, power)
        powers.append(power)
    entries = []
    for i in range(8):
        x, y = powers[3]
        for bit in range(3):
            signed = powers[bit] if i >> bit & 1 else negative(powers[bit])
            x, y = add((x, y), signed)
        rows = (words(v % P) for v in (y - x, y + x, 2 * D * x * y))
        entries.append("    {" + ",\n     ".join(rows) + "},")
    lines = [
        "/* Written by tools/edwards25519_constants.py. */",
        "/* clang-format off */",
        "#if FE_WORD_BITS == 32",
        "#define W(x) x##u",
        "#else",
        "#define W(x) (uint16_t)(x##u), (uint16_t)(x##u >> 16)",
        "#endif",
        f"static const fe edwards25519_d = {words(D)};",
        f"static const fe edwards25519_2d = {words(2 * D % P)};",
        f"static const fe edwards25519_root = {words(pow(2, (P - 1) // 4, P))}; /* of -1 */",
        "static const fe edwards25519_comb[8][3] = {",
        *entries,
        "};",
        "#undef W",
        "/* clang-format on */",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    folder = Path(__file__).parents[1] / "firmware" / "primitives" / "curve"
    (folder / "edwards25519-constants.h").write_text(header(), encoding="utf-8")
