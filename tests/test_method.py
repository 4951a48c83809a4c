"""Ways to measure against a known energy, and the page that says how wrong they are."""

import re
from collections.abc import Callable

import pytest

from joulemark import method
from joulemark.analysis.energy_of_samples import Estimate
from joulemark.method import Known, Verdict
from joulemark.project import ROOT

# Round numbers; the page's are of real operations.
SHORT = Known("short", 250e-6, 3.0, 4e-3, 50e-6)


@pytest.mark.parametrize(
    ("measure", "bound"),
    [(method.multimeter, 0.003), (method.profiler, 0.005), (method.usb_meter, 0.05)],
)
def test_each_method_is_as_near_as_it_says(
    measure: Callable[[Known, int], Estimate], bound: float
) -> None:
    estimate = measure(SHORT, 3)
    assert abs(estimate.mean / SHORT.gross_j - 1) < bound
    assert 0 < estimate.half_width_95 / SHORT.gross_j < bound + 0.002


def test_another_specimen_gives_another_result() -> None:
    results = {method.usb_meter(SHORT, seed).mean for seed in range(5)}
    assert len(results) == 5


def test_the_page_in_the_docs_is_the_command_s() -> None:
    """Its figures follow the firmware; its words, rows and order are the program's."""
    shown = (ROOT / "docs/method-check.md").read_text(encoding="utf-8")
    operations = ("aes-128 encrypt, 16 bytes, 1 µs", "sha-256 hash, 256 bytes, 1 µs")
    verdicts = [
        Verdict(name, operation, 1e-6, 0.0, 0.0, 0.0, 1, 1)
        for name, _ in method.METHODS
        for operation in operations
    ]

    def masked(text: str) -> str:
        return re.sub(r"[-+]?\d[\d.e]*", "#", text).replace("-#", "#")

    assert masked(shown) == masked(method.page(verdicts))


def test_most_of_the_page_s_intervals_hold_the_truth() -> None:
    shown = (ROOT / "docs/method-check.md").read_text(encoding="utf-8")
    held = re.findall(r"(\d+) of (\d+) \|", shown)
    assert len(held) == 2 * len(method.METHODS)
    assert sum(int(h) for h, _ in held) >= 0.93 * sum(int(of) for _, of in held)
