"""Board files: every shipped one is right, and errors in others name file and key."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from joulemark.catalogue import boards, chips
from joulemark.errors import InputError
from joulemark.project import BOARDS


def constants(value: Any) -> list[dict[str, Any]]:
    """Return all tables that state a source or a grade."""
    if isinstance(value, list):
        return [c for item in value for c in constants(item)]
    if not isinstance(value, dict):
        return []
    own = [value] if {"source", "grade"} & set(value) else []
    return own + [c for item in value.values() for c in constants(item)]


@pytest.mark.parametrize("name", boards.names())
def test_shipped_boards(name: str) -> None:
    board = boards.load_board(name)
    table = tomllib.loads((BOARDS / f"{name}.toml").read_text())
    for constant in constants(table):
        assert constant["source"]
        assert constant["grade"] in ("measured", "datasheet", "inferred")
    _, _, body = (BOARDS / f"{name}.toml").read_text().partition("[supply_v]")
    for document in board.documents:
        assert document in body, "a document that nothing cites"
    states = chips.load_chip(board.chip).power_states
    assert board.idle_state in states
    assert {c.state for c in board.current} <= set(states)
    assert len(board.digest) == 64


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "telosb"', 'name = "telosc"', r"key name: is 'telosc'"),
        ('chip = "msp430f1611"', 'chip = "z80"', r"key chip: no chip z80; there are"),
        ("[serial]", "[serial]\nparity = 1", r"key serial.parity: unknown key"),
        ("baud = 230400", "baud = 0", r"key serial.baud"),
        ('pin = "P6.2"', 'pin = "6.2"', r"key marker.pin"),
        ('default_clock = "max"', 'default_clock = "fast"', r"no \[clock.fast\]"),
        ('grade = "datasheet"', 'grade = "guess"', r"grade: must be"),
        ("value = 3.0", "value = -3.0", r"key supply_v.value"),
        ('"{hex}"', '"{hexx}"', r"key flash.command: .*no such placeholder: hexx; there are {elf}"),
        ('"{hex}"', '"{hex:d}"', r"key flash.command: .*a placeholder is a name in braces"),
        ('"{hex}"', '"{hex!r}"', r"key flash.command: .*a placeholder is a name in braces"),
        ('"{hex}"', '"{hex"', r"key flash.command: .*expected '}'"),
        ("hz = 8000000\n", "", r"key clock.max.hz: this key is missing"),
    ],
)
def test_errors_name_file_and_key(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = (BOARDS / "telosb.toml").read_text()
    assert old in text
    path = tmp_path / "telosb.toml"
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(InputError, match=message) as caught:
        boards.read_board(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("ampere = 6.1e-3\n", "", r"key radio.state.0.ampere: this key is missing"),
        ("ampere = 6.1e-3", "ampere = -6.1e-3", r"key radio.state.0.ampere: must be more than 0"),
        ("ampere = 6.1e-3", 'ampere = "6.1 mA"', r"key radio.state.0.ampere: must be a number"),
        ("uncertainty_a = 0.26e-3", "uncertainty_a = 0", r"key current.0.uncertainty_a"),
        ("whole_board = true", "whole_bord = true", r"key radio.state.0.whole_bord: unknown key"),
        ("value = 250000, source", "value = 250000, origin", r"keys: radio.bit_rate_hz.source"),
        ("executions = 16000", "executions = 0", r"key activity.0.executions"),
        ('kind = "sensing"', 'kind = "sensor"', r"key activity.0.kind: must be 'sensing'"),
        ('name = "red-led"', 'name = "red LED"', r"key load.\d+.name: must match"),
        ('source = "shibata-2018, table VIII"', 'source = ""', r"key activity.\d+.source"),
    ],
)
def test_errors_in_what_a_board_draws_name_file_and_key(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    text = (BOARDS / "sensortag-cc2650.toml").read_text()
    assert old in text
    path = tmp_path / "sensortag-cc2650.toml"
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(InputError, match=message) as caught:
        boards.read_board(path)
    assert str(path) in str(caught.value)


def test_unknown_boards_and_chips_are_answered_with_near_ones() -> None:
    with pytest.raises(InputError, match=r"telosa: no such board; did you mean telosb"):
        boards.load_board("telosa")
    with pytest.raises(InputError, match=r"no such chip; did you mean msp430f1611"):
        chips.load_chip("msp430f1612")
    with pytest.raises(InputError, match="no such board"):
        boards.load_board("../boards/telosb")


def test_a_clock_is_accepted_as_near_as_it_can_be_set() -> None:
    clock = boards.load_board("telosb").clock["max"]
    assert clock.accepts(8_000_000)
    assert clock.accepts(7_975_000)
    assert not clock.accepts(7_960_000)
    assert not clock.accepts(8_010_000)
    crystal = boards.load_board("openmote-cc2538").clock["max"]
    assert crystal.accepts(32_001_000)
    assert not crystal.accepts(31_900_000), "0.3%: no crystal is so far off, a DCO may be"


def test_every_clock_says_how_far_off_it_may_be() -> None:
    """Times from the chip's timer are as exact as the board's own clock, not as a DCO."""
    bounds = {
        name: boards.load_board(name).clock_profile(None).tolerance for name in boards.names()
    }
    assert bounds["telosb"].bound == pytest.approx(0.0036)
    assert bounds["openmote-cc2538"].bound == pytest.approx(40e-6)
    assert all(tolerance.source for tolerance in bounds.values())
