"""Measurement methods against a known energy, and the page that states their errors."""

import re

import pytest

from joulemark.project import ROOT
from joulemark.simulated import check as method
from joulemark.simulated.check import Known, Method

# Round numbers; those of the page are real operations.
SHORT = Known("short", 250e-6, 3.0, 4e-3, 5e-6, 50e-6)
LONG = Known("long", 25e-3, 3.0, 4e-3, 5e-6, 50e-6)
PAGE = (ROOT / "docs/method-check.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("measure", "bound"),
    [
        (method.multimeter, 0.005),
        (method.multimeter_and_supply, 0.01),
        (method.buffered_multimeter, 0.005),
        (method.profiler, 0.005),
        (method.usb_meter, 0.05),
    ],
)
def test_each_method_is_as_near_as_it_says(measure: Method, bound: float) -> None:
    for result in measure(SHORT, 3):
        assert abs(result.stated.mean / result.truth_j - 1) < bound
        assert 0 < result.stated.half_width_95 / result.truth_j < bound + 0.002


def test_another_specimen_gives_another_result() -> None:
    results = {method.usb_meter(SHORT, seed)[0].stated.mean for seed in range(5)}
    assert len(results) == 5


@pytest.mark.slow
@pytest.mark.parametrize("operation", [SHORT, LONG], ids=lambda known: known.name)
def test_the_multimeter_s_interval_holds_the_truth(operation: Known) -> None:
    """The papers' setting: 34401A at 500 Hz, five runs, 95%."""
    verdicts = method.judge("34401A", method.multimeter, operation, 100)
    assert [v.energy for v in verdicts] == ["gross", "net"]
    for verdict in verdicts:
        assert verdict.held >= 93
        assert verdict.half_width_95 < 0.006


@pytest.mark.slow
def test_the_profiler_is_within_half_a_per_cent() -> None:
    for operation in (SHORT, LONG):
        for verdict in method.judge("PPK2", method.profiler, operation, 5):
            assert abs(verdict.bias) + 3 * verdict.spread < 0.005


def skeleton(text: str) -> list[str]:
    """Return a page without the rows of its tables."""
    return [line for line in text.splitlines() if not re.match(r"\|.*\d.*\|$", line)]


def test_the_page_in_the_docs_is_the_command_s() -> None:
    """Its figures vary with the firmware; its words are the program's."""
    assert skeleton(PAGE) == skeleton(method.page([], []))


def test_the_page_s_figures_keep_what_is_promised() -> None:
    for name, _ in method.METHODS:
        rows = re.findall(rf"^\| {re.escape(name)} \| (.*) \|$", PAGE, re.MULTILINE)
        operations = {row.split(" | ")[0].split(",")[0] for row in rows}
        assert operations == {"aes-128 encrypt", "sha-256 hash"}
        for row in rows:
            held, of = row.split(" | ")[-1].split(" of ")
            assert int(held) >= 0.93 * int(of)
            if name.startswith("34401A"):
                assert int(of) >= 100
            if name.startswith("PPK2"):
                assert abs(float(row.split(" | ")[3].rstrip("%"))) < 0.5


def test_the_model_and_the_instruments_agree_on_the_page() -> None:
    _, _, below = PAGE.partition("## The same cases")
    rows = re.findall(r"^\| (.*\d.*) \|$", below, re.MULTILINE)
    assert {row.split(" | ")[1] for row in rows} == {"agilent-34401a", "ppk2"}
    assert len(rows) >= 20
    for row in rows:
        model, stated, *_ = row.split(" | ")[3:]
        mean, width = stated.split(" ± ")
        assert (abs(float(mean) - float(model)) <= float(width)) == row.endswith("yes")
        assert row.endswith("yes")
