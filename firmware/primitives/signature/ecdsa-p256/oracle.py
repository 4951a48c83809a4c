"""ECDSA over P-256 by the cryptography package (OpenSSL).

It signs with the nonces of RFC 6979, and verifies the signatures that our own definition makes with
seeded nonces.
"""

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import (
    decode_dss_signature,
    encode_dss_signature,
)

from joulemark.oracle import Compute, Inputs, Output
from joulemark.reference.curves import P256


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Sign a message."""
    key = ec.derive_private_key(int.from_bytes(inputs.secret_key, "big"), ec.SECP256R1())
    if inputs.seed:
        made = P256.sign(inputs.secret_key, inputs.message, inputs.seed)
        r, s = P256.decoded(made)
        signature = encode_dss_signature(r, s)
        key.public_key().verify(signature, inputs.message, ec.ECDSA(hashes.SHA256()))
    else:
        how = ec.ECDSA(hashes.SHA256(), deterministic_signing=True)
        r, s = decode_dss_signature(key.sign(inputs.message, how))
    return Output(
        public_key=P256.encoded(
            (key.public_key().public_numbers().x, key.public_key().public_numbers().y)
        ),
        signature=P256.encoded((r, s)),
    )
