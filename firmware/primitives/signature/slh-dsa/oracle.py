"""SLH-DSA with SHA-256: `reference/slh_dsa.py` is written from FIPS 205, and pqcrypto verifies."""

from joulemark.oracle import Compute, Inputs, Output
from joulemark.reference.slh_dsa import signed, to_verify


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Derive the public key, and sign the message with an empty context."""
    return signed(variant, inputs)


def compute_to_verify(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Make a public key, and a signature that it verifies, without the trees of signing."""
    return to_verify(variant, inputs)
