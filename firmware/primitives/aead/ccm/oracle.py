"""CCM: over AES by the cryptography package; over other ciphers written here from SP 800-38C.

The version written here agrees with the cryptography package over AES.
"""

from cryptography.hazmat.primitives.ciphers.aead import AESCCM

from joulemark.oracle import Compute, Inputs, Output


def compute_with(encrypt_block: Compute, inputs: Inputs) -> Output:
    """Run SP 800-38C, 6.1, with the formatting of appendix A."""

    def encrypt(block: bytes) -> bytes:
        return encrypt_block("", Inputs(key=inputs.key, message=block), None).output

    def padded(data: bytes) -> bytes:
        return data.ljust(-(-len(data) // 16) * 16, b"\0")

    def add(a: bytes, b: bytes) -> bytes:
        return bytes(x ^ y for x, y in zip(a, b, strict=False))

    q, a = 15 - len(inputs.nonce), len(inputs.ad)
    flags = 64 * bool(a) + 8 * ((inputs.tag_bytes - 2) // 2) + q - 1
    b = bytes([flags]) + inputs.nonce + len(inputs.message).to_bytes(q, "big")
    if a:
        prefix = a.to_bytes(2, "big") if a < 0xFF00 else b"\xff\xfe" + a.to_bytes(4, "big")
        b += padded(prefix + inputs.ad)
    b += padded(inputs.message)
    mac = bytes(16)
    for i in range(0, len(b), 16):
        mac = encrypt(add(mac, b[i : i + 16]))

    blocks = -(-len(inputs.message) // 16)
    counters = (bytes([q - 1]) + inputs.nonce + i.to_bytes(q, "big") for i in range(blocks + 1))
    stream = b"".join(map(encrypt, counters))
    return Output(output=add(inputs.message, stream[16:]), tag=add(mac, stream[: inputs.tag_bytes]))


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Encrypt and authenticate."""
    if over is not None and not variant.startswith("aes-"):
        return compute_with(over, inputs)
    cipher = AESCCM(inputs.key, inputs.tag_bytes)
    sealed = cipher.encrypt(inputs.nonce, inputs.message, inputs.ad)
    length = len(inputs.message)
    return Output(output=sealed[:length], tag=sealed[length:])
