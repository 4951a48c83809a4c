"""LMS and HSS by pyhsslms: public keys for signatures that are given.

A signature's hashes are random. The public key under which it verifies follows from it, so that no
tree is built; the lower level's public key is what the upper level signs.
"""

import hashlib

from pyhsslms import pyhsslms

from joulemark.oracle import Compute, Inputs, Output

# Types of tree and chains (RFC 8554, tables 1 and 2; SP 800-208) from the top level down.
_LEVELS = {
    "lms-h10-w8": [(6, 4)],
    "lms-h15-w8": [(7, 4)],
    "hss-m24-h5-w8": [(10, 8)],
    "hss-h5-h5-w8": [(5, 4), (5, 4)],
    "hss-h10-w4-h5-w8": [(6, 3), (5, 4)],
}


def _u32(number: int) -> bytes:
    return number.to_bytes(4, "big")


def _signature(types: tuple[int, int], source: bytes) -> bytes:
    """Return a signature of these types, its hashes from the source."""
    _, n, chains, _, _ = pyhsslms.lmots_params[_u32(types[1])]
    _, _, height = pyhsslms.lms_params[_u32(types[0])]
    number = int.from_bytes(source[:4], "big") % (1 << height)
    hashes = source[4:]
    one_time = n * (1 + chains)
    path = hashes[one_time : one_time + n * height]
    return _u32(number) + _u32(types[1]) + hashes[:one_time] + _u32(types[0]) + path


def _key(types: tuple[int, int], identifier: bytes, signature: bytes, message: bytes) -> bytes:
    """Return the public key under which a signature of a message verifies."""
    _, n, _ = pyhsslms.lms_params[_u32(types[0])]
    parsed = pyhsslms.LmsSignature.deserialize(signature)
    number = int.from_bytes(signature[:4], "big")
    leaf = parsed.lmots_sig.buildPublic(identifier, _u32(number), message)
    number += 1 << len(parsed.path)
    node = hashlib.sha256(identifier + _u32(number) + pyhsslms.D_LEAF + leaf).digest()[:n]
    for other in parsed.path:
        pair = other + node if number % 2 else node + other
        number //= 2
        node = hashlib.sha256(identifier + _u32(number) + pyhsslms.D_INTR + pair).digest()[:n]
    key = pyhsslms.LmsPublicKey(identifier, node, _u32(types[0]), _u32(types[1]))
    if not key.verify(message, signature):
        raise ValueError("the library does not verify what it computed")
    serialized: bytes = key.serialize()
    return serialized


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Make a signature of a message, and the public key that it fits."""
    levels = _LEVELS[variant]
    source, message = inputs.signature_parts, inputs.message
    signatures = []
    for types in levels:
        signatures.append(_signature(types, source))
        source = hashlib.shake_256(source).digest(len(source))
    identifiers = [inputs.key_parts[i : i + 16] for i in (0, 16)]
    signature = signatures[-1]
    key = _key(levels[-1], identifiers[-1], signature, message)
    for types, upper in reversed(list(zip(levels[:-1], signatures[:-1], strict=True))):
        signature = upper + key + signature
        key = _key(types, identifiers[0], upper, key)
    if variant.startswith("hss"):
        signature, key = _u32(len(levels) - 1) + signature, _u32(len(levels)) + key
    return Output(public_key=key, signature=signature)
