"""ECDH over secp160r1 from its definition: no available library has the curve."""

from joulemark.oracle import Compute, Inputs, Output
from joulemark.reference.curves import SECP160R1


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Agree with a peer whose secret key is given."""
    peer = SECP160R1.public_key(inputs.peer_secret_key)
    return Output(
        public_key=SECP160R1.public_key(inputs.secret_key),
        peer_key=peer,
        shared=SECP160R1.shared(inputs.secret_key, peer),
    )
