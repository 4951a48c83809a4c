"""Engines of chips and radios are implementations like any other, on boards that have them."""

import json
from pathlib import Path

import pytest

from command import joulemark
from emulated import BuildOf
from joulemark.catalogue import boards
from joulemark.catalogue.primitives import library
from joulemark.project import ROOT
from joulemark.runners.protocol import Flag, Status
from vectors import IMPLEMENTATIONS, Subject, inputs_of

ENGINES = {
    "telosb": "cc2420-engine",
    "openmote-cc2538": "cc2538-engine",
    "sensortag-cc2650": "cc2650-engine",
}


OF_BOARDS = [
    BuildOf(way, "clang" if board.core == "msp430" else "gcc", "Os", board)
    for way in IMPLEMENTATIONS
    for board in map(boards.load_board, ENGINES)
    if way.accelerators and way.runs_on(board.core, board.accelerators)
]
WHOLE_CCM = [build for build in OF_BOARDS if build.implementation.name.endswith("-ccm-engine")]


def measured(store: Path, board: str, *options: str) -> dict[tuple[str, str, str, int], int]:
    """Return cycles by algorithm, implementation, operation and size; all outputs were verified."""
    joulemark("run", "--board", board, *options, "--store", str(store))
    printed = joulemark("export", "--store", str(store), "--format", "json").stdout
    return {
        (row["primitive"], row["implementation"], row["operation"], row["message_bytes"]): row[
            "cycles"
        ]
        for row in json.loads(printed)
        if row["board"] == board and row["status"] == "ok"
    }


@pytest.mark.parametrize("board", ENGINES)
def test_an_engine_is_measured_and_verified_as_any_other(board: str, tmp_path: Path) -> None:
    engine = ENGINES[board]
    options = ("--primitive", "aes-128", "--primitive", "aes-128-ccm", "--size", "16", "--size")
    only = ("--implementation", f"*{engine}", "--ad-size", "0", "--trials", "2")
    found = measured(tmp_path / "e.db", board, *options, "64", *only)
    able = {operation for _, _, operation, _ in found}
    assert {"init", "encrypt"} <= able
    # The radio's stand-alone encryption has no inverse; CCM needs none.
    alone = {operation for name, _, operation, _ in found if name == "aes-128"}
    assert ("decrypt" in alone) == (board != "telosb")
    assert any(name == "aes-128-ccm" and operation == "decrypt" for name, _, operation, _ in found)
    one, four = (found["aes-128", engine, "encrypt", size] for size in (16, 64))
    if board == "telosb":
        # SWRS041B, table 8: 13.9 us a block; 34 bytes over SPI at half the clock are at least 544
        # cycles at 4 MHz, and the calls around them take more.
        assert 544 + 55 < (four - one) / 3 < 4000
        # The regulator's 0.6 ms and the crystal's 1 ms at 8 MHz.
        assert found["aes-128", engine, "init", 0] > 12_800
    else:
        # From the chips' files: 52 cycles a block.
        assert (four - one) / 3 == pytest.approx(52, abs=3)


@pytest.mark.parametrize("board", ["openmote-cc2538", "sensortag-cc2650"])
def test_an_engines_own_ccm_passes_over_its_data_once_and_without_the_core(
    board: str, tmp_path: Path
) -> None:
    engine = ENGINES[board]
    whole = engine.replace("-engine", "-ccm-engine")
    only = ("--primitive", "aes-128-ccm*", "--size", "16", "--size", "1024")
    found = measured(
        tmp_path / "c.db",
        board,
        *(*only, "--ad-size", "0", "--trials", "2", "--implementation", "*engine"),
    )
    for name in ("aes-128-ccm", "aes-128-ccm-star"):
        for operation in ("encrypt", "decrypt"):
            own = [found[name, whole, operation, size] for size in (16, 1024)]
            over_blocks = [found[name, engine, operation, size] for size in (16, 1024)]
            # From the chips' files: a block of CCM is two passes of 53 cycles.
            assert (own[1] - own[0]) / 63 == pytest.approx(106, abs=2)
            # It saves calls: one for each pair of blocks.
            assert own[0] < over_blocks[0]
            assert own[1] < over_blocks[1] / 2


