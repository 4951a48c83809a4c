"""Encodings and key derivation of EDHOC (RFC 9528), for oracles, with the cryptography package."""

from cryptography.hazmat.primitives.hashes import SHA256, Hash
from cryptography.hazmat.primitives.hmac import HMAC
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand


def item(kind: int, number: int) -> bytes:
    """Return the head of a CBOR item: a major type and a number below 65,536 (RFC 8949, 3)."""
    if number < 24:
        return bytes([kind << 5 | number])
    if number < 256:
        return bytes([kind << 5 | 24, number])
    return bytes([kind << 5 | 25]) + number.to_bytes(2, "big")


def byte_string(data: bytes) -> bytes:
    """Return a CBOR byte string."""
    return item(2, len(data)) + data


def sha256(data: bytes) -> bytes:
    """Return the digest."""
    digest = Hash(SHA256())
    digest.update(data)
    return digest.finalize()


def extract(salt: bytes, secret: bytes) -> bytes:
    """Return EDHOC_Extract (section 4.1.1)."""
    mac = HMAC(salt, SHA256())
    mac.update(secret)
    return mac.finalize()


def kdf(prk: bytes, label: int, context: bytes, length: int) -> bytes:
    """Return EDHOC_KDF (section 4.1.2)."""
    info = item(0, label) + byte_string(context) + item(0, length)
    return HKDFExpand(SHA256(), length, info).derive(prk)
