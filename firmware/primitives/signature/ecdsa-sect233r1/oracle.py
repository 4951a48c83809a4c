"""ECDSA over sect233r1 and RFC 6979 from their definitions: no available library has the curve."""

from joulemark.oracle import Compute, Inputs, Output
from joulemark.reference.curves import SECT233R1


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Sign a message."""
    return Output(
        public_key=SECT233R1.public_key(inputs.secret_key),
        signature=SECT233R1.sign(inputs.secret_key, inputs.message),
    )
