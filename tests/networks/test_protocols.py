"""Secure protocols between two boards: the ledger, its oracle, losses, and what is refused."""

import json
import re
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from joulemark.analysis import lora
from joulemark.catalogue.boards import load_board
from joulemark.catalogue.protocols import CLIENT, SERVER, Pair, protocol, protocols
from joulemark.cli import _protocols, app
from joulemark.cli._options import lost_part
from joulemark.errors import BuildError, InputError, VerificationError
from joulemark.project import ROOT
from joulemark.records.store import Store
from joulemark.runners.network import RunningNetwork
from joulemark.subjects.handshake import flights
from joulemark.subjects.handshake.flights import Priced, price
from joulemark.subjects.handshake.talk import Talk
from joulemark.subjects.protocol import measure

BOARD = "openmote-cc2538"
COMBINED = "edhoc-3-2-combined"


@pytest.fixture(scope="module")
def told() -> list[Talk]:
    return []


@pytest.fixture(scope="module")
def combined(told: list[Talk]) -> Priced:
    """Three exchanges, whose talk is kept."""
    with pytest.MonkeyPatch.context() as patch:

        def kept(**values: object) -> Talk:
            told.append(Talk(**values))  # type: ignore[arg-type]
            return told[-1]

        patch.setattr(flights, "Talk", kept)
        return price(protocol(COMBINED), BOARD, Pair(records=2))


def test_the_bytes_of_each_layer(combined: Priced) -> None:
    rows = {(f.name, f.record): f for f in combined.flights}
    assert {key: (f.protocol, f.coap, f.payload) for key, f in rows.items()} == {
        # RFC 9529, section 3: 39 and 45 bytes; 19, with an option and OSCORE's 14.
        ("message_1", False): (39, 27, 0),
        ("message_2", False): (45, 8, 0),
        ("message_3, request", False): (19 + 1 + 14, 8, 16),
        ("response", False): (11, 6, 16),
        ("request", True): (14, 8, 16),
        ("response", True): (11, 6, 16),
    }
    for flight in combined.flights:
        # RFC 6282: 2 + 1, ports of 1 and 2 bytes, checksum 2. A frame: 6 before, 9 + 2 around.
        assert (flight.lowpan, flight.mac, flight.acks, flight.again) == (8, 17, 11, 0)
        assert flight.air_ps == pytest.approx(flight.on_air * 32e6, rel=1e-3)


def test_the_sides_add_up(combined: Priced) -> None:
    for party in combined.parties:
        for spent, record in ((party.first, False), (party.record, True)):
            some = [each for each in party.computed if each.record == record]
            assert sum(each.cycles for each in some) == pytest.approx(spent.cycles)
            assert sum(each.time_ps for each in some) == pytest.approx(spent.computing_ps)
            assert sum(each.core_uj for each in some) < spent.core_uj
            assert spent.sending_uj > 0 < spent.listening_uj
        assert party.first.cycles > 100 * party.record.cycles > 0
        assert party.stack_bytes > 1000
        assert party.flash_bytes > sum(party.parts[p][0] for p in ("net/oscore", "net/udp"))
    assert combined.frames(record=False) == 8
    assert combined.frames(record=True) == 4


def test_no_byte_passes_the_oracle_changed(combined: Priced, told: list[Talk]) -> None:
    (talk,) = told
    of = protocol(COMBINED)
    assert len(of.read(talk)) == len(talk.datagrams) == 8
    for number, message in enumerate(talk.datagrams):
        for at in range(len(message.data)):
            data = bytearray(message.data)
            data[at] ^= 0x10
            changed = [*talk.datagrams]
            changed[number] = replace(message, data=bytes(data))
            with pytest.raises(VerificationError):
                of.read(replace(talk, datagrams=changed))
    with pytest.raises(VerificationError):
        of.read(replace(talk, datagrams=talk.datagrams[:-1]))
    with pytest.raises(VerificationError, match="server's key"):
        of.read(replace(talk, keys={**talk.keys, "server": bytes(32)}))


@pytest.mark.parametrize(("board", "loss"), [(BOARD, 0.2), (BOARD, 0.5), ("nrf52840-dk", 0.5)])
def test_what_is_lost_is_sent_again_and_computed_once(board: str, loss: float) -> None:
    priced = price(protocol("edhoc-0-0"), board, Pair(records=1, loss=loss, seed=1))
    again = sum(flight.again for flight in priced.flights)
    assert again > 0
    for party in priced.parties:
        assert len(party.computed) == 6
    if loss > 0.3:
        # Acknowledgements of CSMA no longer suffice: RFC 7252, 4.2, after two to three seconds.
        assert priced.party(CLIENT).first.time_ps > 3e12
    # Message 2 has two fragments here.
    assert next(f.frames for f in priced.flights if f.name == "message_2") == 2


