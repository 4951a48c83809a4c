"""Motes that are power-cycled: the auditor checks whether nonces are reused."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import forged
from joulemark.analysis.auditor import Auditor, Flaw, Seen
from joulemark.catalogue import datafile
from joulemark.catalogue.boards import load_board
from joulemark.catalogue.networks import KeyFile, Slots, made
from joulemark.catalogue.protocols import Pair, protocol
from joulemark.cli import app
from joulemark.project import ROOT
from joulemark.runners.network import RunningNetwork
from joulemark.subjects.slot.template import ps_of

NETWORKS = ROOT / "networks"
SIDES = ("client", "server")
ROOT_MOTE, LEAF_MOTE = 0, 1
"""Numbers in what `forged` makes."""
BEACON, ACKNOWLEDGEMENT = 0, 2
"""IEEE Std 802.15.4, frame types."""

COUNTED = [("telosb", "msp430"), ("openmote-cc2538", "armv7m"), ("sensortag-cc2650", "armv7m")]


@pytest.mark.parametrize(
    ("board", "boots", "code"), [*((*one, 0) for one in COUNTED), ("openmote-cc2538", "none", 16)]
)
def test_no_slot_number_comes_twice(board: str, boots: str, code: int, tmp_path: Path) -> None:
    """A count of boots keeps slot numbers apart; without one, the auditor finds reuse."""
    text = (NETWORKS / "tsch-telosb.toml").read_text()
    root = 'name = "root"\nboard = "telosb"\n'
    kept, wired = 'boots = "boots/msp430"', f'boots = "boots/{boots}"'
    assert root in text
    assert kept in text
    text = text.replace(root, f'name = "root"\nboard = "{board}"\nrestart_s = [2.5]\n')
    (tmp_path / "tsch.toml").write_text(text.replace(kept, wired, 1))
    keys = "tsch-telosb.keys.toml"
    (tmp_path / keys).write_text((NETWORKS / keys).read_text())
    run(tmp_path / "tsch.toml", "5s", code)


def run(network: Path, duration: str, code: int, *options: str) -> None:
    """Run a network to its end: the auditor finds nothing, or a reused nonce."""
    command = ["network", str(network), "--for", duration, "--quiet", *options]
    done = CliRunner().invoke(app, command)
    assert getattr(done.exception, "exit_code", done.exit_code) == code, done.output
    if code:
        assert "nonce used twice" in str(done.exception)
    else:
        assert "0 flaws" in done.stdout


def test_plasa_takes_nothing_again_after_restarts(tmp_path: Path) -> None:
    """Packets are replayed to a mote that has forgotten that it received them."""
    run(NETWORKS / "plasa-restarts.toml", "5.8s", 0, "--uart", str(tmp_path))
    (heard,) = (path.read_text() for path in tmp_path.glob("receiver.*"))
    numbers = [int(n, 16) for n in re.findall(r"heard 64(..)001122334455 from 3", heard)]
    assert len(numbers) > 15
    assert numbers == sorted(set(numbers))
    # It is admitted again each time, and what is sent after the last time is heard.
    (authority,) = (path.read_text() for path in tmp_path.glob("authority.*"))
    assert authority.count("admitted 2\n") == 3
    assert numbers[-1] > (4.0 - 0.6) / 0.125


@pytest.mark.parametrize(
    ("board", "boots", "code"),
    [*((*one, 0) for one in COUNTED), ("telosb", "first", 16)],
)
def test_plasa_uses_no_nonce_twice(board: str, boots: str, code: int, tmp_path: Path) -> None:
    """Without a count of boots, an authority and its mote repeat themselves under the same keys."""
    text = (NETWORKS / "plasa-telosb.toml").read_text()
    wired = f'board = "{board}"\nwiring = {{ boots = "boots/{boots}" }}\n'
    text = text.replace('board = "telosb"\n', wired)
    # It renews the first key before its mote is back: another key under the same nonce.
    text = text.replace('name = "authority"\n', 'name = "authority"\nrestart_s = [1.0]\n')
    (tmp_path / "plasa.toml").write_text(text)
    run(tmp_path / "plasa.toml", "3s", code)


@pytest.mark.parametrize("patience", [8, 0])
def test_motes_of_an_authority_that_restarts_are_admitted_again(
    patience: int, tmp_path: Path
) -> None:
    """A mote asks if it hears no renewal for this many packets; otherwise service would end."""
    text = (NETWORKS / "plasa-telosb.toml").read_text()
    text = text.replace("restart_s = [2.0]\n", "")
    text = text.replace('name = "authority"\n', 'name = "authority"\nrestart_s = [1.6]\n')
    mote = "define = { PLASA_POLICY = 5"
    assert mote in text
    text = text.replace(mote, f"{mote}, PLASA_PATIENCE = {patience}")
    (tmp_path / "plasa.toml").write_text(text)
    run(tmp_path / "plasa.toml", "4s", 0, "--uart", str(tmp_path))
    (authority,) = (path.read_text() for path in tmp_path.glob("authority.*"))
    before, after = authority.split("authority 1\n")[1:]
    assert "admitted 2\n" in before
    assert "heard" in before
    assert ("admitted 2\n" in after) == (patience > 0)
    assert ("heard" in after) == (patience > 0)


def audited(air: forged.Air) -> list[Flaw]:
    """Return the auditor's findings on all that was on the air, whoever sent it."""
    template = forged.TEMPLATE
    slots = Slots(
        length_us=round(ps_of(template.slot) / 10**6),
        tx_offset_us=round(ps_of(template.tx_offset) / 10**6),
    )
    names = {ROOT_MOTE: "root", LEAF_MOTE: "leaf"}
    keys = datafile.read(NETWORKS / "tsch-telosb.keys.toml", KeyFile)
    auditor = Auditor(keys, None, slots)
    seen = [
        Seen(names.get(frame.mote, "attacker"), frame.phy, frame.begin_ps, frame.frame)
        for frame in sorted(air.frames, key=lambda frame: frame.begin_ps)
    ]
    flaws = [flaw for one in seen for flaw in auditor.look(one)]
    assert auditor.verified == len(seen)
    return flaws


