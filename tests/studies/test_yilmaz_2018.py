"""yilmaz-2018: the table of rates of docs/linux-boards.md is of the study and of its pins."""

import re

import pytest

from joulemark.project import ROOT
from joulemark.studies import pins
from joulemark.studies.study import load
from joulemark.studies.units import shown, si
from joulemark.studies.verdict import Verdict

STUDY = load("yilmaz-2018")
TEXT = (ROOT / "docs" / "linux-boards.md").read_text(encoding="utf-8")
TABLE = TEXT.partition("| row | Pi 3, paper |")[2].partition("\n\n")[0].splitlines()[2:]
ROWS = {line.split("|")[1].strip(): line.split("|")[2:-1] for line in TABLE}


def number(text: str) -> float:
    return float(text.replace(",", ""))


def test_the_table_of_rates_is_the_studys() -> None:
    pinned = pins.read(pins.path(STUDY))
    rates = [item for item in STUDY.items if item.id.endswith("_rate")]
    assert len(rates) == 2 * len(ROWS) == 78
    ratios = {}
    for item in rates:
        row, board = item.what.split(": ")
        at = 0 if board == "Pi 3" else 3
        paper, ours, ratio = map(number, ROWS[row][at : at + 3])
        assert item.value is not None
        assert paper == pytest.approx(shown(item.value, item.unit)), item.id
        # Both are printed with two decimals.
        assert ratio == pytest.approx(ours / paper, abs=0.0051 + 0.005 / paper), item.id
        ratios[item.id] = ours / paper
        agrees = item.within(si(ours, item.unit), item.value)
        assert (pins.verdict(pinned[item.id]) is Verdict.REPRODUCED) == agrees, item.id
    (said,) = re.findall(r"has (\d+) of the paper's 78 rates within a factor of 1.25", TEXT)
    assert sum(1 / 1.25 <= ratio <= 1.25 for ratio in ratios.values()) == int(said)
    keys = [ratios[item.id] for item in rates if item.section.name == "table-ii"]
    assert len(keys) == 40
    (said,) = re.findall(r"among them (\d+) of the 40 of public keys", TEXT)
    assert sum(1 / 1.25 <= ratio <= 1.25 for ratio in keys) == int(said)
