#!/usr/bin/env python3
"""How much faster a campaign is with two workers than with one.

`.venv/bin/python benches/cluster.py [CASES [ROUNDS]]` runs the same campaign, of 10,000 cases by
default, with `--cluster local:1` and `local:2` in turns, each time with an empty store; images are
built beforehand. It prints the wall-clock time, and the CPU time of the command and of its workers.
The machine should be idle. If it is not, the command's own CPU time still shows where the speed-up
ends. Exits with 1 if the records differ.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

import joulemark

PRIMITIVES = ("siphash-2-4", "blake2s-256", "sha-256", "hmac-sha-256")
BOARDS = ("telosb", "sensortag-cc2650", "stm32vldiscovery")
OPERATIONS = 3
"""Per primitive: init, update and final; init has one size only, so it is not counted."""


class Took(NamedTuple):
    """Times of one campaign, in seconds."""

    wall: float
    command: float
    workers: float


def campaign(cases: int, path: Path) -> Path:
    """Write a campaign of about this many cases; a small one has the same images."""
    sizes = max(1, cases // (len(PRIMITIVES) * len(BOARDS) * (OPERATIONS - 1)))
    path.write_text(
        f'primitive = {list(PRIMITIVES)}\nimplementation = "ref*"\nboard = {list(BOARDS)}\n'
        f'operation = ["init", "update", "final"]\nopt = "O3"\nsize = {list(range(sizes))}\n'
        "trials = 2\nseed = 1\n"
    )
    return path


def run(path: Path, workers: int, store: Path) -> Took:
    """Run the command to its end."""
    code = (
        "import os, sys\nfrom joulemark.cli import main\ntry:\n    main()\nfinally:\n"
        "    own, its = os.times()[:2], os.times()[2:4]\n"
        "    print('took', sum(own), sum(its), file=sys.stderr)\n"
    )
    command = [sys.executable, "-c", code, "run", str(path), "--store", str(store)]
    started = time.monotonic()
    done = subprocess.run(
        [*command, "--cluster", f"local:{workers}"], capture_output=True, text=True, check=True
    )
    wall = time.monotonic() - started
    said = next(x for x in reversed(done.stderr.splitlines()) if x.startswith("took "))
    return Took(wall, *map(float, said.split()[1:]))


def figures(store: Path) -> dict[str, object]:
    """Return results by case."""
    with joulemark.open_store(str(store)) as opened:
        return {r.key: (r.status, r.quantities) for r in opened.records(history=True)}


def main() -> None:
    """Measure and print."""
    cases, rounds = (int(a) for a in (*sys.argv[1:], *("10000", "3")[len(sys.argv) - 1 :]))
    found: dict[int, list[Took]] = {1: [], 2: []}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        run(campaign(1, folder / "few.toml"), 1, folder / "few.db")
        path = campaign(cases, folder / "all.toml")
        seen = None
        for turn in range(rounds):
            for workers, took in found.items():
                store = folder / f"{workers}-{turn}.db"
                took.append(run(path, workers, store))
                figure = figures(store)
                if seen is not None and figure != seen:
                    sys.exit(f"the records of {workers} workers are not those of others")
                seen = figure
    count = len(seen or ())
    print(
        f"{count:,} cases, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {rounds} rounds"
    )
    print("| workers | on the wall | the command, processor | the workers, processor |")
    print("|---:|---:|---:|---:|")
    for workers, took in found.items():
        middle = Took(*(median(column) for column in zip(*took, strict=True)))
        print(
            f"| {workers} | {middle.wall:.1f} s | {middle.command:.1f} s | {middle.workers:.1f} s |"
        )
    one, two = (median(t.wall for t in found[n]) for n in (1, 2))
    print(f"two workers end {one / two:.2f} times as soon as one")


if __name__ == "__main__":
    main()
