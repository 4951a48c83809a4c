"""A root that is switched off and on: the auditor looks whether nonces come twice."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from joulemark.cli import app
from joulemark.project import ROOT

NETWORKS = ROOT / "networks"


@pytest.mark.parametrize(("boots", "code"), [("msp430", 0), ("none", 16)])
def test_no_slot_number_comes_twice(boots: str, code: int, tmp_path: Path) -> None:
    """What counts boots keeps slot numbers apart; without it, the auditor finds what repeats."""
    text = (NETWORKS / "tsch-telosb.toml").read_text()
    kept, mote, wired = 'boots = "boots/msp430"', 'name = "root"\n', f'boots = "boots/{boots}"'
    assert kept in text
    text = text.replace(kept, wired).replace(mote, f"{mote}restart_s = [2.5]\n")
    (tmp_path / "tsch.toml").write_text(text)
    keys = "tsch-telosb.keys.toml"
    (tmp_path / keys).write_text((NETWORKS / keys).read_text())
    command = ["network", str(tmp_path / "tsch.toml"), "--for", "5s", "--quiet"]
    done = CliRunner().invoke(app, command)
    assert getattr(done.exception, "exit_code", done.exit_code) == code, done.output
    if code:
        assert "nonce used twice" in str(done.exception)
    else:
        assert "0 flaws" in done.stdout
