"""From the same records the report, `choose`, `choose --stored` and Python advise the same."""

import base64
import gzip
import itertools
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import joulemark as package
from command import joulemark
from joulemark.analysis.advice import left_out
from joulemark.catalogue import boards, kinds
from joulemark.catalogue.primitives import library

_BOARDS = ("telosb", "openmote-cc2538")
_PRIMITIVES = {
    "aead": ("aes-128-ccm", "ascon-aead128"),
    "hash": ("sha-256", "sha3-256"),
    "mac": ("aes-128-cmac", "hmac-sha-256"),
    "block-cipher": ("aes-128",),
    "stream-cipher": ("chacha20",),
}
_SIZES = (16, 64)
_QUESTIONS = list(itertools.product(_BOARDS, ("aead", "hash", "mac"), _SIZES))


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


@pytest.fixture(scope="module")
def page(store: Path) -> dict[str, dict[str, Any]]:
    """By board and title of a service, the page's advice by message size."""
    out = store.with_suffix(".html")
    joulemark("report", "--store", str(store), "--out", str(out))
    html = out.read_text()
    (packed,) = re.findall(r'id="data">([^<]*)<', html)
    advice = json.loads(gzip.decompress(base64.b64decode(packed)))["advice"]
    result = {}
    for anchor, sizes in advice.items():
        section = html.split(f'<section id="{anchor}">')[1].split("</section>")[0]
        titles = re.findall(r"<h4>(.*?)</h4>\s*<table", section)
        assert len(titles) == len(sizes)
        board = next(name for name in _BOARDS if anchor.startswith(name))
        result[board] = {title: some[0] for title, some in zip(titles, sizes, strict=True)}
    return result


def _first(found: dict[str, Any]) -> tuple[str, str, float]:
    one = found["candidates"][0]
    optimisation = one["build"].partition(" ")[2]
    return one["primitive"], f"{one['implementation']} {optimisation}", one["energy µJ"]


@pytest.mark.parametrize(("board", "kind", "size"), _QUESTIONS)
def test_page_command_and_python_agree(
    store: Path, page: dict[str, dict[str, Any]], board: str, kind: str, size: int
) -> None:
    asked = (*_asked(board, kind, size), "--stored", "--store", str(store), "--format", "json")
    primitive, build, energy = _first(json.loads(joulemark(*asked).stdout))
    service = kinds.known()[kind].file.service[0]
    advised = page[board][service.title][str(size)][0]
    rows = package.results(store)
    rows = rows[(rows["board"] == board) & (rows["kind"] == kind)]
    keeps = ["primitive", "implementation", "compiler", "optimisation"]
    leaks = rows[rows["finding"].str.contains("depend on|depends on", na=False)][keeps]
    rows = rows[
        rows["secret_independent_claim"].fillna(value=True)
        & rows["operation"].isin(service.operations)
        & rows["message_bytes"].isin([0, size])
        & ~rows[keeps].apply(tuple, axis=1).isin(set(leaks.apply(tuple, axis=1)))
    ]
    least = rows.groupby(keeps)["energy_net_nj"].sum().min() / 1e3
    assert energy == pytest.approx(least)
    assert (advised[0], advised[1]) == (primitive, build)
    assert advised[3] == pytest.approx(energy)


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
    assert "64 bytes (the smallest stored that hold 40)" in between["question"]


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
            able = [w for w in library().implementations(algorithm) if w.runs_on(core, beside)]
            default = library().implementations_by_default(algorithm, core, beside)
            if algorithm.is_default and any(way.accelerators for way in able):
                assert any(way.accelerators for way in default), (name, algorithm.name)
            software = [way for way in default if not way.accelerators]
            assert software or not [way for way in able if not way.accelerators]


def test_what_was_left_out_is_said(store: Path) -> None:
    asked = (*_asked("telosb", "hash", 64), "--stored", "--store", str(store))
    text = joulemark(*asked).stdout
    assert re.search(r"left out: \d+ implementations, 0 of them with hardware \(", text)
    page = store.with_suffix(".left-out.html")
    joulemark("report", "--store", str(store), "--out", str(page))
    assert re.search(
        r"Also left out: \d+ implementations, \d+ of them with hardware", page.read_text()
    )
    algorithm = library()["aes-128-ccm"]
    told = left_out([], boards.load_board("openmote-cc2538"), [algorithm])
    assert "2 of them with hardware (aes-128-ccm/cc2538-ccm-engine," in told


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


def test_an_answer_that_leaks_names_the_reports(store: Path) -> None:
    asked = ["choose", "--board", "telosb", "--kind", "block-cipher", "--size", "16"]
    asked += ["--no-hardware", "--stored", "--store", str(store)]
    kept = json.loads(joulemark(*asked, "--constant-time", "--format", "json").stdout)
    first = kept["candidates"][0]
    said = f"which the report advises: {first['primitive']}, {first['implementation']},"
    assert said in joulemark(*asked).stdout


def test_kinds_that_serve_the_same_are_named(store: Path) -> None:
    def said(kind: str) -> str:
        asked = _asked("telosb", kind, 64)
        return joulemark(*asked, "--stored", "--store", str(store)).stdout

    assert "the report also considers kind mode for this" in said("stream-cipher")
    assert "also considers" not in said("hash")
