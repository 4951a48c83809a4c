"""EDHOC, method 0, suite 0, with the cryptography package, from RFC 9528's definitions."""

from cryptography.hazmat.primitives.asymmetric import ed25519, x25519
from cryptography.hazmat.primitives.ciphers.aead import AESCCM

from joulemark.oracle import Compute, Inputs, Output
from joulemark.reference.edhoc import byte_string, extract, item, kdf, sha256

CONNECTIONS = bytes.fromhex("002d"), bytes.fromhex("4118")
MAC_BYTES = 32
ROOT_SIGNATURES = {
    bytes.fromhex(
        "ed06a8ae61a829ba5fa54525c9d07f48dd44a302f43e0f23d8cc20b73085141e"
    ): bytes.fromhex(
        "521241d8b3a770996bcfc9b9ead4e7e0a1c0db353a3bdf2910b39275ae48b756"
        "015981850d27db6734e37f67212267dd05eeff27b9e7a813fa574b72a00b430b"
    ),
    bytes.fromhex(
        "a1db47b95184854ad12a0c1a354e418aace33aa0f2c662c00b3ac55de92f9359"
    ): bytes.fromhex(
        "b723bc01eab0928e8b2b6c98de19cc3823d46e7d6987b032478fecfaf14537a1"
        "af14cc8be829c6b73044101837eb4abc949565d86dce51cfae52ab82c152cb02"
    ),
}
"""Signatures of RFC 9529's certificates, by public key; the root's secret key is not published."""


def _public(secret: bytes) -> bytes:
    return x25519.X25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw()


def _agree(secret: bytes, peer: bytes) -> bytes:
    public = x25519.X25519PublicKey.from_public_bytes(peer)
    return x25519.X25519PrivateKey.from_private_bytes(secret).exchange(public)


def _identifying(secret: bytes) -> bytes:
    return ed25519.Ed25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw()


def _prove(secret: bytes, identity: bytes, external: bytes, mac: bytes) -> bytes:
    """Sign a COSE_Sign1."""
    parts = [byte_string(identity), byte_string(external), byte_string(mac)]
    message = b"\x84\x6aSignature1" + b"".join(parts)
    return ed25519.Ed25519PrivateKey.from_private_bytes(secret).sign(message)


def _next(prk: bytes, label: int, th: bytes, secret: bytes, peer: bytes) -> bytes:
    return prk


def _certificate(name: bytes, serial: str, begins: bytes, public: bytes) -> bytes:
    """Return a certificate as in RFC 9529, section 2.8; for other keys, signed by another root."""
    issuer = bytes.fromhex("301d311b301906035504030c12") + b"EDHOC Root Ed25519"
    subject = bytes.fromhex("30223120301e06035504030c17") + name
    validity = bytes.fromhex("301e170d") + begins + bytes.fromhex("170d") + b"291231230000Z"
    ed = bytes.fromhex("300506032b6570")
    head = bytes.fromhex("a003020102") + b"\x02\x04" + bytes.fromhex(serial) + ed
    signed = b"\x30\x81\xa1" + head + issuer + validity + subject
    signed += bytes.fromhex("302a300506032b6570032100") + public
    root = ed25519.Ed25519PrivateKey.from_private_bytes(bytes(32))
    signature = ROOT_SIGNATURES.get(public) or root.sign(signed)
    return b"\x30\x81\xee" + signed + ed + b"\x03\x41\x00" + signature


def _x5t(certificate: bytes) -> bytes:
    """Identify a certificate by 64 bits of its hash: {34: [-15, ...]}."""
    return bytes.fromhex("a11822822e48") + sha256(certificate)[:8]


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Run a handshake of two parties that identify themselves by certificates."""
    if not variant.endswith("-aes-128"):
        raise ValueError(f"{variant}: EDHOC's suites have AES")
    x, y = inputs.initiator_ephemeral, inputs.responder_ephemeral
    g_x, g_y = _public(x), _public(y)
    public = _identifying(inputs.initiator_key), _identifying(inputs.responder_key)
    certificates = (
        _certificate(b"EDHOC Initiator Ed25519", "62319ea0", b"220316082400Z", public[0]),
        _certificate(b"EDHOC Responder Ed25519", "62319ec4", b"220316082436Z", public[1]),
    )
    identities = _x5t(certificates[0]), _x5t(certificates[1])
    credentials = byte_string(certificates[0]), byte_string(certificates[1])
    c_i, c_r = CONNECTIONS
    ead = item(0, 0) + item(1, 0) + byte_string(inputs.ad) if inputs.ad else b""
    message_1 = bytes([0]) + c_i[:-1] + byte_string(g_x) + c_i[-1:] + ead
    th = sha256(byte_string(g_y) + byte_string(sha256(message_1)))
    prk_2e = extract(th, _agree(y, g_x))
    prk = _next(prk_2e, 1, th, inputs.responder_key, g_x)
    external = byte_string(th) + credentials[1] + ead
    mac = kdf(prk, 2, c_r + identities[1] + external, MAC_BYTES)
    proof = _prove(inputs.responder_key, identities[1], external, mac)
    plaintext = c_r + identities[1] + byte_string(proof) + ead
    stream = kdf(prk_2e, 0, th, len(plaintext))
    message_2 = byte_string(g_y + bytes(a ^ b for a, b in zip(plaintext, stream, strict=True)))
    th = sha256(byte_string(th) + plaintext + credentials[1])
    key, nonce = kdf(prk, 3, th, 16), kdf(prk, 4, th, 13)
    prk = _next(prk, 5, th, inputs.initiator_key, g_y)
    external = byte_string(th) + credentials[0] + ead
    mac = kdf(prk, 6, identities[0] + external, MAC_BYTES)
    proof = _prove(inputs.initiator_key, identities[0], external, mac)
    plaintext = identities[0] + byte_string(proof) + ead
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
        initiator_identity=identities[0],
        responder_identity=identities[1],
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
