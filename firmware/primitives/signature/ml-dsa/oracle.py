"""ML-DSA by dilithium-py; each signature is verified by the cryptography package (OpenSSL) too."""

from cryptography.hazmat.primitives.asymmetric.mldsa import (
    MLDSA44PublicKey,
    MLDSA65PublicKey,
    MLDSA87PublicKey,
)
from dilithium_py.ml_dsa import ML_DSA_44, ML_DSA_65, ML_DSA_87

from joulemark.oracle import Compute, Inputs, Output

_SETS = {
    "ml-dsa-44": (ML_DSA_44, MLDSA44PublicKey),
    "ml-dsa-65": (ML_DSA_65, MLDSA65PublicKey),
    "ml-dsa-87": (ML_DSA_87, MLDSA87PublicKey),
}
_PURE_EMPTY_CONTEXT = bytes(2)


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Derive the key pair from its seed and sign a message with an empty context."""
    ours, other = _SETS[variant]
    public, private = ours.key_derive(inputs.secret_key)
    message = _PURE_EMPTY_CONTEXT + inputs.message
    signature = ours._sign_internal(private, message, inputs.seed)
    other.from_public_bytes(public).verify(signature, inputs.message)
    return Output(public_key=public, signature=signature)
