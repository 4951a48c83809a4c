"""OSCORE with keys that outlive power: every datagram, from RFC 8613 and RFC 10021."""

import hashlib
from collections.abc import Iterator

from cryptography.hazmat.primitives.asymmetric import ec, x25519
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from joulemark.errors import VerificationError
from joulemark.reference.edhoc import byte_string
from joulemark.reference.oscore import (
    ACK,
    CHANGED,
    CON,
    ECHO,
    OSCORE_CONTEXTS,
    POST,
    UNAUTHORIZED,
    URI_PATH,
    Coap,
    Option,
    Pairwise,
    Security,
)
from joulemark.subjects.handshake.talk import Account, Talk

_SECRET, _SALT = bytes(range(1, 17)), bytes.fromhex("9e7ca92223786340")
"""RFC 8613, appendix C.1."""
_RESOURCE: Option = (URI_PATH, b"s")
_CLIENT, _SERVER, _MANAGER = "client", "server", "manager"
_GROUP, _IDS = b"", {_CLIENT: b"\x25", _SERVER: b"\x26"}


def _secret(member: str) -> bytes:
    return hashlib.sha256(member.encode()).digest()


def _x25519(member: str, other: str) -> tuple[bytes, bytes]:
    """Return a member's credential, and its secret with another one."""
    own, peer = (
        x25519.X25519PrivateKey.from_private_bytes(_secret(name)) for name in (member, other)
    )
    public = own.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    # cnf: COSE_Key: kty OKP, crv X25519, x
    head = bytes.fromhex("a1 08 a1 01 a3 01 01 20 04 21")
    return head + byte_string(public), own.exchange(peer.public_key())


def _p256(member: str, other: str) -> tuple[bytes, bytes]:
    own, peer = (
        ec.derive_private_key(int.from_bytes(_secret(name)), ec.SECP256R1())
        for name in (member, other)
    )
    public = own.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    # cnf: COSE_Key: kty EC2, crv P-256, x, y
    x, y = byte_string(public[1:33]), byte_string(public[33:])
    head = bytes.fromhex("a1 08 a1 01 a4 01 02 20 01 21")
    return head + x + b"\x22" + y, own.exchange(ec.ECDH(), peer.public_key())


_MEMBERS = {"x25519": _x25519, "ecdh-p256": _p256}


def contexts(exchange: str | None) -> tuple[Security, Security]:
    """Return the client's and the server's context; with an exchange, those of a group."""
    if exchange is None:
        own = Security(secret=_SECRET, salt=_SALT, sender=b"", recipient=b"\x01")
        return own, Security(secret=_SECRET, salt=_SALT, sender=b"\x01", recipient=b"")
    member = _MEMBERS[exchange]
    credentials = {name: member(name, _MANAGER)[0] for name in (_CLIENT, _SERVER)}
    manager, _ = member(_MANAGER, _CLIENT)
    _, shared = member(_CLIENT, _SERVER)

    def context(own: str, peer: str) -> Pairwise:
        return Pairwise(
            secret=_SECRET,
            salt=_SALT,
            sender=_IDS[own],
            recipient=_IDS[peer],
            id_context=_GROUP,
            own=credentials[own],
            peer=credentials[peer],
            manager=manager,
            shared=shared,
        )

    return context(_CLIENT, _SERVER), context(_SERVER, _CLIENT)


def _expected(talk: Talk) -> Iterator[tuple[str, Coap, Account]]:
    """Yield each datagram's sender, the message, and what its bytes are for."""
    exchange = talk.wiring.get("exchange")
    client, server = contexts(None if exchange is None else exchange.rpartition("/")[2])
    echo = (0).to_bytes(4)

    def account(flight: str, plain: Coap, sealed: Coap, extra: int, *, record: bool) -> Account:
        """Count the Echo option, of `extra` bytes, as the protocol's."""
        data = len(plain.payload)
        coap = len(bytes(plain)) - data - extra
        return Account(flight, len(bytes(sealed)) - coap - data, coap, data, record)

    for sequence in range(talk.records + 1):
        is_first, is_echoed = sequence == 0, sequence == 1
        number = sequence + 1
        options = [_RESOURCE, (ECHO, echo)] if is_echoed else [_RESOURCE]
        more = 2 + len(echo)  # with a delta in two bytes
        token, payload = bytes([number & 255]), talk.request
        plain = Coap(
            kind=CON, code=POST, number=number, token=token, options=options, payload=payload
        )
        sealed = client.request(plain, sequence)
        name = "request, Echo" if is_echoed else "first request" if is_first else "request"
        extra = more if is_echoed else 0
        yield "client", sealed, account(name, plain, sealed, extra, record=sequence > 1)
        if is_first:
            code, options, payload = UNAUTHORIZED, [(ECHO, echo)], b""
        else:
            code, options, payload = CHANGED, [], talk.response
        plain = Coap(
            kind=ACK, code=code, number=number, token=token, options=options, payload=payload
        )
        sealed = server.response(plain, sequence, 0 if is_first else None)
        name = "4.01, Echo" if is_first else "response"
        extra = more if is_first else 0
        yield "server", sealed, account(name, plain, sealed, extra, record=sequence > 1)


def keys(talk: Talk) -> dict[str, list[str]]:
    """Return the security context as Wireshark takes it, which knows no group's."""
    if talk.wiring.get("exchange") is not None:
        return {}
    client, _ = contexts(None)
    return {OSCORE_CONTEXTS: [client.wireshark]}


def read(talk: Talk) -> list[Account]:
    """Compare each datagram with what it must be."""
    exchange = talk.wiring.get("exchange")
    client, _ = contexts(None if exchange is None else exchange.rpartition("/")[2])
    for side, key in talk.keys.items():
        if key != client.key:
            raise VerificationError(f"the {side}'s key is {key.hex()}, not {client.key.hex()}")
    accounts = []
    expected = list(_expected(talk))
    if len(expected) != len(talk.datagrams):
        raise VerificationError(f"{len(talk.datagrams)} datagrams, not {len(expected)}")
    for (sender, message, account), heard in zip(expected, talk.datagrams, strict=True):
        if heard.sender != sender or heard.data != bytes(message):
            what = f"the {heard.sender}'s datagram {heard.data.hex()}"
            raise VerificationError(
                f"{what} is not the {sender}'s {account.flight}, {bytes(message).hex()}"
            )
        accounts.append(account)
    return accounts
