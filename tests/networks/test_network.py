"""Networks: their files, the command, and their runs."""

import json
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from command import joulemark
from joulemark.analysis.auditor import Flaw
from joulemark.catalogue.networks import read_network, seconds
from joulemark.cli import network as command
from joulemark.errors import AirError, InputError
from joulemark.project import NETWORKS
from joulemark.records.store import Store
from joulemark.runners.capture import read_capture
from joulemark.runners.network import RunningNetwork

PING = NETWORKS / "ping-telosb.toml"
MOTE = '[[mote]]\nname = "one"\nboard = "telosb"\nprogram = "net/ping"\n'
"""A valid mote."""


def written(folder: Path, text: str) -> Path:
    path = folder / "network.toml"
    path.write_text(f'title = "test"\n{text}')
    return path


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (MOTE + "colour = 1\n", "key mote.0.colour: unknown key"),
        (MOTE + 'image = "x"\n', "either a program or an image"),
        (MOTE + MOTE, "several are called one"),
        (MOTE + '[[link]]\nbetween = ["one", "two"]\nattenuation_db = 60\n', "there is no two"),
        (MOTE + '[[link]]\nfrom = "one"\nattenuation_db = 60\n', "both from and to"),
        (MOTE + "[everyone]\nattenuation_db = -1\n", "must be at least 0"),
        (MOTE + "crystal = { ppm = 5000 }\n", "must be at most 500"),
        (MOTE + "watch_crystal = { ppm = 5000 }\n", "must be at most 500"),
        (MOTE + "spread_watch_ppm = 5\n", "say in watch_crystal around what"),
        (MOTE + 'numbered = "MOTE"\n', "say in define"),
        (MOTE + 'flash = "none.bin"\n', "No such file"),
        (MOTE + "start_s = 1e30\n", "must be at most 10000000"),
        (MOTE + "start_s = 1.0\nrestart_s = [0.5]\n", "it is not on before"),
        (MOTE + "restart_s = [2.0, 1.0, 1.0005]\n", "restarts are at least 0.001 s apart"),
        (MOTE + "start_s = inf\n", "finite number"),
        (
            MOTE + 'start_s = 1.0\ninput = [{ at_s = 0.5, text = "a" }]\n',
            "input: it is not on before",
        ),
        (MOTE + 'input = [{ at_s = 0.5, text = "" }]\n', "must not be empty"),
        (
            MOTE + 'input = [{ at_s = 0.5, text = "a", port = "COM1" }]\n',
            "there are USART0, USART1",
        ),
        (MOTE + "device_number = -1\n", "must be at least 0"),
        (MOTE + "settings = { device_number = 1 }\n", "device_number is a key of the mote itself"),
        (MOTE + 'wiring = { boots = "boots/none" }\n', "nothing in it is wired to boots"),
        (MOTE + '[[link]]\nfrom = "one"\nto = "one"\nattenuation_db = 6\n', "not hear itself"),
        (MOTE + "[slots]\nlength_us = 10\ntx_offset_us = 10\n", "tx_offset_us is within"),
        (MOTE.replace("telosb", "telosc"), "telosc: no such board; did you mean telosb?"),
        (MOTE.replace("net/ping", "net/pong"), "pong/part.toml: cannot be read"),
        (MOTE + "count = 9000\n[everyone]\nattenuation_db = 6\n", "81,000,000 links are more"),
        ("seed = 1\n", "mote: this key is missing"),
    ],
)
def test_a_wrong_file_is_one_error_that_names_the_key(
    text: str, error: str, tmp_path: Path
) -> None:
    path = written(tmp_path, text)
    done = joulemark("network", str(path), code=3)
    assert error in done.stderr
    assert str(path) in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_shipped_network_is_run_by_its_name(tmp_path: Path) -> None:
    asked = ("--for", "1ms", "--json")
    by_name = joulemark("network", "ping-telosb", *asked, folder=tmp_path).stdout
    assert by_name == joulemark("network", str(PING), *asked).stdout
    shown = joulemark("network", "ping-telosc", folder=tmp_path, code=3).stderr
    assert "did you mean ping-telosb" in shown


