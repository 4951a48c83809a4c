"""EDHOC with ML-KEM and ML-DSA as a draft has it: its bytes, its blocks, and what is refused."""

from dataclasses import replace

import pytest
from Crypto.Hash import KMAC256

from joulemark.catalogue.protocols import CLIENT, SERVER, Pair, protocol
from joulemark.errors import VerificationError
from joulemark.subjects.handshake import flights
from joulemark.subjects.handshake.flights import Priced, price
from joulemark.subjects.handshake.talk import Talk

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


def test_a_changed_byte_is_not_the_oracle_s(told: list[Talk]) -> None:
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
