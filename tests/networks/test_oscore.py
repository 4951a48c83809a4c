"""The device's OSCORE: RFC 8613's vectors, aiocoap as its peer, replays, forgeries and reboots."""

import ctypes
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import aiocoap
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzzers import run_fuzzer
from joulemark.project import FIRMWARE
from joulemark.reference.oscore import CON, Coap, Security
from oscore_device import (
    EXHAUSTED,
    FORGED,
    MALFORMED,
    NO_ROOM,
    OK,
    REPLAYED,
    STALE,
    UNKNOWN,
    Device,
    build,
    load,
)
from oscore_peer import Context, encoded, outgoing

SECRET = bytes.fromhex("0102030405060708090a0b0c0d0e0f10")
SALT = bytes.fromhex("9e7ca92223786340")
CONTEXT = bytes.fromhex("37cbf3210017a2d3")
GET, POST = 1, 2

# RFC 8613, appendix C.1 to C.3: salt, sender, recipient, ID context; sender key, recipient key, IV.
KEYS = [
    (
        (SALT, b"", b"\1", b""),
        "f0910ed7295e6ad4b54fc793154302ff",
        "ffb14e093c94c9cac9471648b4f98710",
        "4622d4dd6d944168eefb54987c",
    ),
    (
        (b"", b"\0", b"\1", b""),
        "321b26943253c7ffb6003b0b64d74041",
        "e57b5635815177cd679ab4bcec9d7dda",
        "be35ae297d2dace910c52e99f9",
    ),
    (
        (SALT, b"", b"\1", CONTEXT),
        "af2a1300a5e95788b356336eeecd2b92",
        "e39a0c7c77b43f03b4b39ab9a268699f",
        "2ca58fb85ff1b81c0b7181b85e",
    ),
]
# C.4 to C.6: requests with sequence number 20.
REQUESTS = [
    (
        "44015d1f00003974396c6f63616c686f737483747631",
        "44025d1f00003974396c6f63616c686f7374620914ff612f1092f1776f1c1668b3825e",
    ),
    (
        "440171c30000b932396c6f63616c686f737483747631",
        "440271c30000b932396c6f63616c686f737463091400ff4ed339a5a379b0b8bc731fffb0",
    ),
    (
        "44012f8eef9bbf7a396c6f63616c686f737483747631",
        "44022f8eef9bbf7a396c6f63616c686f73746b19140837cbf3210017a2d3ff72cd7273fd331ac45cffbe55c3",
    ),
]
# C.7 and C.8: the response to C.4, without and with a partial IV.
RESPONSE = "64455d1f00003974ff48656c6c6f20576f726c6421"
RESPONSES = [
    (False, "64445d1f0000397490ffdbaad1e9a7e7b2a813d3c31524378303cdafae119106"),
    (True, "64445d1f00003974920100ff4d4c13669384b67354b2b6175ff4b8658c666a6cf88e"),
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return load(tmp_path_factory.mktemp("oscore"))


@pytest.mark.parametrize(("case", "keys"), [(k[0], k[1:]) for k in KEYS])
def test_keys_of_appendix_c(
    library: ctypes.CDLL, case: tuple[bytes, ...], keys: tuple[str, ...]
) -> None:
    salt, sender, recipient, id_context = case
    found = Device(library, SECRET, salt, sender, recipient, id_context).keys
    assert tuple(key.hex() for key in found) == keys
    security = Security(
        secret=SECRET, salt=salt, sender=sender, recipient=recipient, id_context=id_context or None
    )
    assert security.derived(sender, "Key", 16).hex() == keys[0]
    assert security.common_iv.hex() == keys[2]


@pytest.mark.parametrize("number", range(3))
def test_requests_of_appendix_c(library: ctypes.CDLL, number: int) -> None:
    (salt, sender, recipient, id_context), *_ = KEYS[number]
    plain, protected = map(bytes.fromhex, REQUESTS[number])
    client = Device(library, SECRET, salt, sender, recipient, id_context)
    library.host_set_sequence(client.context, 20)
    assert client.protect_request(plain)[:2] == (OK, protected)
    server = Device(library, SECRET, salt, recipient, sender, id_context)
    assert server.open_request(protected)[:2] == (OK, plain)
    security = Security(
        secret=SECRET, salt=salt, sender=sender, recipient=recipient, id_context=id_context or None
    )
    message = Coap(
        kind=CON,
        code=GET,
        number=int.from_bytes(plain[2:4]),
        token=plain[4:8],
        options=[(3, b"localhost"), (11, b"tv1")],
    )
    assert bytes(message) == plain
    assert bytes(security.request(message, 20)) == protected


@pytest.mark.parametrize(("fresh", "protected"), RESPONSES)
def test_responses_of_appendix_c(library: ctypes.CDLL, fresh: bool, protected: str) -> None:
    client, server = pair(library)
    library.host_set_sequence(client.context, 20)
    _, request, sent = client.protect_request(bytes.fromhex(REQUESTS[0][0]))
    _, _, bound = server.open_request(request)
    plain = bytes.fromhex(RESPONSE)
    found = server.protect_response(plain, bound, fresh=fresh)
    assert found == (OK, bytes.fromhex(protected))
    assert client.open_response(found[1], sent) == (OK, plain)


def pair(library: ctypes.CDLL, client: bytes = b"", server: bytes = b"\1") -> tuple[Device, Device]:
    return (
        Device(library, SECRET, SALT, client, server),
        Device(library, SECRET, SALT, server, client),
    )


# ---- aiocoap as the peer ----


identifiers = st.tuples(st.binary(max_size=7), st.binary(max_size=7)).filter(lambda i: i[0] != i[1])
# Uri-Host, If-None-Match, Uri-Port, Uri-Path, Content-Format, Uri-Query, Size1, one that is not
# registered: of both classes, short and long, near and far.
options = st.lists(
    st.one_of(
        st.tuples(st.just(3), st.binary(min_size=1, max_size=20).map(lambda b: b.hex().encode())),
        st.tuples(st.just(11), st.text("abc", max_size=30).map(str.encode)),
        st.tuples(st.just(15), st.text("xyz", max_size=15).map(str.encode)),
        st.tuples(st.just(2056), st.binary(max_size=14)),
    ),
    max_size=4,
    unique_by=lambda option: option[0],
)


@dataclass(frozen=True)
class Exchange:
    """Two sides, a request and a response."""

    client: bytes
    server: bytes
    id_context: bytes | None
    sequence: int
    options: list[tuple[int, bytes]]
    payload: bytes
    answer: bytes
    token: bytes


exchanges = st.builds(
    lambda ids, *rest: Exchange(*ids, *rest),
    identifiers,
    st.none() | st.binary(min_size=1, max_size=8),
    st.integers(0, 2**32 - 100),
    options,
    st.binary(max_size=60),
    st.binary(max_size=60),
    st.binary(max_size=8),
)


@settings(max_examples=60)
@given(case=exchanges)
def test_either_side_can_be_aiocoap(library: ctypes.CDLL, case: Exchange) -> None:
    client_id, server_id, id_context, sequence = (
        case.client,
        case.server,
        case.id_context,
        case.sequence,
    )
    plain = Coap(
        kind=CON,
        code=POST,
        number=7,
        token=case.token,
        options=case.options,
        payload=case.payload,
    )
    request = bytes(plain)
    # aiocoap keeps Uri-Host, which is not encrypted, apart.
    inner = bytes(replace(plain, options=[o for o in case.options if o[0] != 3]))
    response = bytes(Coap(kind=2, code=0x45, number=7, token=case.token, payload=case.answer))

    client = Device(library, SECRET, SALT, client_id, server_id, id_context or b"")
    library.host_set_sequence(client.context, sequence)
    status, protected, sent = client.protect_request(request)
    assert status == OK
    peer = Context(SECRET, SALT, server_id, client_id, id_context)
    opened, request_id = peer.unprotect(aiocoap.Message.decode(protected))
    assert encoded(opened, request) == inner
    outer, _ = peer.protect(outgoing(response), request_id)
    status, found = client.open_response(encoded(outer, response), sent)
    assert (status, found) == (OK, response)

    server = Device(library, SECRET, SALT, server_id, client_id, id_context or b"")
    peer = Context(SECRET, SALT, client_id, server_id, id_context)
    peer.sender_sequence_number = sequence
    outer, request_id = peer.protect(outgoing(request), kid_context=id_context is not None)
    outer = encoded(outer, request)
    assert outer == protected, "both sides protect alike"
    status, found, bound = server.open_request(outer)
    assert (status, found) == (OK, request)
    for fresh in (False, True):
        status, protected = server.protect_response(response, bound, fresh=fresh)
        assert status == OK
        opened, _ = peer.unprotect(aiocoap.Message.decode(protected), request_id)
        assert encoded(opened, response) == response


# ---- Replays, forgeries, rooms ----


def requests(client: Device, count: int) -> Iterator[bytes]:
    for number in range(count):
        plain = bytes(Coap(kind=CON, code=POST, number=number, options=[(11, b"s")], payload=b"1"))
        status, protected, _ = client.protect_request(plain)
        assert status == OK
        yield protected


def test_a_number_is_taken_once_within_the_window(library: ctypes.CDLL) -> None:
    client, server = pair(library)
    sent = list(requests(client, 200))
    rng = random.Random(8613)
    taken: set[int] = set()
    for _ in range(3000):
        number = rng.randrange(min(len(sent), max(taken, default=0) + 40))
        highest = max(taken, default=-1)
        status, *_ = server.open_request(sent[number])
        is_old = number <= highest - 32
        assert status == (REPLAYED if number in taken or is_old else OK), number
        taken |= {number} if status == OK else set()
    assert max(taken) == 199


def test_what_is_changed_truncated_or_made_up_is_refused_and_leaves_no_trace(
    library: ctypes.CDLL,
) -> None:
    client, server = pair(library)
    (sent,) = requests(client, 1)
    before = server.context.raw
    for bit in range(8 * len(sent)):
        changed = bytearray(sent)
        changed[bit // 8] ^= 1 << bit % 8
        status, found, _ = server.open_request(bytes(changed))
        # The header's type, number and token are not protected (section 4.2).
        if (bit // 8 in {0, 2, 3} and status == OK) or bit // 8 == 1:
            server = pair(library)[1]
        else:
            assert status in {MALFORMED, UNKNOWN, FORGED}, bit
        assert status == OK or found == b""
    server = pair(library)[1]
    for length in range(len(sent)):
        assert server.open_request(sent[:length])[0] in {MALFORMED, UNKNOWN, FORGED}
    rng = random.Random(1)
    for _ in range(2000):
        made_up = sent[:7] + rng.randbytes(rng.randrange(60))
        assert server.open_request(made_up)[0] in {MALFORMED, UNKNOWN, FORGED}
    assert server.context.raw == before
    assert server.open_request(sent)[0] == OK


def test_a_response_fits_its_request_alone(library: ctypes.CDLL) -> None:
    client, server = pair(library)
    plain = bytes(Coap(kind=CON, code=POST, number=1, payload=b"a"))
    answer = bytes(Coap(kind=2, code=0x44, number=1, payload=b"b"))
    _, first, sent = client.protect_request(plain)
    _, second, sent_later = client.protect_request(plain)
    for fresh in (False, True):
        server = pair(library)[1]
        _, _, bound = server.open_request(first)
        _, response = server.protect_response(answer, bound, fresh=fresh)
        assert client.open_response(response, sent_later)[0] == FORGED
        assert client.open_response(response, sent) == (OK, answer)
        assert client.open_request(response)[0] in {MALFORMED, UNKNOWN}, "a reflected message"
    assert server.open_request(second)[0] == OK


def test_a_request_is_not_reflected(library: ctypes.CDLL) -> None:
    client, _ = pair(library)
    (sent,) = requests(client, 1)
    assert client.open_request(sent)[0] == UNKNOWN


@pytest.mark.parametrize("kind", ["request", "response"])
def test_too_little_room_is_told(library: ctypes.CDLL, kind: str) -> None:
    client, server = pair(library)
    plain = bytes(Coap(kind=CON, code=POST, number=1, options=[(11, b"s" * 20)], payload=b"a" * 40))
    _, protected, _ = client.protect_request(plain)
    for room in range(len(protected) if kind == "request" else len(plain)):
        client, server = pair(library)
        if kind == "request":
            assert client.protect_request(plain, room)[0] == NO_ROOM
        else:
            assert server.open_request(protected, room)[0] == NO_ROOM


@pytest.mark.parametrize(
    "bad", ["", "40", "4001", "490100010000", "40010001ff", "40010001f0", "c0010001"]
)
def test_what_is_no_message_is_not_protected(library: ctypes.CDLL, bad: str) -> None:
    client, _ = pair(library)
    assert client.protect_request(bytes.fromhex(bad))[0] == MALFORMED


FUZZED = 20_000
LONGEST = 250


def fuzzer(folder: Path, group: int = 0) -> Path:
    """Build the libFuzzer target, for OSCORE or for a group's pairwise mode."""
    options = ("-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover")
    source = FIRMWARE / "fuzz/oscore.c"
    return build(folder, source, *options, includes_oscore=True, macros={"OSCORE_GROUP": group})


@pytest.mark.slow
@pytest.mark.parametrize("group", [0, 1], ids=["OSCORE", "pairwise"])
def test_no_message_opens_but_what_was_protected(group: int, tmp_path: Path) -> None:
    run_fuzzer(fuzzer(tmp_path, group), FUZZED, LONGEST)


# ---- Reboots (appendix B.1) ----


def test_no_nonce_comes_twice_whatever_is_switched_off(library: ctypes.CDLL) -> None:
    """Both sides lose power at random; every key and partial IV on the air is counted."""
    rng = random.Random(12)
    used: Counter[tuple[str, bytes]] = Counter()
    client, server = pair(library)
    kept = {"client": 0, "server": 0}
    plain = bytes(Coap(kind=CON, code=POST, number=1, payload=b"a"))
    answer = bytes(Coap(kind=2, code=0x44, number=1, payload=b"b"))
    library.host_resume(client.context, 0, 1)
    library.host_resume(server.context, 0, 1)
    for _ in range(4000):
        if rng.random() < 0.05:
            client = pair(library)[0]
            library.host_resume(client.context, kept["client"], 1)
        if rng.random() < 0.05:
            server = pair(library)[1]
            library.host_resume(server.context, kept["server"], 1)
        status, request, _ = client.protect_request(plain)
        assert status == OK
        kept["client"] = max(kept["client"], library.host_kept())
        piv = piv_of(request)
        used["client", piv] += 1
        status, _, bound = server.open_request(request)
        if status in {OK, STALE}:
            is_fresh = status == STALE or rng.random() < 0.3
            status, response = server.protect_response(answer, bound, fresh=is_fresh)
            assert status == OK
            if is_fresh:
                kept["server"] = max(kept["server"], library.host_kept())
                used["server", piv_of(response)] += 1
    assert max(used.values()) == 1
    assert len(used) > 4000


def piv_of(message: bytes) -> bytes:
    """Return the partial IV in a message without token and other options."""
    assert message[4] >> 4 == 9
    length = message[5] & 7
    return message[6 : 6 + length]


@pytest.mark.parametrize("reserved", [0, 64], ids=["no number of its own yet", "some"])
def test_a_server_that_lost_its_window_asks_for_an_echo(
    reserved: int, library: ctypes.CDLL
) -> None:
    client, server = pair(library)
    first, second = requests(client, 2)
    assert server.open_request(first)[0] == OK
    server = pair(library)[1]
    library.host_resume(server.context, reserved, 1)
    assert server.open_request(first)[0] == STALE, "else it would be a replay"
    assert server.open_request(second)[0] == STALE
    wrong = Coap(kind=CON, code=POST, number=3, options=[(11, b"s"), (252, b"\xff" * 4)])
    assert server.open_request(client.protect_request(bytes(wrong))[1])[0] == STALE
    echo = library.host_echo(server.context).to_bytes(4)
    right = Coap(kind=CON, code=POST, number=3, options=[(11, b"s"), (252, echo)])
    (late,) = requests(client, 1)
    protected = client.protect_request(bytes(right))[1]
    assert server.open_request(protected)[0] == OK
    assert server.open_request(protected)[0] == REPLAYED
    assert server.open_request(first)[0] == server.open_request(late)[0] == REPLAYED
    (later,) = requests(client, 1)
    assert server.open_request(later)[0] == OK


def test_numbers_that_cannot_be_reserved_are_not_used(library: ctypes.CDLL) -> None:
    client, _ = pair(library)
    library.host_resume(client.context, 0, 0)
    plain = bytes(Coap(kind=CON, code=POST, number=1))
    assert client.protect_request(plain)[0] == EXHAUSTED
    client, _ = pair(library)
    library.host_set_sequence(client.context, 2**32 - 1)
    assert client.protect_request(plain)[0] == EXHAUSTED
