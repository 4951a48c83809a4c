"""PRESENT written from the paper, with the state and the key as integers.

No well-maintained library has it. The permutation moves single bits by the paper's formula, whereas
the C code distributes nibbles to words.
"""

from joulemark.oracle import Compute, Inputs, Output

SBOX = (0xC, 0x5, 0x6, 0xB, 0x9, 0x0, 0xA, 0xD, 0x3, 0xE, 0xF, 0x8, 0x4, 0x7, 0x1, 0x2)
ROUNDS = 31


def substitute(value: int, nibbles: range) -> int:
    """Apply the S-box to some nibbles, counted from the least significant."""
    for i in nibbles:
        nibble = value >> 4 * i & 0xF
        value ^= (nibble ^ SBOX[nibble]) << 4 * i
    return value


def permute(state: int) -> int:
    """Move bit i to 16 i mod 63; leave bit 63."""
    moved = 0
    for i in range(64):
        moved |= (state >> i & 1) << (63 if i == 63 else 16 * i % 63)
    return moved


def round_keys(key: bytes) -> list[int]:
    """Compute the 32 round keys."""
    bits = 8 * len(key)
    register = int.from_bytes(key, "big")
    keys = []
    for counter in range(1, ROUNDS + 2):
        keys.append(register >> (bits - 64))
        register = (register << 61 | register >> (bits - 61)) & ((1 << bits) - 1)
        top = bits // 4
        register = substitute(register, range(top - (1 if bits == 80 else 2), top))
        register ^= counter << (15 if bits == 80 else 62)
    return keys


def encrypt(keys: list[int], block: bytes) -> bytes:
    """Encrypt one block."""
    state = int.from_bytes(block, "big")
    for key in keys[:-1]:
        state = permute(substitute(state ^ key, range(16)))
    return (state ^ keys[-1]).to_bytes(8, "big")


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Encrypt whole blocks."""
    keys = round_keys(inputs.key)
    blocks = (inputs.message[i : i + 8] for i in range(0, len(inputs.message), 8))
    return Output(output=b"".join(encrypt(keys, block) for block in blocks))
