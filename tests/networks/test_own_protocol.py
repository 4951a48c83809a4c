"""A protocol in a folder of somebody's own, whose code lies elsewhere and which has no oracle."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from joulemark.catalogue.protocols import CLIENT, SERVER, Pair, protocol, protocols
from joulemark.cli import app
from joulemark.errors import InputError, VerificationError
from joulemark.project import using
from joulemark.records.store import Store
from joulemark.subjects.handshake import directions
from joulemark.subjects.handshake.flights import Priced, ProtocolFailedError, price
from joulemark.subjects.handshake.talk import Message, Talk

BOARD = "openmote-cc2538"
HERE = Path(__file__).parent / "own"
PART = """
title = "Somebody's own"
role = "application"
needs = ["net/udp", "net/console"]
sources = ["../../theirs/*.c"]
include = ["../../theirs"]
define = { FAULT = 0 }
"""
PROTOCOL = """
title = "Somebody's own"
port = 7777
client = { record = ["protect", "open"] }
server = { record = ["open", "protect"] }
"""
FAULTS = {"own": 0, "own-clear": 1, "own-key": 2, "own-done": 3}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return somebody's folder, beside which their library lies."""
    home = tmp_path_factory.mktemp("home")
    own = home / "mine" / "own"
    own.mkdir(parents=True)
    (home / "theirs").mkdir()
    shutil.copy(HERE / "main.c", own)
    for name in ("shift.c", "shift.h"):
        shutil.copy(HERE / name, home / "theirs")
    (own / "part.toml").write_text(PART)
    variants = [
        f'[variant.{name}]\ntitle = "{name}"\ndefine = {{ FAULT = {fault} }}'
        for name, fault in FAULTS.items()
    ]
    (own / "protocol.toml").write_text("\n".join([PROTOCOL, *variants]))
    return home / "mine"


@pytest.fixture(scope="module")
def priced(folder: Path) -> Priced:
    with using(folder):
        return price(protocol("own"), BOARD, Pair(records=2))


def test_it_is_counted_by_who_sends(priced: Priced) -> None:
    assert priced.verified.startswith("no oracle")
    found = [(f.name, f.sender, f.record, f.protocol, f.payload) for f in priced.flights]
    assert found == [
        ("flight 1", CLIENT, False, 8, 0),
        ("flight 2", SERVER, False, 8, 0),
        ("request", CLIENT, False, 0, 16),
        ("response", SERVER, False, 0, 16),
        ("request", CLIENT, True, 0, 16),
        ("response", SERVER, True, 0, 16),
    ]


def test_what_it_computes_has_the_rows_of_its_marker(priced: Priced) -> None:
    for side, record in ((CLIENT, ["protect", "open"]), (SERVER, ["open", "protect"])):
        party = priced.party(side)
        assert [(c.does, c.record) for c in party.computed] == [
            (directions.HANDSHAKE, False),
            *((name, False) for name in record),
            *((name, True) for name in record),
        ]
        for spent, is_record in ((party.first, False), (party.record, True)):
            some = [c for c in party.computed if c.record == is_record]
            # A server's work before the first datagram is in neither.
            assert sum(c.cycles for c in some) == pytest.approx(spent.cycles)
            assert sum(c.core_uj for c in some) < spent.core_uj
        assert party.parts["own"][0] > 300


@pytest.mark.parametrize(
    ("name", "error", "says"),
    [
        ("own-clear", VerificationError, "a request's data is on the air in the clear"),
        ("own-key", VerificationError, "the server's key is not the client's"),
        ("own-done", ProtocolFailedError, "gave up; the last that it said is 'it was not to be'"),
    ],
)
def test_what_can_be_checked_is(
    folder: Path, name: str, error: type[VerificationError], says: str
) -> None:
    with using(folder), pytest.raises(error, match=says):
        price(protocol(name), BOARD, Pair())


def test_it_is_one_row_beside_the_others(folder: Path, tmp_path: Path) -> None:
    store = str(tmp_path / "kept.db")
    chosen = ["--source", str(folder), "--board", BOARD, "--store", store]
    both = ["--protocol", "own", "--protocol", "edhoc-3-2-combined"]
    with using(folder):
        done = CliRunner().invoke(app, ["handshake", *chosen, *both])
        assert done.exit_code == 0, done.output
        assert "own: no oracle: both sides have one key, and no data is in the clear" in done.stdout
        alone = CliRunner().invoke(app, ["handshake", *chosen, "--protocol", "own"])
        assert "no oracle: both sides" in alone.stdout.splitlines()[1]
        with Store(store) as kept:
            notes = {r.subject.protocol: r.notes for r in kept.records()}  # type: ignore[attr-defined]
    assert notes["own"] == ("no oracle: both sides have one key, and no data is in the clear",)
    assert "the oracle's" in notes["edhoc-3-2-combined"][0]
    assert "own" not in protocols()


def test_losses_are_repeated_by_nobody_here(folder: Path) -> None:
    """CSMA's own repetition is enough for a tenth, and its frames are counted apart."""
    with using(folder):
        lossy = price(protocol("own"), BOARD, Pair(records=2, loss=0.2, seed=1))
    assert sum(f.again for f in lossy.flights) > 0
    assert {f.protocol for f in lossy.flights} == {0, 8}


def test_a_pattern_that_matches_nothing_is_told(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "mine")
    with using(tmp_path / "mine"), pytest.raises(InputError, match="key sources"):
        price(protocol("own"), BOARD, Pair())


def test_every_shipped_protocol_has_an_oracle() -> None:
    for each in protocols().values():
        assert each.has_oracle
        assert (each.folder / "oracle.py").is_file()


def test_flights_are_runs_of_one_sender() -> None:
    def said(sender: str, data: bytes) -> Message:
        return Message(sender=sender, source=1, destination=2, data=data)

    talk = Talk(
        variant="",
        define={},
        wiring={},
        datagrams=[
            said(CLIENT, b"a" * 20),
            said(SERVER, b"b" * 30),
            said(SERVER, b"c" * 5),
            said(CLIENT, b"d" * 24),
            said(SERVER, b"e" * 10),
            said(CLIENT, b"f" * 25),
        ],
        keys={CLIENT: b"k", SERVER: b"k"},
        records=2,
        request=b"0123456789",
        response=b"ABCDEFGHIJKL",
    )
    accounts = directions.read(talk, [1, 2, 3, 10, 11, 20], (9, 19))
    assert [(a.flight, a.protocol, a.payload, a.record) for a in accounts] == [
        ("flight 1", 20, 0, False),
        ("flight 2", 30, 0, False),
        ("flight 2", 5, 0, False),
        ("request", 14, 10, False),
        ("response", 0, 10, False),
        ("request", 15, 10, True),
    ]
    with pytest.raises(VerificationError, match="in the clear"):
        directions.check(replace(talk, datagrams=[said(CLIENT, b"x" + talk.request)]))
    short = replace(talk, request=b"01", datagrams=[said(CLIENT, b"x01")])
    directions.check(short)
