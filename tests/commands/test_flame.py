"""Flame graphs hold every cycle of the profile they are drawn from."""

import json
from collections import Counter, defaultdict
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from joulemark.errors import InputError
from joulemark.report.flame import speedscope, svg, write_flame

names = st.sampled_from(["main", "aes<encrypt>", "mem&cpy", "f", 'q"'])
profiles = st.lists(st.tuples(st.lists(names, min_size=1, max_size=5), st.integers(0, 10**9)))


@given(profiles)
def test_speedscope_loses_no_cycle(paths: list[tuple[list[str], int]]) -> None:
    document = json.loads(speedscope(paths, "image", "none"))
    frames = [f["name"] for f in document["shared"]["frames"]]
    (profile,) = document["profiles"]
    found: Counter[tuple[str, ...]] = Counter()
    for sample, weight in zip(profile["samples"], profile["weights"], strict=True):
        found[tuple(frames[i] for i in sample)] += weight
    expected: Counter[tuple[str, ...]] = Counter()
    for path, cycles in paths:
        expected[tuple(path)] += cycles
    assert found == +expected
    assert profile["endValue"] == sum(cycles for _, cycles in paths)


@given(profiles)
def test_svg_is_well_formed_and_callees_stay_within_callers(
    paths: list[tuple[list[str], int]],
) -> None:
    root = ElementTree.fromstring(svg(paths, "a < b", "none"))  # noqa: S314
    space = {"s": "http://www.w3.org/2000/svg"}
    total = sum(cycles for _, cycles in paths)
    rows: dict[float, float] = defaultdict(float)
    for box in root.iterfind(".//s:rect", space):
        rows[float(box.attrib["y"])] += float(box.attrib["width"])
    assert bool(rows) == bool(total)
    assert all(width <= 1201 for width in rows.values())


def test_calls_may_be_deeper_than_pythons_own() -> None:
    deep = [f"f{i}" for i in range(5000)]
    drawn = svg([(deep, 7), (deep[:10], 3)], "deep", "none")
    assert "f4999: 7 cycles, 70.00%" in drawn
    assert f'viewBox="0 0 1200 {5001 * 18 + 46}"' in drawn


def test_the_ending_decides_and_an_unknown_one_is_an_error(tmp_path: Path) -> None:
    for name in ("p.svg", "p.html", "p.speedscope.json"):
        write_flame([(["main"], 5)], "image", tmp_path / name, "none")
        assert (tmp_path / name).stat().st_size > 0
    with pytest.raises(InputError, match=r"\.svg, \.html or \.speedscope\.json"):
        write_flame([(["main"], 5)], "image", tmp_path / "p.pdf", "none")
