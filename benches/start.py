#!/usr/bin/env python3
"""CPU time of short programs: how much of it is emulation, and how much start-up.

`.venv/bin/python benches/start.py` runs a loop of a million cycles and of many on a CC2650 with
cache and line buffer on, by the command and by the library, beside the time that this Python takes
to do nothing. The least of several runs of each, in turns.
"""

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROUNDS = 7
SHORT_CYCLES = 1_000_000
LONG_CYCLES = 400_000_000
CHIP = "cc2650"
START = 0x100
# LDR R0, [PC, #4]; SUBS R0, #1; BNE to it; B .; then the number of iterations.
LOOP = (0x4801, 0x3801, 0xD1FD, 0xE7FE)
CYCLES_OF_A_TURN = 4
CACHE = 1
"""VIMS.CTL.MODE."""


def program(cycles: int) -> bytes:
    """Return the loop with this many cycles, to within a few."""
    halves = b"".join(half.to_bytes(2, "little") for half in LOOP)
    return halves + (cycles // CYCLES_OF_A_TURN).to_bytes(4, "little")


def of_children(command: list[str]) -> float:
    """Return the CPU time of a command in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def by_library(path: Path, cycles: int) -> float:
    """Return the CPU time to read an image, make a machine and run it, in seconds."""
    from joulemark._engine import Image, Machine
    from joulemark.catalogue import chips

    chip = chips.load_chip(CHIP)
    began = time.process_time()
    machine = Machine(
        chip, Image.load(str(path), raw_address=START), entry=START, settings={"cache_mode": CACHE}
    )
    stop = machine.run(until=START + 6)
    spent = time.process_time() - began
    if stop.reason != "address" or abs(machine.cycles - cycles) > cycles // 100:
        sys.exit(f"{cycles} cycles were to be run, {machine.cycles} were: {stop.reason}")
    return spent


def main() -> None:
    """Measure and print a table."""
    with tempfile.TemporaryDirectory() as folder:
        short, long = Path(folder, "short.bin"), Path(folder, "long.bin")
        short.write_bytes(program(SHORT_CYCLES))
        long.write_bytes(program(LONG_CYCLES))
        command = [str(Path(sys.executable).with_name("joulemark")), "exec"]
        options = ["--chip", CHIP, "--raw", hex(START), "--entry", hex(START)]
        options += ["--set", f"cache_mode={CACHE}", "--stop-at", hex(START + 6)]
        runs: dict[str, Callable[[], float]] = {
            "Python that does nothing": lambda: of_children([sys.executable, "-c", "pass"]),
            "a million cycles by the command": lambda: of_children(
                [*command, str(short), *options]
            ),
            "the same by the library, the machine's making in it": lambda: by_library(
                short, SHORT_CYCLES
            ),
            "the long loop by the library": lambda: by_library(long, LONG_CYCLES),
        }
        best = dict.fromkeys(runs, float("inf"))
        for _ in range(ROUNDS):
            for name, run in runs.items():
                best[name] = min(best[name], run())
    of_loop = best["the long loop by the library"] / LONG_CYCLES * SHORT_CYCLES
    print("| what | processor time | loop's time / this |\n|---|---|---|")
    print(f"| a million cycles of the loop | {1e3 * of_loop:.2f} ms | 1 |")
    for name, seconds in list(best.items())[:-1]:
        print(f"| {name} | {1e3 * seconds:.2f} ms | {of_loop / seconds:.2f} |")


if __name__ == "__main__":
    main()
