"""Grain v1 written from the specification as two growing lists of bits; no library has it.

The feedback is a list of monomials, evaluated one by one, whereas the C code is one expression.
"""

from joulemark.oracle import Compute, Inputs, Output

F = (62, 51, 38, 23, 13, 0)
G = (
    *((62,), (60,), (52,), (45,), (37,), (33,), (28,), (21,), (14,), (9,), (0,)),
    *((63, 60), (37, 33), (15, 9), (60, 52, 45), (33, 28, 21), (63, 45, 28, 9)),
    *((60, 52, 37, 33), (63, 60, 21, 15), (63, 60, 52, 45, 37), (33, 28, 21, 15, 9)),
    (52, 45, 37, 33, 28, 21),
)
H = ((1,), (4,), (0, 3), (2, 3), (3, 4), (0, 1, 2), (0, 2, 3), (0, 2, 4), (1, 2, 4), (2, 3, 4))
A = (1, 2, 4, 10, 31, 43, 56)


def bits(data: bytes) -> list[int]:
    """Unpack bytes, the lowest bit first."""
    return [byte >> i & 1 for byte in data for i in range(8)]


def keystream(key: bytes, iv: bytes, count: int) -> list[int]:
    """Generate the first bits of key stream."""
    b, s, z = bits(key), bits(iv) + [1] * 16, []
    for i in range(160 + count):
        x = (s[i + 3], s[i + 25], s[i + 46], s[i + 64], b[i + 63])
        h = sum(all(x[k] for k in term) for term in H)
        z.append((sum(b[i + k] for k in A) + h) & 1)
        fed_back = z[i] if i < 160 else 0
        g = sum(all(b[i + k] for k in term) for term in G)
        f = sum(s[i + k] for k in F)
        b.append((s[i] + g + fed_back) & 1)
        s.append((f + fed_back) & 1)
    return z[160:]


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Encrypt."""
    z = keystream(inputs.key, inputs.nonce, 8 * len(inputs.message))
    mask = [sum(bit << i for i, bit in enumerate(z[n : n + 8])) for n in range(0, len(z), 8)]
    return Output(output=bytes(m ^ k for m, k in zip(inputs.message, mask, strict=True)))
