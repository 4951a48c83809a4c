"""DTLS 1.3 (RFC 9147, RFC 8446) as an independent witness, over `cryptography`.

A witness is told one side's ephemeral secret, and sees each datagram in the order of sending. It
computes every key itself, decrypts every record, and verifies binder, signatures and both Finished
messages. A key with the same nonce used for two different records is an error.
"""

import hashlib
import hmac
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from cryptography import x509
from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, mlkem, x25519
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESCCM, AESGCM

from joulemark.errors import VerificationError

Side = Literal["client", "server"]
HANDSHAKE, APPLICATION_DATA, ALERT, ACK = 22, 23, 21, 26
HELLO, SERVER_HELLO, EXTENSIONS, CERTIFICATE, REQUEST, VERIFY, FINISHED = 1, 2, 8, 11, 13, 15, 20
NAMES = {
    HELLO: "ClientHello",
    SERVER_HELLO: "ServerHello",
    EXTENSIONS: "EncryptedExtensions",
    CERTIFICATE: "Certificate",
    REQUEST: "CertificateRequest",
    VERIFY: "CertificateVerify",
    FINISHED: "Finished",
}
X25519, P256, X25519MLKEM768 = 0x1D, 0x17, 0x11EC
GCM, CCM, CCM_8 = 0x1301, 0x1304, 0x1305
"""TLS_AES_128_GCM_SHA256, TLS_AES_128_CCM_SHA256, TLS_AES_128_CCM_8_SHA256."""
_TAG_BYTES = {CCM: 16, CCM_8: 8}
_KEY_SHARE, _PRE_SHARED_KEY, _CONNECTION_ID, _COOKIE = 51, 41, 54, 44
_RETRY = hashlib.sha256(b"HelloRetryRequest").digest()
_HASH = 32
_MLKEM_SEED, _MLKEM_CIPHERTEXT = 64, 1088


@dataclass(frozen=True)
class Secrets:
    """What a witness is told."""

    psk: bytes = b""
    """The external pre-shared key; empty where there is none."""
    client_ephemeral: bytes = b""
    """The client's secret key; empty without an (EC)DHE."""
    anchor: x509.Certificate | None = None
    """The authority that signs both certificates; none: raw public keys."""


@dataclass(frozen=True)
class Message:
    """A handshake message, or a part of one."""

    type: int
    sequence: int
    offset: int
    part: bytes
    whole: int

    @property
    def name(self) -> str:
        """Its name in RFC 8446."""
        return NAMES.get(self.type, f"message {self.type}")


@dataclass(frozen=True)
class Record:
    """A record that was sent, and what it carried."""

    sender: Side
    epoch: int
    sequence: int
    type: int
    size: int
    """Bytes on the wire."""
    content: bytes
    padding: int
    messages: tuple[Message, ...] = ()


@dataclass
class _Keys:
    secret: bytes
    suite: int
    expected: int = 0
    used: dict[int, bytes] = field(default_factory=dict)
    """Ciphertext by record number."""

    def __post_init__(self) -> None:
        key = expand(self.secret, "key", b"", 16)
        self.aead = AESGCM(key) if self.suite == GCM else AESCCM(key, _TAG_BYTES[self.suite])
        self.iv = expand(self.secret, "iv", b"", 12)
        self.number_key = expand(self.secret, "sn", b"", 16)


def expand(secret: bytes, label: str, context: bytes, length: int) -> bytes:
    """HKDF-Expand-Label with DTLS 1.3's prefix (RFC 8446, section 7.1; RFC 9147, section 5.9)."""
    name = b"dtls13" + label.encode()
    info = length.to_bytes(2, "big") + bytes([len(name)]) + name + bytes([len(context)]) + context
    return hmac.digest(secret, info + b"\x01", "sha256")[:length]


def _extract(salt: bytes, secret: bytes) -> bytes:
    return hmac.digest(salt, secret, "sha256")


def _next(secret: bytes, keying: bytes) -> bytes:
    return _extract(expand(secret, "derived", hashlib.sha256().digest(), _HASH), keying)


def _finished(base: bytes, transcript: bytes) -> bytes:
    return hmac.digest(expand(base, "finished", b"", _HASH), transcript, "sha256")


