"""Byte counts of draft-ietf-iotops-security-protocol-comparison for EDHOC and OSCORE.

The draft's figures are those of its source of 2025-01-21 (github.com/lwig-wg/protocol-comparison,
a0d541f, version 08): sections "Message Sizes RPK", "Summary" of EDHOC, and the tables of OSCORE.
"""

import ctypes

import pytest

from joulemark.catalogue.primitives import Library
from joulemark.oracle import Inputs
from joulemark.reference.oscore import CON, Coap, Security
from oscore_device import OK, Device, load

LIBRARY = Library.load()
SECRET, SALT = bytes(range(16)), bytes(8)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return load(tmp_path_factory.mktemp("oscore"))


@pytest.mark.parametrize(
    ("primitive", "suite", "sizes"),
    [
        pytest.param("edhoc-3-2-aes-128", "02", (37, 45, 19), id="static DH, kid"),
        pytest.param("edhoc-0-0-aes-128", "00", (37, 115, 90), id="signature, x5t"),
    ],
)
def test_edhoc_with_one_suite_and_identifiers_of_a_byte(
    primitive: str, suite: str, sizes: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    algorithm = LIBRARY[primitive]
    connections = bytes.fromhex(suite + "37"), bytes.fromhex("27")
    oracle = algorithm.primitive.compute.__globals__
    monkeypatch.setitem(oracle, "CONNECTIONS", connections)
    values = algorithm.vectors[0].values
    names = algorithm.contract.file.input
    agreed = algorithm.oracle(Inputs(tag_bytes=0, **{n: values.get(n, b"") for n in names}))
    assert tuple(len(agreed[f"message_{n}"]) for n in (1, 2, 3)) == sizes


def test_what_signatures_and_certificates_add_to_edhoc() -> None:
    """The other two rows, by the lengths of what differs, each in a CBOR byte string."""

    def wrapped(length: int) -> int:
        return length + (1 if length < 24 else 2)

    def sizes(identity: int, proof: int) -> tuple[int, int]:
        plaintext = identity + wrapped(proof)
        return wrapped(32 + 1 + plaintext), wrapped(plaintext + 8)

    kid, x5t, mac, signature = 1, 14, 8, 64
    assert sizes(kid, mac) == (45, 19)
    assert sizes(x5t, mac) == (58, 33)
    assert sizes(kid, signature) == (102, 77)
    assert sizes(x5t, signature) == (115, 90)


@pytest.mark.parametrize(
    ("sequence", "identifier", "overhead"),
    [(5, "", 13), (0x1005, "", 14), (0x100005, "", 15), (5, "42", 14), (5, "4002", 15)],
)
def test_oscore_adds(library: ctypes.CDLL, sequence: int, identifier: str, overhead: int) -> None:
    """To a request with a payload, and 11 bytes to any response."""
    client = Device(library, SECRET, SALT, bytes.fromhex(identifier), b"\1")
    server = Device(library, SECRET, SALT, b"\1", bytes.fromhex(identifier))
    library.host_set_sequence(client.context, sequence)
    plain = bytes(Coap(kind=CON, code=2, number=1, options=[(11, b"s")], payload=b"data"))
    answer = bytes(Coap(kind=2, code=0x44, number=1, payload=b"data"))
    status, request, _ = client.protect_request(plain)
    assert (status, len(request) - len(plain)) == (OK, overhead)
    _, _, bound = server.open_request(request)
    status, response = server.protect_response(answer, bound)
    assert (status, len(response) - len(answer)) == (OK, 11)
    security = Security(secret=SECRET, salt=SALT, sender=bytes.fromhex(identifier), recipient=b"\1")
    message = Coap(kind=CON, code=2, number=1, options=[(11, b"s")], payload=b"data")
    assert bytes(security.request(message, sequence)) == request


def test_coap_under_edhoc_as_the_appendix_counts_it() -> None:
    """No token, no content format, the path "edhoc": 12, 5 and 12 bytes. Here 27, 8 and 27."""
    for token, format_, path, wanted in (
        (b"", [], [b"edhoc"], (12, 5)),
        (b"\1", [(12, b"\x41")], [b".well-known", b"edhoc"], (27, 8)),
    ):
        options = [*((11, segment) for segment in path), *format_]
        request = Coap(kind=CON, code=2, number=1, token=token, options=options, payload=b"\xf5")
        answer = Coap(kind=2, code=0x44, number=1, token=token, options=format_, payload=b"m")
        assert (len(bytes(request)), len(bytes(answer)) - 1) == wanted
