"""ContikiMAC: by a scripted radio (contikimac_host.c), and on emulated boards in one air."""

import ctypes
import subprocess
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import pytest

from joulemark.catalogue.boards import load_board
from joulemark.catalogue.networks import made
from joulemark.errors import JoulemarkError
from joulemark.images import build_program
from joulemark.measure.pool import Processes
from joulemark.meters.model import ModelMeter
from joulemark.project import FIRMWARE, ROOT
from joulemark.records.store import Store
from joulemark.runners.network import RunningNetwork
from joulemark.runners.pair import Observed, PairRun, run_pair
from joulemark.studies.ways import Bench, pair

if TYPE_CHECKING:
    from joulemark._engine import MarkerEdge, Transmission

OK, NO_ACK, COLLISION = range(3)
"""`contikimac_status`."""
SILENCE, ACTIVITY, MESSAGE = range(3)
"""`contikimac_found`."""
HOST, BROADCAST = 7, 0xFFFF
PERIOD_PS = 125 * 10**9
PAYLOAD_BYTES_MIN = 22
RIME_BYTES = 6
ACK_BYTES = 5


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    net, built = FIRMWARE / "net", tmp_path_factory.mktemp("host") / "contikimac.so"
    radio = ROOT / "tests/networks/radio"
    folders = [net / "contikimac", net / "radio", net / "ieee802154", radio]
    sources = [ROOT / "tests/networks/contikimac_host.c", net / "ieee802154/frame.c"]
    command = ["clang-19", "-std=c11", "-O1", "-shared", "-fPIC", "-Wall", "-Werror"]
    command += [f"-I{each}" for each in folders]
    command += ["-DCONTIKIMAC_CHECKS=8", "-DCONTIKIMAC_NEIGHBOURS=4"]
    subprocess.run([*command, *sources, "-o", built], check=True)
    return ctypes.CDLL(str(built))


def frame(sender: int, sequence: int, payload: bytes = b"text") -> bytes:
    """Return a data frame to the host, without its check sequence."""
    addresses = b"".join(number.to_bytes(2, "little") for number in (1, HOST, sender))
    return bytes((0x61, 0x98, sequence)) + addresses + payload


def checked(host: ctypes.CDLL, script: str, arriving: bytes = b"") -> tuple[int, bytes]:
    """Return what a check found, and the payload."""
    payload = ctypes.create_string_buffer(128)
    found = host.check(script.encode(), arriving, len(arriving), payload)
    assert ctypes.c_int.in_dll(host, "is_on").value == 0
    return found, payload.value


def sent(host: ctypes.CDLL, script: str, to: int, answered: int, stray: bytes = b"") -> int:
    outcome: int = host.send(script.encode(), to, answered, stray, len(stray))
    assert ctypes.c_int.in_dll(host, "is_on").value == 0
    return outcome


def frames_of(host: ctypes.CDLL) -> int:
    return ctypes.c_int.in_dll(host, "sent").value


def test_a_frame_that_comes_again_is_given_once(host: ctypes.CDLL) -> None:
    host.start()
    assert checked(host, "b", frame(1, 9, b"first")) == (MESSAGE, b"first")
    assert checked(host, "b", frame(1, 9, b"first"))[0] == ACTIVITY
    assert checked(host, "b", frame(2, 9, b"other")) == (MESSAGE, b"other")
    assert checked(host, "b", frame(1, 9, b"first"))[0] == ACTIVITY
    assert checked(host, "b", frame(1, 10, b"next")) == (MESSAGE, b"next")
    # As many senders as are remembered push the first one out.
    for sender in range(3, 7):
        assert checked(host, "b", frame(sender, 1))[0] == MESSAGE
    assert checked(host, "b", frame(1, 10))[0] == MESSAGE


def test_a_check_takes_no_frame_that_is_none(host: ctypes.CDLL) -> None:
    host.start()
    assert checked(host, "cc")[0] == SILENCE
    assert checked(host, "cb", frame(1, 1))[0] == MESSAGE
    for bad in (b"\x02\x00\x05", frame(1, 2)[:7], b"\x00" + frame(1, 2)[1:]):
        assert checked(host, "b", bad)[0] == ACTIVITY


