"""CBC-MAC as the last block of the cryptography package's CBC; over other ciphers, written out."""

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from joulemark.oracle import Compute, Inputs, Output


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Authenticate a message, padded with zeros to at least one block."""
    size = inputs.tag_bytes
    padded = inputs.message.ljust(max(1, -(-len(inputs.message) // size)) * size, b"\0")
    if variant.startswith("aes-"):
        encryptor = Cipher(algorithms.AES(inputs.key), modes.CBC(bytes(size))).encryptor()
        return Output(tag=(encryptor.update(padded) + encryptor.finalize())[-size:])
    if over is None:
        raise ValueError(f"{variant}: needs a block cipher")
    mac = bytes(size)
    for at in range(0, len(padded), size):
        block = bytes(a ^ b for a, b in zip(mac, padded[at : at + size], strict=True))
        mac = over("", Inputs(key=inputs.key, message=block), None).output
    return Output(tag=mac)
