"""ML-KEM by kyber-py."""

from kyber_py.ml_kem import ML_KEM_512, ML_KEM_768, ML_KEM_1024

from joulemark.oracle import Compute, Inputs, Output

_SETS = {"ml-kem-512": ML_KEM_512, "ml-kem-768": ML_KEM_768, "ml-kem-1024": ML_KEM_1024}


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Make a key pair and encapsulate; decapsulate the ciphertext, and one that was altered."""
    kem = _SETS[variant]
    public, private = kem.key_derive(inputs.seed)
    shared, ciphertext = kem._encaps_internal(public, inputs.random)
    if kem.decaps(private, ciphertext) != shared:
        raise ValueError("the library disagrees with itself")
    altered = bytes(a ^ b for a, b in zip(ciphertext, inputs.alteration, strict=True))
    return Output(
        public_key=public,
        private_key=private,
        ciphertext=ciphertext,
        shared=shared,
        altered=altered,
        rejected=kem.decaps(private, altered),
    )
