"""ECDSA over secp160r1 and its nonces by their definitions: no available library has the curve."""

from joulemark.oracle import Compute, Inputs, Output
from joulemark.reference.curves import SECP160R1


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Sign a message."""
    return Output(
        public_key=SECP160R1.public_key(inputs.secret_key),
        signature=SECP160R1.sign(inputs.secret_key, inputs.message, inputs.seed),
    )
