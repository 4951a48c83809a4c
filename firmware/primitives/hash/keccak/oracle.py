"""SHA3-256 by Python's hashlib (OpenSSL), Keccak[1088, 512] by PyCryptodome."""

import hashlib

from Crypto.Hash import keccak

from joulemark.oracle import Compute, Inputs, Output


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Hash a message."""
    if variant == "sha3-256":
        return Output(output=hashlib.sha3_256(inputs.message).digest())
    return Output(output=keccak.new(digest_bits=256, data=inputs.message).digest())