@pytest.mark.parametrize("client", ["telosb", BOARD])
def test_the_nrf52840s_driver_gets_on_with_the_other_radios(client: str) -> None:
    one, other = (
        protocol(COMBINED).pair(load_board(name), Pair(records=1))
        for name in (client, "nrf52840-dk")
    )
    mixed = one.model_copy(update={"mote": [one.mote[0], other.mote[1]]})
    running = RunningNetwork(mixed)
    frames, said = 0, []
    for piece in running.run(9.0):
        frames += len(piece.transmissions)
        said += [line.data for line in piece.lines if line.mote == 0]
        if b"done\n" in said:
            break
    assert b"done\n" in said
    assert frames == 8, "no frame is sent twice: each is acknowledged in time"


def test_seeds_of_neighbours_are_far_apart() -> None:
    """The engine's losses follow from seed XOR frame: those of small seeds are alike."""
    of, board = protocol(COMBINED), load_board(BOARD)
    seeds = [of.pair(board, Pair(seed=seed)).seed for seed in range(20)]
    assert min((a ^ b).bit_count() for a in seeds for b in seeds if a != b) > 10


def test_a_client_that_hears_nothing_gives_up() -> None:
    with pytest.raises(flights.ProtocolFailedError, match="gave up with 100% of the frames lost"):
        price(protocol(COMBINED), BOARD, Pair(loss=1.0))


def test_a_telosb_has_room_for_all_of_it() -> None:
    priced = price(protocol(COMBINED), "telosb", Pair(records=1))
    for party in priced.parties:
        assert party.flash_bytes < 48 * 1024
        assert party.ram_bytes + party.stack_bytes < 10 * 1024
    assert {f.protocol for f in priced.flights if f.record} == {14, 11}


def test_time_on_the_air_of_lora() -> None:
    # By hand from AN1200.13: 12.25 symbols of preamble; 8 + 8 x 5 and 8 + 6 x 5 of a frame.
    assert lora.frame_seconds(23, 7) == pytest.approx(60.25 * 128 / 125e3)
    assert lora.frame_seconds(23, 12) == pytest.approx((12.25 + 8 + 5 * 5) * 4096 / 125e3)
    assert lora.seconds([10, 10], 7) == pytest.approx(2 * lora.frame_seconds(23, 7))
    assert lora.seconds([60], 12) == pytest.approx(
        lora.frame_seconds(64, 12) + lora.frame_seconds(22, 12)
    )


def test_every_protocol_has_windows_of_both_sides_and_a_title() -> None:
    assert len(protocols()) >= 4
    for each in protocols().values():
        assert each.variant.title
        for side in (CLIENT, SERVER):
            assert each.windows(side).record


def test_lean_variants_are_small() -> None:
    """The bars that docs/protocols.md states, and its figures."""
    text = (ROOT / "docs/protocols.md").read_text()
    edhoc, dtls = (
        price(protocol(name), BOARD, Pair(records=1)).party(CLIENT)
        for name in ("edhoc-3-2-lean", "dtls13-psk-p256-lean")
    )
    of_edhoc = ("handshake/edhoc-3-2/armv7m-lean", "hash/sha-256/ref", "aead/ccm/ref")
    parts = (*(f"primitives/{name}" for name in of_edhoc), "net/oscore", "net/coap")
    for flash, flash_kb, party, ram_kb in (
        (sum(edhoc.parts[part][0] for part in parts), 16, edhoc, 3),
        (dtls.parts["net/dtls13"][0], 24, dtls, 4),
    ):
        ram = party.ram_bytes + party.stack_bytes
        assert flash <= flash_kb * 1024
        assert ram <= ram_kb * 1024
        assert f"| {flash:,} B | {flash_kb} KB |" in text
        assert f"| {ram:,} B | {ram_kb} KB |" in text


