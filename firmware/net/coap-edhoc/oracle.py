"""EDHOC over CoAP and then OSCORE: every datagram, from the oracle of EDHOC and RFC 8613."""

from collections.abc import Iterator
from functools import lru_cache

from joulemark.catalogue.primitives import Algorithm, Library
from joulemark.edhoc import kdf
from joulemark.errors import VerificationError
from joulemark.oracle import Inputs, Output
from joulemark.oscore import (
    ACK,
    CHANGED,
    CON,
    CONTENT_FORMAT,
    EDHOC,
    OSCORE_CONTEXTS,
    POST,
    URI_PATH,
    Coap,
    Option,
    Security,
)
from joulemark.subjects.handshake.talk import Account, Message, Talk

_EDHOC_PATH: list[Option] = [(URI_PATH, b".well-known"), (URI_PATH, b"edhoc")]
_REQUEST_FORMAT: Option = (CONTENT_FORMAT, b"\x41")
_RESPONSE_FORMAT: Option = (CONTENT_FORMAT, b"\x40")
_RESOURCE: Option = (URI_PATH, b"s")
_TRUE = b"\xf5"


def _algorithm(folder: str) -> Algorithm:
    """Return the handshake that is in a folder, or of whose implementations one is."""
    folder = "/".join(folder.split("/")[:3])
    for algorithm in Library.load().algorithms.values():
        primitive = algorithm.primitive
        if folder == f"primitives/{primitive.kind}/{primitive.name}" and algorithm.is_default:
            return algorithm
    raise VerificationError(f"no handshake {folder}")


@lru_cache
def _agreed(folder: str) -> Output:
    """Return the messages of the vectors' parties, who are those of the program."""
    algorithm = _algorithm(folder)
    values = algorithm.vectors[0].values
    names = algorithm.contract.file.input
    return algorithm.oracle(Inputs(**{name: values.get(name, b"") for name in names}))


def _identifier(connection: bytes) -> bytes:
    """Return a connection identifier as a byte string (RFC 9528, section 3.3.2)."""
    return connection if len(connection) == 1 else connection[1:]


def _c_i(suites_and_c_i: bytes) -> bytes:
    """Return C_I, which is behind an integer or an array of integers."""
    first = suites_and_c_i[0]
    return suites_and_c_i[1:] if first < 24 else suites_and_c_i[1 + (first & 31) :]


def _expected(talk: Talk, agreed: Output) -> Iterator[tuple[str, Coap, Account]]:
    """Yield each datagram's sender, the message, and what its bytes are for."""
    number = 0

    def post(options: list[Option], payload: bytes) -> Coap:
        nonlocal number
        number += 1
        token = bytes([number & 255])
        return Coap(
            kind=CON, code=POST, number=number, token=token, options=options, payload=payload
        )

    def changed(request: Coap, options: list[Option], payload: bytes) -> Coap:
        return Coap(
            kind=ACK,
            code=CHANGED,
            number=request.number,
            token=request.token,
            options=options,
            payload=payload,
        )

    def handshake(flight: str, message: Coap, edhoc: bytes) -> Account:
        return Account(flight, protocol=len(edhoc), coap=len(bytes(message)) - len(edhoc))

    def protected(flight: str, plain: Coap, sealed: Coap, *, record: bool) -> Account:
        data = len(plain.payload)
        coap = len(bytes(plain)) - data
        length = len(bytes(sealed))
        return Account(flight, length - coap - data, coap, data, record)

    message_1, message_2, message_3 = (agreed[f"message_{n}"] for n in (1, 2, 3))
    c_r = agreed.responder_connection
    first = post([*_EDHOC_PATH, _REQUEST_FORMAT], _TRUE + message_1)
    yield "client", first, handshake("message_1", first, message_1)
    answer = changed(first, [_RESPONSE_FORMAT], message_2)
    yield "server", answer, handshake("message_2", answer, message_2)
    is_combined = bool(talk.define.get("EDHOC_COMBINED", 0))
    if not is_combined:
        third = post([*_EDHOC_PATH, _REQUEST_FORMAT], c_r + message_3)
        yield "client", third, handshake("message_3", third, message_3)
        answer = changed(third, [], b"")
        yield "server", answer, handshake("answer to 3", answer, b"")
    own, others = _contexts(agreed)
    for sequence in range(talk.records):
        with_3 = is_combined and sequence == 0
        plain = post([_RESOURCE], talk.request)
        marked = Coap(**{**vars(plain), "options": [_RESOURCE, (EDHOC, b"")]}) if with_3 else plain
        sealed = own.request(marked, sequence)
        if with_3:
            sealed = Coap(**{**vars(sealed), "payload": message_3 + sealed.payload})
        flight = "message_3, request" if with_3 else "request"
        yield "client", sealed, protected(flight, plain, sealed, record=sequence > 0)
        plain = changed(plain, [], talk.response)
        sealed = others.response(plain, sequence)
        yield "server", sealed, protected("response", plain, sealed, record=sequence > 0)


def _contexts(agreed: Output) -> tuple[Security, Security]:
    """Return the contexts that EDHOC's keys make: the client's and the server's."""
    exporter = kdf(agreed.key, 10, b"", 32)
    secret, salt = kdf(exporter, 0, b"", 16), kdf(exporter, 1, b"", 8)
    client = _identifier(agreed.responder_connection)
    server = _identifier(_c_i(agreed.initiator_connection))
    return (
        Security(secret=secret, salt=salt, sender=client, recipient=server),
        Security(secret=secret, salt=salt, sender=server, recipient=client),
    )


def keys(talk: Talk) -> dict[str, list[str]]:
    """Return OSCORE's security context as Wireshark takes it, which knows no EDHOC."""
    client, _ = _contexts(_agreed(talk.wiring["handshake"]))
    return {OSCORE_CONTEXTS: [client.wireshark]}


def read(talk: Talk) -> list[Account]:
    """Compare each datagram with what it must be."""
    agreed = _agreed(talk.wiring["handshake"])
    for side, key in talk.keys.items():
        if key != agreed.key:
            raise VerificationError(f"the {side}'s key is {key.hex()}, not {agreed.key.hex()}")
    accounts = []
    expected = list(_expected(talk, agreed))
    if len(expected) != len(talk.datagrams):
        raise VerificationError(f"{len(talk.datagrams)} datagrams, not {len(expected)}")
    for (sender, message, account), heard in zip(expected, talk.datagrams, strict=True):
        _check(sender, bytes(message), account.flight, heard)
        accounts.append(account)
    return accounts


def _check(sender: str, expected: bytes, flight: str, heard: Message) -> None:
    if heard.sender != sender or heard.data != expected:
        what = f"the {heard.sender}'s datagram {heard.data.hex()}"
        raise VerificationError(f"{what} is not the {sender}'s {flight}, {expected.hex()}")
