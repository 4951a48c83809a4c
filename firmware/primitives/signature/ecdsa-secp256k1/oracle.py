"""ECDSA over secp256k1 with the nonces of RFC 6979 by the cryptography package (OpenSSL)."""

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from joulemark.oracle import Compute, Inputs, Output


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Sign a message."""
    key = ec.derive_private_key(int.from_bytes(inputs.secret_key, "big"), ec.SECP256K1())
    how = ec.ECDSA(hashes.SHA256(), deterministic_signing=True)
    r, s = decode_dss_signature(key.sign(inputs.message, how))
    numbers = key.public_key().public_numbers()
    return Output(
        public_key=numbers.x.to_bytes(32, "big") + numbers.y.to_bytes(32, "big"),
        signature=r.to_bytes(32, "big") + s.to_bytes(32, "big"),
    )
