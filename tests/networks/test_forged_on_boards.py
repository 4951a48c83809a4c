"""Frames from an attacker without keys, sent to emulated boards.

None is accepted, and no refusal's timing reveals how much of its MIC is right.
"""

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import forged
from joulemark.project import ROOT
from joulemark.subjects.slot.template import ps_of

WRONG = [bytes(4 * [0]), *(bytes([0] * at + [1] + [0] * (3 - at)) for at in range(4)), b"\xff" * 4]
"""Differences from a right MIC: none, in one byte each, in all."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("board", "strategy", "count"),
    [("telosb", "hardware", 300), ("telosb", "stream", 40), ("openmote-cc2538", "hardware", 100)],
)
def test_nothing_forged_is_taken(board: str, strategy: str, count: int) -> None:
    """Only the two genuine frames are accepted, so times, channels, keys and numbers were right."""
    rng = random.Random(7)
    outcome = forged.attack(board, strategy, forged.endless(rng), count, rng)
    assert outcome.counted["received"] == outcome.counted["acknowledged"] == 1
    assert set(outcome.sent) == set(forged.KINDS)
    assert 0.85 * count < outcome.counted["refused"] <= count


def ends(board: str, strategy: str, wrong: bytes) -> list[int]:
    """Return when a root was done with each step of all slots, one of which has a forged frame."""
    rng = random.Random(1)
    seen = forged.attack(board, strategy, forged.endless(rng), 1, rng, wrong=[wrong])
    assert seen.counted["received"] == 1 + (not any(wrong))
    return list(seen.slot_ends_ps)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("board", "strategy"),
    [
        ("telosb", "hardware"),
        ("telosb", "software"),
        ("telosb", "stream"),
        ("openmote-cc2538", "hardware"),
        ("openmote-cc2538", "software"),
    ],
)
def test_refusing_takes_as_long_wherever_the_mic_is_wrong(board: str, strategy: str) -> None:
    """To the picosecond, on the image that runs in slots."""
    right, *wrong = (ends(board, strategy, difference) for difference in WRONG)
    assert all(times == wrong[0] for times in wrong)
    # The test is sensitive: an accepted frame is done at another time.
    assert right != wrong[0]


LEAK = """
import sys
sys.path[:0] = sys.argv[1:]
from test_forged_on_boards import WRONG, ends
print(*(hash(tuple(ends("telosb", "stream", difference))) for difference in WRONG[1:3]))
"""


@pytest.mark.slow
def test_a_comparison_that_stops_early_is_found(tmp_path: Path) -> None:
    for name in ("chips", "boards", "firmware"):
        shutil.copytree(ROOT / name, tmp_path / name)
    header = tmp_path / "firmware/primitives/crypto.h"
    text = header.read_text()
    compared = "difference |= (uint8_t)(a[i] ^ b[i]);"
    assert compared in text
    header.write_text(text.replace(compared, f"if (({compared[:-1]}) != 0) return 0;"))
    done = subprocess.run(
        [sys.executable, "-c", LEAK, str(ROOT / "tests/support"), str(ROOT / "tests/networks")],
        env={"PATH": os.environ["PATH"], "JOULEMARK_ROOT": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    first, second = done.stdout.split()
    assert first != second


def test_a_recorded_beacon_is_taken_once_only_by_who_knows_no_later_slot() -> None:
    """What the standard leaves open, and what it does not: docs/slots.md has both."""
    air = forged.pair("telosb", "hardware", 100)
    root, leaf = 0, 1
    recorded = next(
        bytes(frame.frame[:-2])
        for frame in air.frames
        if frame.mote == root
        and frame.frame[0] & 7 == 0
        and frame.frequency_mhz == forged.LOWEST_MHZ
    )
    # A leaf that has just been switched on cannot know better.
    alone = forged.Air(air.board, [forged.image("telosb", "hardware", 2)])
    alone.run(ps_of(4000))
    alone.send(recorded, 0, 2 * 10**12)
    alone.run(3 * 10**12)
    assert alone.counts(0)["joins"] == 1
    # It has nothing to say to someone who has not asked: no nonce is reused by that alone.
    assert not [frame for frame in alone.frames if frame.mote == 0]
    # A leaf that was in the network and lost it refuses beacons older than what it had.
    assert air.counts(leaf)["joins"] == 1
    air.network.link(root, leaf, attenuation_db=200.0)
    air.run(air.network.time_ps + 400 * ps_of(forged.TEMPLATE.slot))
    assert air.counts(leaf)["joins"] == 1
    for again in range(3):
        air.send(recorded, 0, air.network.time_ps + (2 + again) * 10**12)
    air.run(air.network.time_ps + 6 * 10**12)
    assert air.counts(leaf)["joins"] == 1
    # It waits for a beacon, and accepts the root's own.
    air.network.link(root, leaf, attenuation_db=50.0)
    air.run(air.network.time_ps + 60 * ps_of(forged.TEMPLATE.slot))
    assert air.counts(leaf)["joins"] == 2
