"""SHA3 and SHAKE by Python's hashlib (OpenSSL), Keccak[1088, 512] by PyCryptodome."""

import hashlib

from Crypto.Hash import keccak

from joulemark.oracle import Compute, Inputs, Output


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Hash a message; the extendable outputs are as long as the variant's digest."""
    if variant == "shake128":
        return Output(output=hashlib.shake_128(inputs.message).digest(32))
    if variant == "shake256":
        return Output(output=hashlib.shake_256(inputs.message).digest(64))
    if variant == "keccak-256":
        return Output(output=keccak.new(digest_bits=256, data=inputs.message).digest())
    return Output(output=hashlib.new(variant.replace("-", "_"), inputs.message).digest())
