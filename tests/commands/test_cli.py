"""The command line, run as users run it."""

import io
import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import typer
from rich.console import Console
from rich.table import Table
from typer.testing import CliRunner

from command import by_itself, joulemark
from joulemark.battery import DEFAULT_MAH, DEFAULT_V
from joulemark.cli import _table, app
from joulemark.cli._table import _fit
from joulemark.errors import InputError, JoulemarkError
from joulemark.project import ROOT
from joulemark.records.record import of_primitives
from joulemark.records.store import Store
from joulemark.subjects.slot.page import BATTERY_J

SMALL = (
    *("--board", "telosb", "--primitive", "aes-128", "--primitive", "sha-256"),
    *("--size", "16,64", "--opt", "Os"),
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a small campaign."""
    path = tmp_path_factory.mktemp("cli") / "s.db"
    joulemark("run", *SMALL, "--store", str(path))
    return path


def records(store: Path) -> "list[dict[str, object]]":
    text = joulemark("export", "--format", "json", "--store", str(store)).stdout
    result: list[dict[str, object]] = json.loads(text)
    return result


def test_run_measures_verifies_and_reports(store: Path) -> None:
    found = records(store)
    assert {r["primitive"] for r in found} == {"aes-128", "sha-256"}
    for r in found:
        assert r["status"] == "ok", r["failure"]
        assert r["trials"] == (8 if r["message_bytes"] <= 32 else 2)  # type: ignore[operator]
        # The window is the operation and its surroundings; that of one trial, where they differ.
        assert 0 < r["cycles_min"] <= r["cycles"] <= r["cycles_max"]  # type: ignore[operator]
        window = r["window_cycles"] - r["empty_cycles"]  # type: ignore[operator]
        assert r["cycles_min"] <= window <= r["cycles_max"]
        assert r["time_ps"] == pytest.approx(r["cycles"] / r["clock_hz"] * 1e12)  # type: ignore[operator]
        assert r["energy_gross_nj"] > r["energy_net_nj"] > 0  # type: ignore[operator]
        assert r["stack_bytes"] > 0  # type: ignore[operator]
    assert (store.parent / "s-report.html").stat().st_size > 10_000


def test_an_unchanged_campaign_is_served_from_the_store_quickly(store: Path) -> None:
    before = records(store)
    started = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = joulemark("run", *SMALL, "--store", str(store))
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    # CPU time, because other tests run beside this one.
    assert ended.ru_utime + ended.ru_stime - started.ru_utime - started.ru_stime < 3
    count = len(before)
    assert f"measured 0, served from the store: {count} of {count}; --fresh" in done.stdout
    assert records(store) == before


def test_the_table_says_what_it_shows_and_how_many_cases_it_does_not(store: Path) -> None:
    shown = joulemark("run", *SMALL, "--store", str(store)).stdout.splitlines()
    rows = [line for line in shown if line.startswith(("aes-128 ", "sha-256 "))]
    (said,) = (line for line in shown if line.startswith("shown: "))
    assert "of 64 bytes, the" in said or "of 16 to 64 bytes, the" in said
    assert f"; {len(records(store)) - len(rows)} more cases: --size" in said
    assert " -Os" in said


def test_the_table_says_sizes_of_operations_that_take_any(store: Path) -> None:
    with Store(store) as opened:
        row = of_primitives(opened.records())[0]

    def said(kind: str, operation: str, message_bytes: int) -> str:
        of: dict[str, Any] = {"kind": kind, "operation": operation, "message_bytes": message_bytes}
        return _table.described([replace(row, subject=replace(row.subject, **of))], 1)

    assert said("kem", "decapsulate", 0).startswith("shown: decapsulate, the fastest")
    assert said("aead", "encrypt", 0).startswith("shown: encrypt of 0 bytes, no AD, the")
    assert said("hash", "hash", 8).startswith("shown: hash of 8 bytes, the")


def test_a_list_says_what_is_measured_where_it_is_named() -> None:
    rows = json.loads(joulemark("list", "primitives", "--format", "json").stdout)
    measured = {row["primitive"]: row["measured"] for row in rows}
    assert measured["aes-128"] == "by default"
    assert measured["aes-192-ccm"] == measured["lms-h10-w8"] == "if named"
    assert measured["ml-dsa-44"] == "by default; on armv7em, armv7m, msp430 if named"


def test_a_long_table_is_cut_to_the_best_of_each_kind(
    store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store(store) as opened:
        found = of_primitives(opened.records())
    monkeypatch.setattr(_table, "MOST_ROWS", 1)
    _table.show(found, set(), len(found))
    lines = capsys.readouterr().out.splitlines()
    rows = [line.split() for line in lines if line.startswith(("aes-128 ", "sha-256 "))]
    # Table-based AES takes less energy than the radio's engine, but its addresses depend on keys.
    assert [row[:2] for row in rows] == [["aes-128", "cc2420-engine"], ["sha-256", "msp430"]]
    (shown,) = (line for line in lines if line.startswith("shown:"))
    assert "of each kind the standard that keeps its secrets (or claims to" in shown


def test_stores_in_one_folder_keep_their_own_reports(store: Path, tmp_path: Path) -> None:
    for name in ("joulemark.db", "other.db"):
        shutil.copy(store, tmp_path / name)
        joulemark("report", "--store", str(tmp_path / name))
    reports = {p.name for p in tmp_path.glob("*.html")}
    assert reports == {"report.html", "other-report.html"}


def test_fresh_measures_again_and_exact_results_stay(store: Path) -> None:
    before = {r["case_digest"]: r for r in records(store)}
    joulemark("run", *SMALL, "--primitive", "sha-256", "--fresh", "--store", str(store))
    for r in records(store):
        old = before[r["case_digest"]]
        assert r["seed"] != old["seed"]
        if r["exact"] and old["exact"]:
            assert r["cycles"] == old["cycles"]


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_export_holds_every_record(store: Path, tmp_path: Path, form: str) -> None:
    path = tmp_path / f"records.{form}"
    joulemark("export", "--format", form, "--store", str(store), "--out", str(path))
    frame: pd.DataFrame = getattr(pd, f"read_{form}")(path)
    found = records(store)
    assert len(frame) == len(found)
    assert list(frame["cycles"]) == [r["cycles"] for r in found]


@pytest.mark.parametrize(
    "what", ["boards", "chips", "primitives", "compilers", "networks", "scenarios"]
)
def test_lists(what: str) -> None:
    expected = {
        "boards": "telosb",
        "chips": "msp430f1611",
        "primitives": "aes-128-ctr",
        "compilers": "clang",
        "networks": "ping-telosb",
        "scenarios": "telosb-aead",
    }
    assert expected[what] in joulemark("list", what).stdout


def test_doctor_finds_what_a_run_needs() -> None:
    assert "joulemark._engine" in joulemark("doctor").stdout


def test_doctor_names_what_is_missing(tmp_path: Path) -> None:
    done = by_itself("doctor", code=4, PATH=str(tmp_path))
    assert "install the Debian packages clang-19 and lld-19" in done.stdout
    assert "clang" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["run", "--board", "telosc"], 3, "telosb"),
        (["run", "--primitive", "rot13"], 3, "matches nothing"),
        (["run", "--size", "big"], 3, "16,32,64"),
        (["run", "none.toml"], 3, "none.toml"),
        (["run", "--compiler", "tcc"], 3, "joulemark: no such compiler: tcc"),
        (
            ["run", "--compiler", "clang-99"],
            4,
            "joulemark: no clang-99 that makes code for armv7m, no clang-99 that makes",
        ),
        (["run", "--opt", "O9"], 3, "joulemark: O9: no such optimisation; use one of O3, O2"),
        (["leaks", "--primitive", "xtea", "--opt", "O9"], 3, "O9: no such optimisation"),
        (["run", "--store", "/proc/none/s.db"], 9, "/proc/none"),
        (["report", "--store", "none.db"], 9, "no store"),
        (["export", "--format", "csv", "--store", "none.db"], 9, "no store"),
        (["profile", "none.elf", "--board", "telosb"], 3, "none.elf"),
        (["list", "nothing"], 2, "nothing"),
        (["exec"], 2, "IMAGE"),
        (["run", "--board", "b" * 300], 3, "File name too long"),
        (["choose", "--board", "intel-edison", "--kind", "mac"], 3, "joulemark estimate intel-ed"),
        (["slot", "--board", "stm32vldiscovery"], 3, "drivers for openmote-cc2538, sensortag"),
        (["choose", "--kind", "updates", "--board", "telosb"], 3, "did you mean update?"),
        (
            ["run", "--primitive", "slh-dsa-*", "--implementation", "ref", "--operation", "sign"],
            3,
            "none of the implementations has sign; ",
        ),
        (["leaks", "aes-128"], 3, "aes-128: no such file; a primitive goes with --primitive"),
        (["leaks", "--primitive", "aes-12"], 3, "aes-12 matches nothing; did you mean aes-"),
        (["bench", "--primitive", "aes-12", "--implementation", "ref"], 3, "did you mean aes-"),
        (["report", "--store", "."], 9, ".: is a folder"),
        (["report", "--store", "s" * 300], 9, "File name too long"),
        (["prune", "--store", "s" * 300 + "/s.db"], 9, "File name too long"),
        (["report", "--store", b"\xff.db"], 9, "\\xff.db: there is no store"),
    ],
)
def test_bad_input_is_one_clear_error(
    tmp_path: Path, arguments: list[str | bytes], code: int, message: str
) -> None:
    done = joulemark(*map(os.fsdecode, arguments), code=code, folder=tmp_path)
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr
    assert "first run" not in done.stderr


@pytest.mark.parametrize(
    ("command", "lacks"),
    [
        (
            "run --primitive xtea",
            "no clang that makes code for msp430 (install the Debian packages clang-19 and lld-19);"
            " no gcc that makes code for armv7m (put arm-none-eabi-gcc on the PATH: apt install",
        ),
        (
            "leaks --primitive xtea",
            "no clang that makes code for msp430 (install the Debian packages clang-19 and lld-19);"
            " no gcc that makes code for armv7m (put",
        ),
        (
            "network ping-mixed",
            "no clang that makes code for msp430, no clang that makes code for armv7m (install",
        ),
        (
            "estimate raspberry-pi-zero-w --primitive xtea",
            "no clang that makes code for host (install the Debian packages clang-19 and lld-19);"
            " no C compiler (cc) (install the Debian package gcc); no qemu-arm (install the",
        ),
        (
            "estimate raspberry-pi-zero-w --library cryptopp",
            "no clang that makes code for host (install the Debian packages clang-19 and lld-19);"
            " no C compiler (cc) (install the Debian package gcc); no qemu-arm (install the",
        ),
        (
            "run --runner local --library *",
            "no compiler of c (cc) (install the Debian package gcc);"
            " no compiler of c++ (c++) (install the Debian package g++)",
        ),
    ],
)
def test_all_tools_that_are_missing_are_named_at_once(
    tmp_path: Path, command: str, lacks: str
) -> None:
    linker = shutil.which("ld.lld-19")
    assert linker is not None
    (tmp_path / "ld.lld-19").symlink_to(linker)
    said = by_itself(*command.split(), code=4, folder=tmp_path, PATH=str(tmp_path)).stderr
    assert lacks in said
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["study", "shibata-2018", "--out"],
        ["network", "ping-telosb", "--page"],
        ["slot", "--board", "telosb", "--certificate"],
        ["compare", "a.db", "b.db", "--out", "x.txt", "--out"],
        ["profile", "none.elf", "--board", "telosb", "--flame"],
    ],
)
def test_a_file_that_cannot_be_written_is_refused_first(
    tmp_path: Path, arguments: list[str]
) -> None:
    (tmp_path / "file").touch()
    for name, message in {".": "is not a file", "file/page.html": "file is not a folder"}.items():
        done = joulemark(*arguments, name, code=3, folder=tmp_path)
        assert message in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_root_that_is_none_is_named(tmp_path: Path) -> None:
    done = by_itself("list", "boards", code=3, JOULEMARK_ROOT=str(tmp_path))
    assert f"{tmp_path}/boards: there is no such folder; unset JOULEMARK_ROOT" in done.stderr


def test_a_campaign_is_text(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_bytes(b"board = '\xb5'")
    done = joulemark("run", "c.toml", code=3, folder=tmp_path)
    assert "c.toml: is not UTF-8 text; save it as UTF-8" in done.stderr


def test_debug_shows_where(tmp_path: Path) -> None:
    done = by_itself("--debug", "run", "none.toml", code=1, folder=tmp_path)
    assert "Traceback" in done.stderr


def test_help_states_the_exit_codes() -> None:
    assert "130 interrupted" in " ".join(joulemark("--help").stdout.split())


def test_every_exit_code_is_documented_and_stands_for_one_error() -> None:
    def kinds(base: type[JoulemarkError]) -> "set[type[JoulemarkError]]":
        return {base}.union(*(kinds(sub) for sub in base.__subclasses__()))

    own = [error for error in kinds(JoulemarkError) if "exit_code" in vars(error)]
    codes = [error.exit_code for error in own]
    documented = (ROOT / "docs/command-line.md").read_text()
    shown = " ".join(joulemark("--help").stdout.split())
    for code in codes:
        assert f"\n| {code} |" in documented
        assert f" {code} " in shown
    assert len(set(codes)) == len(codes)


def test_a_full_disk_behind_the_output_is_said(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", "from joulemark.cli import main; main()", "list", "boards"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            check=False,
        )
    assert done.returncode == 3
    assert done.stderr == "joulemark: standard output: No space left on device\n"


@pytest.mark.parametrize("arguments", [["list", "boards"], ["--help"], ["list", "chips"]])
def test_output_that_nobody_reads_ends_the_command_quietly(arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as broken:
        done = subprocess.run(
            [sys.executable, "-c", "from joulemark.cli import main; main()", *arguments],
            stdout=broken,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize("width", [40, 80, 100, 120, 200])
def test_a_narrow_table_goes_without_columns_and_never_without_digits(width: int) -> None:
    table = Table(box=None, pad_edge=False)
    names = ("primitive", "implementation", "operation", "bytes", "opt", "cycles", "ms", "µJ")
    row = ("curupira-1", "armv7m", "encrypt", "512", "O3", "1,234,567", "25.720", "31.44")
    for name in (*names, "flash", "RAM", "stack", "secrets"):
        table.add_column(name, no_wrap=True)
    secrets = "addresses independent of data (8 trials)"
    table.add_row(*row, "10,788", "2,656", "112", secrets)
    fitting, left_out = _fit(table, width)
    console = Console(width=width, file=io.StringIO())
    with console.capture() as captured:
        console.print(fitting)
    assert "…" not in captured.get()
    assert "1,234,567" in captured.get()
    assert bool(left_out) == (width < 114)


@pytest.mark.parametrize("secrets", ["secrets decide at 1 instructions (followed)", "kept"])
def test_a_narrow_table_tells_of_secrets(secrets: str) -> None:
    table = Table(box=None, pad_edge=False)
    for name in ("primitive", "implementation", "operation", "cycles", "RAM", "secrets"):
        table.add_column(name, no_wrap=True)
    table.add_row("ecdsa-secp160r1", "cc2538-engine+armv7m-fixslice", "sign", "1", "2", secrets)
    fitting, left_out = _fit(table, 60)
    console = Console(width=60, file=io.StringIO())
    with console.capture() as captured:
        console.print(fitting)
    assert left_out == ["operation", "RAM"]
    assert ("secrets decide" if "decide" in secrets else "kept") in captured.get()
    assert ("cc2538-engine+" in captured.get().split()) == ("decide" in secrets)


def _with_numbers() -> Iterator[tuple[str, str, list[str]]]:
    """Yield commands, their options that are numbers, and what else they need."""
    commands: Any = typer.main.get_command(app)
    for name in commands.list_commands(None):
        options = commands.get_command(None, name).params
        needed = [
            [p.opts[0], "1"] if p.opts[0].startswith("-") else ["1"] for p in options if p.required
        ]
        for option in options:
            if option.type.name.startswith("float"):
                yield name, option.opts[0], [word for words in needed for word in words]


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
def test_a_number_of_any_command_is_finite(value: str) -> None:
    found = list(_with_numbers())
    some = {("handshake", "--per-day"), ("bench", "--speed"), ("slot", "--at-most")}
    assert some <= {(command, option) for command, option, _ in found}
    for command, option, needed in found:
        told = CliRunner().invoke(app, [command, *needed, f"{option}={value}"])
        # A number outside of a range that Typer knows is wrong usage.
        assert isinstance(told.exception, InputError) or told.exit_code == 2, told.output
        assert option in f"{told.output}{told.exception}", (command, option, told.output)


@pytest.mark.parametrize(
    "command",
    ["leaks --primitive aes-128", "architecture plasa", "handshake", "slot --board telosb"],
)
def test_an_optimisation_may_have_the_compilers_dash(command: str) -> None:
    done = joulemark(*command.split(), "--opt", "-O9", code=3)
    assert "O9: no such optimisation; use one of O3, O2, Os, O0" in done.stderr


@pytest.mark.parametrize(("what", "name"), [("kinds", "aead"), ("studies", "shibata-2018")])
def test_list_names_kinds_and_studies(what: str, name: str) -> None:
    rows = json.loads(joulemark("list", what, "--format", "json").stdout)
    (row,) = (row for row in rows if name in row.values())
    assert all(row.values())


def test_every_command_assumes_the_same_battery() -> None:
    for command in ("choose", "handshake"):
        told = " ".join(joulemark(command, "--help").stdout.split())
        assert f"[default: {DEFAULT_MAH}; " in told
    assert pytest.approx(DEFAULT_MAH / 1e3 * 3600 * DEFAULT_V) == BATTERY_J
