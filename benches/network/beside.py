#!/usr/bin/env python3
"""One Tmote Sky here and in MSPSim, with the same image, one after the other.

`.venv/bin/python benches/network/beside.py IMAGE.sky --mspsim FOLDER` needs Java 17 and a checkout
of github.com/contiki-ng/mspsim that has been built: classes in `out`, libraries in `lib`. It prints
the CPU time that both took and the cycles that both counted, without start-up on either side.
MSPSim by itself has no medium, so the mote is alone.
"""

import argparse
import subprocess
import tempfile
import time
from pathlib import Path

from joulemark.catalogue.networks import read_network
from joulemark.runners.network import RunningNetwork

HERE = Path(__file__).parent
MOTE = 'title = "beside"\n[[mote]]\nname = "mote"\nboard = "telosb"\nimage = "{}"\n'


def mspsim(folder: Path, image: Path, seconds: float) -> tuple[float, int]:
    """Return CPU seconds and cycles in MSPSim."""
    path = f"{folder / 'out'}:{folder / 'lib'}/*"
    command = ["java", "-cp", path, str(HERE / "Mspsim.java"), str(image), str(seconds)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    spent, cycles = done.stdout.split()[-2:]
    return float(spent), int(cycles)


def here(image: Path, seconds: float) -> tuple[float, int]:
    """Return CPU seconds and cycles of ours."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "beside.toml"
        path.write_text(MOTE.format(image))
        running = RunningNetwork(read_network(path), threads=1)
        begin = time.process_time()
        for piece in running.run(seconds, 1.0):
            if piece.faults:
                raise SystemExit(f"it faults: {piece.faults[0][1].fault}")
        return time.process_time() - begin, running.cycles(0)


def main() -> None:
    """Run both."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("image", type=Path)
    options.add_argument("--mspsim", type=Path, required=True)
    options.add_argument("--seconds", type=float, default=300.0)
    given = options.parse_args()
    image, folder = given.image.resolve(), given.mspsim.resolve()
    for name, (spent, cycles) in {
        "MSPSim": mspsim(folder, image, given.seconds),
        "here": here(image, given.seconds),
    }.items():
        print(
            f"{name}: {given.seconds:g} s in {spent:.2f} s of the processor, "
            f"{given.seconds / spent:.0f} times real time; {cycles:,} cycles"
        )


if __name__ == "__main__":
    main()
