"""sciancalepore-2016's software columns: what docs/sciancalepore-software.md says of them."""

from collections.abc import Mapping

import numpy as np
import pytest
from scipy.optimize import linprog

from joulemark.project import ROOT
from joulemark.studies.study import load

PAGE = (ROOT / "docs/sciancalepore-software.md").read_text(encoding="utf-8")
ITEMS = {item.id: item for item in load("sciancalepore-2016").items}
MIC_BYTES = {
    "none": 0,
    **{"mic32": 4, "mic64": 8, "mic128": 16},
    "enc": 0,
    **{"encmic32": 4, "encmic64": 8, "encmic128": 16},
}
FRAME_BYTES = 125
"""Without the frame check sequence."""
HEADERS = range(9, 100)
TI_OS = {"telosb": 7857 / 8e6, "openmote": 5928 / 32e6}
"""A block by Texas Instruments' code at -Os, seconds, as the study's causes give it."""
TI_O0 = {"telosb": 25271 / 8e6, "openmote": 22833 / 32e6}


def offsets(board: str, strategy: str = "sw") -> dict[str, float]:
    """Return the paper's TsTxOffset of each level, seconds."""
    found = {level: ITEMS[f"{board}_{level}_{strategy}_offset"].value for level in MIC_BYTES}
    return {level: value for level, value in found.items() if value is not None}


def blocks(count_bytes: int) -> int:
    return -(-count_bytes // 16)


def work(level: str, header_bytes: int) -> list[int]:
    """Return what CCM* does to send a frame (IEEE 802.15.4, annex B; RFC 3610).

    Blocks, bytes encrypted, bytes authenticated, bytes of the MIC, set-ups of encryption and of
    authentication; and what is done without security.
    """
    mic = MIC_BYTES[level]
    payload = FRAME_BYTES - header_bytes - mic
    if level == "none":
        return [0, 0, 0, 0, 0, 0, 1]
    if level == "enc":
        return [blocks(payload), payload, 0, 0, 1, 0, 1]
    authenticated = header_bytes + payload
    if level.startswith("mic"):
        return [1 + blocks(2 + authenticated) + 1, 0, authenticated, mic, 0, 1, 1]
    count = 1 + blocks(2 + header_bytes) + 2 * blocks(payload) + 1
    return [count, payload, authenticated, mic, 1, 1, 1]


def misses(values: Mapping[str, float], header_bytes: int, block_s: float | None = None) -> float:
    """Return by which share the best choice of costs misses one of the values at least."""
    rows, bounds = [], []
    for level, value in values.items():
        share = np.array(work(level, header_bytes)) / value
        rows += [[*share, -1], [*-share, -1]]
        bounds += [1, -1]
    costs = [(0, None) if block_s is None else (block_s, block_s), *[(0, None)] * 7]
    found = linprog([0] * 7 + [1], A_ub=rows, b_ub=bounds, bounds=costs)
    assert found.fun is not None
    return float(found.fun)


def said(board: str) -> list[float]:
    """Return a board's row of the page's table, as shares."""
    (line,) = (line for line in PAGE.splitlines() if line.startswith(f"| {board}"))
    return [float(cell.strip(" %")) / 100 for cell in line.split("|")[2:5]]


@pytest.mark.parametrize(("board", "title"), [("telosb", "TelosB"), ("openmote", "OpenMote")])
def test_no_costs_give_the_offsets_in_software(board: str, title: str) -> None:
    values = offsets(board)
    least = [
        min(misses(values, header, block_s) for header in HEADERS)
        for block_s in (None, TI_OS[board], TI_O0[board])
    ]
    assert said(title) == pytest.approx(least, abs=0.005)
    assert min(least) > 0.1


def test_costs_give_the_offsets_with_the_radios_aes() -> None:
    assert "0.1% on the TelosB and 2.6% on the OpenMote" in PAGE
    assert min(misses(offsets("telosb", "hy"), h) for h in HEADERS) == pytest.approx(0, abs=1e-3)
    best = min(misses(offsets("openmote", "hy"), h) for h in HEADERS)
    assert best == pytest.approx(0.026, abs=0.001)


def test_a_program_that_has_such_costs_is_not_refuted() -> None:
    costs = np.array([1.0, 0.01, 0.02, 0.03, 0.4, 0.5, 3.0])
    values = {level: float(costs @ work(level, 37)) for level in MIC_BYTES}
    assert misses(values, 37) == pytest.approx(0, abs=1e-9)


def test_blocks_are_those_of_the_page() -> None:
    counts = [work(level, 37)[0] for level in MIC_BYTES if level != "none"]
    assert counts == [10, 10, 9, 6, 17, 15, 15]
    assert "| the standard (and ours) | | | 10, 10, 9 | 6 | 17, 15, 15 |" in PAGE
