"""DTLS 1.3 between two boards: the ledger, its witness, losses, sizes and the guide."""

import re

import pytest
from typer.testing import CliRunner

from joulemark.catalogue.protocols import CLIENT, SERVER, Pair, protocol
from joulemark.cli import app
from joulemark.errors import BuildError, VerificationError
from joulemark.project import ROOT
from joulemark.subjects.handshake import flights
from joulemark.subjects.handshake.flights import Priced, price
from joulemark.subjects.handshake.talk import Talk

BOARD = "openmote-cc2538"
FLASH_BYTES_MAX, RAM_BYTES_MAX = 24 * 1024, 4 * 1024
"""What a client with a pre-shared key and ECDHE may take on a Cortex-M3."""


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
        return price(protocol("dtls13-psk-x25519"), BOARD, Pair(records=2))


def test_the_bytes_of_each_flight(priced: Priced) -> None:
    rows = {(f.name, f.record): (f.protocol, f.coap, f.payload) for f in priced.flights}
    # The draft's 219, 226 and 56 less 33 for each share: X25519 for P-256.
    assert rows == {
        ("ClientHello", False): (186, 0, 0),
        ("ServerHello...Finished", False): (193, 0, 0),
        ("Finished", False): (56, 0, 0),
        ("ACK", False): (30, 0, 0),
        ("request", False): (12, 8, 16),
        ("response", False): (12, 6, 16),
        ("request", True): (12, 8, 16),
        ("response", True): (12, 6, 16),
    }


def test_a_client_is_small(priced: Priced) -> None:
    client = priced.party(CLIENT)
    flash, _ = client.parts["net/dtls13"]
    assert flash <= FLASH_BYTES_MAX
    assert client.ram_bytes + client.stack_bytes <= RAM_BYTES_MAX  # with radio and drivers


def test_no_byte_passes_the_witness_changed(priced: Priced, told: list[Talk]) -> None:
    assert priced.flights
    (talk,) = told
    of = protocol("dtls13-psk-x25519")
    assert len(of.read(talk)) == len(talk.datagrams)
    for number, message in enumerate(talk.datagrams):
        for at in range(0, len(message.data), 7):
            if message.data[0] == 22 and 1 <= at <= 10:
                continue  # a plain record's version and number authenticate nothing
            data = bytearray(message.data)
            data[at] ^= 0x10
            changed = type(message)(**{**vars(message), "data": bytes(data)})
            datagrams = [*talk.datagrams[:number], changed, *talk.datagrams[number + 1 :]]
            with pytest.raises(VerificationError):
                of.read(Talk(**{**vars(talk), "datagrams": datagrams}))


@pytest.mark.parametrize("seed", [1, 2])
def test_what_is_lost_is_sent_again_and_not_counted_twice(seed: int) -> None:
    lossy = price(protocol("dtls13-psk"), BOARD, Pair(records=8, loss=0.45, seed=seed))
    assert sum(f.again for f in lossy.flights) > 0
    assert {f.protocol for f in lossy.flights if f.record} == {12}
    for side, computed in ((CLIENT, 7), (SERVER, 6)):
        assert len(lossy.party(side).computed) == computed


def test_a_hybrid_exchange_goes_in_fragments() -> None:
    rows = {f.name: f for f in price(protocol("dtls13-rpk-x25519mlkem768"), BOARD, Pair()).flights}
    # Ed25519's 152 with a share of 1,216 bytes for 32, and a second record with its header.
    assert rows["ClientHello"].protocol == 152 + 1216 - 32 + 13 + 12
    assert rows["Certificate...Finished"].protocol == 201
    assert rows["ClientHello"].frames > 10


def test_a_telosb_has_room_but_not_for_signatures() -> None:
    party = price(protocol("dtls13-psk-p256"), "telosb", Pair(records=0)).party(CLIENT)
    assert party.flash_bytes < 48 * 1024
    with pytest.raises(BuildError, match=r"does not fit: [\d,]+ bytes of flash are missing"):
        price(protocol("dtls13-rpk-p256"), "telosb", Pair(records=0))


def test_the_guide_shows_what_the_command_prints() -> None:
    text = (ROOT / "docs/dtls.md").read_text()
    (command,) = re.findall(r"```console\n\$ joulemark (.*?)\n```", text)
    (expected,) = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    done = CliRunner().invoke(app, command.split())
    assert done.exit_code == 0, done.output
    assert done.stdout.split() == expected.split()
