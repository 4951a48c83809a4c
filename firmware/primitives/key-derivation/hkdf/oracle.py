"""HKDF by the cryptography package; over the hash's own oracle where the package lacks it."""

import hmac
from collections.abc import Callable

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


_BLOCK_BYTES = {"keccak-256": 136, "shake256": 136}
_MORE_BYTES = 18
"""A key is two digests and this long: 82 bytes with SHA-256 (RFC 5869, A.2)."""


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Derive a key; a shorter one is a prefix of it."""
    name = variant.removeprefix("hkdf-")
    if name in _BLOCK_BYTES and over is not None:
        prk, key = _derive(_hash(name, over), inputs)
        return Output(prk=prk, key=key)
    if name not in _HASHES:
        raise ValueError(f"{variant}: no oracle; name its hash in {__file__}")
    algorithm = _HASHES[name]
    length = 2 * algorithm.digest_size + _MORE_BYTES
    prk = HKDF.extract(algorithm, inputs.salt, inputs.secret)
    key = HKDF(algorithm, length, inputs.salt, inputs.message).derive(inputs.secret)
    if HKDFExpand(algorithm, length, inputs.message).derive(prk) != key:
        raise ValueError("the package disagrees with itself")
    return Output(prk=prk, key=key)


def _hash(name: str, over: Compute) -> Callable[..., "_Hash"]:
    def new(data: bytes = b"") -> _Hash:
        return _Hash(name, over, data)

    return new


class _Hash:
    """A hash as the hmac module takes it."""

    def __init__(self, name: str, over: Compute, data: bytes) -> None:
        self._name, self._over, self._data = name, over, data
        self.block_size = _BLOCK_BYTES[name]
        self.digest_size = len(self.digest())

    def update(self, data: bytes) -> None:
        self._data += data

    def copy(self) -> "_Hash":
        return _Hash(self._name, self._over, self._data)

    def digest(self) -> bytes:
        return self._over(self._name, Inputs(message=self._data), None).output


def _derive(new: Callable[..., _Hash], inputs: Inputs) -> tuple[bytes, bytes]:
    """Extract and expand (RFC 5869, sections 2.2 and 2.3)."""

    def mac(key: bytes, message: bytes) -> bytes:
        return hmac.new(key, message, new).digest()

    prk = mac(inputs.salt, inputs.secret)
    length = 2 * len(prk) + _MORE_BYTES
    key, block = b"", b""
    while len(key) < length:
        block = mac(prk, block + inputs.message + bytes([len(key) // len(prk) + 1]))
        key += block
    return prk, key[:length]
