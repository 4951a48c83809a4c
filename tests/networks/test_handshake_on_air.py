"""EDHOC over emulated radios: RFC 9529 byte for byte, lost messages, and an attacker."""

import binascii
import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from joulemark._engine import Phy
from joulemark.analysis.frames import parse
from joulemark.catalogue.networks import Network, read_network
from joulemark.cli import app
from joulemark.errors import InputError, VerificationError
from joulemark.project import NETWORKS, ROOT
from joulemark.records.store import Store
from joulemark.runners.network import RunningNetwork
from joulemark.subjects.handshake.ledger import Ledger, Side, ledger

OPENMOTES = NETWORKS / "edhoc-openmote.toml"
INITIATOR, RESPONDER = 1, 2
CHANNEL_26_MHZ = 2480
NUMBER = r"[0-9][0-9,.]*"
# RFC 9529, section 3.1: the first message, which asks for suite 6, and the answer to it.
SUITE_6 = bytes.fromhex(
    "03065820741a13d7ba048fbb615e94386aa3b61bea5b3d8f65f32620b749bee8d278efa90e"
)
WRONG_SUITE = bytes.fromhex("0202")


def frame(sender: int, receiver: int, sequence: int, payload: bytes) -> bytes:
    """Return a data frame as CSMA sends it, not requesting an acknowledgement."""
    pan = 0x4544
    header = bytes([0x41, 0x98, sequence])
    header += b"".join(n.to_bytes(2, "little") for n in (pan, receiver, sender))
    # ITU-T CRC-16, reflected (IEEE Std 802.15.4-2015, 7.2.10).
    mirrored = bytes(int(f"{b:08b}"[::-1], 2) for b in header + payload)
    crc = int(f"{binascii.crc_hqx(mirrored, 0):016b}"[::-1], 2)
    return header + payload + crc.to_bytes(2, "little")


def attacked(network: Network, *frames: tuple[float, bytes]) -> RunningNetwork:
    """Return a network with an attacker who sends frames at given times."""
    running = RunningNetwork(network, observe=True)
    attacker = running.engine.add_recording()
    for number in range(len(running.seats)):
        running.engine.link(attacker, number, attenuation_db=60)
    for at_s, psdu in frames:
        begin_ps = round(at_s * 1e12)
        running.engine.inject(attacker, Phy("oqpsk-2450"), begin_ps, CHANNEL_26_MHZ, 0.0, psdu)
    return running


def words(running: RunningNetwork) -> list[list[str]]:
    """Run to the end, and return what each mote prints."""
    said: list[list[str]] = [[] for _ in running.seats]
    for piece in running.run(60.0):
        for line in piece.lines:
            said[line.mote].append(line.data.decode().strip())
        if "done" in said[0]:
            return said
    raise AssertionError(said)


def side(priced: Ledger, name: str) -> Side:
    return next(side for side in priced.sides if side.side == name)


def does(priced: Ledger, name: str) -> list[str]:
    return [step.does for step in side(priced, name).steps]


def assert_near(printed: str, shown: str) -> None:
    """Check for the same words, and for similar numbers: a driver may change by a few bytes."""
    assert re.sub(NUMBER, "#", printed).split() == re.sub(NUMBER, "#", shown).split()
    pairs = zip(re.findall(NUMBER, printed), re.findall(NUMBER, shown), strict=True)
    for found, written in pairs:
        number = float(written.replace(",", ""))
        assert float(found.replace(",", "")) == pytest.approx(number, rel=0.1, abs=1), written


def test_the_guide_shows_what_the_command_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    text = (ROOT / "docs/handshakes.md").read_text()
    commands = re.findall(r"```console\n\$ joulemark (.*?)\n```", text)
    shown = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    for command, expected in zip(commands, shown, strict=True):
        done = CliRunner().invoke(app, command.split())
        assert done.exit_code == 0, done.output
        assert_near(done.stdout, expected)


@pytest.mark.parametrize(
    ("file", "sizes", "frames"),
    [
        ("edhoc-sensortag", [39, 45, 19, 9], (4, 4)),
        # The second message takes two frames: it is one byte too long for one.
        ("edhoc-mixed", [37, 116, 90, 9], (5, 5)),
        ("edhoc-telosb-resting", [39, 45, 19, 9], (4, 4)),
    ],
)
def test_the_rfc_on_air(file: str, sizes: list[int], frames: tuple[int, int]) -> None:
    priced = ledger(RunningNetwork(read_network(NETWORKS / f"{file}.toml"), observe=True))
    assert list(priced.messages.values()) == sizes
    assert priced.sessions == 1
    assert does(priced, "initiator") == [
        "message_1",
        "sends message_1, waits",
        "message_3",
        "sends message_3, waits",
        "confirm",
    ]
    assert does(priced, "responder")[0] == "hears message_1"
    assert tuple(sum(s.frames for s in one.steps) for one in priced.sides) == frames
    for one in priced.sides:
        assert one.flash_bytes < 48 * 1024, "a TelosB's flash"
        assert one.ram_bytes + max(step.stack_bytes for step in one.steps) < 10 * 1024
        for step in one.steps:
            assert step.core_uj > 0
            assert bool(step.cycles) == bool(step.stack_bytes) == (step.radio_uj < 1), step
    if "resting" in file:
        for one in priced.sides:
            listening = sum(step.radio_uj for step in one.steps)
            assert listening < 0.1 * one.uj, "the radio is off while the other computes"


