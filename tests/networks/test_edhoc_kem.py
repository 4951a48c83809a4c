"""EDHOC with ML-KEM and ML-DSA as a draft has it: its bytes, its blocks, and what is refused."""

import random
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import aiocoap
import pytest
from Crypto.Hash import KMAC256

from coap_edhoc_peers import NET, PROGRAM, Device, Link, running
from joulemark.catalogue.protocols import CLIENT, SERVER, Pair, protocol
from joulemark.errors import VerificationError
from joulemark.oracle import Output
from joulemark.project import FIRMWARE, ROOT
from joulemark.reference import edhoc_kem
from joulemark.reference.oscore import BLOCK1, BLOCK2, CON, POST, URI_PATH, Coap, Option, body
from joulemark.subjects.handshake import flights
from joulemark.subjects.handshake.flights import Priced, price
from joulemark.subjects.handshake.talk import Talk
from oscore_device import build

NAME = "edhoc-mlkem512-draft"
BOARD = "nrf52840-dk"
BLOCK = 1024
EK, CIPHERTEXT, SIGNATURE = 800, 768, 2420
"""FIPS 203, table 3; FIPS 204, table 2."""


@pytest.fixture(scope="module")
def told() -> list[Talk]:
    return []


@pytest.fixture(scope="module")
def priced(told: list[Talk]) -> Priced:
    with pytest.MonkeyPatch.context() as patch:

        def kept(**values: object) -> Talk:
            told.append(Talk(**values))  # type: ignore[arg-type]
            return told[-1]

        patch.setattr(flights, "Talk", kept)
        return price(protocol(NAME), BOARD, Pair(records=1))


def test_what_each_message_has(priced: Priced) -> None:
    rows = {f.name: f.protocol for f in priced.flights if not f.record}
    assert rows["message_1"] == 1 + 1 + 3 + EK + 1
    # C_R, kid and the signature's head and bytes; of message 3, kid, signature and tag.
    assert rows["message_2"] == 3 + CIPHERTEXT + 1 + 1 + 3 + SIGNATURE
    assert rows["message_3"] == 3 + 1 + 3 + SIGNATURE + 16
    assert rows["next block"] == rows["answer to 3"] == 0


