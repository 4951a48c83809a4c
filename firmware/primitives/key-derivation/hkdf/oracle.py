"""HKDF by the cryptography package, for a hash that hashlib and it know."""

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF, HKDFExpand

from joulemark.oracle import Compute, Inputs, Output

_HASHES: dict[str, hashes.HashAlgorithm] = {
    "sha-1": hashes.SHA1(),
    "sha-256": hashes.SHA256(),
    "sha-512": hashes.SHA512(),
    "sha3-256": hashes.SHA3_256(),
    "sha3-512": hashes.SHA3_512(),
    "blake2s-256": hashes.BLAKE2s(32),
}


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Derive a key of 82 bytes with SHA-256 (RFC 5869, A.2); a shorter key is a prefix of it."""
    name = variant.removeprefix("hkdf-")
    if name not in _HASHES:
        raise ValueError(f"{variant}: no oracle; name its hash in {__file__}")
    algorithm = _HASHES[name]
    length = 2 * algorithm.digest_size + 18
    prk = HKDF.extract(algorithm, inputs.salt, inputs.secret)
    key = HKDF(algorithm, length, inputs.salt, inputs.message).derive(inputs.secret)
    if HKDFExpand(algorithm, length, inputs.message).derive(prk) != key:
        raise ValueError("the package disagrees with itself")
    return Output(prk=prk, key=key)
