"""Motes that are switched off and on: the auditor looks whether nonces come twice."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from joulemark.cli import app
from joulemark.project import ROOT

NETWORKS = ROOT / "networks"


COUNTED = [("telosb", "msp430"), ("openmote-cc2538", "armv7m"), ("sensortag-cc2650", "armv7m")]


@pytest.mark.parametrize(
    ("board", "boots", "code"), [*((*one, 0) for one in COUNTED), ("openmote-cc2538", "none", 16)]
)
def test_no_slot_number_comes_twice(board: str, boots: str, code: int, tmp_path: Path) -> None:
    """What counts boots keeps slot numbers apart; without it, the auditor finds what repeats."""
    text = (NETWORKS / "tsch-telosb.toml").read_text()
    root = 'name = "root"\nboard = "telosb"\n'
    kept, wired = 'boots = "boots/msp430"', f'boots = "boots/{boots}"'
    assert root in text
    assert kept in text
    text = text.replace(root, f'name = "root"\nboard = "{board}"\nrestart_s = [2.5]\n')
    (tmp_path / "tsch.toml").write_text(text.replace(kept, wired))
    keys = "tsch-telosb.keys.toml"
    (tmp_path / keys).write_text((NETWORKS / keys).read_text())
    run(tmp_path / "tsch.toml", "5s", code)


def run(network: Path, duration: str, code: int, *options: str) -> None:
    """Run a network to its end: the auditor finds nothing, or a nonce that came twice."""
    command = ["network", str(network), "--for", duration, "--quiet", *options]
    done = CliRunner().invoke(app, command)
    assert getattr(done.exception, "exit_code", done.exit_code) == code, done.output
    if code:
        assert "nonce used twice" in str(done.exception)
    else:
        assert "0 flaws" in done.stdout


def test_plasa_takes_nothing_again_after_restarts(tmp_path: Path) -> None:
    """Packets are sent again, to a mote that has forgotten that it has had them."""
    run(NETWORKS / "plasa-restarts.toml", "5.8s", 0, "--uart", str(tmp_path))
    (heard,) = (path.read_text() for path in tmp_path.glob("receiver.*"))
    numbers = [int(n, 16) for n in re.findall(r"heard 64(..)001122334455 from 3", heard)]
    assert len(numbers) > 15
    assert numbers == sorted(set(numbers))
    # It is admitted again each time, and what is sent after the last is heard.
    (authority,) = (path.read_text() for path in tmp_path.glob("authority.*"))
    assert authority.count("admitted 2\n") == 3
    assert numbers[-1] > (4.0 - 0.6) / 0.125


@pytest.mark.parametrize(
    ("board", "boots", "code"),
    [*((*one, 0) for one in COUNTED), ("telosb", "first", 16)],
)
def test_plasa_uses_no_nonce_twice(board: str, boots: str, code: int, tmp_path: Path) -> None:
    """Without a count of boots an authority and its mote say the same again under the same keys."""
    text = (NETWORKS / "plasa-telosb.toml").read_text()
    wired = f'board = "{board}"\nwiring = {{ boots = "boots/{boots}" }}\n'
    text = text.replace('board = "telosb"\n', wired)
    # It renews the first key before its mote is there again: another one under the same nonce.
    text = text.replace('name = "authority"\n', 'name = "authority"\nrestart_s = [1.0]\n')
    (tmp_path / "plasa.toml").write_text(text)
    run(tmp_path / "plasa.toml", "3s", code)


@pytest.mark.parametrize("patience", [8, 0])
def test_motes_of_an_authority_that_restarts_are_admitted_again(
    patience: int, tmp_path: Path
) -> None:
    """A mote that hears no renewal for so many packets asks; without, nobody is served any more."""
    text = (NETWORKS / "plasa-telosb.toml").read_text()
    text = text.replace("restart_s = [2.0]\n", "")
    text = text.replace('name = "authority"\n', 'name = "authority"\nrestart_s = [1.6]\n')
    mote = "define = { PLASA_POLICY = 5"
    assert mote in text
    text = text.replace(mote, f"{mote}, PLASA_PATIENCE = {patience}")
    (tmp_path / "plasa.toml").write_text(text)
    run(tmp_path / "plasa.toml", "4s", 0, "--uart", str(tmp_path))
    (authority,) = (path.read_text() for path in tmp_path.glob("authority.*"))
    before, after = authority.split("authority 1\n")[1:]
    assert "admitted 2\n" in before
    assert "heard" in before
    assert ("admitted 2\n" in after) == (patience > 0)
    assert ("heard" in after) == (patience > 0)