def test_the_file_that_a_full_disk_cuts_is_named() -> None:
    done = joulemark("network", str(PING), "--for", "600ms", "--pcap", "/dev/full", code=3)
    assert "/dev/full: the capture cannot be written: No space left on device" in done.stderr
    assert done.stderr.count("\n") == 1


def test_ctrl_c_ends_the_run_and_shows_what_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    piece = command._piece

    def struck(running: RunningNetwork, *others: Any) -> list[tuple[int, str]]:
        if running.time_s > 0.65:
            signal.raise_signal(signal.SIGINT)
        return piece(running, *others)

    monkeypatch.setattr(command, "_piece", struck)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    capture = tmp_path / "cut.pcapng"
    try:
        done = joulemark(
            *("network", str(PING), "--for", "1h", "--json", "--pcap", str(capture)), code=130
        )
    finally:
        signal.signal(signal.SIGINT, before)
    assert done.stderr == "joulemark: interrupted at 0.7 s\n"
    assert json.loads(done.stdout)["frames"] == len(read_capture(capture, None)) > 5


def test_a_radio_that_is_tuned_to_no_channel_is_told(tmp_path: Path) -> None:
    path = written(tmp_path, MOTE + "define = { MOTE = 1, PING_CHANNEL = 27 }\n")
    done = joulemark("network", str(path), "--for", "400ms")
    assert "one sends at 2485 MHz, which is no channel: data" in done.stdout


def test_one_frame_that_is_flawed_is_one() -> None:
    network = RunningNetwork(read_network(PING))
    flaws = [Flaw("nonce used twice", "asker", 10**12, "with key 1")]
    with pytest.raises(AirError, match=r"^a frame is flawed: that of asker at 1\.0+ s: nonce used"):
        command._complain(network, [], flaws)
    with pytest.raises(AirError, match=r"^2 frames are flawed; the first, of asker at 1\.0+ s"):
        command._complain(network, [], flaws * 2)


def test_a_time_is_written_with_its_unit() -> None:
    assert [seconds(t, "x") for t in ("500ms", "60s", "5m", "1h", "2")] == [0.5, 60, 300, 3600, 2]
    for wrong in ("", "s", "-1s", "5 minutes", "1e9s"):
        with pytest.raises(InputError):
            seconds(wrong, "x")


def test_several_motes_are_numbered_spread_and_linked(tmp_path: Path) -> None:
    text = MOTE.replace("one", "leaf")
    text += 'count = 3\ndefine = { MOTE = 2 }\nnumbered = "MOTE"\nspread_ppm = 20\n'
    text += "watch_crystal = { ppm = 5 }\nspread_watch_ppm = 10\n"
    text += 'spread_start_s = 1.0\n[[link]]\nfrom = "leaf-1"\nto = "leaf"\nattenuation_db = 50\n'
    network = read_network(written(tmp_path, text))
    seats = network.seats()
    assert [name for name, _ in seats] == ["leaf-1", "leaf-2", "leaf-3"]
    assert [mote.define["MOTE"] for _, mote in seats] == [2, 3, 4]
    assert [mote.crystal.ppm for _, mote in seats] == [-20, 0, 20]
    watches = [mote.watch_crystal for _, mote in seats]
    assert [watch.ppm for watch in watches if watch is not None] == [-5, 5, 15]
    assert [mote.start_s for _, mote in seats] == [0, 0.5, 1]
    assert network.links() == {("leaf-1", "leaf-2"): (50, 0), ("leaf-1", "leaf-3"): (50, 0)}


