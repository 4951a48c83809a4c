"""ML-DSA by dilithium-py; each signature is verified by the cryptography package (OpenSSL) too."""

from collections.abc import Iterator
from contextlib import contextmanager

from cryptography.hazmat.primitives.asymmetric.mldsa import (
    MLDSA44PublicKey,
    MLDSA65PublicKey,
    MLDSA87PublicKey,
)
from dilithium_py.ml_dsa import ML_DSA_44, ML_DSA_65, ML_DSA_87
from dilithium_py.ml_dsa.ml_dsa import ML_DSA

from joulemark.oracle import Compute, Inputs, Output

_SETS = {
    "ml-dsa-44": (ML_DSA_44, MLDSA44PublicKey),
    "ml-dsa-65": (ML_DSA_65, MLDSA65PublicKey),
    "ml-dsa-87": (ML_DSA_87, MLDSA87PublicKey),
}
_PURE_EMPTY_CONTEXT = bytes(2)


@contextmanager
def _counted(library: ML_DSA) -> Iterator[list[int]]:
    """Give a list that gets an element for each mask y that the library makes: one an attempt."""
    make, made = library._expand_mask_vector, list[int]()

    def counted(seed: bytes, number: int) -> object:
        made.append(number)
        return make(seed, number)

    library._expand_mask_vector = counted
    try:
        yield made
    finally:
        del library._expand_mask_vector


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Derive the key pair from its seed and sign a message with an empty context."""
    ours, other = _SETS[variant]
    public, private = ours.key_derive(inputs.secret_key)
    message = _PURE_EMPTY_CONTEXT + inputs.message
    with _counted(ours) as attempts:
        signature = ours._sign_internal(private, message, inputs.seed)
    other.from_public_bytes(public).verify(signature, inputs.message)
    count = len(attempts).to_bytes(4, "big")
    return Output(public_key=public, signature=signature, attempts=count)
