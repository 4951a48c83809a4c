"""ChaCha20 by the cryptography package (OpenSSL), its block counter starting at 0."""

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms

from joulemark.oracle import Compute, Inputs, Output


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Encrypt a message."""
    algorithm = algorithms.ChaCha20(inputs.key, bytes(4) + inputs.nonce)
    return Output(output=Cipher(algorithm, mode=None).encryptor().update(inputs.message))
