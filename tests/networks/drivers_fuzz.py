"""Fuzz the radios' drivers with sanitizers: FRAMES to each, and the SEED.

    .venv/bin/python tests/networks/drivers_fuzz.py 1000000 1

Runs each chip's driver over the simulated chip with each way to do CCM*: by the radio, from the
FIFO and while frames arrive, and in software over the radio's AES; for the nRF52840, whose radio
has none, in software. It ends at the first faulty
frame that is accepted, at the first genuine one that is refused afterwards, and at a sanitizer's
finding. tests/networks/test_ieee802154.py runs part of it each time.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from test_ieee802154 import compiled

_WAYS = (("hardware", 0), ("hardware", 1), ("hybrid", 0))
_CHIPS = {"cc2420": _WAYS, "cc2538": _WAYS, "cc2650": _WAYS, "nrf52840": (("memory", 0),)}


def main() -> None:
    """Run all combinations, one after the other."""
    with tempfile.TemporaryDirectory() as folder:
        for chip, ways in _CHIPS.items():
            for strategy, streamed in ways:
                name = f"{chip}, {strategy}{', streamed' if streamed else ''}"
                program = compiled(Path(folder, chip), strategy, chip, CCM_STREAMED=streamed)
                done = subprocess.run(
                    [program, "fuzz", *sys.argv[1:3]], capture_output=True, text=True, check=False
                )
                print(f"{name}: {done.stdout.strip()}{done.stderr[-2000:]}", flush=True)
                if done.returncode != 0:
                    sys.exit(1)


if __name__ == "__main__":
    main()