def test_runs_are_kept_and_served(
    combined: Priced, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = str(tmp_path / "kept.db")
    told = ["--protocol", COMBINED, "--board", BOARD, "--records", "2", "--store", store]
    first = CliRunner().invoke(app, ["handshake", *told])
    assert first.exit_code == 0, first.output
    # Nothing is run again, and a run is read as it was.
    monkeypatch.setattr(measure, "price_run", None)
    again, told_more = (CliRunner().invoke(app, ["handshake", *told, *m]) for m in ([], ["--json"]))
    assert again.stdout == first.stdout
    with Store(store) as kept:
        assert len(kept.records(history=True)) == 2
    read = flat(json.loads(told_more.stdout)[0]["runs"][0])
    conditions = replace(combined.conditions, compiler="gcc")
    whole = flat(asdict(replace(combined, conditions=conditions)))
    assert read.keys() == whole.keys()
    for name, value in whole.items():
        is_text = isinstance(value, str)
        assert read[name] == (value if is_text else pytest.approx(value, rel=1e-9)), name


def test_a_table_of_the_first_of_several_runs_says_so(combined: Priced) -> None:
    assert "the first of 3 runs; the means of all are at the end" in _protocols.one(combined, 3)
    assert not any("first of" in line for line in _protocols.one(combined))


def flat(value: object, name: str = "") -> dict[str, object]:
    """Return the leaves of nested values by their paths."""
    if isinstance(value, dict):
        parts = [flat(each, f"{name}.{key}") for key, each in value.items()]
    elif isinstance(value, list | tuple):
        parts = [flat(each, f"{name}.{n}") for n, each in enumerate(value)]
    else:
        return {name: value}
    return {key: leaf for part in parts for key, leaf in part.items()}


def test_several_as_json() -> None:
    chosen = ["--protocol", COMBINED, "--board", BOARD, "--network", "pair", "--json"]
    done = CliRunner().invoke(app, ["handshake", *chosen, "--records", "2"])
    assert done.exit_code == 0, done.output
    (found,) = json.loads(done.stdout)
    assert found["protocol"] == COMBINED
    assert found["failed"] == 0
    assert len(found["runs"][0]["flights"]) == 6


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (
            ["--protocol", "edhoc-3-3"],
            "--protocol: no protocol 'edhoc-3-3'; did you mean edhoc-3-2",
        ),
        (["--protocol", "edoc", "--protocol", "dtls"], "'edoc'; did you mean"),
        (["--protocol", "edoc", "--protocol", "dtls", "--board", "telosbb"], "'dtls'; there are"),
        (["--protocol", "edoc", "--protocol", "dtls", "--board", "telosbb"], "--board: "),
        (["--protocol", "edhoc-3-2", "--network", "edhoc-telosb"], "--network pair"),
        (["--network", "pair"], "--protocol"),
        (["--protocol", "edhoc-3-2", "--ad-size", "3"], "--ad-size"),
        (
            ["--protocol", "edhoc-3-2", "--board", "stm32vldiscovery"],
            "--board: stm32vldiscovery: its radio",
        ),
    ],
)
def test_what_does_not_go_together_is_told(options: list[str], says: str) -> None:
    done = CliRunner().invoke(app, ["handshake", *options])
    assert isinstance(done.exception, InputError), done.output
    assert says in str(done.exception)


def test_a_lean_variant_is_not_for_every_core() -> None:
    done = CliRunner().invoke(app, ["handshake", "--protocol", "edhoc-3-2-lean"])
    assert isinstance(done.exception, BuildError)
    assert "--board telosb: edhoc-3-2's implementation armv7m-lean" in str(done.exception)
    assert "there are msp430" in str(done.exception)


def test_what_does_not_fit_is_named_and_the_rest_goes_on() -> None:
    whole = ["handshake", "--protocol", "dtls13-rpk-p256", "--board", "telosb"]
    alone = CliRunner().invoke(app, whole)
    assert isinstance(alone.exception, BuildError)
    assert re.search(
        r"both over P-256, two of telosb, client: linking: it does not fit: [\d,]+ bytes of flash",
        str(alone.exception),
    )
    both = CliRunner().invoke(app, [*whole, "--protocol", "dtls13-psk", "--protocol", COMBINED])
    assert both.exit_code == 0, both.output
    lines = both.stdout.splitlines()
    told = lines[lines.index("left out: dtls13-rpk-p256 on telosb") + 1]
    assert re.fullmatch(
        r"  client: linking: it does not fit: [\d,]+ bytes of flash are missing", told
    )
    assert sum(line.startswith(("dtls13-psk ", COMBINED)) for line in lines) >= 6


def test_the_guide_shows_what_the_command_prints() -> None:
    text = (ROOT / "docs/protocols.md").read_text()
    commands = re.findall(r"```console\n\$ joulemark (.*?)\n```", text)
    shown = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    assert commands
    for command, expected in zip(commands, shown, strict=True):
        done = CliRunner().invoke(app, command.split())
        assert done.exit_code == 0, done.output
        assert done.stdout.split() == expected.split(), command
        assert max(map(len, done.stdout.split("errors,")[0].splitlines())) <= 80, command


@pytest.mark.parametrize("given", ["95%", "-1", "nan", "some", "%"])
def test_a_loss_that_is_none_is_refused(given: str) -> None:
    chosen = ["--protocol", COMBINED, "--board", BOARD, "--network", "pair", "--loss", given]
    done = CliRunner().invoke(app, ["handshake", *chosen])
    said = str(done.exception)
    assert f"{given!r} is no part of the frames" in said
    assert "from 0 to 0.9, or a percentage" in said


def test_a_loss_is_a_number_or_a_percentage() -> None:
    assert [lost_part(given) for given in ("0.1", "10%", 0.0, "90%")] == [0.1, 0.1, 0.0, 0.9]
