"""Where the project's data lies: chips, boards, firmware, studies, and the build cache."""

import os
from pathlib import Path

ROOT = Path(os.environ.get("JOULEMARK_ROOT") or Path(__file__).parents[2]).resolve()
CHIPS = ROOT / "chips"
BOARDS = ROOT / "boards"
FIRMWARE = ROOT / "firmware"
STUDIES = ROOT / "studies"
BUILD = ROOT / "build"
INSTRUMENTS = os.environ.get("JOULEMARK_INSTRUMENTS")
"""A lab's own instruments: drivers in its folder meters, simulations in its folder simulated."""
