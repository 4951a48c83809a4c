#!/usr/bin/env python3
"""How much of a network runs in real time on this machine.

`.venv/bin/python benches/network/bench.py` runs 20 TelosBs that poll; 1,000 in time slots, in
groups of ten (in isolated groups, in groups in a field where each hears its neighbours, and in a
cell where all hear all); and an hour of 16 in secured time slots. It runs each on one thread and on
all. It prints the wall-clock time, the CPU time and the digest, which has to be the same for each
number of threads. The machine should be idle. If it is not, the CPU time of the busiest thread
still gives a lower bound on the time.
"""

import itertools
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
JOINED_S = 4.0
"""By then all of a group have heard a beacon."""
GROUP = """
[[mote]]
name = "root-{0}"
board = "telosb"
program = "net/tsch-ping"
define = {{ MOTE = 1, MOTES = 10 }}
wiring = {{ ccm-star = "net/ccm-star/hardware", boots = "boots/none" }}
start_s = {1}
[[mote]]
name = "leaf-{0}"
board = "telosb"
program = "net/tsch-ping"
count = 9
define = {{ MOTE = 2, MOTES = 10 }}
numbered = "MOTE"
wiring = {{ ccm-star = "net/ccm-star/hardware", boots = "boots/none" }}
spread_ppm = 20
start_s = {1}
[[link]]
between = ["root-{0}", "leaf-{0}"]
attenuation_db = 60
"""
NEIGHBOURS = """
[[link]]
between = ["{0}-{1}", "{2}-{3}"]
attenuation_db = {4}
"""
SIDE = 10
"""Groups along a side of the field."""
FAR_DB = 80
"""Between motes of neighbouring groups: received, and interfering."""
HOUR = """
[[mote]]
name = "root"
board = "telosb"
program = "net/tsch-ping"
define = { MOTE = 1, MOTES = 16, TSCH_LEVEL = 5 }
wiring = { ccm-star = "net/ccm-star/hardware", boots = "boots/none" }
[[mote]]
name = "leaf"
board = "telosb"
program = "net/tsch-ping"
count = 15
define = { MOTE = 2, MOTES = 16, TSCH_LEVEL = 5 }
numbered = "MOTE"
wiring = { ccm-star = "net/ccm-star/hardware", boots = "boots/none" }
spread_ppm = 15
start_s = 0.05
"""


def field() -> str:
    """Return groups in a square; motes of adjacent groups hear each other."""
    text = "".join(GROUP.format(n, n * 0.001) for n in range(SIDE * SIDE))
    for n in range(SIDE * SIDE):
        right = [n + 1] if (n + 1) % SIDE else []
        below = [n + SIDE] if n + SIDE < SIDE * SIDE else []
        for other, one, two in itertools.product(
            [*right, *below], ("root", "leaf"), ("root", "leaf")
        ):
            text += NEIGHBOURS.format(one, n, two, other, FAR_DB)
    return text


def processor_s() -> dict[str, float]:
    """Return the CPU time of each thread, by its number."""
    tick_s = 1 / os.sysconf("SC_CLK_TCK")
    times = {}
    for path in Path("/proc/self/task").iterdir():
        words = (path / "stat").read_text().rpartition(")")[2].split()
        times[path.name] = (int(words[11]) + int(words[12])) * tick_s
    return times


def run(name: str, path: Path, from_s: float, to_s: float, *, threads: int) -> None:
    """Run a network, and print how fast it was from a time on."""
    running = RunningNetwork(read_network(path), threads=threads)
    frames = 0
    before, wall = processor_s(), time.perf_counter()
    for piece in running.run(to_s):
        frames += len(piece.transmissions)
        if piece.faults:
            raise SystemExit(f"{name}: {piece.faults[0][1].fault}")
        if piece.end_ps <= from_s * 1e12:
            before, wall, frames = processor_s(), time.perf_counter(), 0
    wall = time.perf_counter() - wall
    spent = {one: after - before.get(one, 0.0) for one, after in processor_s().items()}
    seconds = to_s - from_s
    print(
        f"{name}, {threads} thread{'s' * (threads > 1)}: {seconds:g} s in {wall:.1f} s, "
        f"{seconds / wall:.2f} times real time; {sum(spent.values()):.1f} s of processors, "
        f"{max(spent.values()):.1f} s of the busiest thread; {frames} frames, "
        f"late {running.engine.late}, digest {running.engine.digest[:12]}",
        flush=True,
    )


def main() -> None:
    """Run all networks."""
    cores = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        compiler = ["clang-19", "--target=msp430-none-elf", "-c", str(HERE / "polling.S")]
        subprocess.run([*compiler, "-o", str(folder / "polling.o")], check=True)
        linker = ["ld.lld-19", "--section-start=.text=0x4000", "--section-start=.vectors=0xfffe"]
        linker += ["-e", "start", str(folder / "polling.o"), "-o", str(folder / "polling.elf")]
        subprocess.run(linker, check=True)
        polling, groups, square, cell, hour = (
            folder / f"{one}.toml" for one in ("polling", "groups", "square", "cell", "hour")
        )
        polling.write_text(EVERYONE + POLLING)
        text = "".join(GROUP.format(n, n * 0.001) for n in range(GROUPS))
        groups.write_text(f'title = "bench"\n{text}')
        square.write_text(f'title = "bench"\n{field()}')
        cell.write_text(EVERYONE + text)
        hour.write_text(EVERYONE + HOUR)
        for threads in sorted({1, cores}):
            run("20 TelosBs that poll", polling, 0.0, 10.0, threads=threads)
            run("1,000 TelosBs in time slots", groups, JOINED_S, 14.0, threads=threads)
            run("1,000 TelosBs in one field", square, JOINED_S, 14.0, threads=threads)
            run("1,000 TelosBs in one cell", cell, JOINED_S, 14.0, threads=threads)
            run("16 TelosBs in secured slots", hour, 0.0, 3600.0, threads=threads)


if __name__ == "__main__":
    main()
