"""Wherever a figure is shown, what it may be off by is shown, too."""

import csv
import html
import io
import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

import joulemark as package
from command import joulemark
from joulemark.catalogue import accuracy, boards, chips
from joulemark.catalogue.primitives import library
from joulemark.cli import _command_name, _modules
from joulemark.errors import InputError
from joulemark.images import build_image
from joulemark.records import bounds
from joulemark.records.store import Store

_TELOSB = (
    "time exact (8 of 8 held-out programs, by the maker's tables); "
    "clock ±0.36%, 8 MHz rated from 3.6 V on (here 3 V)"
)
_PROGRAM = f"{_TELOSB.partition('; ')[0]}; clock as the program sets it, whose error is not counted"
_CURRENTS = "energy: currents from the data sheet, typical"
_BOTH = f"errors, telosb: {_TELOSB}; {_CURRENTS}"
_OPENMOTE = "not compared (the time that its flash takes, with cache and prefetch, is assumed)"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("figures")
    path = str(folder / "store.db")
    where = ("--board", "telosb", "--board", "openmote-cc2538", "--size", "64", "--opt", "Os")
    shown = joulemark("run", "--primitive", "sha-256", *where, "--store", path).stdout
    assert _BOTH in shown.splitlines()
    assert f"errors, openmote-cc2538: time {_OPENMOTE}" in shown
    return path


def _run(store: str) -> list[str]:
    shown = joulemark(
        *("run", "--primitive", "sha-256", "--board", "telosb", "--size", "64", "--opt", "Os"),
        *("--store", store),
    )
    return [shown.stdout]


_CHOOSE = ("choose", "--board", "telosb", "--kind", "hash", "--primitive", "sha-256")


def _choose(store: str) -> list[str]:
    asked = (*_CHOOSE, "--size", "64", "--stored", "--store", store)
    text, markdown, told, rows = (
        joulemark(*asked, "--format", form).stdout for form in ("text", "markdown", "json", "csv")
    )
    for row in [*json.loads(told)["candidates"], *csv.DictReader(io.StringIO(rows))]:
        assert row["errors"] == f"telosb: {_TELOSB}; {_CURRENTS}"
    return [text, markdown]


def _exec(store: str) -> list[str]:
    way = library().implementation(library()["aes-128"], "ref")
    image = str(build_image(way, boards.load_board("stm32vldiscovery")).path)
    for where in (("--board", "stm32vldiscovery"), ("--chip", "stm32f100rb")):
        asked = ("exec", image, *where, "--stop-at", "main")
        found = json.loads(joulemark(*asked, "--json").stdout)
        assert found["cycles_error"].startswith("±0.004% (88 held-out programs")
        line = f"cycles        {found['cycles']:,}, {found['cycles_error']}"
        assert line in joulemark(*asked).stdout.splitlines()
    return []


def _handshake(store: str) -> list[str]:
    found = json.loads(joulemark("handshake", "--json").stdout)
    assert found["errors"] == [f"telosb: {_TELOSB}; {_CURRENTS}"]
    return [joulemark("handshake").stdout]


def _architecture(store: str) -> list[str]:
    store = f"{store}.own"  # What others look at has primitives alone.
    found = json.loads(
        joulemark("architecture", "plasa", "--store", store, "--format", "json").stdout
    )
    assert found
    for row in found:
        assert row["error"], row
    return [joulemark("architecture", "plasa", "--store", store).stdout]


def _network(store: str) -> list[str]:
    asked = ("network", "edhoc-telosb", "--for", "100ms", "--quiet")
    motes = json.loads(joulemark(*asked, "--json").stdout)["motes"]
    assert all(mote["errors"] == f"telosb: {_TELOSB}; {_CURRENTS}" for mote in motes)
    return [joulemark(*asked).stdout]


def _slot(store: str) -> list[str]:
    store = f"{store}.own"  # What others look at has primitives alone.
    asked = (
        "slot",
        "--board",
        "telosb",
        "--level",
        "enc-mic-128",
        "--strategy",
        "software",
        "--store",
        store,
    )
    told = {row["errors"] for row in json.loads(joulemark(*asked, "--format", "json").stdout)}
    (error,) = told
    assert error == f"telosb: {_TELOSB}; energy: currents inferred"
    assert f"errors, {error}" in joulemark(*asked).stdout
    return []


def _leaks(store: str) -> list[str]:
    asked = ["leaks", "--primitive", "sha-256", "--primitive", "aes-128", "--board", "telosb"]
    asked += ["--implementation", "ref", "--opt", "Os", "--operation", "encrypt"]
    assert f"errors, telosb: {_TELOSB}\n" in joulemark(*asked).stdout
    (row,) = json.loads(joulemark(*asked, "--format", "json").stdout)
    assert row["errors"] == f"telosb: {_TELOSB}"
    return []


