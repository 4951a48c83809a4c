"""`joulemark audit`: a table with known truth, and yilmaz-2018's."""

import json
import random
from pathlib import Path

import pytest

from command import joulemark
from joulemark.analysis.audit import audit, read
from joulemark.project import STUDIES

YILMAZ = STUDIES / "yilmaz-2018" / "audit.toml"
AUDIT = """
study = "study.toml"
[meter]
step = 1.0
unit = "mWh"
[window]
least_s = 5
most_s = 60
[[device]]
name = "it"
clock_hz = 1e9
idle_watt = 0.5
most_watt = 10.0
source = "made up"
[[table]]
section = "t"
work = "operations"
columns = [{ device = "it", rate = "rate", energy = "energy" }]
"""


def made(folder: Path, window_s: float, step_j: float, *, rows: int = 20) -> Path:
    """Write a table of a 2 W machine whose meter counts in steps."""
    random.seed(5)
    lines = []
    for row in range(rows):
        rate = random.uniform(5, 400)
        counts = round(random.uniform(1.9, 2.1) * window_s / step_j)
        energy_uwh = counts * step_j / (rate * window_s) / 3.6e-3
        lines.append(f'{{ id = "r{row}", what = "row", values = [{rate:.2f}, {energy_uwh:.3f}] }},')
    columns = '{ name = "rate", unit = "op/s" }, { name = "energy", unit = "uWh" }'
    text = f'[[section]]\nname = "t"\ncolumn = [{columns}]\nrow = [\n' + "\n".join(lines) + "\n]\n"
    (folder / "study.toml").write_text(text)
    (folder / "audit.toml").write_text(AUDIT)
    return folder / "audit.toml"


@pytest.mark.parametrize("window_s", [20, 30, 47])
def test_the_window_is_found(tmp_path: Path, window_s: int) -> None:
    found = audit(*read(made(tmp_path, window_s, 3.6)))
    assert found.window_s == window_s
    assert found.whole == found.tried == 20
    assert found.by_chance < -10
    assert all(f.counts[0].counts == round(f.cell.watt * window_s / 3.6) for f in found.findings)


def test_numbers_without_steps_show_none(tmp_path: Path) -> None:
    found = audit(*read(made(tmp_path, 30, 1e-3)))
    assert found.window_s is None
    assert not any(f.counts for f in found.findings)


def test_what_cannot_be(tmp_path: Path) -> None:
    path = made(tmp_path, 30, 3.6)
    text = path.read_text().replace("idle_watt = 0.5", "idle_watt = 2.5")
    path.write_text(text)
    found = audit(*read(path))
    assert all("less than the 2.5 W" in f.impossible[0] for f in found.findings)


def test_yilmaz_2018() -> None:
    found = audit(*read(YILMAZ))
    assert (found.window_s, found.whole, found.tried) == (30, 40, 40)
    doubled = [f for f in found.findings if f.cell.work.work == "doubles"]
    assert len(doubled) == 38
    assert all(f.counts for f in doubled)
    (sha1,) = (f for f in found.of("table-i", "Pi 3") if f.cell.row == "sha1")
    assert [round(c.rate, 2) for c in sha1.counts] == [88.89]
    assert sha1.counts[0].counts == 13
    outliers = [(f.cell.row, f.cell.device.name) for f in found.findings if f.outlier]
    assert outliers == [("des_ctr", "Zero W")]
    rsa = next(f for f in found.of("table-ii", "Pi 3") if f.cell.row == "rsa1024_encrypt")
    assert rsa.milliseconds == 0.28
    assert all(f.milliseconds for f in found.findings if f.cell.work.work == "operations")
    assert not any(f.impossible for f in found.findings)


def test_the_command(tmp_path: Path) -> None:
    done = joulemark("audit", str(YILMAZ))
    assert "40 of 40 energies of operations are whole counts of 1 mWh in 30 s" in done.stdout
    assert "outlier: DES/CTR (64-bit key), Zero W: 0.71 W" in done.stdout
    rows = json.loads(joulemark("audit", str(YILMAZ), "--format", "json").stdout)
    assert len(rows) == 78
    path = made(tmp_path, 30, 3.6)
    path.write_text(path.read_text().replace('section = "t"', 'section = "x"'))
    assert "no table x; there are t" in joulemark("audit", str(path), code=3).stderr
    path.write_text(path.read_text().replace("step = 1.0", "step = 0"))
    assert "key meter.step" in joulemark("audit", str(path), code=3).stderr
