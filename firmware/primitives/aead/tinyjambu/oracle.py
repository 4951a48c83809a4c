"""TinyJAMBU-128 written from its specification, one bit at a time; no library has it.

Wu and Huang, "TinyJAMBU: a family of lightweight authenticated encryption algorithms (version 2)",
2021. The C code computes 32 steps at a time. It agrees with the designers' 1,089 vectors (the
vector file says where they are).
"""

from joulemark.oracle import Compute, Inputs, Output

FRAME_BITS = {"nonce": 1, "ad": 3, "message": 5, "tag": 7}


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Encrypt and authenticate."""
    key = int.from_bytes(inputs.key, "little")
    state = 0

    def update(steps: int) -> None:
        nonlocal state
        for i in range(steps):
            bits = state ^ state >> 47 ^ ~(state >> 70 & state >> 85) ^ state >> 91
            state = state >> 1 | ((bits ^ key >> i % 128) & 1) << 127

    def absorb(frame: str, block: bytes, steps: int) -> int:
        """Absorb a block and return the 32 bits of key stream before it."""
        nonlocal state
        state ^= FRAME_BITS[frame] << 36
        update(steps)
        stream = state >> 64 & 0xFFFFFFFF
        state ^= int.from_bytes(block, "little") << 96
        state ^= len(block) % 4 << 32
        return stream

    update(1024)
    for i in range(0, 12, 4):
        absorb("nonce", inputs.nonce[i : i + 4], 640)
    for i in range(0, len(inputs.ad), 4):
        absorb("ad", inputs.ad[i : i + 4], 640)
    ciphertext = b""
    for i in range(0, len(inputs.message), 4):
        block = inputs.message[i : i + 4]
        stream = absorb("message", block, 1024).to_bytes(4, "little")
        ciphertext += bytes(a ^ b for a, b in zip(block, stream, strict=False))
    tag = absorb("tag", b"", 1024).to_bytes(4, "little")
    tag += absorb("tag", b"", 640).to_bytes(4, "little")
    return Output(output=ciphertext, tag=tag)
