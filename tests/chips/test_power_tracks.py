"""Chip, radio and flash each draw a current of their own; what is shown adds up to the total."""

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from command import joulemark
from joulemark.catalogue.networks import read_network
from joulemark.project import NETWORKS
from joulemark.runners.network import image_of

CYCLES = ("--max-cycles", "4000000")


@pytest.fixture(scope="module")
def image() -> Path:
    """A mote that asks, waits with its radio on, and asks again."""
    ((_, mote), *_) = read_network(NETWORKS / "ping-telosb.toml").seats()
    return image_of(mote).path


def test_tracks_stand_on_each_other_and_functions_have_their_part_of_each(
    image: Path, tmp_path: Path
) -> None:
    trace, page, flame = (tmp_path / name for name in ("p.csv", "p.html", "f.html"))
    joulemark("exec", str(image), "--board", "telosb", *CYCLES, "--power", str(trace))
    with trace.open() as file:
        rows = [
            {k: float(v) for k, v in row.items() if k != "current_grade"}
            for row in csv.DictReader(file)
        ]
    assert {"mcu_ampere", "radio_ampere"} <= rows[0].keys()
    drawn = {name: 0.0 for name in rows[0] if name.endswith("ampere")}
    for row in rows:
        of_parts = sum(v for k, v in row.items() if k.endswith("_ampere"))
        assert row["ampere"] == pytest.approx(of_parts, rel=1e-6)
        for name in drawn:
            drawn[name] += 3e6 * row[name] * (row["end_s"] - row["start_s"])
    # SWRS041B, section 6.10: 18.8 mA, most of the time.
    assert drawn["radio_ampere"] > 0.9 * drawn["ampere"] > 1000

    asked = ("profile", str(image), "--board", "telosb", *CYCLES, "--top", "999")
    done = joulemark(*asked, "--power", str(page), "--flame", str(flame))
    table = [re.split(r"  +", line.strip()) for line in done.stdout.splitlines()]
    columns = table[0]
    assert columns[-3:] == ["energy µJ", "mcu µJ", "radio µJ"]
    cells = [row for row in table[1:] if len(row) >= 4 and re.fullmatch(r"[\d,.e-]+", row[-1])]
    for place, name in ((-3, "ampere"), (-2, "mcu_ampere"), (-1, "radio_ampere")):
        spent = sum(float(row[place].replace(",", "")) for row in cells)
        # The table charges the DCO's start-up to the sleep before it; the trace to the awake core.
        assert spent == pytest.approx(drawn[name], rel=6e-3)

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
        )
        shown = browser.new_page(viewport={"width": 1000, "height": 800})
        shown.goto(page.as_uri())
        shown.wait_for_selector("html[data-trace=drawn]")
        assert shown.locator("#legend .track").all_inner_texts() == ["mcu", "radio"]
        cells_of_all = shown.locator("tr[data-range=all] td.number").all()
        energies = [float(str(cell.get_attribute("data-value"))) * 1e6 for cell in cells_of_all[6:]]
        expected = [drawn[name] for name in ("ampere", "mcu_ampere", "radio_ampere")]
        assert energies == pytest.approx(expected, rel=1e-4)
        shown.goto(flame.as_uri())
        shown.wait_for_selector("html[data-flame=drawn]")
        shown.select_option("#weight", "energy of radio")
        root = shown.locator("#flame button").first.get_attribute("data-value")
        assert float(str(root)) * 1e-3 == pytest.approx(drawn["radio_ampere"], rel=1e-3)
        browser.close()


def test_power_is_of_a_whole_run(image: Path) -> None:
    asked = ("profile", str(image), "--board", "telosb", "--operation", "encrypt")
    done = joulemark(*asked, "--power", "p.html", code=3)
    assert "leave out --operation" in done.stderr
    done = joulemark("profile", str(image), "--board", "telosb", "--power", "p.pdf", code=3)
    assert "name a .csv or .html file" in done.stderr
