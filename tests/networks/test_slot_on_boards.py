"""The shortest slot of two emulated TelosBs, by the command, and pings by CSMA between them."""

import json
import struct
from pathlib import Path
from typing import cast

import pytest
from typer.testing import CliRunner

from joulemark.campaign.case import Build
from joulemark.catalogue import boards
from joulemark.cli import app
from joulemark.errors import InputError
from joulemark.images import build_program
from joulemark.images.constants import with_constants
from joulemark.records.store import Store
from joulemark.runners.pair import run_pair
from joulemark.subjects.slot import SlotSubject
from joulemark.subjects.slot.case import SlotCase
from joulemark.subjects.slot.network import verify
from joulemark.subjects.slot.page import WhatIf, waterfall, write_page
from joulemark.subjects.slot.programs import SECURITY, wiring
from joulemark.subjects.slot.proof import Bench
from joulemark.subjects.slot.record import SlotRecord
from joulemark.subjects.slot.seen import seen_slots, steps_of
from joulemark.subjects.slot.template import Template
from joulemark.subjects.slot.what_if import what_ifs


@pytest.mark.slow
def test_the_shortest_slot_of_a_telosb(tmp_path: Path) -> None:
    """By the radio's CCM*, with the longest header; a tick less is too short."""
    store, page = tmp_path / "slots.db", tmp_path / "slots.html"
    command = ["slot", "--board", "telosb", "--strategy", "hardware", "--level", "enc-mic-32"]
    command += ["--key-id-mode", "3", "--counter-carried"]
    command += ["--store", str(store), "--out", str(page), "--format", "json", "--slots", "300"]
    proved = tmp_path / "slots.json"
    command += ["--certificate", str(proved)]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    (row,) = json.loads(done.stdout)
    # sciancalepore-2016, figure 5, has 25.36 ms.
    assert 8 < row["slot ms"] < 15
    assert row["without grid ms"] <= row["slot ms"] < row["by Eq. (1) ms"]
    assert row["tx-offset ms"] + row["tx-ack-delay ms"] + 4.1 < row["slot ms"]
    assert row["flash B"] > 1000
    assert "waterfall" in page.read_text()
    with Store(store) as kept:
        (record,) = kept.records()
    assert isinstance(record.subject, SlotSubject)
    record = cast("SlotRecord", record)
    assert record.value("slot") == round(row["slot ms"] * 1e9)
    steps = {q.part.split(":")[0] for q in record.quantities if q.name == "cycles"}
    assert steps == {"sec1", "sec2", "sec3", "sec4"}
    # The waterfall leaves nothing out, to within a tick, by which motes correct their slots.
    for side, kind in (("sender", "send"), ("receiver", "receive")):
        stretches = [one for one in waterfall(record) if one.side == side]
        assert abs(sum(one.us for one in stretches) - row["slot ms"] * 1e3) < 62
        assert round(sum(one.uj for one in stretches), 3) == round(row[f"{kind} uJ"], 3)
    # Beside another slot it is in a table and a plot.
    compared = WhatIf(slot=record, others=[("a twin", record)])
    assert [(r["what if"], r["change ms"]) for r in compared.rows()] == [
        ("as it is", 0),
        ("a twin", 0),
    ]
    write_page([record], page, [compared])
    assert 'id="what-if-1"' in page.read_text()
    assert page.read_text().count("<td>a twin</td>") == 1
    # It is served from the store, and `--at-most` can fail.
    for limit, code in ((row["slot ms"] + 0.001, 0), (row["slot ms"] - 0.001, 13)):
        again = CliRunner().invoke(app, [*command, "--at-most", str(limit)])
        assert getattr(again.exception, "exit_code", again.exit_code) == code
        assert json.loads(again.stdout) == [row]
    # The certificate can be proved again; with a tick more or less, it does not hold.
    for ticks, code, said in (
        (0, 0, "is the shortest"),
        (1, 13, "is not the shortest now"),
        (-1, 13, "is too short now"),
    ):
        changed = json.loads(proved.read_text())
        changed["proved"][0]["slot_ticks"] += ticks
        (tmp_path / "changed.json").write_text(json.dumps(changed))
        checked = CliRunner().invoke(app, ["slot-check", str(tmp_path / "changed.json")])
        assert getattr(checked.exception, "exit_code", checked.exit_code) == code, checked.output
        assert said in checked.output


@pytest.mark.slow
def test_the_bus_by_dma(tmp_path: Path) -> None:
    """Every frame over the bus is right this way too; a radio on the chip has no bus."""
    command = ["slot", "--strategy", "hardware", "--level", "mic-32", "--dma", "--slots", "30"]
    command += ["--store", str(tmp_path / "slots.db"), "--format", "json", "--board"]
    done = CliRunner().invoke(app, [*command, "telosb"])
    assert done.exit_code == 0, done.output
    told = CliRunner().invoke(app, [*command, "openmote-cc2538"])
    assert getattr(told.exception, "exit_code", 0) == 3
    assert "--dma" in str(told.exception)


