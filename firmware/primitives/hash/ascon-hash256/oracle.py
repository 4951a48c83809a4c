"""Ascon-Hash256 written from SP 800-232; the PyPI package `ascon` implements the older version 1.2.

The S-box is the standard's table of 32 entries, applied to one column of five bits at a time, and
the state is a list of bits, whereas the C code is bitsliced. The initial state is computed.
"""

from joulemark.oracle import Compute, Inputs, Output

SBOX = (
    *(0x04, 0x0B, 0x1F, 0x14, 0x1A, 0x15, 0x09, 0x02, 0x1B, 0x05, 0x08, 0x12, 0x1D, 0x03, 0x06),
    *(0x1C, 0x1E, 0x13, 0x07, 0x0E, 0x00, 0x0D, 0x11, 0x18, 0x10, 0x0C, 0x01, 0x19, 0x16, 0x0A),
    *(0x0F, 0x17),
)
COLUMNS = {
    tuple(i >> row & 1 for row in (4, 3, 2, 1, 0)): tuple(o >> row & 1 for row in (4, 3, 2, 1, 0))
    for i, o in enumerate(SBOX)
}
"""The S-box on columns as bits, the first word's bit first."""
ROTATIONS = ((19, 28), (61, 39), (1, 6), (10, 17), (7, 41))
IV = 0x0000080100CC0002

State = list[list[int]]  # five words of 64 bits, the least significant first


def permute(state: State) -> State:
    """Apply Ascon-p[12]."""
    for constant in range(0xF0, 0x4A, -0x0F):
        for i in range(8):
            state[2][i] ^= constant >> i & 1
        columns = [COLUMNS[column] for column in zip(*state, strict=True)]
        state = [list(word) for word in zip(*columns, strict=True)]
        state = [
            [w[i] ^ w[(i + m) % 64] ^ w[(i + n) % 64] for i in range(64)]
            for w, (m, n) in zip(state, ROTATIONS, strict=True)
        ]
    return state


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Hash a message."""
    state = permute([[IV >> i & 1 for i in range(64)], *([0] * 64 for _ in range(4))])
    padded = inputs.message + b"\x01" + bytes(-(len(inputs.message) + 1) % 8)
    for at in range(0, len(padded), 8):
        block = int.from_bytes(padded[at : at + 8], "little")
        state[0] = [bit ^ block >> i & 1 for i, bit in enumerate(state[0])]
        state = permute(state)
    digest = b""
    while True:
        digest += sum(bit << i for i, bit in enumerate(state[0])).to_bytes(8, "little")
        if len(digest) == 32:
            return Output(output=digest)
        state = permute(state)
