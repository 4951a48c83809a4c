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


def with_row(path: Path, rate: str, energy_uwh: float | str) -> Path:
    """Add a row to the table of operations."""
    study = path.with_name("study.toml")
    energy = energy_uwh if isinstance(energy_uwh, str) else f"{energy_uwh:.9f}"
    row = f'{{ id = "edge", what = "row", values = [{rate}, {energy}] }},\n]\n'
    study.write_text(study.read_text().removesuffix("]\n") + row)
    return path


@pytest.mark.parametrize(("off", "window_s"), [(0.0007, 30), (-0.0007, 30), (0.0012, None)])
def test_a_count_is_whole_to_half_a_digit(tmp_path: Path, off: float, window_s: int | None) -> None:
    """Of a rate of 100.0 that is 0.05%; an operation that ends late in 30 s is 0.033%."""
    energy_uwh = 20 * (1 + off) * 3.6 / (100 * 30) / 3.6e-3
    path = with_row(made(tmp_path, 30, 3.6), "100.0", energy_uwh)
    assert audit(*read(path)).window_s == window_s


@pytest.mark.parametrize(("energy_uwh", "window_s"), [("6.7", 30), ("6.6", None)])
def test_an_energy_is_known_to_half_a_digit(
    tmp_path: Path, energy_uwh: str, window_s: int | None
) -> None:
    """Twenty steps in 30 s at a rate of 100.000 are 6.667: 6.6 is off by 1%, half a digit 0.75%."""
    path = with_row(made(tmp_path, 30, 3.6), "100.000", energy_uwh)
    assert audit(*read(path)).window_s == window_s


def doubling(path: Path, rate: str, energy_uwh: float, keys: str = "") -> Path:
    """Add a table of a loop whose calls double in size, from 1 MiB."""
    study = path.with_name("study.toml")
    columns = '{ name = "rate", unit = "MiB/s" }, { name = "energy", unit = "uWh" }'
    row = f'{{ id = "d", what = "row", values = [{rate}, {energy_uwh:.9f}] }}'
    text = f'[[section]]\nname = "d"\ncolumn = [{columns}]\nrow = [{row}]\n'
    study.write_text(study.read_text() + text)
    table = f'[[table]]\nsection = "d"\nwork = "doubles"\nfirst_bytes = {1 << 20}\n{keys}\n'
    columns = '[{ device = "it", rate = "rate", energy = "energy" }]'
    path.write_text(f"{path.read_text()}{table}columns = {columns}\n")
    return path


@pytest.mark.parametrize(("true", "counts"), [(2.04, [5]), (1.96, [5]), (2.08, []), (1.92, [])])
def test_a_rate_is_known_to_half_a_digit(tmp_path: Path, true: float, counts: list[int]) -> None:
    """64 MiB in five steps; the rate is printed as 2.0, and energy was computed with that."""
    path = doubling(made(tmp_path, 30, 3.6), "2.0", 5 * 3.6 * true / (64 * 2.0) / 3.6e-3)
    (found,) = audit(*read(path)).of("d", "it")
    assert [count.counts for count in found.counts] == counts


@pytest.mark.parametrize(("rate", "milliseconds"), [("3571.4", 0.28), ("3571.5", None)])
def test_milliseconds_are_known_by_half_a_digit(
    tmp_path: Path, rate: str, milliseconds: float | None
) -> None:
    """A rate of 1000 / 0.28 ms is 3571.43."""
    path = doubling(made(tmp_path, 30, 3.6), rate, 1.0, "reciprocal_decimals = 2")
    (found,) = audit(*read(path)).of("d", "it")
    assert found.milliseconds == milliseconds
    if milliseconds is not None:
        assert found.rounding == pytest.approx(0.005 / milliseconds)


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
    path.write_text(AUDIT.replace("step = 1.0", "step = 1e-300"))
    told = joulemark("audit", str(path), code=3).stderr
    assert "key meter.step: a window would have more than 10,000,000 steps" in told
    path.write_text(AUDIT.replace("least_s = 5", "least_s = 61"))
    assert "key window: least_s is more than most_s" in joulemark("audit", str(path), code=3).stderr
    path.write_text(AUDIT.replace("clock_hz = 1e9", "clock_hz = inf"))
    assert "key device.0.clock_hz" in joulemark("audit", str(path), code=3).stderr