def test_noise_keeps_the_radio_on_for_no_longer_than_two_frames(host: ctypes.CDLL) -> None:
    host.start()
    for script in ("b", "bc", "bcbcbcbcbcbcb"):
        before = host.ticks()
        assert checked(host, script)[0] == ACTIVITY
        assert (host.ticks() - before) % 65536 < 8.6e-3 * 32_768, script


def test_a_sender_stops_at_its_acknowledgement_and_at_nobody_elses(host: ctypes.CDLL) -> None:
    host.start()
    assert sent(host, "c", 1, 5) == OK
    assert frames_of(host) == 5
    assert sent(host, "c", 1, 0, stray=b"\x02\x00\xee") == COLLISION
    assert sent(host, "c", 1, 0, stray=frame(3, 1)) == COLLISION
    assert frames_of(host) == 1


@pytest.mark.parametrize("before", range(6))
def test_a_sender_begins_on_a_clear_channel_only(host: ctypes.CDLL, before: int) -> None:
    host.start()
    assert sent(host, "c" * before + "b", 1, 1) == COLLISION
    assert frames_of(host) == 0


def test_without_an_acknowledgement_all_of_a_period_is_sent(host: ctypes.CDLL) -> None:
    host.start()
    for to, outcome in ((1, NO_ACK), (BROADCAST, OK)):
        before = host.ticks()
        assert sent(host, "c", to, 0) == outcome
        lasted = (host.ticks() - before) % 65536 / 32_768
        # Six assessments, a period and two checks, and the last frame.
        assert 0.125 + 2 * 1.22e-3 < lasted < 0.125 + 2 * 1.22e-3 + 6 * 0.9e-3 + 3e-3


# ---- On boards ----


def ran(board: str, **define: int) -> PairRun:
    images = [
        build_program("net/contikimac-times", load_board(board), define={**define, "MOTE": mote})
        for mote in (1, 2)
    ]
    return run_pair(load_board(board), images, until_said="\0", limit_ps=60 * 10**12)


def windows(edges: Sequence["MarkerEdge"]) -> list[tuple[int, int]]:
    times = [edge.time_ps for edge in edges]
    return list(zip(times[::2], times[1::2], strict=True))


def letters(text: str) -> tuple[str, str]:
    """Return whether the result is right, and the letter of each window."""
    outcome, _, found = text.rstrip("\0").partition(" ")
    return outcome, found


def silent_during(run: PairRun) -> list[int]:
    """Return how long a check that found silence had been within a train of frames, in ps."""
    trains: list[list[int]] = []
    for each in run.frames:
        if each.mote != 0:
            continue
        if trains and each.begin_ps - trains[-1][1] < 10**9:
            trains[-1][1] = each.end_ps
        else:
            trains.append([each.begin_ps, each.end_ps])
    _, found = letters(run.motes[1].text)
    return [
        begin_ps
        for letter, (begin_ps, end_ps) in zip(found, windows(run.motes[1].edges), strict=True)
        if letter == "s" and any(a < begin_ps and end_ps < b for a, b in trains)
    ]


@pytest.mark.parametrize(
    ("board", "payload", "sends"),
    [
        ("sensortag-cc2650", PAYLOAD_BYTES_MIN, 32),
        ("sensortag-cc2650", RIME_BYTES + 60, 32),
        ("sensortag-cc2650", 116, 32),
        ("telosb", RIME_BYTES + 60, 64),
        ("telosb", PAYLOAD_BYTES_MIN, 64),
        ("openmote-cc2538", RIME_BYTES + 60, 16),
    ],
)
def test_a_check_finds_the_sender_at_every_phase(board: str, payload: int, sends: int) -> None:
    """Messages are spread over a period, so that checks fall anywhere in a frame or a gap."""
    run = ran(board, TIMES_BYTES=payload - RIME_BYTES, TIMES_SENDS=sends)
    assert letters(run.motes[0].text) == ("right", "a" * sends)
    outcome, found = letters(run.motes[1].text)
    assert outcome == "right"
    assert found.count("m") == sends
    assert "x" not in found
    assert not silent_during(run)
    acknowledgements = [each for each in run.frames if len(each.frame) == ACK_BYTES]
    assert [each.mote for each in acknowledgements] == [1] * sends
    data = [each.frame for each in run.frames if each.mote == 0]
    assert {len(each) for each in data} == {9 + payload + 2}
    lasted = sorted(end_ps - begin_ps for begin_ps, end_ps in windows(run.motes[0].edges))
    # From next to nothing to a whole period, evenly.
    assert lasted[-1] - lasted[0] > PERIOD_PS * 0.9
    assert sum(lasted) / sends - lasted[0] == pytest.approx(PERIOD_PS / 2, rel=0.15)


