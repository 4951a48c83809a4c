"""OCB3: pycryptodome's over AES; over other ciphers written here.

RFC 7253, and for 96-bit blocks T. Krovetz, "OCB for block ciphers without 128-bit blocks",
draft-krovetz-ocb-wideblock-00, 2018, on integers, over the block cipher's own oracle. The version
written here agrees with pycryptodome over AES.
"""

from itertools import accumulate
from operator import xor

from Crypto.Cipher import AES

from joulemark.oracle import Compute, Inputs, Output

RESIDUE_AND_SHIFT = {12: (0x641, 33), 16: (0x87, 8)}
BOTTOM_BITS = 6


def trailing_zeros(i: int) -> int:
    """Count the trailing zeros of i > 0."""
    return (i & -i).bit_length() - 1


def compute_with(encrypt_block: Compute, block_bytes: int, inputs: Inputs) -> Output:
    """Run OCB3 over any block cipher of 96 or 128 bits."""
    residue, shift = RESIDUE_AND_SHIFT[block_bytes]
    bits = 8 * block_bytes
    mask = (1 << bits) - 1

    def encrypt(block: int) -> int:
        message = block.to_bytes(block_bytes, "big")
        result = encrypt_block("", Inputs(key=inputs.key, message=message), None)
        return int.from_bytes(result.output, "big")

    def double(a: int) -> int:
        a <<= 1
        return (a ^ residue) & mask if a >> bits else a

    def whole_blocks(data: bytes) -> list[int]:
        ends = range(block_bytes, len(data) + 1, block_bytes)
        return [int.from_bytes(data[end - block_bytes : end], "big") for end in ends]

    def padded_rest(data: bytes) -> int | None:
        rest = data[len(data) // block_bytes * block_bytes :]
        padded = (rest + b"\x80").ljust(block_bytes, b"\0")
        return int.from_bytes(padded, "big") if rest else None

    l_star = encrypt(0)
    l_dollar = double(l_star)
    longest = max(len(inputs.ad), len(inputs.message)) // block_bytes + 1
    l_i = list(
        accumulate(range(longest.bit_length()), lambda a, _: double(a), initial=double(l_dollar))
    )

    def offsets(start: int, count: int) -> list[int]:
        steps = (l_i[trailing_zeros(i)] for i in range(1, count + 1))
        return list(accumulate(steps, xor, initial=start))

    # The nonce block: the tag's length in seven bits, zeros, a one, N.
    top = 8 * inputs.tag_bytes % bits << (bits - 7)
    n = top | 1 << 8 * len(inputs.nonce) | int.from_bytes(inputs.nonce, "big")
    bottom = n & ((1 << BOTTOM_BITS) - 1)
    k_top = encrypt(n ^ bottom)
    stretch = k_top << bits | (k_top ^ k_top << shift & mask)
    start = stretch >> (bits - bottom) & mask

    blocks = whole_blocks(inputs.message)
    all_offsets = offsets(start, len(blocks))
    ciphertext = b"".join(
        (o ^ encrypt(p ^ o)).to_bytes(block_bytes, "big")
        for p, o in zip(blocks, all_offsets[1:], strict=True)
    )
    checksum = 0
    for p in blocks:
        checksum ^= p
    offset = all_offsets[-1]
    if (rest := padded_rest(inputs.message)) is not None:
        offset ^= l_star
        pad = encrypt(offset).to_bytes(block_bytes, "big")
        short = inputs.message[len(ciphertext) :]
        ciphertext += bytes(a ^ b for a, b in zip(short, pad, strict=False))
        checksum ^= rest

    blocks = whole_blocks(inputs.ad)
    all_offsets = offsets(0, len(blocks))
    tag = encrypt(checksum ^ offset ^ l_dollar)
    for a, o in zip(blocks, all_offsets[1:], strict=True):
        tag ^= encrypt(a ^ o)
    if (rest := padded_rest(inputs.ad)) is not None:
        tag ^= encrypt(rest ^ all_offsets[-1] ^ l_star)
    return Output(output=ciphertext, tag=tag.to_bytes(block_bytes, "big")[: inputs.tag_bytes])


def block_bytes_of(over: Compute, key: bytes) -> int:
    """Find the block cipher's block length from the period of its output over zeros."""
    output = over("", Inputs(key=key, message=bytes(48)), None).output
    return next(size for size in RESIDUE_AND_SHIFT if output == output[:size] * (48 // size))


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Encrypt and authenticate."""
    # pycryptodome requires tags of at least 8 bytes; RFC 7253 allows shorter ones.
    if over is None or (variant.startswith("aes-") and inputs.tag_bytes >= 8):
        cipher = AES.new(inputs.key, AES.MODE_OCB, nonce=inputs.nonce, mac_len=inputs.tag_bytes)
        cipher.update(inputs.ad)
        ciphertext, tag = cipher.encrypt_and_digest(inputs.message)
        return Output(output=ciphertext, tag=tag)
    return compute_with(over, block_bytes_of(over, inputs.key), inputs)
