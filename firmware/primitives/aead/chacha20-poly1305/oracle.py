"""ChaCha20-Poly1305 by the cryptography package (OpenSSL)."""

from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from joulemark.oracle import Compute, Inputs, Output


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Encrypt and authenticate."""
    sealed = ChaCha20Poly1305(inputs.key).encrypt(inputs.nonce, inputs.message, inputs.ad)
    length = len(inputs.message)
    return Output(output=sealed[:length], tag=sealed[length:])