def test_the_rp2350s_hash_takes_the_cycles_of_its_blocks(tmp_path: Path) -> None:
    only = ("--primitive", "sha-256", "--implementation", "rp2350-engine", "--trials", "2")
    sizes = [option for size in (64, 1024) for option in ("--size", str(size))]
    found = measured(tmp_path / "h.db", "raspberry-pi-pico-2", *only, *sizes, "--opt", "O3")
    short, long = (found["sha-256", "rp2350-engine", "hash", size] for size in (64, 1024))
    # The data sheet, 12.13.2: 121 cycles a block; the core also loads words, and waits.
    assert 121 < (long - short) / 15 < 170
    # Messages in pieces, which the harness puts beside each other, and HMAC, which goes on from two
    # states in turn, are right as well: what the accelerator cannot go on from is software's.
    over = ("--primitive", "hmac-sha-256", "--implementation", "*rp2350-engine", "--trials", "2")
    assert measured(tmp_path / "m.db", "raspberry-pi-pico-2", *over, "--size", "64")


def test_a_current_that_is_not_known_is_told(tmp_path: Path) -> None:
    asked = ("run", "--board", "raspberry-pi-pico-2", "--primitive", "sha-256", "--opt", "O3")
    few = ("--size", "64", "--trials", "2", "--store", str(tmp_path / "s.db"))
    told = "rp2350-engine without that of the RP2350's SHA-256 accelerator, not known"
    assert told in joulemark(*asked, *few).stdout
    assert told not in joulemark(*asked, *few, "--implementation", "ref").stdout


def test_the_cc2420s_own_ccm_takes_frames(tmp_path: Path) -> None:
    """Sizes beyond a frame are reported as not measured, and refused where they occur."""
    store = str(tmp_path / "f.db")
    only = ("--primitive", "aes-128-ccm-star", "--implementation", "cc2420-ccm-engine")
    asked = ("run", "--board", "telosb", *only, "--trials", "2", "--store", store)
    sizes = ("--size", "0", "--size", "97", "--size", "98", "--ad-size", "20", "--ad-size", "0")
    done = joulemark(*asked, *sizes)
    assert "ad + message + tag_bytes up to 125 bytes: 2 longer cases left out" in done.stdout
    rows = json.loads(joulemark("export", "--store", store, "--format", "json").stdout)
    cycles = {
        (row["message_bytes"], row["ad_bytes"]): row["cycles"]
        for row in rows
        if row["status"] == "ok" and row["operation"] == "encrypt"
    }
    assert set(cycles) == {(0, 0), (0, 20), (97, 0), (97, 20), (98, 0)}
    # SWRS041B, table 8: a block takes 13.9 us, and 97 bytes are 14 of them; each byte takes 16
    # cycles of SMCLK, each way.
    assert cycles[97, 0] - cycles[0, 0] == pytest.approx(14 * 13.9 * 8 + 2 * 97 * 16, rel=0.1)

    done = joulemark(*asked, "--operation", "encrypt", "--size", "126", code=3)
    assert "nothing is left to measure" in done.stderr
    assert "up to 125 bytes" in done.stderr

    (build,) = (
        b for b in WHOLE_CCM if str(b.implementation) == "aes-128-ccm-star/cc2420-ccm-engine"
    )
    device = build.start()[1]
    for slot, data in {"key": 16, "nonce": 13, "ad": 21, "message": 97, "tag": 8}.items():
        device.write(slot, bytes(data))
    for operation in ("encrypt", "decrypt"):
        assert device.run(operation).status is Status.BAD_LENGTH
        assert device.read("output", 97) == bytes(97)


def test_an_engine_is_of_the_boards_that_have_it_and_of_the_modes_that_it_can_do() -> None:
    known = library()
    for board, engine in ENGINES.items():
        described = boards.load_board(board)
        for algorithm in ("aes-128", "aes-128-ctr", "aes-128-cbc"):
            ways = [w for w in known.implementations(known[algorithm]) if engine in w.name]
            is_possible = (algorithm, board) != ("aes-128-cbc", "telosb")
            assert bool(ways) == is_possible
            for way in ways:
                assert way.runs_on(described.core, described.accelerators)
                assert not way.runs_on(described.core)
                for other in ENGINES.keys() - {board}:
                    beside = boards.load_board(other)
                    assert not way.runs_on(beside.core, beside.accelerators)
    done = joulemark(
        *("run", "--board", "stm32vldiscovery", "--primitive", "aes-128"),
        *("--implementation", "cc2538-engine"),
        code=3,
    )
    assert "cc2538-engine" in done.stderr