@dataclass
class _Bytes:
    """Reads numbers and vectors."""

    data: bytes
    at: int = 0

    def take(self, count: int) -> bytes:
        if self.at + count > len(self.data):
            raise VerificationError(f"a message ends after {len(self.data)} bytes")
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self, count: int) -> int:
        return int.from_bytes(self.take(count), "big")

    def vector(self, count: int) -> bytes:
        return self.take(self.number(count))

    def __bool__(self) -> bool:
        return self.at < len(self.data)


def _x25519(secret: bytes, public: bytes) -> bytes:
    own = x25519.X25519PrivateKey.from_private_bytes(secret)
    return own.exchange(x25519.X25519PublicKey.from_public_bytes(public))


def _extensions(data: bytes) -> dict[int, bytes]:
    found, left = {}, _Bytes(data)
    while left:
        kind = left.number(2)
        if kind in found:
            raise VerificationError(f"extension {kind} twice")
        found[kind] = left.vector(2)
    return found


class Witness:
    """An independent reader of one association."""

    def __init__(self, secrets: Secrets) -> None:
        """Begin before the first datagram."""
        self._secrets = secrets
        self._keys: dict[tuple[Side, int], _Keys] = {}
        self._cids: dict[Side, bytes] = {}
        self._base: dict[Side, bytes] = {}
        self._main = b""
        self._messages: dict[tuple[Side, int], bytearray] = {}
        self._done: dict[tuple[Side, int], bytes] = {}
        self._transcript = b""
        self._offered: dict[Side, bytes] = {}
        self._peer: dict[Side, bytes] = {}
        self.certificates: dict[Side, x509.Certificate] = {}
        """Those that were sent, each signed by the anchor."""
        self._early = _extract(bytes(_HASH), secrets.psk or bytes(_HASH))
        self.suite = 0
        """The server's choice."""
        self.exporter = b""
        """The exporter's main secret, once the server's Finished has been seen."""
        self.log: list[str] = []
        """The secrets as lines of a key log (RFC 9850), for those who decrypt a capture."""
        self._random = b""
        self.finished: set[Side] = set()
        """Who has sent a Finished, each of them right."""

    def export(self, label: str, context: bytes = b"") -> bytes:
        """Return 32 bytes of the exporter (RFC 8446, section 7.5)."""
        secret = expand(self.exporter, label, hashlib.sha256().digest(), _HASH)
        return expand(secret, "exporter", hashlib.sha256(context).digest(), _HASH)

    def sees(self, sender: Side, datagram: bytes) -> list[Record]:
        """Return the records of a datagram.

        Raises:
            VerificationError: anything in it is not what this sender must send.
        """
        records, left = [], datagram
        try:
            while left:
                record, left = self._record(sender, left)
                records.append(record)
        except (IndexError, KeyError, ValueError) as error:
            what = f"{type(error).__name__}: {error}"
            raise VerificationError(f"the {sender}'s datagram makes no sense: {what}") from error
        return records

    def _record(self, sender: Side, data: bytes) -> tuple[Record, bytes]:
        if data[0] >> 5 != 1:
            head = _Bytes(data)
            kind, _version, epoch, sequence = (head.number(n) for n in (1, 2, 2, 6))
            content = head.vector(2)
            if epoch != 0:
                raise VerificationError(f"a plain record of epoch {epoch}")
            record = Record(sender, 0, sequence, kind, head.at, content, 0)
        else:
            record, head = self._opened(sender, data)
        return self._read(record), data[head.at :]

    def _opened(self, sender: Side, data: bytes) -> tuple[Record, _Bytes]:
        head = _Bytes(data)
        first = head.number(1)
        cid = self._cids.get("server" if sender == "client" else "client", b"")
        if bool(first & 0x10) != bool(cid) or (cid and head.take(len(cid)) != cid):
            raise VerificationError("not the connection identifier that was agreed")
        at, bits = head.at, 16 if first & 8 else 8
        masked = head.take(bits // 8)
        length = head.number(2) if first & 4 else len(data) - head.at
        header = bytearray(data[: head.at])
        text = head.take(length)
        epoch = max((e for s, e in self._keys if s == sender and e & 3 == first & 3), default=-1)
        if epoch < 0:
            raise VerificationError("a record of an epoch that has no keys yet")
        keys = self._keys[sender, epoch]
        ecb = Cipher(algorithms.AES(keys.number_key), modes.ECB()).encryptor()  # noqa: S305 - RFC 9147, 4.2.3
        mask = ecb.update(text[:16])
        header[at : at + bits // 8] = bytes(a ^ b for a, b in zip(masked, mask, strict=False))
        low = int.from_bytes(header[at : at + bits // 8], "big")
        sequence = keys.expected + (low - keys.expected + (1 << bits - 1)) % (1 << bits)
        sequence -= 1 << bits - 1
        if sequence < 0:
            raise VerificationError(f"a record number of epoch {epoch} is far off")
        nonce = bytes(a ^ b for a, b in zip(keys.iv, sequence.to_bytes(12, "big"), strict=True))
        try:
            plain = keys.aead.decrypt(nonce, text, bytes(header))
        except InvalidTag as error:
            raise VerificationError(
                f"record {sequence} of epoch {epoch} is not authentic"
            ) from error
        if keys.used.setdefault(sequence, text) != text:
            raise VerificationError(f"nonce of record {sequence}, epoch {epoch}, used twice")
        keys.expected = max(keys.expected, sequence + 1)
        whole = plain.rstrip(b"\0")
        padding = len(plain) - len(whole)
        return Record(sender, epoch, sequence, whole[-1], head.at, whole[:-1], padding), head

    def _read(self, record: Record) -> Record:
        if record.type != HANDSHAKE:
            return record
        messages = tuple(_messages(record.content))
        for message in messages:
            self._part(record.sender, record.epoch, message)
        return Record(
            record.sender,
            record.epoch,
            record.sequence,
            record.type,
            record.size,
            record.content,
            record.padding,
            messages,
        )

    def _part(self, sender: Side, epoch: int, message: Message) -> None:
        key = sender, message.sequence
        head = bytes([message.type]) + message.whole.to_bytes(3, "big")
        end = message.offset + len(message.part)
        if key in self._done:
            if self._done[key][4 + message.offset : 4 + end] != message.part:
                raise VerificationError(f"{message.name} is sent again, altered")
            return
        whole = self._messages.setdefault(key, bytearray())
        if len(whole) < message.offset:
            raise VerificationError(f"{message.name} has a gap")
        whole[message.offset : end] = message.part
        if len(whole) < message.whole:
            return
        self._done[key] = head + bytes(whole)
        if epoch != (0 if message.type in (HELLO, SERVER_HELLO) else 2):
            raise VerificationError(f"{message.name} in epoch {epoch}")
        self._take(sender, message.type, head, bytes(whole))

    def _take(self, sender: Side, kind: int, head: bytes, body: bytes) -> None:
        before = hashlib.sha256(self._transcript).digest()
        if kind == HELLO:
            self._hello(head, body)
        elif kind == VERIFY:
            self._verify(sender, body, before)
        elif kind == CERTIFICATE:
            entries = _Bytes(body)
            entries.vector(1)
            self._peer[sender] = _Bytes(entries.vector(3)).vector(3)
        elif kind == FINISHED:
            if body != _finished(self._base[sender], before):
                raise VerificationError(f"the {sender}'s Finished is wrong")
            self.finished.add(sender)
        self._transcript += head + body
        if kind == SERVER_HELLO:
            self._server_hello(body)
        elif kind == FINISHED and sender == "server":
            now = hashlib.sha256(self._transcript).digest()
            self.exporter = expand(self._main, "exp master", now, _HASH)
            self.log.append(f"EXPORTER_SECRET {self._random.hex()} {self.exporter.hex()}")
            self._derive(3, self._main, "ap", now)

    def _hello(self, head: bytes, body: bytes) -> None:
        data = _Bytes(body)
        data.take(2)
        self._random = data.take(32)
        for size in (1, 1, 2, 1):
            data.vector(size)
        extensions = _extensions(data.vector(2))
        if _CONNECTION_ID in extensions:
            self._offered["client"] = _Bytes(extensions[_CONNECTION_ID]).vector(1)
        if not self._secrets.psk:
            return
        binders = 2 + 1 + _HASH
        empty = hashlib.sha256().digest()
        key = expand(self._early, "ext binder", empty, _HASH)
        truncated = hashlib.sha256(self._transcript + head + body[:-binders]).digest()
        if body[-_HASH:] != _finished(key, truncated):
            raise VerificationError("the pre-shared key's binder is wrong")

    def _server_hello(self, body: bytes) -> None:
        data = _Bytes(body)
        data.take(2)
        random = data.take(32)
        data.take(1)
        self.suite = data.number(2)
        data.take(1)
        extensions = _extensions(data.vector(2))
        if random == _RETRY:
            hello = self._done["client", 0]
            retry = self._transcript[len(hello) :]
            first = hashlib.sha256(hello).digest()
            self._transcript = bytes([254, 0, 0, _HASH]) + first + retry
            return
        if _CONNECTION_ID in extensions:
            self._cids = {
                "client": self._offered["client"],
                "server": _Bytes(extensions[_CONNECTION_ID]).vector(1),
            }
        if bool(self._secrets.psk) != (_PRE_SHARED_KEY in extensions):
            raise VerificationError("the server's choice of authentication is another")
        handshake = _next(self._early, self._shared(extensions))
        now = hashlib.sha256(self._transcript).digest()
        self._base = self._derive(2, handshake, "hs", now)
        self._main = _next(handshake, bytes(_HASH))

    def _shared(self, extensions: dict[int, bytes]) -> bytes:
        secret = self._secrets.client_ephemeral
        if not secret:
            return bytes(_HASH)
        share = _Bytes(extensions[_KEY_SHARE])
        group, public = share.number(2), share.vector(2)
        if group == X25519:
            return _x25519(secret, public)
        if group == X25519MLKEM768:
            seed, ciphertext = secret[:_MLKEM_SEED], public[:_MLKEM_CIPHERTEXT]
            kem = mlkem.MLKEM768PrivateKey.from_seed_bytes(seed)
            rest = _x25519(secret[_MLKEM_SEED:], public[_MLKEM_CIPHERTEXT:])
            return kem.decapsulate(ciphertext) + rest
        if group != P256:
            raise VerificationError(f"group {group} is not known")
        curve = ec.SECP256R1()
        private = ec.derive_private_key(int.from_bytes(secret, "big"), curve)
        peer = ec.EllipticCurvePublicKey.from_encoded_point(curve, public)
        return private.exchange(ec.ECDH(), peer)

    def _derive(self, epoch: int, secret: bytes, label: str, now: bytes) -> dict[Side, bytes]:
        sides: tuple[Side, Side] = ("client", "server")
        base = {side: expand(secret, f"{side[0]} {label} traffic", now, _HASH) for side in sides}
        for side, traffic in base.items():
            self._keys[side, epoch] = _Keys(traffic, self.suite)
            name = "HANDSHAKE_TRAFFIC_SECRET" if label == "hs" else "TRAFFIC_SECRET_0"
            self.log.append(f"{side.upper()}_{name} {self._random.hex()} {traffic.hex()}")
        return base

    def _public_key(self, sender: Side) -> object:
        anchor = self._secrets.anchor
        if anchor is None:
            return serialization.load_der_public_key(self._peer[sender])
        certificate = x509.load_der_x509_certificate(self._peer[sender])
        try:
            certificate.verify_directly_issued_by(anchor)
        except InvalidSignature as error:
            raise VerificationError(f"the {sender}'s certificate is not the anchor's") from error
        usage = certificate.extensions.get_extension_for_class(x509.KeyUsage)
        if not usage.value.digital_signature:
            raise VerificationError(f"the {sender}'s key is not for signatures")
        self.certificates[sender] = certificate
        return certificate.public_key()

    def _verify(self, sender: Side, body: bytes, transcript: bytes) -> None:
        data = _Bytes(body)
        data.number(2)
        signature = data.vector(2)
        signed = b" " * 64 + f"TLS 1.3, {sender} CertificateVerify\0".encode() + transcript
        public = self._public_key(sender)
        try:
            if isinstance(public, ed25519.Ed25519PublicKey):
                public.verify(signature, signed)
            elif isinstance(public, ec.EllipticCurvePublicKey):
                public.verify(signature, signed, ec.ECDSA(hashes.SHA256()))
            else:
                raise VerificationError(f"the {sender}'s key is of another kind")
        except InvalidSignature as error:
            raise VerificationError(f"the {sender}'s signature is wrong") from error


def _messages(content: bytes) -> Iterator[Message]:
    data = _Bytes(content)
    while data:
        kind, whole, sequence, offset = (data.number(n) for n in (1, 3, 2, 3))
        yield Message(kind, sequence, offset, data.vector(3), whole)
