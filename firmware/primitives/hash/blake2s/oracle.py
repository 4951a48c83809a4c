"""BLAKE2s by Python's hashlib."""

import hashlib

from joulemark.oracle import Compute, Inputs, Output


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Hash a message."""
    return Output(output=hashlib.blake2s(inputs.message).digest())
