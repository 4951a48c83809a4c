"""Two images that somebody has compiled, in the ledger of protocols."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from joulemark.analysis.lowpan import _head
from joulemark.catalogue.boards import load_board
from joulemark.catalogue.protocols import CLIENT, SERVER, Pair, protocol
from joulemark.cli import app
from joulemark.errors import InputError, VerificationError
from joulemark.records.store import Store
from joulemark.runners.network import image_of
from joulemark.subjects.handshake.flights import Priced, price
from joulemark.subjects.handshake.images import price_images, start_images
from joulemark.subjects.protocol import measure

BOARD = "openmote-cc2538"
NAME = "edhoc-3-2-combined"


@pytest.fixture(scope="module")
def known() -> Priced:
    """Return what our own ledger says, whose datagrams are verified."""
    return price(protocol(NAME), BOARD, Pair(records=0))


@pytest.fixture(scope="module")
def files(known: Priced) -> list[Path]:
    network = protocol(NAME).pair(load_board(BOARD), Pair(records=1))
    return [image_of(mote).path for _, mote in network.seats()]


def test_images_of_a_known_protocol_have_its_figures(known: Priced, files: list[Path]) -> None:
    found = price_images(start_images(files, BOARD, Pair()), files, Pair(), 5.0)
    assert (
        found.verified == "not verified: what images compute is their own, but both print one key"
    )
    assert found.title.endswith("UDP ports 5683 and 61617")
    assert found.bytes_of(record=False)[1] == known.bytes_of(record=False)[1]
    for ours, theirs in zip(known.flights, found.flights, strict=True):
        assert theirs.protocol == ours.protocol + ours.coap + ours.payload
        assert (theirs.lowpan, theirs.mac, theirs.acks) == (ours.lowpan, ours.mac, ours.acks)
        assert (theirs.sender, theirs.frames, theirs.air_ps) == (
            ours.sender,
            ours.frames,
            ours.air_ps,
        )
    for side in (CLIENT, SERVER):
        own, other = known.party(side), found.party(side)
        assert other.ram_bytes == own.ram_bytes
        # Vectors, description and the boot's configuration are nobody's part.
        assert 1000 < other.flash_bytes - own.flash_bytes < 1600
        assert other.stack_bytes == own.stack_bytes
        # The span has no first message's making, and what else the core does is in it.
        assert other.first.time_ps == pytest.approx(own.first.time_ps, rel=0.1)
        assert other.first.sending_uj == pytest.approx(own.first.sending_uj, rel=0.1)
        made = [c.cycles for c in own.computed if c.does != "message_1"]
        assert 1 <= other.first.cycles / sum(made) < 1.01


def test_it_is_one_row_beside_protocols(files: list[Path]) -> None:
    images = [word for file in files for word in ("--image", str(file))]
    told = ["handshake", *images, "--board", BOARD]
    alone = CliRunner().invoke(app, told)
    assert alone.exit_code == 0, alone.output
    assert "not verified" in alone.stdout
    assert "awake" in alone.stdout
    both = CliRunner().invoke(app, [*told, "--protocol", "dtls13-psk", "--json"])
    assert [each["protocol"] for each in json.loads(both.stdout)] == ["image, image", "dtls13-psk"]
    again = CliRunner().invoke(app, [*told, "--protocol", "dtls13-psk"])
    assert "image, image: not verified" in again.stdout


def test_runs_are_kept_and_served(
    files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A record is read as its run was; other bytes under the same name are run anew."""
    priced = price_images(start_images(files, BOARD, Pair()), files, Pair(records=0), 5.0)
    store, here = str(tmp_path / "kept.db"), [tmp_path / "a.elf", tmp_path / "b.elf"]
    for file, copy in zip(files, here, strict=True):
        copy.write_bytes(file.read_bytes())
    images = [word for file in here for word in ("--image", str(file))]
    told = ["handshake", *images, "--for", "5s", "--board", BOARD, "--store", store]
    first = CliRunner().invoke(app, told)
    assert first.exit_code == 0, first.output
    with monkeypatch.context() as only:
        only.setattr(measure, "price_images", None)
        again, as_json = (CliRunner().invoke(app, [*told, *more]) for more in ([], ["--json"]))
    assert again.stdout == first.stdout
    read = json.loads(as_json.stdout)[0]["runs"][0]
    assert (read["title"], read["verified"]) == (priced.title, priced.verified)
    assert [f["name"] for f in read["flights"]] == [f.name for f in priced.flights]
    assert [f["sender"] for f in read["flights"]] == [f.sender for f in priced.flights]
    for party, known in zip(read["parties"], priced.parties, strict=True):
        assert party["first"]["cycles"] == known.first.cycles
        assert party["clock_hz"] == known.clock_hz
    assert [party["build"] for party in read["parties"]] == ["a", "b"]
    page = tmp_path / "page.html"
    shown = CliRunner().invoke(app, ["report", "--store", store, "--out", str(page)])
    assert shown.exit_code == 0, shown.output
    assert "a, b" in page.read_text()
    here[0].write_bytes(files[0].read_bytes() + b"another")
    assert CliRunner().invoke(app, told).exit_code == 0
    with Store(store) as kept:
        assert len(kept.records(history=True)) == 2 + 2


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        (["--image", "FIRST"], InputError, "--image: it takes two"),
        (["--image", "SECOND", "--image", "SECOND", "--for", "2s"], VerificationError, "both ways"),
        (
            ["--image", "FIRST", "--image", "SECOND", "--port", "99"],
            VerificationError,
            "of port 99",
        ),
        (["--image", "FIRST", "--image", "TEXT"], InputError, "TEXT"),
        (["--port", "99"], InputError, "--port"),
    ],
)
def test_what_is_no_conversation_is_told(
    files: list[Path], tmp_path: Path, options: list[str], error: type[Exception], says: str
) -> None:
    text = tmp_path / "TEXT"
    text.write_text("no image")
    named = {"FIRST": str(files[0]), "SECOND": str(files[1]), "TEXT": str(text)}
    done = CliRunner().invoke(
        app, ["handshake", "--board", BOARD, *(named.get(word, word) for word in options)]
    )
    assert isinstance(done.exception, error), done.output
    assert says in str(done.exception)