def _export(store: str) -> list[str]:
    for form in ("json", "csv", "parquet"):
        flat, long = (Path(store).with_name(f"{name}.{form}") for name in ("flat", "long"))
        joulemark("export", "--store", store, "--format", form, "--out", str(flat))
        joulemark("export", "--store", store, "--format", form, "--long", "--out", str(long))
        read: Callable[[Path], pd.DataFrame] = getattr(pd, f"read_{form}")
        records, quantities = read(flat), read(long)
        assert records["time_error"].str.len().min() > 0
        assert records.loc[records["energy_net_nj"].notna(), "energy_error"].str.len().min() > 0
        assert quantities["error"].str.len().min() > 0
    return []


def _report(store: str) -> list[str]:
    page = Path(store).with_suffix(".html")
    joulemark("report", "--store", store, "--out", str(page))
    told = page.read_text().replace("&#39;", "'")
    assert f"Errors of telosb: {_TELOSB}; {_CURRENTS}" in told
    assert f"Errors of openmote-cc2538: time {_OPENMOTE}" in told
    return []


def _compare(store: str) -> list[str]:
    plain, markdown, told, suite = (
        joulemark("compare", store, store, "--format", form).stdout
        for form in ("text", "markdown", "json", "junit")
    )
    lines = json.loads(told)["errors"]
    assert _BOTH in lines
    for line in lines:
        assert f"<sub>{line}</sub>" in markdown
        assert f'value="{line}"'.replace("'", "&apos;") in suite.replace("&#39;", "&apos;") or (
            line in suite
        )
    assert package.compare(store, store)["errors"].str.contains("time ").all()
    return [plain]


def _site(store: str) -> list[str]:
    folder = Path(store).with_suffix(".site")
    joulemark("site", "--store", store, "--out", str(folder))
    primitive, *numbers = (folder / "primitives/sha-256.html", *(folder / "n").iterdir())
    assert f"errors, telosb: {_TELOSB}; {_CURRENTS}" in html.unescape(primitive.read_text())
    for path in numbers:
        told = path.read_text()
        assert told.count("<dt>errors</dt>") == told.count("<dt>key</dt>") > 0
    return []


def _study(store: str) -> list[str]:
    """Each value of ours that was measured, or taken from a board's file, says what it rests on."""
    store = f"{store}.own"
    out = Path(store).with_suffix(".study.html")
    asked = ("study", "shibata-2018", "--item", "busy_current", "--item", "add80_time", "--short")
    found = json.loads(joulemark(*asked, "--store", store, "--out", str(out), "--json").stdout)
    valued = [r for r in found["results"] if r["ours"] is not None]
    assert valued
    for result in valued:
        assert result["errors"]["ours"], result["id"]
    told = {e for r in found["results"] for whose in r["errors"].values() for e in whose}
    shown = joulemark(*asked, "--store", store, "--out", str(out)).stdout.splitlines()
    page = html.unescape(out.read_text())
    assert told
    for line in bounds.lines(told):
        assert line in shown
        assert line in page
    return []


def _energy(store: str) -> list[str]:
    trace = Path(store).with_suffix(".csv")
    rows = [f"{n},{4 if 200 <= n < 600 else 0.06}" for n in range(1000)]
    trace.write_text("\n".join(["Time(ms),Current(mA)", *rows, ""]))
    page = trace.with_suffix(".energy.html")
    told = "--time-column=Time(ms) --time-unit=ms --current-column=Current(mA) --current-unit=mA"
    asked = (*told.split(), "--supply-v=3", "--accuracy=0.001", "--out", str(page))
    shown = joulemark("energy", str(trace), *asked).stdout
    assert "errors, of each reading: +- 0.1%, as stated of the instrument" in shown
    assert "currents ± 0.1 % of reading" in page.read_text()
    return []


def _profile(store: str) -> list[str]:
    way = library().implementation(library()["sha-256"], "ref")
    image = str(build_image(way, boards.load_board("telosb"), optimisation="Os").path)
    folder = Path(store).parent
    flames = [folder / name for name in ("f.html", "f.svg", "f.speedscope.json")]
    pages = [folder / name for name in ("s.html", "p.html")]
    asked = ("profile", image, "--board", "telosb", "--stop-at", "hal_serial_read")
    shown = joulemark(*asked, "--annotate", str(pages[0]), "--power", str(pages[1])).stdout
    for path in flames:
        joulemark(*asked, "--flame", str(path))
    for path in (*flames, *pages):
        told = html.unescape(path.read_text()).replace("\\u00b1", "±")
        assert f"telosb: {_PROGRAM}; {_CURRENTS}" in told, path.name
    joulemark(*asked, "--power", str(folder / "p.csv"))
    with (folder / "p.csv").open() as lines:
        assert {row["current_grade"] for row in csv.DictReader(lines)} == {"datasheet"}
    frame = package.profile(image, "telosb", operation="hash", size=64)
    assert set(frame["errors"]) == {f"telosb: {_TELOSB}; {_CURRENTS}"}
    # A whole run may be of anybody's program, which sets the clock itself.
    assert f"errors, telosb: {_PROGRAM}; {_CURRENTS}" in shown.splitlines()
    one = ("profile", image, "--board", "telosb", "--operation", "hash", "--size", "64")
    return [joulemark(*one).stdout]


