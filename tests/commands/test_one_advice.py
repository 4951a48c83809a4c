"""From the same records the report, `choose`, `choose --stored` and Python advise the same."""

import itertools
import json
import random
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, sync_playwright

import joulemark as package
from command import joulemark
from joulemark.analysis.advice import left_out, on_request, service_of
from joulemark.analysis.choice import Demands
from joulemark.catalogue import boards, kinds
from joulemark.catalogue.primitives import library
from joulemark.errors import InputError
from joulemark.records.record import PrimitiveRecord
from joulemark.records.store import Store
from joulemark.subjects.primitive import choose
from made import made

_BOARDS = ("telosb", "openmote-cc2538")
_PRIMITIVES = {
    "aead": ("aes-128-ccm", "ascon-aead128"),
    "hash": ("sha-256", "sha3-256"),
    "mac": ("aes-128-cmac", "hmac-sha-256"),
    "block-cipher": ("aes-128",),
    "mode": ("aes-128-ctr",),
    "stream-cipher": ("chacha20",),
}


def _asked(board: str, kind: str, size: int) -> tuple[str, ...]:
    return ("choose", "--board", board, "--kind", kind, "--size", str(size), "--constant-time")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds of a few primitives by the default compiler, as `make run` measures them."""
    path = tmp_path_factory.mktemp("advice") / "s.db"
    campaign = path.with_suffix(".toml")
    names = [name for some in _PRIMITIVES.values() for name in some]
    campaign.write_text(f"primitive = {json.dumps(names)}\nsize = [16, 64]\n")
    where = [part for name in _BOARDS for part in ("--board", name)]
    joulemark("run", str(campaign), *where, "--ad-size", "0", "--store", str(path))
    return path


_EVERYWHERE = (
    *("telosb", "sensortag-cc2650", "openmote-cc2538"),
    *("stm32vldiscovery", "nrf52840-dk", "launchxl-cc26x2r1"),
)
_KINDS = ("aead", "hash", "mac", "stream-cipher", "block-cipher")
_ASKED_BYTES = (16, 40, 64, 200)


def _made_up(draw: random.Random, board: str) -> Iterator[PrimitiveRecord]:
    """Yield records of real implementations with costs that are drawn."""
    described = boards.load_board(board)
    for kind in (*_KINDS, "mode"):
        some = [a for a in library().algorithms.values() if a.kind == kind and a.is_default]
        draw.shuffle(some)
        # Something has to be left of which secrets are kept.
        for algorithm in sorted(some, key=lambda a: a.status != "standard")[:4]:
            ways = library().implementations(algorithm)
            able = [w for w in ways if w.runs_on(described.instruction_set, described.accelerators)]
            draw.shuffle(able)
            able.sort(key=lambda w: not w.secret_independent)
            for way, opt in itertools.product(able[:3], ("O3", "Os")):
                flash, leaks = draw.randrange(4, 9) * 256, draw.random() < 0.2
                sizes = [256, *(size for size in (16, 48, 64) if draw.random() < 0.7)]
                for name, operation in algorithm.contract.measured.items():
                    for size in sizes if operation.sized else [0]:
                        cycles = draw.randrange(4, 9) * 64 + size * draw.randrange(4, 7)
                        yield made(
                            **{
                                "key": f"{board} {way} {opt} {name} {size}",
                                "board": board,
                                "chip": described.chip,
                                "kind": kind,
                                "primitive": algorithm.name,
                                "implementation": way.name,
                                "optimisation": opt,
                                "operation": name,
                                "message_bytes": size,
                                "subject_status": algorithm.status,
                                "one_time_key": algorithm.primitive.file.one_time_key,
                                "secret_independent": way.secret_independent,
                                "cycles": cycles,
                                "time_ps": cycles * 31_250,
                                "energy_gross_nj": cycles * 1.5,
                                "energy_net_nj": cycles * 0.7,
                                "energy_grade": "datasheet",
                                "flash_bytes": flash,
                                "ram_bytes": draw.randrange(4, 9) * 8,
                                "stack_bytes": 100,
                                "trials": 8,
                                "addresses_equal": not leaks,
                            }
                        )


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store of drawn costs on six boards."""
    path, draw = tmp_path_factory.mktemp("drawn") / "s.db", random.Random(31)
    some = [r for board in _EVERYWHERE for r in _made_up(draw, board)]
    # At another place in flash everything takes nothing: nobody is advised by that.
    moved = [
        replace(
            r,
            key=f"{r.key} moved",
            build=replace(r.build, variant="+4"),
            quantities=tuple(q._replace(value=1) for q in r.quantities),
        )
        for r in some[::7]
        if r.build
    ]
    with Store(path) as opened:
        opened.append(*some, *moved)
    return str(path)