@pytest.mark.slow
@pytest.mark.parametrize(
    ("board", "boots"), [*COUNTED, ("telosb", "none"), ("openmote-cc2538", "none")]
)
def test_what_a_root_said_before_a_leaf_restarted_is_not_answered(board: str, boots: str) -> None:
    """A leaf that keeps nothing accepts a beacon from then, and reuses the nonces from then."""
    air = forged.pair(board, "hardware", 80, boots)
    at_first = air.counts(LEAF_MOTE)
    assert at_first["joins"] == 1
    assert at_first["acknowledged"] > 5
    said = [frame for frame in air.frames if frame.mote == ROOT_MOTE]
    beacons = [f for f in said if f.frame[0] & 7 == BEACON and f.frequency_mhz == forged.LOWEST_MHZ]
    # The beacon by which it joined: it has sent something in many of the slots that follow.
    recorded = said[said.index(beacons[-1]) :]
    air.hear(ROOT_MOTE, LEAF_MOTE, 200.0)
    air.restart(LEAF_MOTE)
    begun = len(air.frames)
    later_ps = air.network.time_ps + 10**12 - recorded[0].begin_ps
    for frame in recorded:
        air.network.inject(
            air.attacker,
            frame.phy,
            frame.begin_ps + later_ps,
            frame.frequency_mhz,
            0.0,
            frame.frame,
        )
    air.run(recorded[-1].end_ps + later_ps + ps_of(2 * forged.TEMPLATE.slot))
    answers = [frame for frame in air.frames[begun:] if frame.mote == LEAF_MOTE]
    flaws = audited(air)
    if boots == "none":
        assert answers
        assert {(flaw.rule, flaw.sender) for flaw in flaws} == {("nonce used twice", "leaf")}
        return
    assert not answers
    assert not flaws
    assert air.counts(LEAF_MOTE)["joins"] == 0
    if board != "telosb":
        return
    # The root went on, and is followed once the 1024 slots that were kept as used are over.
    air.hear(ROOT_MOTE, LEAF_MOTE, 50.0)
    air.run(ps_of(1020 * forged.TEMPLATE.slot))
    assert air.counts(LEAF_MOTE)["joins"] == 0
    air.run(ps_of(1150 * forged.TEMPLATE.slot))
    again = air.counts(LEAF_MOTE)
    assert again["joins"] == 1
    assert again["acknowledged"] > 5
    assert not audited(air)


