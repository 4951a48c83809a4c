"""Poly1305 by the cryptography package (OpenSSL)."""

from cryptography.hazmat.primitives.poly1305 import Poly1305

from joulemark.oracle import Compute, Inputs, Output


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Authenticate a message."""
    return Output(tag=Poly1305.generate_tag(inputs.key, inputs.message))
