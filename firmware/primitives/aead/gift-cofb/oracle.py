"""GIFT-COFB written from its specification; no library has it.

Banik, Chakraborti, Inoue, Iwata, Minematsu, Nandi, Peyrin, Sasaki, Sim and Todo, "GIFT-COFB v1.1",
2021. GIFT-128 follows the bit permutation of Banik et al., "GIFT: A Small Present" (CHES 2017),
with its S-box as a table, whereas the C code is bitsliced. It agrees with the designers' 1,089
vectors (the vector file says where they are).
"""

from joulemark.oracle import Compute, Inputs, Output

SBOX = bytes.fromhex("010a040c060f0309020d0b070500080e")
PERMUTATION = [4 * (i // 16) + 32 * ((3 * (i % 16 // 4) + i % 4) % 4) + i % 4 for i in range(128)]
ROUNDS = 40


def rotate_right(x: int, n: int) -> int:
    """Rotate a 16-bit word."""
    return (x >> n | x << (16 - n)) & 0xFFFF


APART = [sum((byte >> i & 1) << 4 * i for i in range(8)) for byte in range(256)]
SUBSTITUTED_AND_MOVED = [
    [sum((SBOX[n] >> i & 1) << PERMUTATION[4 * j + i] for i in range(4)) for n in range(16)]
    for j in range(32)
]
"""The image of the j-th nibble of a round's state, by its value."""


def apart(word: int) -> int:
    """Spread the bits of a word, four positions apart."""
    return sum([APART[word >> 8 * i & 255] << 32 * i for i in range(4)])


def gift128(key: bytes, block: bytes) -> bytes:
    """Encrypt one block: bit j of the i-th word of COFB's block is bit 4j + i of GIFT's."""
    k = [int.from_bytes(key[14 - 2 * i : 16 - 2 * i], "big") for i in range(8)]
    words = (int.from_bytes(block[4 * i : 4 * i + 4], "big") for i in range(4))
    b = sum(apart(word) << i for i, word in enumerate(words))
    c = 0
    for _ in range(ROUNDS):
        b = sum([moved[b >> 4 * j & 15] for j, moved in enumerate(SUBSTITUTED_AND_MOVED)])
        u, v = k[5] << 16 | k[4], k[1] << 16 | k[0]
        c = (c << 1 | (c >> 5 ^ c >> 4 ^ 1) & 1) & 0x3F
        b ^= apart(u) << 2 ^ apart(v) << 1 ^ 1 << 127 ^ apart(c) << 3
        k = [*k[2:], rotate_right(k[0], 12), rotate_right(k[1], 2)]
    out = (sum((b >> 4 * j + i & 1) << j for j in range(32)) for i in range(4))
    return b"".join(word.to_bytes(4, "big") for word in out)


def times(factor: int, a: int) -> int:
    """Multiply by 2 or 3 in GF(2^64)."""
    doubled = a << 1 ^ (0x1 << 64 | 0x1B if a >> 63 else 0)
    return doubled ^ a if factor == 3 else doubled


def blocks_of(data: bytes) -> list[bytes]:
    """Split into blocks: at least one, and only the last may be short."""
    return [data[i : i + 16] for i in range(0, len(data), 16)] or [b""]


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Encrypt and authenticate."""
    y = gift128(inputs.key, inputs.nonce)
    mask = int.from_bytes(y[:8], "big")

    def absorb(block: bytes) -> None:
        nonlocal y
        high, low = int.from_bytes(y[:8], "big"), int.from_bytes(y[8:], "big")
        rotated = (high << 1 | high >> 63) & (1 << 64) - 1
        padded = block if len(block) == 16 else (block + b"\x80").ljust(16, b"\0")
        x = int.from_bytes(padded, "big") ^ low << 64 ^ rotated ^ mask << 64
        y = gift128(inputs.key, x.to_bytes(16, "big"))

    *whole, last = blocks_of(inputs.ad)
    for block in whole:
        mask = times(2, mask)
        absorb(block)
    for _ in range(1 + (len(last) < 16) + 2 * (not inputs.message)):
        mask = times(3, mask)
    absorb(last)

    ciphertext = b""
    if inputs.message:
        *whole, last = blocks_of(inputs.message)
        for block in whole:
            mask = times(2, mask)
            ciphertext += bytes(a ^ b for a, b in zip(block, y, strict=True))
            absorb(block)
        for _ in range(1 + (len(last) < 16)):
            mask = times(3, mask)
        ciphertext += bytes(a ^ b for a, b in zip(last, y, strict=False))
        absorb(last)
    return Output(output=ciphertext, tag=y[: inputs.tag_bytes])