@pytest.mark.slow
def test_a_beacon_that_a_leaf_has_not_heard_is_refused_if_its_slot_is_past() -> None:
    """A leaf that hears nothing goes on to send what it has to, slot by slot."""
    air = forged.pair("telosb", "hardware", 100)
    # Between a question and its answer, so that the answer is repeated again and again.
    while air.frames[-1].mote == ROOT_MOTE or air.frames[-1].frame[0] & 7 != ACKNOWLEDGEMENT:
        air.run(air.network.time_ps + ps_of(forged.TEMPLATE.slot) // 8)
    air.hear(ROOT_MOTE, LEAF_MOTE, 200.0)
    begun = len(air.frames)
    air.run(air.network.time_ps + 400 * ps_of(forged.TEMPLATE.slot))
    alone = air.frames[begun:]
    assert sum(frame.mote == LEAF_MOTE for frame in alone) > 90
    assert not audited(air)
    recorded = next(
        frame
        for frame in alone
        if frame.mote == ROOT_MOTE
        and frame.frame[0] & 7 == BEACON
        and frame.frequency_mhz == forged.LOWEST_MHZ
    )
    said = len(air.frames)
    for _ in range(3):
        now_ps = air.network.time_ps
        air.network.inject(
            air.attacker,
            forged.PHY,
            now_ps + 2 * 10**12,
            forged.LOWEST_MHZ,
            0.0,
            recorded.frame,
        )
        air.run(now_ps + 3 * 10**12)
    assert not [frame for frame in air.frames[said:] if frame.mote == LEAF_MOTE]
    assert not audited(air)


def test_oscore_goes_on_after_restarts_and_takes_nothing_twice(tmp_path: Path) -> None:
    """Numbers are reserved in flash; a server asks for an Echo before it takes a request."""
    run(NETWORKS / "oscore-restarts.toml", "7.6s", 0, "--uart", str(tmp_path))
    client, server = (next(tmp_path.glob(f"{name}.*")).read_text() for name in SIDES)
    assert client.count("key") == 5
    taken = [int(number, 16) for number in re.findall("took (.*)", server)]
    assert len(taken) >= client.count("answered") + client.count("done") > 25
    assert taken == sorted(set(taken))


@pytest.mark.parametrize(("kept", "mote"), [("boots/msp430", "client"), ("boots/armv7m", "server")])
def test_numbers_that_begin_anew_are_found(kept: str, mote: str, tmp_path: Path) -> None:
    text = (NETWORKS / "oscore-restarts.toml").read_text()
    assert kept in text
    (tmp_path / "oscore.toml").write_text(text.replace(kept, "boots/none"))
    keys = "oscore-restarts.keys.toml"
    (tmp_path / keys).write_text((NETWORKS / keys).read_text())
    command = ["network", str(tmp_path / "oscore.toml"), "--for", "5s", "--quiet"]
    done = CliRunner().invoke(app, command)
    assert f"of {mote} at" in str(done.exception)
    assert "nonce used twice" in str(done.exception)


def test_old_requests_are_not_served_after_a_restart(tmp_path: Path) -> None:
    """All frames of the first 2.5 s are sent again as soon as the server has restarted."""
    text = (NETWORKS / "oscore-restarts.toml").read_text()
    run(NETWORKS / "oscore-restarts.toml", "2.5s", 0, "--pcap", str(tmp_path / "first.pcapng"))
    text += '[[recording]]\nname = "tape"\nfile = "first.pcapng"\nat_s = 2.65\n'
    text = text.replace("restart_s = [1.7, 4.0, 4.6, 6.9]", "restart_s = [1.7]")
    (tmp_path / "oscore.toml").write_text(text)
    keys = "oscore-restarts.keys.toml"
    (tmp_path / keys).write_text((NETWORKS / keys).read_text())
    command = ["network", str(tmp_path / "oscore.toml"), "--for", "5.2s", "--quiet"]
    done = CliRunner().invoke(app, [*command, "--uart", str(tmp_path / "said")])
    assert done.exit_code == 0, done.output
    server = next((tmp_path / "said").glob("server.*")).read_text()
    taken = [int(number, 16) for number in re.findall("took (.*)", server)]
    assert taken == sorted(set(taken))
    assert taken[-1] > 64 + 10, "the client's own are served"


def test_messages_under_another_context_do_not_verify(tmp_path: Path) -> None:
    (tmp_path / "oscore.toml").write_text((NETWORKS / "oscore-restarts.toml").read_text())
    keys = "oscore-restarts.keys.toml"
    (tmp_path / keys).write_text((NETWORKS / keys).read_text().replace("9e7c", "9e7d"))
    command = ["network", str(tmp_path / "oscore.toml"), "--for", "600ms", "--quiet"]
    done = CliRunner().invoke(app, command)
    assert "4 frames are flawed" in str(done.exception)
    assert "does not verify" in str(done.exception)


@pytest.mark.parametrize("boots", ["armv7m", "none"])
@pytest.mark.parametrize("name", ["edhoc-3-2", "edhoc-mlkem512-draft", "dtls13-psk-x25519"])
def test_no_key_comes_again_where_boots_are_counted(name: str, boots: str, tmp_path: Path) -> None:
    """Both sides lose power and agree anew: their nonces begin from 0 again."""
    of, board = protocol(name), load_board("nrf52840-dk")
    network = of.pair(board, Pair(records=1))
    on = [1.4, 2.8]
    motes = [
        {
            **mote.model_dump(include={"name", "board", "program", "define", "start_s"}),
            "wiring": {**mote.wiring, "boots": f"boots/{boots}"},
            "restart_s": on,
        }
        for mote in network.mote
    ]
    values = {"title": name, "everyone": {"attenuation_db": 60}, "mote": motes}
    running = RunningNetwork(made(values, tmp_path / "restarts.toml"))
    keys: tuple[list[bytes], list[bytes]] = [], []
    for piece in running.run(4.0):
        for line in piece.lines:
            if line.data.startswith(b"key "):
                keys[line.mote].append(line.data)
    assert keys[0] == keys[1]
    assert len(keys[0]) == 1 + len(on)
    assert len(set(keys[0])) == (1 if boots == "none" else len(keys[0]))
