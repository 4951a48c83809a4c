"""Skipjack written from its specification; no library has it.

G is its four equations, and the rules are applied to immutable tuples, whereas the C code works in
place; the table F is the specification's.
"""

from joulemark.oracle import Compute, Inputs, Output

F = bytes.fromhex(
    "a3d70983f848f6f4b321157899b1aff9e72d4d8ace4cca2e5295d91e4e384428"
    "0adf02a017f1606812b77ac3e9fa3d5396846bbaf2639a197caee5f5f7166aa2"
    "39b67b0fc193811beeb41aead0912fb855b9da853f41bfe05a58805f660bd890"
    "35d5c0a733066569450094566d989b7697fcb2c2b0fedb20e1ebd6e4dd474a1d"
    "42ed9e6e493ccd4327d207d4dec7671889cb301f8dc68faac874dcc95d5c31a4"
    "7088612c9f0d2b8750825464267d0340344b1c73d1c4fd3bccfb7fabe63e5ba5"
    "ad04239c145122f02979717eff8c0ee20cefbc72756f37a1ecd38e628b8610e8"
    "087711be924f24c532369dcff3a6bbac5e6ca9135725b5e3bda83a0105592a46"
)

Words = tuple[int, int, int, int]


def g(key: bytes, k: int, w: int) -> int:
    """Compute G at step k, counted from 0: g1 g2 to g5 g6."""
    values = [w >> 8, w & 0xFF]
    for i in range(4):
        values.append(F[values[-1] ^ key[(4 * k + i) % 10]] ^ values[-2])
    return values[4] << 8 | values[5]


def rule_a(key: bytes, k: int, w: Words) -> Words:
    """Step by rule A."""
    t = g(key, k, w[0])
    return t ^ w[3] ^ (k + 1), t, w[1], w[2]


def rule_b(key: bytes, k: int, w: Words) -> Words:
    """Step by rule B."""
    return w[3], g(key, k, w[0]), w[0] ^ w[1] ^ (k + 1), w[2]


def encrypt(key: bytes, block: bytes) -> bytes:
    """Encrypt one block."""
    w: Words = (
        int.from_bytes(block[0:2], "big"),
        int.from_bytes(block[2:4], "big"),
        int.from_bytes(block[4:6], "big"),
        int.from_bytes(block[6:8], "big"),
    )
    for k, rule in enumerate(8 * [rule_a] + 8 * [rule_b] + 8 * [rule_a] + 8 * [rule_b]):
        w = rule(key, k, w)
    return b"".join(word.to_bytes(2, "big") for word in w)


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Encrypt whole blocks."""
    blocks = (inputs.message[i : i + 8] for i in range(0, len(inputs.message), 8))
    return Output(output=b"".join(encrypt(inputs.key, block) for block in blocks))
