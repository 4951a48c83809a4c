"""SUIT manifests (draft-ietf-suit-manifest-34) of one image: what its example 0 has.

The signature is a COSE_Sign1 block with a detached payload, the manifest's SUIT_Digest.
"""

import hashlib
import uuid
from dataclasses import dataclass
from typing import Any

import cbor2

from joulemark.subjects.update.signatures import Signature

_SHA_256 = -16
_ENVELOPE, _SIGN1 = 107, 18
_REPORT = 15
"""Conditions report success and failure with all that is known."""
VENDOR = uuid.uuid5(uuid.NAMESPACE_DNS, "joulemark.example")


def device_class(board: str) -> uuid.UUID:
    """Return a board's class identifier, as the draft derives them from names (section 8.4.8.2)."""
    return uuid.uuid5(VENDOR, board)


def _encoded(item: Any) -> bytes:
    data: bytes = cbor2.dumps(item, canonical=True)
    return data


def _digest(data: bytes) -> list[Any]:
    return [_SHA_256, hashlib.sha256(data).digest()]


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What is signed of an image."""

    board: str
    slot: int
    sequence: int
    image: bytes

    def body(self) -> bytes:
        """Return the encoded SUIT_Manifest."""
        parameters = {
            1: VENDOR.bytes,
            2: device_class(self.board).bytes,
            3: _encoded(_digest(self.image)),
            14: len(self.image),
        }
        shared = [20, parameters, 1, _REPORT, 2, _REPORT]
        common = {2: [[bytes([self.slot])]], 4: _encoded(shared)}
        manifest = {
            1: 1,
            2: self.sequence,
            3: _encoded(common),
            7: _encoded([3, _REPORT]),
            9: _encoded([23, 2]),
        }
        return _encoded(manifest)


def signed_bytes(body: bytes, cose: int) -> bytes:
    """Return what a signature of a manifest signs (RFC 9052, section 4.4)."""
    payload = _encoded(_digest(_encoded(body)))
    return _encoded(["Signature1", _encoded({1: cose}), b"", payload])


def envelope(manifest: Manifest, signature: Signature, number: int) -> bytes:
    """Return a signed envelope.

    Args:
        manifest: its manifest.
        signature: the signature.
        number: of the signature, where a scheme may use each only once.
    """
    body = manifest.body()
    authentication = [_encoded(_digest(_encoded(body)))]
    for one in filter(None, (signature, signature.second)):
        signed = one.signer.sign(signed_bytes(body, one.cose), number)
        block = cbor2.CBORTag(_SIGN1, [_encoded({1: one.cose}), {}, None, signed])
        authentication.append(_encoded(block))
    return _encoded(cbor2.CBORTag(_ENVELOPE, {2: _encoded(authentication), 3: body}))