@pytest.fixture(scope="module")
def page(drawn: str) -> Iterator[Page]:
    """The report of that store, in a browser."""
    out = Path(drawn).with_suffix(".html")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("joulemark.report.charts.cost_charts", lambda *_: {})  # They take long.
        joulemark("report", "--store", drawn, "--out", str(out))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
        )
        opened = browser.new_page()
        opened.goto(out.as_uri())
        opened.wait_for_selector("html[data-choices=drawn]")
        yield opened
        browser.close()


_ON_PAGE = """(asked) => asked.map(([place, title, size]) => {
  const need = String(adviser.needs.findIndex((one) => one.title === title));
  return adviser.ask({ place, need, size: String(size) })
    .map((one) => [one.primitive, one.implementation, one.build, one.message_bytes]);
})"""


def test_page_commands_and_python_agree_120_of_120(
    drawn: str, page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of everything: what `choose` would measure first is in the store."""
    monkeypatch.setattr("joulemark.cli.choose._measure", lambda *_: None)
    # Reading the same records 360 times would take most of the time.
    known: dict[tuple[str, str, frozenset[str]], list[Any]] = {}
    read = Store.of_board

    def of_board(store: Store, board: str, clock: str, *, kind: set[str]) -> list[Any]:
        asked = board, clock, frozenset(kind)
        if asked not in known:
            known[asked] = read(store, board, clock, kind=kind)
        return known[asked]

    monkeypatch.setattr(Store, "of_board", of_board)
    asked = list(itertools.product(_EVERYWHERE, _KINDS, _ASKED_BYTES))
    titles = {kind: service_of(kinds.known()[kind]).title for kind in _KINDS}
    shown = page.evaluate(
        _ON_PAGE, [[f"{board}, max", titles[kind], size] for board, kind, size in asked]
    )
    agreed, answers = 0, set()
    for (board, kind, size), on_page in zip(asked, shown, strict=True):
        given = ("choose", "--board", board, "--kind", kind, "--size", str(size))
        told = []
        for more in ((), ("--stored",)):
            done = joulemark(*given, *more, "--store", drawn, "--format", "json").stdout
            told.append(_named(json.loads(done)["candidates"]))
        frame = package.choose(board, kind, size=size, stored=True, store=drawn)
        told.append(
            _named([{str(k): v for k, v in row.items()} for row in frame.to_dict("records")])
        )
        # Not the first alone: the whole ranking is the same.
        assert told == [on_page] * 3, (board, kind, size)
        agreed += 1
        answers.add(tuple(on_page[0]))
    assert agreed == 120
    assert len(answers) > 40, "the question must matter"


def _named(rows: list[dict[str, Any]]) -> list[list[Any]]:
    return [[r["primitive"], r["implementation"], r["build"], r["bytes"]] for r in rows]


def test_the_address_holds_the_question(page: Page) -> None:
    """A link gives who opens it the same answer."""
    page.locator("[data-ask=place]").select_option("telosb, max")
    page.locator("[data-ask=need]").select_option(label=service_of(kinds.known()["mac"]).title)
    page.locator("[data-ask=size]").fill("40")
    page.locator("[data-ask=every]").fill("60")
    page.locator("[data-ask=secrets]").select_option("any")
    page.locator("[data-ask=hardware]").uncheck()
    said = page.locator("#sentence").inner_text()
    for size, answer in (
        ("-5", "A message has a whole number of bytes"),
        ("100000", "No message of 100,000 bytes was measured on telosb"),
    ):
        page.locator("[data-ask=size]").fill(size)
        assert page.locator("#sentence").inner_text().startswith(answer)
    page.locator("[data-ask=size]").fill("40")
    assert page.locator("#sentence").inner_text() == said
    assert "for 40 bytes" in said
    assert "mAh a year" in said
    assert f"How far off: {_TELOSB}" in said
    widths = page.locator("#ranking .bound").evaluate_all(
        "all => all.map(one => parseFloat(one.style.width))"
    )
    assert 0 < max(widths) < 1, "an exact time has a bracket of its clock's tolerance alone"
    assert page.context.browser is not None
    other = page.context.browser.new_page()
    other.goto(page.url)
    other.wait_for_selector("html[data-choices=drawn]")
    assert other.locator("#sentence").inner_text() == said
    other.locator("[data-ask=place]").select_option("nrf52840-dk, max")
    assert other.locator("#ranking .bound").count() == other.locator("#ranking li").count() > 0
    other.close()


_TELOSB = "time exact (8 of 8 held-out programs, by the maker's tables); energy: currents from"


def test_a_signatures_message_is_the_hash_that_its_kind_says(tmp_path: Path) -> None:
    asked = ("choose", "--board", "telosb", "--kind", "signature", "--security-bits", "4000")
    done = joulemark(*asked, "--store", str(tmp_path / "s.db"), code=13)
    assert "sign of signature, 32 bytes" in done.stderr


def test_what_is_measured_now_is_advised_from_the_store(store: Path, tmp_path: Path) -> None:
    copy = tmp_path / "s.db"
    shutil.copy(store, copy)
    asked = (*_asked("telosb", "mac", 16), "--primitive", "aes-128-cmac", "--store", str(copy))
    measured = json.loads(joulemark(*asked, "--format", "json").stdout)
    stored = json.loads(joulemark(*asked, "--stored", "--format", "json").stdout)
    assert measured == stored
    before = joulemark(*asked[:-1], str(store), "--stored", "--format", "json").stdout
    assert len(json.loads(before)["candidates"]) < len(stored["candidates"])


def test_a_size_between_is_served_by_the_next_as_on_the_page(store: Path) -> None:
    asked = ("--stored", "--store", str(store), "--format", "json")
    larger = json.loads(joulemark(*_asked("telosb", "hash", 64), *asked).stdout)
    between = json.loads(joulemark(*_asked("telosb", "hash", 40), *asked).stdout)
    assert between["candidates"] == larger["candidates"]
    assert {row["bytes"] for row in between["candidates"]} == {64}
    assert "40 bytes" in between["question"]
    text = joulemark(*_asked("telosb", "hash", 40), *asked[:-2]).stdout
    assert "bytes: the smallest message that was measured of it and holds 40" in text


def test_hardware_is_advised_unless_it_is_left_out(store: Path) -> None:
    asked = (*_asked("openmote-cc2538", "aead", 64), "--stored", "--store", str(store))
    found = json.loads(joulemark(*asked, "--format", "json").stdout)
    assert found["candidates"][0]["implementation"] == "cc2538-ccm-engine"
    without = json.loads(joulemark(*asked, "--no-hardware", "--format", "json").stdout)
    assert without["candidates"]
    assert not any("engine" in c["implementation"] for c in without["candidates"])
    named = json.loads(
        joulemark(*asked, "--implementation", "*ccm-engine", "--format", "json").stdout
    )
    assert {c["implementation"] for c in named["candidates"]} == {"cc2538-ccm-engine"}


def test_each_accelerator_is_in_the_default_campaign_for_all_that_it_computes() -> None:
    for name in ("telosb", "sensortag-cc2650", "openmote-cc2538"):
        board = boards.load_board(name)
        core, beside = board.instruction_set, board.accelerators
        for algorithm in library().algorithms.values():
            every = library().implementations(algorithm)
            able = [way for way in every if way.is_main and way.runs_on(core, beside)]
            default = library().implementations_by_default(algorithm, core, beside)
            if algorithm.is_default and any(way.accelerators for way in able):
                assert any(way.accelerators for way in default), (name, algorithm.name)
            software = [way for way in default if not way.accelerators]
            asked_for = [w for w in able if any(p.is_on_request(core) for p in w.parts)]
            assert software or not [w for w in able if not w.accelerators and w not in asked_for]


def test_what_was_left_out_is_said(store: Path) -> None:
    asked = (*_asked("telosb", "hash", 64), "--stored", "--store", str(store))
    text = " ".join(joulemark(*asked).stdout.split())
    assert re.search(r"left out: \d+ implementations, none of them with hardware \(", text)
    algorithm = library()["aes-128-ccm"]
    told = left_out(set(), boards.load_board("openmote-cc2538"), [algorithm])
    assert "2 of them with hardware (aes-128-ccm/cc2538-ccm-engine," in told


def test_what_is_measured_on_request_is_considered_where_it_is_named() -> None:
    board, known = boards.load_board("stm32vldiscovery"), library()
    told = on_request({("ed25519", "ref")}, board, [known["ml-dsa-44"], known["ed25519"]])
    assert told.startswith("on request only: ml-dsa-44")
    for primitive in ((), ("ml-dsa-44",)):
        asked = choose.question(board.name, "signature", size=32, primitive=primitive)
        refused = choose.wanted(asked, Demands(security_bits=1000)).refused
        names = {way.algorithm.name for way in refused}
        assert ("ml-dsa-44" in names) == bool(primitive)


def test_a_size_below_zero_is_refused() -> None:
    for size, ad_size in ((-1, 0), (0, -1)):
        with pytest.raises(InputError, match="no number of bytes"):
            choose.question("telosb", "aead", size=size, ad_size=ad_size)


def test_time_alone_is_for_chips_without_a_cache(store: Path) -> None:
    ask = ("choose", "--kind", "block-cipher", "--size", "16", "--stored", "--store", str(store))
    asked = (*ask, "--board", "telosb", "--no-hardware", "--format", "json")
    strict = json.loads(joulemark(*asked, "--constant-time").stdout)["candidates"][0]
    alone = json.loads(joulemark(*asked, "--time-alone").stdout)["candidates"][0]
    assert strict["secrets"].startswith("independent")
    assert alone["secrets"].startswith("addresses depend on data")
    assert alone["energy µJ"] < strict["energy µJ"]
    done = joulemark(*ask, "--board", "openmote-cc2538", "--time-alone", code=3)
    assert "cache" in done.stderr


def test_what_leaks_and_takes_less_is_named_not_advised(store: Path) -> None:
    asked = ["choose", "--board", "telosb", "--kind", "block-cipher", "--size", "16"]
    asked += ["--no-hardware", "--stored", "--store", str(store)]
    lax = json.loads(joulemark(*asked, "--no-constant-time", "--format", "json").stdout)
    first = lax["candidates"][0]
    said = " ".join(joulemark(*asked).stdout.split())
    named = f"{first['primitive']}, {first['implementation']}, {first['build']}"
    assert f"with --no-constant-time first: {named}" in said
    assert "--no-constant-time" not in joulemark(*asked, "--no-constant-time").stdout


def test_kinds_that_serve_the_same_are_considered(store: Path) -> None:
    def found(kind: str) -> set[str]:
        asked = (*_asked("telosb", kind, 64), "--stored", "--store", str(store))
        rows = json.loads(joulemark(*asked, "--format", "json").stdout)["candidates"]
        return {row["primitive"] for row in rows}

    assert found("stream-cipher") == found("mode") >= {"aes-128-ctr", "chacha20"}