@pytest.mark.slow
def test_a_plain_driver_takes_a_frame_there_and_back() -> None:
    """Every frame is right; making one takes longer by two more transfers over the bus."""
    steps = []
    for plain in (False, True):
        subject = SlotSubject(strategy="hardware", level=5, plain=plain)
        build = Build(compiler="clang", optimisation="O3")
        case = SlotCase(
            board=boards.load_board("telosb"), clock="max", subject=subject, build=build
        )
        run, reports = Bench(case, 60).seen(case.wide, 60)
        verify(reports, case)
        seen = seen_slots(run, case.wide, case)
        assert {one.mote for one in seen} == {"root", "leaf"}
        steps.append(steps_of(run.frames, seen))
    more_ps = {step: max(steps[1][step]) - max(steps[0][step]) for step in steps[0]}
    # A byte on the bus takes at least 2 us, and 125 bytes of a frame go twice more.
    assert more_ps["sec1"] > 2 * 125 * 2 * 10**6
    assert more_ps["sec2+sec3"] > 2 * 125 * 2 * 10**6


def test_slots_that_go_on_are_those_of_one_run() -> None:
    """A run that was stopped after a few slots and resumed ends like one that was never stopped."""
    subject = SlotSubject(strategy="hardware", level=5)
    build = Build(compiler="clang", optimisation="O3")
    case = SlotCase(board=boards.load_board("telosb"), clock="max", subject=subject, build=build)
    straight, stopped = Bench(case, 60), Bench(case, 60)
    assert 12 <= stopped.tried(case.wide, 12).slots < 60
    proof = stopped.proof(case.wide, 60)
    assert proof == straight.proof(case.wide, 60)
    assert proof.slots == 60
    fewest = Bench(case, 30)
    assert 12 <= fewest.tried(case.wide, 12).slots < 30
    assert fewest.tried(case.wide, 60).slots == 60


@pytest.mark.slow
def test_a_network_of_that_slot(tmp_path: Path) -> None:
    """A root and two leaves: each frame is acknowledged, and numbers follow from the slot."""
    command = ["slot", "--board", "telosb", "--strategy", "hardware", "--level", "mic-64"]
    command += ["--motes", "3", "--slots", "30", "--store", str(tmp_path / "slots.db")]
    done = CliRunner().invoke(app, [*command, "--format", "json"])
    assert done.exit_code == 0, done.output
    (row,) = json.loads(done.stdout)
    assert row["network's slot ms"] >= round(row["slot ms"], 3)
    slotframe_ms = 5 * row["network's slot ms"]
    # Each leaf has 79 bytes each way per slotframe, except for counting at its ends.
    bits = 8 * (127 - 2 - 21 - 2 - 8) * 4
    assert row["kbit/s"] == pytest.approx(bits / slotframe_ms, rel=0.02)
    assert row["worst latency ms"] == pytest.approx(slotframe_ms + row["tx-offset ms"] + 4.1, 0.01)
    assert row["95% latency ms"] == pytest.approx(row["worst latency ms"] - slotframe_ms / 20, 0.01)
    assert row["mean latency ms"] == pytest.approx(row["worst latency ms"] - slotframe_ms / 2, 0.01)
    assert 1 < row["root days"] < row["leaf days"] < 100


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "Invalid JSON"),
        ('{"proved": []}', "has no slots"),
        ('{"proved": [], "slots": 5}', "key slots"),
        (
            '{"proved": [{"board": "telosb"}]}',
            "key proved.0.clock: this key is missing; write it with slot",
        ),
        ('{"proved": [], "proofs": []}', "key proofs: unknown key; write it with slot"),
    ],
)
def test_what_is_no_certificate_is_said(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "slots.json").write_text(text)
    told = CliRunner().invoke(app, ["slot-check", str(tmp_path / "slots.json")])
    assert getattr(told.exception, "exit_code", 0) == 3, told.output
    assert said in str(told.exception)


def test_a_template_in_place_is_the_one_that_is_built() -> None:
    board = boards.load_board("telosb")
    define = {"MOTE": 1, "PING_SLOTS": 5}
    template = Template(slot=700, tx_offset=200, tx_ack_delay=300)
    other = Template(slot=800, tx_offset=201, tx_ack_delay=303, guard=5, ack_guard=7)
    built = [
        build_program(
            "net/tsch-ping",
            board,
            define=define | one.macros,
            without=(SECURITY,),
            wiring={"boots": "boots/none"},
        )
        for one in (template, other)
    ]
    changed = with_constants(built[0], {"timing": struct.pack("<5H", *vars(other).values())})
    here, there, set_in_place = (one.path.read_bytes() for one in (*built, changed))
    differ = [at for at, byte in enumerate(set_in_place) if byte != here[at]]
    assert len(differ) == 6
    assert differ[-1] - differ[0] < 10
    assert len(set_in_place) == len(here)
    at = slice(differ[0], differ[-1] + 1)
    assert set_in_place[at] == there[at] != here[at]
    for name, size in (("tming", 10), ("timing", 12)):
        with pytest.raises(InputError, match=name):
            with_constants(built[0], {name: bytes(size)})