def test_two_telosbs_ping_each_other_and_all_of_it_is_kept(tmp_path: Path) -> None:
    capture, page, lines = tmp_path / "air.pcapng", tmp_path / "air.html", tmp_path / "uart"
    store = tmp_path / "store.db"
    options = ["--for", "600ms", "--pcap", str(capture), "--page", str(page)]
    options += ["--uart", str(lines), "--store", str(store), "--json"]
    result = json.loads(joulemark("network", str(PING), *options).stdout)
    again = ("network", str(PING), "--for", "600ms", "--quiet", "--store", str(store))
    joulemark(*again)
    told = joulemark(*again, "--uart", "pty", code=3).stderr
    assert "a run that somebody types into cannot be repeated" in told
    asked, answered = result["motes"]
    assert answered["missed"].keys() <= {"deaf"}, "it starts later"
    assert answered["received"] > 3
    assert asked["sent"] == answered["received"] + answered["missed"].get("deaf", 0)
    assert answered["sent"] == asked["received"]
    text = (lines / "asker.usart1.txt").read_text()
    assert "answer 0 from 2" in text
    assert "no answer" not in text
    assert result["late"] == 0
    for mote in (asked, answered):
        assert sum(mote["parts_mj"].values()) == pytest.approx(mote["energy_mj"], rel=1e-12)
        # The radio listens most of the time: SWRS041B, 18.8 mA at 3 V.
        assert 15 < mote["parts_mj"]["radio"] < 18.8 * 3 * 0.6
    assert capture.stat().st_size > 1000
    html = page.read_text()
    assert "asker" in html
    assert "http" not in html.split("</style>")[1].split("<script")[0]
    with Store(store, "read") as kept:
        records = sorted(kept.records(history=True), key=lambda r: r.order)
    assert [str(record.subject) for record in records] == [
        "ping-telosb answerer for 0.6 s",
        "ping-telosb asker for 0.6 s",
    ]
    assert records[1].value("frames_sent") == asked["sent"]


def test_neither_threads_nor_slices_can_be_seen() -> None:
    network = read_network(PING)

    def digest(threads: int, slice_s: float) -> tuple[str, list[int]]:
        running = RunningNetwork(network, threads=threads)
        for _ in running.run(0.4, slice_s):
            pass
        return running.engine.digest, [running.cycles(0), running.cycles(1)]

    whole = digest(1, 1.0)
    assert digest(2, 1.0) == whole
    assert digest(2, 0.007) == whole


ROOT_OF_SLOTS = """title = "beacons"
[[mote]]
name = "root"
board = "{board}"
program = "net/tsch-ping"
define = {{ MOTE = 1, MOTES = 2, TSCH_LEVEL = 5 }}
wiring = {{ ccm-star = "net/ccm-star/hardware", boots = "boots/{boots}" }}
crystal = {{ ppm = {main} }}
watch_crystal = {{ ppm = {watch}, drift_ppm_per_hour = {drift} }}
"""


@pytest.mark.parametrize("board", ["telosb", "openmote-cc2538", "sensortag-cc2650"])
def test_slots_go_with_the_watch_crystal_and_bytes_with_the_other(
    board: str, tmp_path: Path
) -> None:
    boots = "msp430" if board == "telosb" else "none"

    def times(main: int, watch: int, drift: int = 0, slice_s: float = 1.0) -> tuple[float, float]:
        """Return the seconds from the first beacon to the last, and of the first one."""
        path = tmp_path / "root.toml"
        settings = {"board": board, "boots": boots, "main": main, "watch": watch, "drift": drift}
        path.write_text(ROOT_OF_SLOTS.format(**settings))
        running = RunningNetwork(read_network(path), threads=1)
        sent = [t for piece in running.run(8.0, slice_s) for t in piece.transmissions]
        assert len(sent) > 3
        first, last = sent[0], sent[-1]
        between = last.delimiter_ps - first.delimiter_ps
        return between * 1e-12, (first.end_ps - first.delimiter_ps) * 1e-12

    between, length = times(0, 0)
    fast_main, fast_watch = times(200, 0), times(0, 200)
    # The time of the code that leads to a strobe varies by a tick of the core at most.
    assert fast_watch[0] == pytest.approx(between / 1.0002, abs=3e-6)
    assert fast_watch[1] == length
    assert fast_main[0] == pytest.approx(between, abs=3e-6)
    assert fast_main[1] == pytest.approx(length / 1.0002, abs=1e-10)
    drifting = times(0, 0, 100)
    assert between - drifting[0] == pytest.approx(between**2 / 2 * 1e-4 / 3600, abs=3e-6)
    assert times(0, 0, 100, 0.0173) == drifting, "slices cannot be seen"


