"""AES by the cryptography package (OpenSSL)."""

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from joulemark.oracle import Compute, Inputs, Output


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Encrypt whole blocks."""
    encryptor = Cipher(algorithms.AES(inputs.key), modes.ECB()).encryptor()
    return Output(output=encryptor.update(inputs.message) + encryptor.finalize())