def test_nobody_acknowledges_what_is_for_nobody() -> None:
    run = ran("sensortag-cc2650", TIMES_TO=3, TIMES_SENDS=4)
    assert letters(run.motes[0].text) == ("right", "nnnn")
    outcome, found = letters(run.motes[1].text)
    assert (outcome, found.count("m")) == ("right", 0)
    assert "x" in found, "it stays on for a frame of others"
    assert not silent_during(run)
    for begin_ps, end_ps in windows(run.motes[0].edges):
        assert PERIOD_PS < end_ps - begin_ps < PERIOD_PS + 12 * 10**9


def test_of_two_senders_each_message_comes_once_or_its_sender_knows() -> None:
    board, sends = "telosb", 24
    motes: list[dict[str, object]] = [
        {"name": "sender", "define": {"TIMES_SENDS": sends, "MOTE": 1}, "start_s": 0.06},
        {"name": "receiver", "define": {"TIMES_SENDS": sends, "MOTE": 2}},
        # It sends to nobody, at first before the sender and later after it.
        {"name": "other", "define": {"TIMES_SENDS": 9, "TIMES_TO": 3, "MOTE": 4}},
    ]
    same: dict[str, object] = {"board": board, "program": "net/contikimac-times"}
    values = {
        "title": "two senders",
        "everyone": {"attenuation_db": 50},
        "mote": [{**same, **mote} for mote in motes],
    }
    running = RunningNetwork(made(values, ROOT / "network.toml"), observe=True)
    heard: list[Transmission] = []
    said = ["", "", ""]
    for piece in running.run(12.0):
        assert not piece.faults
        heard += piece.transmissions
        for line in piece.lines:
            said[line.mote] += line.data.decode()
    _, outcomes = letters(said[0])
    _, found = letters(said[1])
    assert len(outcomes) == sends
    assert found.count("m") == outcomes.count("a")
    assert 0 < outcomes.count("c") < sends
    others = [each for each in heard if each.mote == 2]
    for letter, (begin_ps, end_ps) in zip(
        outcomes, windows(running.observed(0).edges), strict=True
    ):
        is_met = any(each.begin_ps < end_ps and begin_ps < each.end_ps for each in others)
        assert letter == "a" or is_met


def asked(letter: str, mote: Literal[1, 2], define: str = "TIMES_SENDS=8") -> pair.Asked:
    program = "net/contikimac-times"
    return pair.Asked(board="telosb", program=program, define=define, mote=mote, windows=letter)


def test_a_study_asks_for_a_pair() -> None:
    energy = {"metric": "energy_net"}
    questions = [
        asked("a", 1),
        asked("a", 1).model_copy(update={"of": "max"}),
        asked("s", 2).model_copy(update=energy),
        asked("m", 2).model_copy(update=energy),
        asked("c", 1),
        # Too long for a frame: it is not built.
        asked("a", 1, "TIMES_SENDS=8 TIMES_BYTES=200"),
    ]
    with Store(":memory:") as store:
        found = pair.obtain(questions, Bench(store=store, workers=Processes(1)))
    values = [found[one].value for one in questions]
    mean_s, most_s, silence_j, message_j = (value or 0.0 for value in values[:4])
    assert 0 < mean_s < most_s < 0.14
    # A CC2420 listens at 18.8 mA and 3 V for some milliseconds.
    assert 0 < silence_j < message_j < 18.8e-3 * 3 * 15e-3
    assert values[4:] == [None, None]
    assert "no window 'c'" in found[questions[4]].how
    assert "a message fits a frame" in found[questions[5]].how


@pytest.mark.parametrize("text", ["wrong ", "right a", "", "no radio"])
def test_what_is_not_right_or_not_complete_gives_no_number(text: str) -> None:
    seen = Observed(text=f"{text}\0", edges=(), power={}, profile=None)
    with pytest.raises(JoulemarkError, match="board 2 says"):
        list(pair._windows(seen, 2, ModelMeter(load_board("telosb"))))