def test_the_ledger_is_kept_and_printed_as_json(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    chosen = ["--network", str(OPENMOTES), "--json", "--store", url, "--per-day", "24"]
    done = CliRunner().invoke(app, ["handshake", *chosen])
    assert done.exit_code == 0, done.output
    printed = json.loads(done.stdout)
    assert list(printed["messages"].values()) == [39, 45, 19, 9]
    with Store(url, "read") as store:
        kept = {record.subject.side: record for record in store.records()}  # type: ignore[attr-defined]
    assert set(kept) == set(printed["battery"]) == {"initiator", "responder"}
    for one in printed["sides"]:
        record = kept[one["side"]]
        assert record.flash_bytes == one["flash_bytes"]
        joules = sum(step["core_uj"] + step["radio_uj"] for step in one["steps"]) * 1e-6
        assert record.value("energy_gross") == pytest.approx(joules * 1e9)
        assert printed["battery"][one["side"]]["year_j"] == pytest.approx(24 * 365.25 * joules)
        for step in one["steps"]:
            assert record.value("time", step["does"]) == step["time_ps"]
            assert record.value("cycles", step["does"]) == step["cycles"]
        assert sum(step["frames"] for step in one["steps"]) == record.value("frames_sent") == 4


def changed(folder: Path, *changes: tuple[str, str]) -> Network:
    text = OPENMOTES.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "network.toml").write_text(text)
    return read_network(folder / "network.toml")


def test_messages_that_are_lost_are_sent_again(tmp_path: Path) -> None:
    lossy = ("attenuation_db = 60", "attenuation_db = 60\nloss = 0.6")
    soon = ("EDHOC_CONFIRM = 1", "EDHOC_CONFIRM = 1, EDHOC_WAIT_MS = 1500, EDHOC_TRIES = 9")
    network = changed(tmp_path, lossy, soon, ("title =", "seed = 2\ntitle ="))
    priced = ledger(RunningNetwork(network, observe=True))
    assert priced.sessions == 1, "a message that comes again is no other session's"
    assert sum(step.frames for one in priced.sides for step in one.steps) > 12


FORGED_2 = bytes([2]) + bytes.fromhex("582b") + bytes(range(43))
FORGED_3 = bytes([3]) + bytes.fromhex("52") + bytes(range(18))
FORGED_4 = bytes([4]) + bytes.fromhex("48") + bytes(range(8))
FORGED_ERROR = bytes([5, 1, 0x60])


@pytest.mark.parametrize(
    ("at_s", "sender", "forged", "heard", "sessions"),
    [
        pytest.param(0.3, RESPONDER, FORGED_2, "refused 2", 2, id="message-2"),
        # The true message 2 is then taken for the next session's, and ends that one too.
        pytest.param(0.3, RESPONDER, FORGED_ERROR, "error 1", 3, id="error"),
        pytest.param(0.7, INITIATOR, FORGED_3, "refused 3", 2, id="message-3"),
        pytest.param(0.9, RESPONDER, FORGED_4, "refused 4", 2, id="message-4"),
    ],
)
def test_what_is_forged_ends_a_session_and_another_comes_to_its_end(
    at_s: float, sender: int, forged: bytes, heard: str, sessions: int
) -> None:
    network = read_network(OPENMOTES)
    receiver = INITIATOR + RESPONDER - sender
    when = (at_s, frame(sender, receiver, 200, forged))
    said = words(attacked(network, when))
    assert any(heard in lines for lines in said), said
    priced = ledger(attacked(network, when))
    assert priced.sessions == sessions
    assert "sessions before" in does(priced, "initiator")


def answers(running: RunningNetwork, until_s: float, to: int) -> Sequence[bytes]:
    """Return the payloads of the frames to a mote."""
    found = []
    for piece in running.run(until_s):
        for sent in piece.transmissions:
            seen = parse(sent.frame[:-2])
            if seen.kind == "data" and seen.destination == to.to_bytes(2, "big"):
                found.append(seen.payload)
    return found


def test_a_suite_that_is_not_there_is_answered_with_those_that_are() -> None:
    """As in RFC 9529, section 3.2; a third party asks, while both motes sleep."""
    running = attacked(read_network(OPENMOTES), (1.5, frame(7, RESPONDER, 3, b"\x01" + SUITE_6)))
    assert set(answers(running, 1.55, 7)) == {b"\x05" + WRONG_SUITE}


def test_what_is_no_handshake_is_one_clear_error() -> None:
    run = CliRunner()
    ping = run.invoke(app, ["handshake", "--network", str(NETWORKS / "ping-telosb.toml")])
    assert isinstance(ping.exception, InputError)
    assert "net/edhoc" in str(ping.exception)


def test_no_handshake_is_no_ledger(tmp_path: Path) -> None:
    apart = ("attenuation_db = 60", "attenuation_db = 200")
    soon = ("EDHOC_CONFIRM = 1", "EDHOC_CONFIRM = 1, EDHOC_WAIT_MS = 500, EDHOC_TRIES = 1")
    with pytest.raises(VerificationError, match=r"initiator has no key: .*no answer to 1"):
        ledger(RunningNetwork(changed(tmp_path, apart, soon), observe=True))