_FIGURES: dict[str, Callable[[str], list[str]]] = {
    "architecture": _architecture,
    "choose": _choose,
    "compare": _compare,
    "energy": _energy,
    "exec": _exec,
    "export": _export,
    "handshake": _handshake,
    "leaks": _leaks,
    "network": _network,
    "profile": _profile,
    "report": _report,
    "run": _run,
    "site": _site,
    "slot": _slot,
    "study": _study,
}
_ELSEWHERE = {
    "audit": "judges frames",
    "bench": "asks an instrument",
    "budget": "has an interval beside each figure, tested in test_budget.py",
    "doctor": "shows tools",
    "estimate": "has the models' errors below its table, tested in test_estimates.py",
    "image": "builds",
    "list": "shows what there is",
    "method-check": "is about errors",
    "new": "begins files",
    "prune": "removes files",
    "slot-check": "proves again",
    "update": "has errors below each table, tested in test_update.py",
}


def test_each_command_shows_errors_or_says_why_not() -> None:
    assert {_command_name(path) for path in _modules()} == {*_FIGURES, *_ELSEWHERE}


_SLOW = {"architecture", "slot"}


@pytest.mark.parametrize(
    "command", [pytest.param(n, marks=[pytest.mark.slow] * (n in _SLOW)) for n in _FIGURES]
)
def test_errors_stand_beside_figures(command: str, store: str) -> None:
    for text in _FIGURES[command](store):
        assert _BOTH in text.splitlines()


def test_frames_of_python_have_errors(store: str) -> None:
    assert package.results(store)["time_error"].notna().all()
    assert package.results(store, long=True)["error"].notna().all()


def test_a_quantity_has_the_error_of_its_kind(store: str) -> None:
    with Store(store, "read") as opened:
        (record, *_) = (r for r in opened.records() if r.conditions.board == "telosb")
    told = {q.name: bounds.of_quantity(record, q) for q in record.quantities}
    assert told["cycles"] == told["time"] == _TELOSB.removeprefix("time ")
    assert told["energy_net"] == "currents from the data sheet, typical"
    assert told["flash"] == told["stack"] == "exact"


def test_bounds_of_a_time_have_its_clocks_tolerance(
    store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(store, "read") as opened:
        (record, *_) = (r for r in opened.records() if r.conditions.board == "telosb")
    profile = boards.load_board("telosb").clock_profile(record.conditions.clock)
    slow, fast = profile.tolerance.slow_ppm * 1e-6, profile.tolerance.fast_ppm * 1e-6
    assert max(slow, fast) > 0
    assert bounds.interval_of_time(record) == pytest.approx((-slow, fast))  # Its cycles are exact.
    off = accuracy.of_chip("msp430f1611").model_copy(update={"lowest": -0.01, "highest": 0.02})
    monkeypatch.setattr(accuracy, "of_chip", lambda _: off)
    assert bounds.interval_of_time(record) == pytest.approx(
        (0.99 * (1 - slow) - 1, 1.02 * (1 + fast) - 1)
    )


def test_every_chip_has_an_accuracy() -> None:
    for name in chips.names():
        found = accuracy.of_chip(name)
        assert found is not accuracy.UNKNOWN, name
        assert found.bound is not None or "not compared" in str(found)


def test_figures_that_do_not_belong_together_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "accuracy").mkdir()
    monkeypatch.setattr(chips, "path_of", lambda name: tmp_path / f"{name}.toml")
    file = tmp_path / "accuracy" / "halved.toml"
    file.write_text('lowest = -0.1\nof = "nothing"\nsource = "s"\ngrade = "measured"\n')
    with pytest.raises(InputError, match="belong together"):
        accuracy.of_chip("halved")
    assert accuracy.of_chip("without-a-file") is accuracy.UNKNOWN


def test_the_board_of_an_inferred_chip_says_so() -> None:
    told = bounds.of_board(boards.load_board("nrf52840-dk"), None, "inferred")
    assert "-6.5% to +2.6%" in told
    assert "inferred); clock" in told
    assert told.endswith("energy: currents inferred")


def test_the_factor_that_currents_are_within_stands_beside_energy() -> None:
    said = "currents inferred, estimated within a factor of 2"
    board = boards.load_board("raspberry-pi-pico")
    assert bounds.of_board(board, None, "inferred").endswith(f"energy: {said}")
    assert bounds.of_grade(board, "datasheet") == "currents from the data sheet, typical"
