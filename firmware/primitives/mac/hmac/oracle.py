"""HMAC by Python's standard library; for a hash that hashlib lacks, over the hash's own oracle."""

import hmac

from joulemark.oracle import Compute, Inputs, Output

_HASHLIB = {
    "sha-1": "sha1",
    "sha-256": "sha256",
    "sha-512": "sha512",
    "sha3-256": "sha3_256",
    "sha3-512": "sha3_512",
    "blake2s-256": "blake2s",
}
_BLOCK_BYTES = {"keccak-256": 136, "shake256": 136}


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Authenticate a message."""
    name = variant.removeprefix("hmac-")
    if name in _HASHLIB:
        return Output(tag=hmac.digest(inputs.key, inputs.message, _HASHLIB[name]))
    if over is None or name not in _BLOCK_BYTES:
        raise ValueError(f"{variant}: no oracle; give the hash's block size in {__file__}")

    def hash_(message: bytes) -> bytes:
        return over(name, Inputs(message=message), None).output

    block = _BLOCK_BYTES[name]
    key = (hash_(inputs.key) if len(inputs.key) > block else inputs.key).ljust(block, b"\0")
    inner = hash_(bytes(b ^ 0x36 for b in key) + inputs.message)
    return Output(tag=hash_(bytes(b ^ 0x5C for b in key) + inner))
