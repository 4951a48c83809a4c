"""HMAC_DRBG from its definition, over hashlib's HMAC."""

from joulemark.oracle import Compute, Inputs, Output
from joulemark.reference.hmac_drbg import HmacDrbg

_REQUEST_BYTES = 128


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Answer a second request, with and without reseeding after instantiation."""
    answers = {}
    for name, fresh in (("output", b""), ("reseeded", inputs.fresh)):
        generator = HmacDrbg(inputs.entropy + inputs.nonce + inputs.message)
        if fresh:
            generator.update(fresh)
        generator.generate(_REQUEST_BYTES)
        answers[name] = generator.generate(_REQUEST_BYTES)
    return Output(**answers)
