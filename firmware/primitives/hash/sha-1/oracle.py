"""SHA-1 by Python's hashlib (OpenSSL)."""

import hashlib

from joulemark.oracle import Compute, Inputs, Output


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Hash a message."""
    return Output(output=hashlib.sha1(inputs.message).digest())
