"""Ed25519 by the cryptography package (OpenSSL)."""

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from joulemark.oracle import Compute, Inputs, Output


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Sign a message."""
    key = Ed25519PrivateKey.from_private_bytes(inputs.secret_key)
    return Output(
        public_key=key.public_key().public_bytes_raw(), signature=key.sign(inputs.message)
    )
