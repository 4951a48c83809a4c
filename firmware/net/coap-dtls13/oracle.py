"""CoAP over DTLS 1.3: an independent witness reads every datagram, and knows what must be in it."""

import hashlib
from collections.abc import Sequence

from joulemark.errors import VerificationError
from joulemark.reference.certificates import CLIENT, NAMES, SERVER, Parties, name_of
from joulemark.reference.dtls13 import ACK, APPLICATION_DATA, HANDSHAKE, Record, Secrets, Witness
from joulemark.reference.oscore import ACK as COAP_ACK
from joulemark.reference.oscore import CHANGED, CON, POST, URI_PATH, Coap
from joulemark.subjects.handshake.talk import Account, Talk

_PSK = bytes(range(16))
_LABEL = "EXPORTER-joulemark"
_CLIENT = 1
_EPHEMERAL_BLOCKS = {"none": 0, "x25519mlkem768": 3}
"""How many times the client draws 32 bytes for its ephemeral secret, where not once."""
_RANDOM_AT = 13 + 12 + 2
"""Where the random is in the first datagram: behind two headers and a version."""


def _drawn(number: int) -> bytes:
    """Return what the client's generator gives, which can be foretold."""
    return hashlib.sha256(bytes([_CLIENT, number])).digest()


def _coap(kind: int, code: int, number: int, payload: bytes) -> bytes:
    path = [(URI_PATH, b"s")] if kind == CON else []
    token = bytes([number & 255])
    message = Coap(kind=kind, code=code, number=number, token=token, options=path, payload=payload)
    return bytes(message)


def _handshake(records: Sequence[Record], size: int, seen: set[tuple[str, int, int]]) -> Account:
    messages = [m for record in records for m in record.messages]
    sender = records[0].sender
    keys = {(sender, m.sequence, m.offset) for m in messages}
    is_again = keys <= seen
    seen |= keys
    if not messages:
        return Account("ACK" if sender == "server" else "client's ACK", size)
    first, last = messages[0], messages[-1]
    name = first.name if first.type == last.type else f"{first.name}...{last.name}"
    return Account(name, size, again=is_again)


def _witness(talk: Talk) -> Witness:
    """Return who reads the talk."""
    exchange = talk.wiring["exchange"].rpartition("/")[2]
    ephemeral = b"".join(_drawn(1 + i) for i in range(_EPHEMERAL_BLOCKS.get(exchange, 1)))
    credential = talk.wiring["credential"].rpartition("/")[2]
    return Witness(
        Secrets(
            psk=_PSK if credential == "none" else b"",
            client_ephemeral=ephemeral,
            anchor=Parties(credential).anchor if _has_certificates(talk) else None,
        )
    )


def _has_certificates(talk: Talk) -> bool:
    return talk.define.get("DTLS13_X509", 0) == 1


def keys(talk: Talk) -> dict[str, list[str]]:
    """Return the key log (RFC 9850)."""
    witness = _witness(talk)
    for datagram in talk.datagrams:
        witness.sees("client" if datagram.sender == "client" else "server", datagram.data)
    return {"keylog": witness.log}


def read(talk: Talk) -> list[Account]:
    """Compare each datagram with what it must be."""
    witness = _witness(talk)
    expected = {
        ("client", _coap(CON, POST, n, talk.request)): n for n in range(1, talk.records + 1)
    } | {
        ("server", _coap(COAP_ACK, CHANGED, n, talk.response)): n
        for n in range(1, talk.records + 1)
    }
    seen: set[tuple[str, int, int]] = set()
    said: set[tuple[str, int]] = set()
    accounts = []
    for datagram in talk.datagrams:
        sender = "client" if datagram.sender == "client" else "server"
        records = witness.sees(sender, datagram.data)
        size = len(datagram.data)
        kinds = {record.type for record in records}
        if kinds <= {HANDSHAKE} or kinds == {ACK}:
            accounts.append(_handshake(records, size, seen))
            continue
        if kinds != {APPLICATION_DATA} or len(records) != 1:
            raise VerificationError(f"the {sender} sends records of types {sorted(kinds)}")
        content = records[0].content
        number = expected.get((sender, content))
        if number is None:
            raise VerificationError(f"the {sender} sends {content.hex()}")
        payload = len(talk.request if sender == "client" else talk.response)
        accounts.append(
            Account(
                "request" if sender == "client" else "response",
                size - len(content),
                len(content) - payload,
                payload,
                record=number > 1,
                again=(sender, number) in said,
            )
        )
        said.add((sender, number))
    if witness.finished != {"client", "server"} or len(said) != 2 * talk.records:
        raise VerificationError("not everything was on the air")
    names = {side: name_of(certificate) for side, certificate in witness.certificates.items()}
    if _has_certificates(talk) and names != {"client": NAMES[CLIENT], "server": NAMES[SERVER]}:
        raise VerificationError(f"the certificates are of {names}")
    hello = talk.datagrams[0].data[_RANDOM_AT:][:32]
    if hello != _drawn(0):
        raise VerificationError(f"the client's random is {hello.hex()}")
    for side, key in talk.keys.items():
        if key != witness.export(_LABEL):
            raise VerificationError(f"the {side}'s key is {key.hex()}")
    return accounts
