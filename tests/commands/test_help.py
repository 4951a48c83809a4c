"""Every command's help ends with examples, whose options exist."""

import shlex
import time
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_command

from command import TERMINAL, joulemark
from joulemark.cli import _command_name, _measuring, _modules, _output, app
from joulemark.cli._output import Form, table
from joulemark.measure.bench import Bench
from joulemark.measure.pool import Processes

COMMANDS = [_command_name(path) for path in _modules()]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_examples(name: str) -> None:
    shown = joulemark(name, "--help").stdout
    examples = shown.partition("Examples:\n")[2].splitlines()
    assert examples, shown
    group: Any = get_command(app)
    for line in examples:
        program, called, *arguments = shlex.split(line.strip())
        assert (program, called in COMMANDS) == ("joulemark", True)
        command = group.get_command(None, called)
        with typer.Context(command) as context:
            ours = arguments[: arguments.index("--")] if "--" in arguments else arguments
            _, left, _ = command.make_parser(context).parse_args(list(ours))
            assert left == [], line


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_80_columns(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TERMINAL, "COLUMNS", "80")
    assert [x for x in joulemark(name, "--help").stdout.splitlines() if len(x) > 80] == []


def test_what_goes_on_below_its_text_fits(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(_output, "width", lambda: 40)
    _output.entry("absent   probe    ", "a current that is not known; to get it: buy one")
    _output.entry("ok       ", "here")
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 40
    assert lines[0].startswith("absent   probe    a current")
    assert lines[1].startswith(" " * 18)
    assert lines[-1] == "ok       here"


def test_what_is_no_terminal_gets_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now_s = iter((0.0, 4.0, 11.0, 12.0))
    monkeypatch.setattr(time, "monotonic", lambda: next(now_s))
    with _measuring._progress() as progress:
        task = progress.add_task("building", total=None)
        progress.update(task, total=1200)
        for done in (100, 900, 100):
            progress.advance(task, done)
    assert capsys.readouterr().err == "building: 1,000 of 1,200, 11 s\n"


def test_tables_add_to_what_there_is_to_build(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now_s = iter((0.0, 11.0, 22.0, 33.0))
    monkeypatch.setattr(time, "monotonic", lambda: next(now_s, 44.0))
    with _measuring.means(Bench(), Processes(1)) as used:
        for images in (2, 3):
            used.progress.building(images, 10, 0)
            used.progress.built()
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(",")[0] for line in lines] == ["building: 1 of 2", "building: 2 of 5"]


@pytest.mark.parametrize(
    "asked",
    [
        *(("list", what) for what in ("boards", "primitives", "meters", "networks", "scenarios")),
        ("handshake", "--board", "telosb"),
        ("leaks", "--primitive", "xtea", "--implementation", "ref", "--board", "telosb"),
    ],
    ids=" ".join,
)
def test_what_is_printed_fits_80_columns(
    asked: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(_output, "width", lambda: 80)
    monkeypatch.chdir(tmp_path)
    lines = joulemark(*asked).stdout.splitlines()
    assert [line for line in lines if len(line) > 80] == []
    assert lines


def test_words_are_wrapped_before_columns_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_output, "width", lambda: 40)
    row = {"name": "a", "what it is": "words " * 12, "µJ": 1.5, "more": 2}
    shown = table([row, {**row, "name": "b", "more": 3}], Form.TEXT, ("more",)).splitlines()
    assert max(map(len, shown)) <= 40
    assert shown[0].split() == ["name", "what", "it", "is", "µJ"]
    assert sum("words" in line for line in shown) >= 6
    assert shown[-2:] == ["too narrow for: more; CSV or JSON has", "all"]


def test_what_tells_rows_apart_stays_and_what_does_not_is_said_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_output, "width", lambda: 40)
    row = {
        "board": "telosb",
        "build": "gcc -O2",
        "what": "words " * 12,
        "cycles": 5,
        "both": "agree",
    }
    rows = [row, {**row, "board": "nrf52840-dk"}]
    shown = table(rows, Form.TEXT, ("board", "build", "both")).splitlines()
    assert shown[0].split() == ["board", "what", "cycles"]
    assert shown[-1] == "in each row: build gcc -O2; both agree"
    alone = table(rows[:1], Form.TEXT, ("board", "build", "both")).splitlines()
    assert " ".join(alone).endswith("in each row: board telosb; build gcc -O2; both agree")


def test_a_name_is_broken_where_its_parts_are_joined() -> None:
    assert _output.wrapped("ecdsa-secp160r1/armv7m+armv7m gcc -O2", 12) == [
        *("ecdsa-", "secp160r1/", "armv7m+", "armv7m gcc", "-O2")
    ]
    assert _output.wrapped("implementation", 12) == ["implementati", "on"]
    assert _output.narrowest(["implementation", "a b"]) == len("implementation")


def test_a_terminal_without_greek_gets_what_stands_for_it() -> None:
    joulemark("--version")
    assert "1.2 µJ ±3 → 4 ∞".encode("ascii", "joulemark") == b"1.2 uJ +-3 -> 4 ?"
