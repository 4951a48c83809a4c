"""Trivium written from the specification as three growing lists of bits; no library has it.

Each list is a register's whole history, so that no bit ever moves: s_i is the i-th from the end.
"""

from joulemark.oracle import Compute, Inputs, Output


def bits(data: bytes) -> list[int]:
    """Unpack bytes, the lowest bit first."""
    return [byte >> i & 1 for byte in data for i in range(8)]


def keystream(key: bytes, iv: bytes, count: int) -> list[int]:
    """Generate the first bits of key stream."""
    a = [0] * 13 + bits(key)
    b = [0] * 4 + bits(iv)
    c = [1, 1, 1] + [0] * 108
    z = []
    for _ in range(1152 + count):
        t1 = a[-66] ^ a[-93]
        t2 = b[-69] ^ b[-84]
        t3 = c[-66] ^ c[-111]
        z.append(t1 ^ t2 ^ t3)
        a_in = t3 ^ c[-109] & c[-110] ^ a[-69]
        b_in = t1 ^ a[-91] & a[-92] ^ b[-78]
        c_in = t2 ^ b[-82] & b[-83] ^ c[-87]
        a.append(a_in)
        b.append(b_in)
        c.append(c_in)
    return z[1152:]


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Encrypt."""
    z = keystream(inputs.key, inputs.nonce, 8 * len(inputs.message))
    mask = [sum(bit << i for i, bit in enumerate(z[n : n + 8])) for n in range(0, len(z), 8)]
    return Output(output=bytes(m ^ k for m, k in zip(inputs.message, mask, strict=True)))