@pytest.mark.parametrize(
    ("headers", "source", "destination", "length", "whole"),
    [
        # RFC 6282: link-local, all elided, next header and hop limit 64 compressed.
        ("7e33 f0 1234 5678 cccc", 0x1234, 0x5678, 9, 48),
        ("7e33 f3 12 cccc", 0xF0B1, 0xF0B2, 6, 48),
        ("7e33 f2 12 5678 cccc", 0xF012, 0x5678, 8, 48),
        ("7e33 f1 1234 78 cccc", 0x1234, 0xF078, 8, 48),
        # A checksum elided.
        ("7e33 f4 1234 5678", 0x1234, 0x5678, 7, 48),
        # A context byte, a hop limit in line, 64-bit addresses of a context.
        (
            "7cd5 00 ff 0102030405060708 1112131415161718 f3 12 cccc",
            0xF0B1,
            0xF0B2,
            24,
            48,
        ),
        # Multicast of 48 bits, the next header in line, UDP as it is; 16 bytes of source.
        (
            "7a0911" + "20010db8" + "00" * 12 + "020000000001" + "14e914e9 0014 aaaa",
            5353,
            5353,
            33,
            48,
        ),
        # A hop-by-hop option of six bytes before UDP.
        ("7e33 e1 06 630400001e00 f3 12 cccc", 0xF0B1, 0xF0B2, 14, 56),
        # IPv6 as it is.
        (
            "41 60000000 0010 11 40"
            + "fe80"
            + "00" * 14
            + "fe80"
            + "00" * 14
            + "1633 f0b1 0010 aaaa",
            5683,
            0xF0B1,
            49,
            48,
        ),
    ],
)
def test_headers_of_others_are_read(
    headers: str, source: int, destination: int, length: int, whole: int
) -> None:
    data = bytes.fromhex(headers)
    head = _head(data + b"data")
    assert head is not None
    assert (head.source, head.destination) == (source, destination)
    assert (head.length, head.whole) == (length, whole)
    for short in range(len(data) - 2):
        _head(data[:short])


@pytest.mark.parametrize(
    "headers", ["7e33 3a", "7a33 3a 80", "41 60000000 0010 3a", "c0", "7e33 ee", ""]
)
def test_what_is_not_udp_is_left_out(headers: str) -> None:
    assert _head(bytes.fromhex(headers)) is None
