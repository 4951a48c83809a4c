"""EDHOC's method 0 with the first suite of draft-ietf-lake-pqsuites, from RFC 9528's definitions.

ML-KEM by kyber-py, ML-DSA by dilithium-py, KMAC by PyCryptodome, SHAKE256 by hashlib, AES-CCM by
the cryptography package. The secrets are those of `parties/ml-dsa-44`.
"""

import hashlib
from dataclasses import dataclass

from Crypto.Hash import KMAC256
from cryptography.hazmat.primitives.ciphers.aead import AESCCM
from dilithium_py.ml_dsa import ML_DSA_44
from kyber_py.ml_kem import ML_KEM_512

from joulemark.oracle import Output
from joulemark.reference.edhoc import byte_string, item

HASH_BYTES, TAG_BYTES = 64, 16
SUITE = bytes([0x34])
"""-21, for private use: the draft's suite has no number yet."""
CONNECTIONS = SUITE + b"\x37", b"\x27"
_KEY_IDS = b"\x2b", b"\x32"
_NAMES = "initiator.example", "responder.example"
_AKP, _ML_DSA_44 = 7, -48
_PURE_EMPTY_CONTEXT = bytes(2)


def _secret(first: int, length: int) -> bytes:
    return bytes(range(first, first + length))


INITIATOR_KEY, INITIATOR_EPHEMERAL = _secret(0, 32), _secret(32, 64)
RESPONDER_KEY, RESPONDER_EPHEMERAL = _secret(96, 32), _secret(128, 32)


def _shake(data: bytes) -> bytes:
    return hashlib.shake_256(data).digest(HASH_BYTES)


def _kmac(key: bytes, data: bytes, length: int) -> bytes:
    return KMAC256.new(key=key, data=data, mac_len=length).digest()


def kdf(prk: bytes, label: int, context: bytes, length: int) -> bytes:
    """Return EDHOC_KDF (RFC 9528, section 4.1.2)."""
    return _kmac(prk, item(0, label) + byte_string(context) + item(0, length), length)


def _negative(number: int) -> bytes:
    return item(1, -1 - number)


def _credential(name: str, key_id: bytes, public: bytes) -> bytes:
    """Return a CWT claims set with a subject and a key (RFC 8392; draft-ietf-cose-dilithium)."""
    subject = item(3, len(name)) + name.encode()
    key = item(0, 1) + item(0, _AKP) + item(0, 2) + byte_string(key_id)
    key += item(0, 3) + _negative(_ML_DSA_44) + _negative(-1) + byte_string(public)
    confirmation = item(5, 1) + item(0, 1) + item(5, 4) + key
    return item(5, 2) + item(0, 2) + subject + item(0, 8) + confirmation


@dataclass(frozen=True)
class _Party:
    private: bytes
    credential: bytes
    key_id: bytes

    @property
    def identity(self) -> bytes:
        """ID_CRED, a map with a kid."""
        return b"\xa1\x04" + byte_string(self.key_id)

    def prove(self, external: bytes, mac: bytes) -> bytes:
        """Sign a COSE_Sign1, by the deterministic variant."""
        parts = [byte_string(self.identity), byte_string(external), byte_string(mac)]
        message = b"\x84\x6aSignature1" + b"".join(parts)
        signature = ML_DSA_44._sign_internal(self.private, _PURE_EMPTY_CONTEXT + message, bytes(32))
        return bytes(signature)


def _party(name: str, key_id: bytes, seed: bytes) -> _Party:
    public, private = ML_DSA_44.key_derive(seed)
    return _Party(private, _credential(name, key_id, public), key_id)


def _sealed(prk: bytes, label: int, th: bytes, plaintext: bytes) -> bytes:
    key, nonce = kdf(prk, label, th, 16), kdf(prk, label + 1, th, 13)
    ad = b"\x83\x68Encrypt0\x40" + byte_string(th)
    return byte_string(AESCCM(key, tag_length=TAG_BYTES).encrypt(nonce, plaintext, ad))


def agreed() -> Output:
    """Run a handshake of the two parties."""
    initiator = _party(_NAMES[0], _KEY_IDS[0], INITIATOR_KEY)
    responder = _party(_NAMES[1], _KEY_IDS[1], RESPONDER_KEY)
    c_i, c_r = CONNECTIONS
    g_x, private = ML_KEM_512.key_derive(INITIATOR_EPHEMERAL)
    shared, g_y = ML_KEM_512._encaps_internal(g_x, RESPONDER_EPHEMERAL)
    if ML_KEM_512.decaps(private, g_y) != shared:
        raise ValueError("the library disagrees with itself")
    message_1 = bytes([0]) + c_i[:-1] + byte_string(g_x) + c_i[-1:]
    th = _shake(byte_string(g_y) + byte_string(_shake(message_1)))
    prk = _kmac(th, shared, HASH_BYTES)
    external = byte_string(th) + responder.credential
    mac = kdf(prk, 2, c_r + responder.identity + external, HASH_BYTES)
    # A kid that is the byte of a small integer goes as that integer (RFC 9528, section 3.5.3.2).
    plaintext = c_r + responder.key_id + byte_string(responder.prove(external, mac))
    stream = kdf(prk, 0, th, len(plaintext))
    message_2 = byte_string(g_y + bytes(a ^ b for a, b in zip(plaintext, stream, strict=True)))
    th = _shake(byte_string(th) + plaintext + responder.credential)
    external = byte_string(th) + initiator.credential
    mac = kdf(prk, 6, initiator.identity + external, HASH_BYTES)
    plaintext = initiator.key_id + byte_string(initiator.prove(external, mac))
    message_3 = _sealed(prk, 3, th, plaintext)
    th = _shake(byte_string(th) + plaintext + initiator.credential)
    return Output(
        initiator_identity=initiator.identity,
        responder_identity=responder.identity,
        initiator_credential=initiator.credential,
        responder_credential=responder.credential,
        initiator_connection=c_i,
        responder_connection=c_r,
        message_1=message_1,
        message_2=message_2,
        message_3=message_3,
        message_4=_sealed(prk, 8, th, b""),
        key=kdf(prk, 7, th, HASH_BYTES),
    )
