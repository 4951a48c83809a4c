#!/usr/bin/env python3
"""How much of a network runs in real time on this machine.

`.venv/bin/python benches/network/bench.py` runs 20 TelosBs that poll, on one thread and on all;
1,000 in time slots, in groups of ten; and prints emulated seconds per second of the
processor and of the clock on the wall. The machine should have nothing else to do.
"""

import os
import subprocess
import tempfile
import time
from pathlib import Path

from joulemark.catalogue.networks import read_network
from joulemark.runners.network import RunningNetwork

HERE = Path(__file__).parent
EVERYONE = 'title = "bench"\n[everyone]\nattenuation_db = 60\n'
POLLING = """
[[mote]]
name = "mote"
count = 20
board = "telosb"
image = "polling.elf"
spread_ppm = 20
"""
GROUPS = 100
GROUP = """
[[mote]]
name = "root-{0}"
board = "telosb"
program = "net/tsch-ping"
define = {{ MOTE = 1, MOTES = 10 }}
wiring = {{ ccm-star = "net/ccm-star/hardware" }}
start_s = {1}
[[mote]]
name = "leaf-{0}"
board = "telosb"
program = "net/tsch-ping"
count = 9
define = {{ MOTE = 2, MOTES = 10 }}
numbered = "MOTE"
wiring = {{ ccm-star = "net/ccm-star/hardware" }}
spread_ppm = 20
start_s = {1}
[[link]]
between = ["root-{0}", "leaf-{0}"]
attenuation_db = 60
"""


def run(folder: Path, name: str, text: str, seconds: float, threads: int) -> None:
    """Run a network and print how fast."""
    path = folder / "network.toml"
    path.write_text(text)
    running = RunningNetwork(read_network(path), threads=threads)
    wall, processor, frames = time.perf_counter(), time.process_time(), 0
    for piece in running.run(seconds):
        frames += len(piece.transmissions)
        if piece.faults:
            raise SystemExit(f"{name}: {piece.faults[0][1].fault}")
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    cycles = sum(running.cycles(number) for number in range(len(running.seats)))
    print(
        f"{name}, {threads} thread{'s' * (threads > 1)}: {seconds / wall:.2f} times real time, "
        f"{seconds / processor:.2f} per second of processor, {cycles / seconds / 1e6:.1f} MHz of "
        f"motes, {frames} frames, late {running.engine.late}",
        flush=True,
    )


def main() -> None:
    """Run all."""
    cores = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        compiler = ["clang-19", "--target=msp430-none-elf", "-c", HERE / "polling.S"]
        subprocess.run([*compiler, "-o", folder / "polling.o"], check=True)
        linker = ["ld.lld-19", "--section-start=.text=0x4000", "--section-start=.vectors=0xfffe"]
        linker += ["-e", "start", str(folder / "polling.o"), "-o", str(folder / "polling.elf")]
        subprocess.run(linker, check=True)
        for threads in sorted({1, cores}):
            run(folder, "20 TelosBs that poll", EVERYONE + POLLING, 2.0, threads)
        groups = "".join(GROUP.format(n, n * 0.001) for n in range(GROUPS))
        text = 'title = "bench"\n' + groups
        run(folder, "1,000 TelosBs in time slots", text, 20.0, cores)


if __name__ == "__main__":
    main()