@pytest.mark.parametrize("name", ["aes-128", "aes-128-ccm"])
def test_leaks_of_a_radios_engine_are_looked_for_on_a_board_with_the_radio(name: str) -> None:
    """By the operations that it has: the stand-alone encryption has no inverse."""
    only = ("--implementation", "cc2420-engine", "--opt", "O3", "--format", "json")
    printed = joulemark("leaks", "--board", "telosb", "--primitive", name, *only).stdout
    found = {row["operation"]: row["spread"] for row in json.loads(printed)}
    assert set(found) == {"init", "encrypt", *(["decrypt"] if name != "aes-128" else [])}
    assert set(found.values()) == {0}


def test_choose_advises_an_engine_where_it_is_the_cheapest(tmp_path: Path) -> None:
    store = str(tmp_path / "c.db")
    asked = ("choose", "--board", "openmote-cc2538", "--kind", "block-cipher", "--size", "64")
    done = joulemark(*asked, "--primitive", "aes-128", "--store", store, "--format", "json")
    (first, *_) = json.loads(done.stdout)["candidates"]
    assert first["implementation"] == "cc2538-engine"


def cycles_of_the_guide() -> dict[str, dict[tuple[int, int], list[int]]]:
    """Return those of CCM*, by chip, then by bytes of associated data and of the message."""
    text = (ROOT / "docs/networks.md").read_text().partition("| | associated data, message |")[2]
    found: dict[str, dict[tuple[int, int], list[int]]] = {}
    chip = ""
    for line in text.partition("\n\n")[0].splitlines()[2:]:
        name, sizes, *cycles = (cell.strip() for cell in line.strip("|").split("|")[:5])
        chip = name or chip
        ad, message = (
            0 if size == "none" else int(size.removesuffix(" B").replace(",", ""))
            for size in sizes.split(", ")
        )
        found.setdefault(chip, {})[ad, message] = [int(c.replace(",", "")) for c in cycles]
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("board", "chip", "software"),
    [
        ("openmote-cc2538", "CC2538", "armv7m"),
        ("sensortag-cc2650", "CC2650", "armv7m"),
        ("telosb", "CC2420", "msp430"),
    ],
)
def test_ccm_star_takes_the_cycles_that_the_guide_says(
    board: str, chip: str, software: str, tmp_path: Path
) -> None:
    engine = ENGINES[board]
    ways = (engine.replace("-engine", "-ccm-engine"), engine, software)
    named = [option for way in ways for option in ("--implementation", way)]
    only = ("--primitive", "aes-128-ccm-star", "--operation", "encrypt", "--trials", "2")
    rows = cycles_of_the_guide()[chip]
    assert len(rows) == 3
    for number, ((ad, message), cycles) in enumerate(rows.items()):
        sizes = ("--size", str(message), "--ad-size", str(ad))
        found = measured(tmp_path / f"{number}.db", board, *only, *sizes, *named)
        assert [found["aes-128-ccm-star", way, "encrypt", message] for way in ways] == cycles


def test_the_beacon_of_annex_c_takes_as_long_as_its_blocks() -> None:
    (build,) = (
        BuildOf(one.implementation, "gcc", "O3", one.board)
        for one in WHOLE_CCM
        if str(one.implementation) == "aes-128-ccm-star/cc2538-ccm-engine"
    )
    (beacon,) = (v for v in build.implementation.algorithm.vectors if "annex C.2.1" in v.origin)
    machine, device = build.start()
    subject = Subject(build.implementation, device)
    values = {**inputs_of(subject.algorithm, beacon), **beacon.values}
    put = subject.contract.put("encrypt", values)
    subject.gives("encrypt", put)
    cycles = machine.take_window().cycles
    subject.load(put)
    device.run("encrypt", Flag.EMPTY)
    cycles -= machine.take_window().cycles
    # Its 26 bytes of header are as many blocks as the guide's 20.
    assert cycles == cycles_of_the_guide()["CC2538"][20, 0][0]
    # B0, two blocks of the header, and the MIC's mask: an engine cannot do with less.
    assert cycles > 4 * 52