def test_a_recording_is_heard_again(tmp_path: Path) -> None:
    first = tmp_path / "first.pcapng"
    joulemark("network", str(PING), "--for", "400ms", "--pcap", str(first), "--quiet")
    text = PING.read_text().split("[[mote]]")
    heard = text[0] + "[[mote]]" + text[2]
    heard += '[[recording]]\nname = "tape"\nfile = "first.pcapng"\nat_s = 0.5\n'
    path = tmp_path / "again.toml"
    path.write_text(heard)
    result = json.loads(joulemark("network", str(path), "--for", "800ms", "--json").stdout)
    (answerer,) = result["motes"]
    # A mote that a recording asks answers, and is asked again.
    assert answerer["received"] > 0
    assert answerer["sent"] > 0


def test_telosbs_and_openmotes_understand_each_other() -> None:
    path = str(NETWORKS / "ping-mixed.toml")
    done = joulemark("network", path, "--for", "1100ms")
    for number, mote in enumerate((2, 3, 4)):
        assert f"telosb| answer {number} from {mote}" in done.stdout
    result = json.loads(joulemark("network", path, "--for", "500ms", "--json").stdout)
    (openmote,) = (m for m in result["motes"] if m["mote"] == "openmote-1")
    # SWRS096A: 20 mA while receiving, of which the core has 13; the rest is the radio's.
    assert openmote["parts_mj"]["mcu"] == pytest.approx(13 * 3 * 0.5, rel=0.01)
    assert openmote["parts_mj"]["radio"] == pytest.approx(7 * 3 * 0.5, rel=0.05)


@pytest.mark.parametrize("brief", [0, 1])
def test_every_frame_of_secured_slots_verifies_here_and_in_tshark(
    brief: int, tmp_path: Path
) -> None:
    """Acknowledgements too; only we know whose nonce those without addresses have."""
    text = (NETWORKS / "tsch-telosb.toml").read_text()
    level = "TSCH_LEVEL = 5"
    assert level in text
    text = text.replace(level, f"{level}, TSCH_BRIEF_ACKNOWLEDGEMENTS = {brief}")
    (tmp_path / "tsch.toml").write_text(text)
    shutil.copy(NETWORKS / "tsch-telosb.keys.toml", tmp_path)
    capture = tmp_path / "slots.pcapng"
    path = str(tmp_path / "tsch.toml")
    printed = joulemark("network", path, "--for", "22s", "--json", "--pcap", str(capture)).stdout
    result = json.loads(printed)
    root, *leaves = result["motes"]
    assert root["received"] > 10, "leaves have joined and acknowledge"
    assert sum(leaf["sent"] for leaf in leaves) == root["received"]
    assert result["verified"] == result["frames"]
    command = ["tshark", "-r", str(capture)]
    for line in Path(f"{capture}.keys").read_text().splitlines():
        command += ["-o", f"uat:ieee802154_keys:{line}"]
    command += ["-T", "fields", "-E", "separator=|"]
    fields = ("wpan.frame_type", "wpan.mic", "wpan.decrypt_error")
    command += [word for field in fields for word in ("-e", field)]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    seen = [line.split("|") for line in out]
    assert len(seen) == result["frames"]
    acknowledgements = [bool(error) for kind, _, error in seen if kind == "0x0002"]
    assert len(acknowledgements) > 20
    assert set(acknowledgements) == {bool(brief)}
    assert all(mic and not error for kind, mic, error in seen if kind != "0x0002")
