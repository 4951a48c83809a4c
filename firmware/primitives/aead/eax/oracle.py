"""EAX: pycryptodome's over AES; over other ciphers written here from the paper.

Bellare, Rogaway and Wagner, "The EAX mode of operation", FSE 2004, on integers, over the block
cipher's own oracle. The version written here agrees with pycryptodome over AES.
"""

from Crypto.Cipher import AES

from joulemark.oracle import Compute, Inputs, Output

POLYNOMIALS = {8: 1 << 64 | 0x1B, 12: 1 << 96 | 0x641, 16: 1 << 128 | 0x87}


def compute_with(encrypt_block: Compute, block_bytes: int, inputs: Inputs) -> Output:
    """Run EAX over any block cipher."""
    bits = 8 * block_bytes
    mask = (1 << bits) - 1

    def encrypt(block: int) -> int:
        message = block.to_bytes(block_bytes, "big")
        result = encrypt_block("", Inputs(key=inputs.key, message=message), None)
        return int.from_bytes(result.output, "big")

    def double(a: int) -> int:
        a <<= 1
        return a ^ POLYNOMIALS[block_bytes] if a >> bits else a

    def omac(t: int, data: bytes) -> int:
        data = t.to_bytes(block_bytes, "big") + data
        last = (len(data) - 1) // block_bytes * block_bytes
        mac = 0
        for i in range(0, last, block_bytes):
            mac = encrypt(mac ^ int.from_bytes(data[i : i + block_bytes], "big"))
        end, final_mask = data[last:], double(encrypt(0))
        if len(end) < block_bytes:
            end, final_mask = (end + b"\x80").ljust(block_bytes, b"\0"), double(final_mask)
        return encrypt(mac ^ int.from_bytes(end, "big") ^ final_mask)

    n = omac(0, inputs.nonce)
    blocks = -(-len(inputs.message) // block_bytes)
    stream = b"".join(encrypt(n + i & mask).to_bytes(block_bytes, "big") for i in range(blocks))
    ciphertext = bytes(a ^ b for a, b in zip(inputs.message, stream, strict=False))
    tag = n ^ omac(1, inputs.ad) ^ omac(2, ciphertext)
    return Output(output=ciphertext, tag=tag.to_bytes(block_bytes, "big")[: inputs.tag_bytes])


def block_bytes_of(over: Compute, key: bytes) -> int:
    """Find the block cipher's block length from the period of its output over zeros."""
    output = over("", Inputs(key=key, message=bytes(48)), None).output
    return next(size for size in POLYNOMIALS if output == output[:size] * (48 // size))


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Encrypt and authenticate."""
    # pycryptodome accepts neither an empty nonce nor a tag of one byte; the paper allows both.
    if over is None or (variant.startswith("aes-") and inputs.nonce and inputs.tag_bytes >= 2):
        cipher = AES.new(inputs.key, AES.MODE_EAX, inputs.nonce, mac_len=inputs.tag_bytes)
        cipher.update(inputs.ad)
        ciphertext, tag = cipher.encrypt_and_digest(inputs.message)
        return Output(output=ciphertext, tag=tag)
    return compute_with(over, block_bytes_of(over, inputs.key), inputs)
