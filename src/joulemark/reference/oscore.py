"""CoAP messages, OSCORE, and Group OSCORE's pairwise mode (RFC 7252, RFC 8613, RFC 10021).

For oracles, with the cryptography package.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from cryptography.hazmat.primitives.ciphers.aead import AESCCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from joulemark.reference.edhoc import byte_string, item

CON, ACK = 0, 2
POST, CHANGED, CONTINUE, UNAUTHORIZED = 0x02, 0x44, 0x5F, 0x81
OSCORE, URI_PATH, CONTENT_FORMAT, EDHOC, BLOCK2, BLOCK1, ECHO = 9, 11, 12, 21, 23, 27, 252
_OUTER = (3, 7, 39, EDHOC)
"""Options of class U (RFC 8613, section 4.1; RFC 9668, section 3.1)."""
_AES_CCM_16_64_128 = 10
_KEY_BYTES, _NONCE_BYTES, _TAG_BYTES = 16, 13, 8

OSCORE_CONTEXTS = "oscore"
"""What is added to the name of a capture for its security contexts."""

Option = tuple[int, bytes]


@dataclass(frozen=True, kw_only=True)
class Coap:
    """A CoAP message."""

    kind: int
    code: int
    number: int
    """Its message ID."""
    token: bytes = b""
    options: Sequence[Option] = ()
    payload: bytes = b""

    @property
    def head(self) -> bytes:
        """Header and token."""
        first = 0x40 | self.kind << 4 | len(self.token)
        return bytes([first, self.code]) + self.number.to_bytes(2) + self.token

    def __bytes__(self) -> bytes:
        return self.head + body(self.options, self.payload)


@dataclass(frozen=True, kw_only=True)
class OptionValue:
    """What an OSCORE option says (RFC 8613, section 6.1)."""

    piv: bytes = b""
    kid: bytes | None = None
    id_context: bytes | None = None

    @classmethod
    def read(cls, value: bytes) -> "OptionValue":
        """Read an option's value.

        Raises:
            ValueError: it is malformed.
        """
        if not value:
            return cls()
        flags, rest = value[0], value[1:]
        piv, rest = rest[: flags & 7], rest[flags & 7 :]
        id_context = None
        if flags & 16 and rest:
            id_context, rest = rest[1 : 1 + rest[0]], rest[1 + rest[0] :]
        kid = rest if flags & 8 else None
        made = bytes([flags]) + piv
        made += b"" if id_context is None else bytes([len(id_context)]) + id_context
        if made + (kid or b"") != value:
            raise ValueError(f"no value of the OSCORE option: {value.hex()}")
        return cls(piv=piv, kid=kid, id_context=id_context)


def parsed(data: bytes) -> Coap:
    """Read a message (RFC 7252, section 3).

    Raises:
        ValueError: it is malformed.
    """
    try:
        tokens = data[0] & 15
        kind, code, number = data[0] >> 4 & 3, data[1], int.from_bytes(data[2:4])
        token, rest = data[4 : 4 + tokens], data[4 + tokens :]
        options: list[Option] = []
        last = 0
        while rest and rest[0] != 0xFF:
            first, rest = rest[0], rest[1:]
            delta, rest = _shortened(first >> 4, rest)
            length, rest = _shortened(first & 15, rest)
            last += delta
            options.append((last, rest[:length]))
            rest = rest[length:]
    except IndexError as error:
        raise ValueError("a CoAP message ends too early") from error
    message = Coap(
        kind=kind, code=code, number=number, token=token, options=options, payload=rest[1:]
    )
    if bytes(message) != data:
        raise ValueError(f"no CoAP message: {data.hex()}")
    return message


def _shortened(nibble: int, rest: bytes) -> tuple[int, bytes]:
    """Return a number that an option's head has, and what follows it."""
    if nibble == 13:
        return 13 + rest[0], rest[1:]
    if nibble == 14:
        return 269 + (rest[0] << 8 | rest[1]), rest[2:]
    return nibble, rest


def _extended(number: int) -> tuple[int, bytes]:
    if number < 13:
        return number, b""
    if number < 269:
        return 13, bytes([number - 13])
    return 14, (number - 269).to_bytes(2)


def body(options: Sequence[Option], payload: bytes) -> bytes:
    """Return options and payload (RFC 7252, section 3.1)."""
    found, last = b"", 0
    for number, value in sorted(options, key=lambda option: option[0]):
        (delta, more_delta), (length, more_length) = _extended(number - last), _extended(len(value))
        found += bytes([delta << 4 | length]) + more_delta + more_length + value
        last = number
    return found + (b"\xff" + payload if payload else b"")


