"""EDHOC over CoAP and then OSCORE: every datagram, from the oracle of EDHOC and RFC 8613."""

from collections.abc import Callable, Iterator
from functools import lru_cache

from joulemark.catalogue.primitives import Algorithm, Library
from joulemark.errors import VerificationError
from joulemark.oracle import Inputs, Output
from joulemark.reference import edhoc_kem
from joulemark.reference.edhoc import kdf
from joulemark.reference.oscore import (
    ACK,
    BLOCK1,
    BLOCK2,
    CHANGED,
    CON,
    CONTENT_FORMAT,
    CONTINUE,
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
_KEM = "net/edhoc/kem"
_SZX, _MORE = 6, 8
_BLOCK_BYTES = 16 << _SZX


def _algorithm(folder: str) -> Algorithm:
    """Return the handshake that is in a folder, or of whose implementations one is."""
    folder = "/".join(folder.split("/")[:3])
    for algorithm in Library.load().algorithms.values():
        primitive = algorithm.primitive
        if folder == f"primitives/{primitive.kind}/{primitive.name}" and algorithm.is_default:
            return algorithm
    raise VerificationError(f"no handshake {folder}")


Kdf = Callable[[bytes, int, bytes, int], bytes]


def _kdf(folder: str) -> Kdf:
    """Return the key derivation of a handshake's suite."""
    return edhoc_kem.kdf if folder == _KEM else kdf


@lru_cache
def _agreed(folder: str) -> Output:
    """Return the messages of the vectors' parties, who are those of the program."""
    if folder == _KEM:
        return edhoc_kem.agreed()
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
    return suites_and_c_i[1:] if first >> 5 != 4 else suites_and_c_i[1 + (first & 31) :]


Post = Callable[[list[Option], bytes], Coap]
Expected = tuple[str, Coap, Account]


def _changed(request: Coap, options: list[Option], payload: bytes, code: int = CHANGED) -> Coap:
    return Coap(
        kind=ACK,
        code=code,
        number=request.number,
        token=request.token,
        options=options,
        payload=payload,
    )


def _handshake(flight: str, message: Coap, edhoc: bytes) -> Account:
    return Account(flight, protocol=len(edhoc), coap=len(bytes(message)) - len(edhoc))


def _whole(agreed: Output, post: Post, *, is_combined: bool) -> Iterator[Expected]:
    """Yield messages 1 to 3, each in a datagram; 1 and 2 where 3 goes with the first request."""
    message_1, message_2, message_3 = (agreed[f"message_{n}"] for n in (1, 2, 3))
    first = post([*_EDHOC_PATH, _REQUEST_FORMAT], _TRUE + message_1)
    yield "client", first, _handshake("message_1", first, message_1)
    answer = _changed(first, [_RESPONSE_FORMAT], message_2)
    yield "server", answer, _handshake("message_2", answer, message_2)
    if not is_combined:
        third = post([*_EDHOC_PATH, _REQUEST_FORMAT], agreed.responder_connection + message_3)
        yield "client", third, _handshake("message_3", third, message_3)
        answer = _changed(third, [], b"")
        yield "server", answer, _handshake("answer to 3", answer, b"")


def _in_blocks(agreed: Output, post: Post) -> Iterator[Expected]:
    """Yield message 1, and messages 2 and 3 block by block (RFC 7959)."""
    message_1, message_2 = agreed.message_1, agreed.message_2
    request = post([*_EDHOC_PATH, _REQUEST_FORMAT], _TRUE + message_1)
    yield "client", request, _handshake("message_1", request, message_1)
    for option, part in _blocks(message_2):
        if option[0] >> 4:
            asked = bytes([option[0] & 0xF0 | _SZX])
            request = post([*_EDHOC_PATH, (BLOCK2, asked)], b"")
            yield "client", request, _handshake("next block", request, b"")
        answer = _changed(request, [_RESPONSE_FORMAT, (BLOCK2, option)], part)
        yield "server", answer, _handshake("message_2", answer, part)
    c_r = agreed.responder_connection
    for option, part in _blocks(c_r + agreed.message_3):
        third = post([*_EDHOC_PATH, _REQUEST_FORMAT, (BLOCK1, option)], part)
        of_edhoc = part if option[0] >> 4 else part[len(c_r) :]
        yield "client", third, _handshake("message_3", third, of_edhoc)
        code = CONTINUE if option[0] & _MORE else CHANGED
        answer = _changed(third, [(BLOCK1, option)], b"", code)
        yield "server", answer, _handshake("answer to 3", answer, b"")


def _expected(talk: Talk, agreed: Output) -> Iterator[Expected]:
    """Yield each datagram's sender, the message, and what its bytes are for."""
    number = 0

    def post(options: list[Option], payload: bytes) -> Coap:
        nonlocal number
        number += 1
        token = bytes([number & 255])
        return Coap(
            kind=CON, code=POST, number=number, token=token, options=options, payload=payload
        )

    def protected(flight: str, plain: Coap, sealed: Coap, *, record: bool) -> Account:
        data = len(plain.payload)
        coap = len(bytes(plain)) - data
        length = len(bytes(sealed))
        return Account(flight, length - coap - data, coap, data, record)

    is_combined = bool(talk.define.get("EDHOC_COMBINED", 0))
    if talk.define.get("EDHOC_MESSAGE_BYTES", 0):
        yield from _in_blocks(agreed, post)
    else:
        yield from _whole(agreed, post, is_combined=is_combined)
    own, others = _contexts(agreed, _kdf(talk.wiring["handshake"]))
    for sequence in range(talk.records):
        with_3 = is_combined and sequence == 0
        plain = post([_RESOURCE], talk.request)
        marked = Coap(**{**vars(plain), "options": [_RESOURCE, (EDHOC, b"")]}) if with_3 else plain
        sealed = own.request(marked, sequence)
        if with_3:
            sealed = Coap(**{**vars(sealed), "payload": agreed.message_3 + sealed.payload})
        flight = "message_3, request" if with_3 else "request"
        yield "client", sealed, protected(flight, plain, sealed, record=sequence > 0)
        plain = _changed(plain, [], talk.response)
        sealed = others.response(plain, sequence)
        yield "server", sealed, protected("response", plain, sealed, record=sequence > 0)


def _blocks(message: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the value of each block's option, and the block (RFC 7959, section 2.2)."""
    for number, at in enumerate(range(0, len(message), _BLOCK_BYTES)):
        more = _MORE if at + _BLOCK_BYTES < len(message) else 0
        yield bytes([number << 4 | more | _SZX]), message[at : at + _BLOCK_BYTES]


def _contexts(agreed: Output, kdf: Kdf) -> tuple[Security, Security]:
    """Return the contexts that EDHOC's keys make: the client's and the server's."""
    exporter = kdf(agreed.key, 10, b"", len(agreed.key))
    secret, salt = kdf(exporter, 0, b"", 16), kdf(exporter, 1, b"", 8)
    client = _identifier(agreed.responder_connection)
    server = _identifier(_c_i(agreed.initiator_connection))
    return (
        Security(secret=secret, salt=salt, sender=client, recipient=server),
        Security(secret=secret, salt=salt, sender=server, recipient=client),
    )


def keys(talk: Talk) -> dict[str, list[str]]:
    """Return OSCORE's security context as Wireshark takes it, which knows no EDHOC."""
    folder = talk.wiring["handshake"]
    client, _ = _contexts(_agreed(folder), _kdf(folder))
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
