"""EDHOC, method 3, suite 2, with the cryptography package, from RFC 9528's definitions."""

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESCCM

from joulemark.oracle import Compute, Inputs, Output
from joulemark.reference.edhoc import byte_string, extract, item, kdf, sha256

CONNECTIONS = bytes.fromhex("82060237"), bytes.fromhex("27")
MAC_BYTES = 8


def _key(secret: bytes) -> ec.EllipticCurvePrivateKey:
    return ec.derive_private_key(int.from_bytes(secret, "big"), ec.SECP256R1())


def _public(secret: bytes) -> bytes:
    return _key(secret).public_key().public_numbers().x.to_bytes(32, "big")


_identifying = _public


def _agree(secret: bytes, peer: bytes) -> bytes:
    public = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), b"\2" + peer)
    return _key(secret).exchange(ec.ECDH(), public)


def _prove(secret: bytes, identity: bytes, external: bytes, mac: bytes) -> bytes:
    return mac


def _next(prk: bytes, label: int, th: bytes, secret: bytes, peer: bytes) -> bytes:
    return extract(kdf(prk, label, th, 32), _agree(secret, peer))


def _credential(name: bytes, kid: int, secret: bytes) -> bytes:
    """Return a CWT Claims Set: subject, and a COSE_Key (RFC 9528, section 3.5.2)."""
    numbers = _key(secret).public_key().public_numbers()
    x, y = (byte_string(value.to_bytes(32, "big")) for value in (numbers.x, numbers.y))
    key = bytes([0xA5, 1, 2, 2, 0x41, kid, 0x20, 1, 0x21]) + x + b"\x22" + y
    return b"\xa2\x02" + item(3, len(name)) + name + b"\x08\xa1\x01" + key


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Run a handshake of two parties that identify themselves by a kid each."""
    if not variant.endswith("-aes-128"):
        raise ValueError(f"{variant}: EDHOC's suites have AES")
    x, y = inputs.initiator_ephemeral, inputs.responder_ephemeral
    g_x, g_y = _public(x), _public(y)
    public = _identifying(inputs.initiator_key), _identifying(inputs.responder_key)
    kids = bytes.fromhex("a104412b"), bytes.fromhex("a1044132")
    credentials = (
        _credential(b"42-50-31-FF-EF-37-32-39", 0x2B, inputs.initiator_key),
        _credential(b"example.edu", 0x32, inputs.responder_key),
    )
    c_i, c_r = CONNECTIONS
    ead = item(0, 0) + item(1, 0) + byte_string(inputs.ad) if inputs.ad else b""
    message_1 = bytes([3]) + c_i[:-1] + byte_string(g_x) + c_i[-1:] + ead
    th = sha256(byte_string(g_y) + byte_string(sha256(message_1)))
    prk_2e = extract(th, _agree(y, g_x))
    prk = _next(prk_2e, 1, th, inputs.responder_key, g_x)
    external = byte_string(th) + credentials[1] + ead
    mac = kdf(prk, 2, c_r + kids[1] + external, MAC_BYTES)
    proof = _prove(inputs.responder_key, kids[1], external, mac)
    plaintext = c_r + kids[1][3:] + byte_string(proof) + ead
    stream = kdf(prk_2e, 0, th, len(plaintext))
    message_2 = byte_string(g_y + bytes(a ^ b for a, b in zip(plaintext, stream, strict=True)))
    th = sha256(byte_string(th) + plaintext + credentials[1])
    key, nonce = kdf(prk, 3, th, 16), kdf(prk, 4, th, 13)
    prk = _next(prk, 5, th, inputs.initiator_key, g_y)
    external = byte_string(th) + credentials[0] + ead
    mac = kdf(prk, 6, kids[0] + external, MAC_BYTES)
    proof = _prove(inputs.initiator_key, kids[0], external, mac)
    plaintext = kids[0][3:] + byte_string(proof) + ead
    ad = b"\x83\x68Encrypt0\x40" + byte_string(th)
    message_3 = byte_string(AESCCM(key, tag_length=8).encrypt(nonce, plaintext, ad))
    th = sha256(byte_string(th) + plaintext + credentials[0])
    key, nonce = kdf(prk, 8, th, 16), kdf(prk, 9, th, 13)
    ad = b"\x83\x68Encrypt0\x40" + byte_string(th)
    message_4 = byte_string(AESCCM(key, tag_length=8).encrypt(nonce, ead, ad))
    key = kdf(prk, 7, th, 32)
    exporter = kdf(kdf(key, 11, inputs.update_context, 32), 10, b"", 32)
    return Output(
        initiator_public=public[0],
        responder_public=public[1],
        initiator_identity=kids[0],
        responder_identity=kids[1],
        initiator_credential=credentials[0],
        responder_credential=credentials[1],
        initiator_connection=c_i,
        responder_connection=c_r,
        message_1=message_1,
        message_2=message_2,
        message_3=message_3,
        message_4=message_4,
        key=key,
        updated=kdf(exporter, 0, b"", 16) + kdf(exporter, 1, b"", 8),
    )