def test_messages_go_in_blocks(priced: Priced, told: list[Talk]) -> None:
    (talk,) = told
    senders = [message.sender for message in talk.datagrams]
    assert senders == [CLIENT, SERVER] * (len(senders) // 2)
    # Of 3,196 bytes four blocks, of 1 + 2,443 three; then two requests.
    assert len(senders) == 2 * (4 + 3 + 2)
    assert max(len(message.data) for message in talk.datagrams) < BLOCK + 64
    for party in priced.parties:
        assert len(party.computed) == 2 + 2 * 2


def test_a_changed_byte_is_not_the_oracle_s(priced: Priced, told: list[Talk]) -> None:
    (talk,) = told
    of = protocol(NAME)
    assert of.read(talk)
    for number, message in enumerate(talk.datagrams):
        for at in (0, len(message.data) // 2, len(message.data) - 1):
            data = bytearray(message.data)
            data[at] ^= 1
            changed = [*talk.datagrams]
            changed[number] = replace(message, data=bytes(data))
            with pytest.raises(VerificationError):
                of.read(replace(talk, datagrams=changed))
    with pytest.raises(VerificationError, match="client's key"):
        of.read(replace(talk, keys={**talk.keys, CLIENT: bytes(64)}))


def test_lost_blocks_are_sent_again_and_computed_once() -> None:
    lossy = price(protocol(NAME), BOARD, Pair(records=1, loss=0.2, seed=3))
    assert sum(flight.again for flight in lossy.flights) > 0
    for party in lossy.parties:
        assert len(party.computed) == 6


def test_the_oracle_s_kmac_is_the_standard_s() -> None:
    """Sample 4 of NIST's KMAC_samples.pdf."""
    key, data = bytes(range(0x40, 0x60)), bytes(range(4))
    mac = KMAC256.new(key=key, data=data, mac_len=64, custom=b"My Tagged Application")
    assert mac.hexdigest().startswith("20c570c31346f703c9ac36c61c03cb64")


PATH: list[Option] = [(URI_PATH, b".well-known"), (URI_PATH, b"edhoc")]
ODD = 3000


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The server's program for this machine, with sanitizers."""
    parts = ("edhoc/kem", "edhoc/parties/ml-dsa-44")
    primitives = ("kem/ml-kem/ref", "signature/ml-dsa/ref")
    own = [FIRMWARE / "net" / part for part in parts]
    ways = [FIRMWARE / "primitives" / way for way in primitives]
    sources = [PROGRAM, *(source for folder in (*own, *ways) for source in folder.glob("*.c"))]
    includes = [
        *own,
        *(FIRMWARE / "net" / each for each in NET),
        FIRMWARE / "boots/none",
        ROOT / "tests/networks/radio",
        FIRMWARE / "hal",
        FIRMWARE / "hal/host",
        *(folder for way in ways for folder in (way, way.parent, way.parent.parent)),
    ]
    of = protocol(NAME)
    kem = tomllib.loads((FIRMWARE / "net/edhoc/kem/part.toml").read_text())["define"]
    ledger = {"LEDGER_MOTE": 1, "LEDGER_PEER": 0, "LEDGER_RECORDS": 1, "EDHOC_COMBINED": 0}
    sizes = {"LEDGER_REQUEST_BYTES": 16, "LEDGER_RESPONSE_BYTES": 16, "COAP_ACK_TIMEOUT_MS": 2000}
    macros = {**kem, **of.variant.define, **ledger, **sizes}
    flags = ["-D_GNU_SOURCE", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    flags += [*(f"-I{each}" for each in includes), *map(str, sources)]
    folder = tmp_path_factory.mktemp("server")
    host = ROOT / "tests/networks/coap_edhoc_host.c"
    return build(folder, host, *flags, macros=macros)


class Client:
    """Asks the program, and reads its answers with aiocoap."""

    def __init__(self, ours: Device) -> None:
        self.ours, self.number = ours, 0

    def asks(self, data: bytes) -> aiocoap.Message | None:
        """Return the answer, if there is one."""
        self.ours.link.way.clear()
        self.ours.hears(data)
        answers = [data for _, _, _, data in self.ours.link.way]
        return aiocoap.Message.decode(answers[0]) if answers else None

    def post(self, options: list[Option], payload: bytes = b"") -> aiocoap.Message:
        """Return the answer to a request."""
        answer = self.asks(self.head() + body(options, payload))
        assert answer is not None
        return answer

    def head(self) -> bytes:
        """Return the next request's header and token."""
        self.number += 1
        return Coap(kind=CON, code=POST, number=self.number, token=b"t").head


def agrees(client: Client, agreed: Output) -> None:
    """Go through a handshake block by block, as RFC 7959 has it."""
    answer = client.post([*PATH, (12, b"A")], b"\xf5" + agreed.message_1)
    message_2 = answer.payload
    while answer.opt.block2.more:
        assert answer.opt.block2.start == len(message_2) - BLOCK
        number = answer.opt.block2.block_number + 1
        answer = client.post([*PATH, (BLOCK2, bytes([number << 4 | 6]))])
        message_2 += answer.payload
    assert message_2 == agreed.message_2
    whole = agreed.responder_connection + agreed.message_3
    for number, at in enumerate(range(0, len(whole), BLOCK)):
        more = at + BLOCK < len(whole)
        block = bytes([number << 4 | 8 * more | 6])
        answer = client.post([*PATH, (12, b"A"), (BLOCK1, block)], whole[at : at + BLOCK])
        assert answer.code == (aiocoap.CONTINUE if more else aiocoap.CHANGED)
        assert answer.opt.block1 == (number, more, 6)


def odd(rng: random.Random) -> Iterator[bytes]:
    """Yield requests with blocks that nobody asked for: whole messages too long, or at random."""
    while True:
        if rng.random() < 0.1:
            for number in range(rng.randrange(1, 7)):
                block = bytes([number << 4 | 8 | 6])
                yield body([*PATH, (12, b"A"), (BLOCK1, block)], rng.randbytes(BLOCK))
        options = list(PATH)
        for number in (BLOCK2, BLOCK1):
            if rng.random() < 0.6:
                first = rng.choice([rng.randrange(256), rng.randrange(4) << 4 | 8 | 6])
                value = bytes([first]) + rng.randbytes(rng.randrange(3))
                options.append((number, value[rng.random() < 0.1 :]))
        length = rng.choice([0, BLOCK, rng.randrange(1150)])
        yield body(options, rng.randbytes(length))


def test_blocks_as_aiocoap_reads_them_and_odd_ones(program: Path) -> None:
    agreed = edhoc_kem.agreed()
    rng = random.Random(1)
    with running(program) as process:
        ours = Device(process, Link(rng, 0), CLIENT)
        client = Client(ours)
        agrees(client, agreed)
        assert ours.key == agreed.key
        ours.key = b""
        made = odd(rng)
        for number in range(ODD):
            if number % 500 == 0:
                client.post([*PATH, (12, b"A")], b"\xf5" + agreed.message_1)
            client.asks(client.head() + next(made))
        assert ours.key == b""
        agrees(client, agreed)
        assert ours.key == agreed.key