@dataclass(frozen=True, kw_only=True)
class Security:
    """A context of OSCORE with AES-CCM-16-64-128, as one of its sides has it."""

    secret: bytes
    salt: bytes
    sender: bytes
    recipient: bytes
    id_context: bytes | None = None

    def _info(self, identifier: bytes, kind: str, length: int) -> bytes:
        context = b"\xf6" if self.id_context is None else byte_string(self.id_context)
        info = b"\x85" + byte_string(identifier) + context + item(0, _AES_CCM_16_64_128)
        return info + item(3, len(kind)) + kind.encode() + item(0, length)

    def derived(self, identifier: bytes, kind: str, length: int) -> bytes:
        """Return a key or the common IV (section 3.2.1)."""
        info = self._info(identifier, kind, length)
        return HKDF(SHA256(), length, self.salt, info).derive(self.secret)

    @property
    def key(self) -> bytes:
        """The sender key."""
        return self.derived(self.sender, "Key", _KEY_BYTES)

    @property
    def wireshark(self) -> str:
        """The context as a line of Wireshark's table oscore_contexts."""
        values = (self.sender, self.recipient, self.secret, self.salt, self.id_context or b"")
        words = [*(value.hex() for value in values), "AES-CCM-16-64-128 (CCM*)"]
        return ",".join(f'"{word}"' for word in words)

    @property
    def common_iv(self) -> bytes:
        """The common IV."""
        return self.derived(b"", "IV", _NONCE_BYTES)

    def nonce(self, identifier: bytes, piv: bytes) -> bytes:
        """Return the nonce of the number that a side has used (section 5.2)."""
        padded = bytes([len(identifier)]) + identifier.rjust(_NONCE_BYTES - 6, b"\0")
        padded += piv.rjust(5, b"\0")
        return bytes(a ^ b for a, b in zip(padded, self.common_iv, strict=True))

    def external(self, request_id: bytes, request_piv: bytes, option: bytes) -> bytes:
        """Return the external_aad of a message with this value of the option (section 5.4)."""
        del option
        head = b"\x85\x01\x81" + item(0, _AES_CCM_16_64_128)
        return head + byte_string(request_id) + byte_string(request_piv) + b"\x40"

    def ad(self, request_id: bytes, request_piv: bytes, option: bytes) -> bytes:
        """Return the associated data of a message that this side sends."""
        external = self.external(request_id, request_piv, option)
        return b"\x83\x68Encrypt0\x40" + byte_string(external)

    def _sealed(
        self, plain: Coap, nonce: bytes, request_id: bytes, request_piv: bytes, option: bytes
    ) -> bytes:
        inner = bytes([plain.code])
        inner += body([o for o in plain.options if o[0] not in _OUTER], plain.payload)
        ad = self.ad(request_id, request_piv, option)
        return AESCCM(self.key, tag_length=_TAG_BYTES).encrypt(nonce, inner, ad)

    def opened(self, sealed: bytes, nonce: bytes, ad: bytes) -> bytes:
        """Decrypt what this side sent.

        Raises:
            InvalidTag: it is not authentic.
        """
        return AESCCM(self.key, tag_length=_TAG_BYTES).decrypt(nonce, sealed, ad)

    def request(self, plain: Coap, sequence: int) -> Coap:
        """Protect a request."""
        piv = piv_of(sequence)
        flags, context = len(piv) | 8, b""
        if self.id_context is not None:
            flags |= 16
            context = bytes([len(self.id_context)]) + self.id_context
        value = bytes([flags]) + piv + context + self.sender
        sealed = self._sealed(plain, self.nonce(self.sender, piv), self.sender, piv, value)
        return _outer(plain, POST, value, sealed)

    def response(self, plain: Coap, request_sequence: int, sequence: int | None = None) -> Coap:
        """Protect the response to a request, with a number of its own if one is given."""
        piv = piv_of(request_sequence)
        nonce, value = self.nonce(self.recipient, piv), b""
        if sequence is not None:
            own = piv_of(sequence)
            nonce, value = self.nonce(self.sender, own), bytes([len(own)]) + own
        sealed = self._sealed(plain, nonce, self.recipient, piv, value)
        return _outer(plain, CHANGED, value, sealed)


_ECDH_SS_HKDF_256 = 27 - 1
"""COSE's number of the algorithm, -27, as CBOR has negative ones."""


@dataclass(frozen=True, kw_only=True)
class Pairwise(Security):
    """A context of Group OSCORE's pairwise mode, in a group without the group mode (RFC 10021).

    `secret`, `salt`, the identifiers and the ID context, which is the group's identifier, are those
    of the group.
    """

    own: bytes
    """Authentication credential of this side."""
    peer: bytes
    manager: bytes
    """That of the group's manager."""
    shared: bytes
    """The members' static-static Diffie-Hellman secret."""

    @property
    def key(self) -> bytes:
        """The pairwise sender key (section 2.5.1)."""
        salt = self.derived(self.sender, "Key", _KEY_BYTES)
        info = self._info(self.sender, "Key", _KEY_BYTES)
        keying = self.own + self.peer + self.shared
        return HKDF(SHA256(), _KEY_BYTES, salt, info).derive(keying)

    def external(self, request_id: bytes, request_piv: bytes, option: bytes) -> bytes:
        """Return the external_aad (section 3.4)."""
        algorithms = b"\x84" + item(0, _AES_CCM_16_64_128) + b"\xf6\xf6"
        algorithms += item(1, _ECDH_SS_HKDF_256)
        request = byte_string(request_id) + byte_string(request_piv) + b"\x40"
        group = byte_string(self.id_context or b"") + byte_string(option)
        return (
            b"\x89\x01"
            + algorithms
            + request
            + group
            + byte_string(self.own)
            + byte_string(self.manager)
        )


def piv_of(sequence: int) -> bytes:
    """Return a sequence number as a partial IV (section 6.1)."""
    return sequence.to_bytes(max(1, (sequence.bit_length() + 7) // 8))


def _outer(plain: Coap, code: int, value: bytes, sealed: bytes) -> Coap:
    options = [o for o in plain.options if o[0] in _OUTER]
    return Coap(
        kind=plain.kind,
        code=code,
        number=plain.number,
        token=plain.token,
        options=[*options, (OSCORE, value)],
        payload=sealed,
    )