@pytest.mark.parametrize("board", ["telosb", "openmote-cc2538"])
@pytest.mark.parametrize("strategy", ["software", "hybrid", "hardware", "stream"])
def test_each_strategy_is_built(board: str, strategy: str) -> None:
    wiring = {
        "boots": "boots/none",
        "block-cipher": "primitives/block-cipher/aes/ref",
        "ccm-star": f"net/ccm-star/{strategy}",
    }
    build_program("net/tsch-ping", boards.load_board(board), wiring=wiring)


def test_pings_by_csma() -> None:
    board = boards.load_board("telosb")
    images = [build_program("net/ping", board, define={"MOTE": mote}) for mote in (1, 2)]
    run = run_pair(board, images, until_said=" 5 ", limit_ps=5 * 10**12)
    asked, answered = (mote.text.splitlines() for mote in run.motes)
    assert asked[0] == "mote 1 of 2"
    assert asked[1:6] == [f"answer {number} from 2" for number in range(5)]
    assert answered[1:6] == [f"answered {number} to 1" for number in range(5)]
    # Each frame is acknowledged by the other radio itself.
    lengths = [len(frame.frame) for frame in run.frames]
    assert lengths[:4] == [27, 5, 27, 5]


@pytest.mark.parametrize("name", ["telosb", "openmote-cc2538", "sensortag-cc2650"])
def test_what_was_acknowledged_is_not_lost(name: str) -> None:
    """Each question arrives and is acknowledged while the other mote is still busy."""
    board = boards.load_board(name)
    define = {"PING_BUSY_MS": 300}
    images = [build_program("net/ping", board, define={"MOTE": m, **define}) for m in (1, 2)]
    run = run_pair(board, images, until_said=" 5 ", limit_ps=5 * 10**12)
    asked = run.motes[0].text.splitlines()
    assert asked[1:6] == [f"answer {number} from 2" for number in range(5)]
    questions = [f for f in run.frames if f.frame[9:10] == b"q"]
    assert len(questions) == len({bytes(f.frame) for f in questions})


def test_a_board_without_a_radio_is_said() -> None:
    done = CliRunner().invoke(app, ["slot", "--board", "stm32vldiscovery"])
    assert done.exit_code != 0
    assert "radio" in str(done.exception)


@pytest.mark.parametrize(
    ("board", "cipher", "hint"),
    [("telosb", "msp340", "did you mean msp430?"), ("openmote-cc2538", "msp430", "ttable")],
)
def test_a_cipher_that_the_board_has_not_is_said(board: str, cipher: str, hint: str) -> None:
    done = CliRunner().invoke(app, ["slot", "--board", board, "--cipher", cipher])
    assert getattr(done.exception, "exit_code", 0) == 3
    assert "--cipher" in str(done.exception)
    assert hint in str(done.exception)


@pytest.mark.parametrize("limit", ["-1", "0", "nan"])
def test_no_slot_is_as_short_as_nothing(limit: str) -> None:
    told = CliRunner().invoke(app, ["slot", "--board", "telosb", "--at-most", limit])
    refused = getattr(told.exception, "exit_code", told.exit_code)
    assert refused == (3 if limit == "nan" else 2), told.output
    assert "--at-most" in f"{told.output}{told.exception}"


@pytest.mark.parametrize(
    ("board", "strategy", "names"),
    [
        ("telosb", "hybrid", ["bus", "key kept", "made ahead"]),
        ("openmote-cc2538", "hardware", ["key kept", "unsecured while", "made ahead"]),
        (
            "telosb",
            "software",
            [
                *("bus", "key schedule", "AES in assembly", "AES in constant"),
                *("unsecured while", "key stream ahead", "made ahead"),
            ],
        ),
    ],
)
def test_what_else_a_slot_could_be(board: str, strategy: str, names: list[str]) -> None:
    """One change at a time, each of which can be wired."""
    description = boards.load_board(board)
    subject = SlotSubject(strategy=strategy, level=5, cipher="ref" * (strategy == "software"))
    build = Build(compiler="clang", optimisation="O3")
    case = SlotCase(board=description, clock="max", subject=subject, build=build)
    found = dict(what_ifs(case))
    assert all(name.startswith(begin) for name, begin in zip(found, names, strict=True))
    assert len({one.subject for one in found.values()} | {subject}) == len(names) + 1
    assert all(wiring(one.subject) for one in found.values())
    again = next(iter(found.values()))
    assert again.subject not in {one.subject for _, one in what_ifs(again)}
