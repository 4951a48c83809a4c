"""Where the project's data lies: the folders of data and firmware, and the build cache."""

import os
from pathlib import Path

ROOT = Path(os.environ.get("JOULEMARK_ROOT") or Path(__file__).parents[2]).resolve()
CHIPS = ROOT / "chips"
BOARDS = ROOT / "boards"
MACHINES = ROOT / "machines"
LIBRARIES = ROOT / "libraries"
FIRMWARE = ROOT / "firmware"
STUDIES = ROOT / "studies"
NETWORKS = ROOT / "networks"
BUILD = ROOT / "build"
INSTRUMENTS = os.environ.get("JOULEMARK_INSTRUMENTS")
"""A lab's own instruments: drivers in its folder meters, simulations in its folder simulated."""
