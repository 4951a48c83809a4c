"""CTR: AES by the cryptography package (OpenSSL), other ciphers' counters by their own oracle."""

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from joulemark.oracle import Compute, Inputs, Output


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Encrypt a message of any length."""
    if over is None or variant.startswith("aes-"):
        encryptor = Cipher(algorithms.AES(inputs.key), modes.CTR(inputs.nonce)).encryptor()
        return Output(output=encryptor.update(inputs.message) + encryptor.finalize())
    size = len(inputs.nonce)
    first = int.from_bytes(inputs.nonce, "big")
    counters = b"".join(
        ((first + i) % 256**size).to_bytes(size, "big")
        for i in range(-(-len(inputs.message) // size))
    )
    stream = over(
        variant.removesuffix("-ctr"), Inputs(key=inputs.key, message=counters), None
    ).output
    return Output(output=bytes(a ^ b for a, b in zip(inputs.message, stream, strict=False)))
