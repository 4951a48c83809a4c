"""CBC: AES by the cryptography package (OpenSSL), other ciphers chained over their own oracle."""

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from joulemark.oracle import Compute, Inputs, Output


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Encrypt whole blocks."""
    if over is None or variant.startswith("aes-"):
        encryptor = Cipher(algorithms.AES(inputs.key), modes.CBC(inputs.nonce)).encryptor()
        return Output(output=encryptor.update(inputs.message) + encryptor.finalize())
    chain, ciphertext = inputs.nonce, b""
    for at in range(0, len(inputs.message), len(chain)):
        plain = inputs.message[at : at + len(chain)]
        block = bytes(a ^ b for a, b in zip(plain, chain, strict=True))
        chain = over(
            variant.removesuffix("-cbc"), Inputs(key=inputs.key, message=block), None
        ).output
        ciphertext += chain
    return Output(output=ciphertext)
