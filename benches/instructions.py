"""Compares the instructions of the same calls in Joulemark's program and in `openssl speed`.

`.venv/bin/python benches/instructions.py` runs both under QEMU with the plugin, which counts
instructions, so that neither the machine's load nor its clock matters. The cost of one call is the
difference of two runs divided by the difference of their numbers of calls.
"""

import json
import re
import subprocess
import tempfile
from pathlib import Path

from libraries import SPEED, Row

from joulemark import oracles
from joulemark.catalogue import libraries
from joulemark.images.library import build_library
from joulemark.images.plugin import build_plugin

SIZES = (64, 2048, 16384)
QEMU = ("qemu-x86_64", "-cpu", "max", "-plugin")


def executed(command: list[str], told: str = "") -> tuple[int, str]:
    """Return the instructions of a process, and its output."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "counts.json")
        plugin = f"{build_plugin()},core=silvermont-64,out={out}"
        run = [*QEMU, plugin, *command]
        done = subprocess.run(run, input=told, capture_output=True, text=True, check=True)
        return json.loads(out.read_text())["instructions"], done.stdout + done.stderr


def theirs(row: Row, size: int) -> float:
    """Return the instructions of one call of `openssl speed`."""
    ends = []
    for seconds in ("1", "2"):
        options = ["speed", "-elapsed", "-seconds", seconds, "-bytes", str(size), *SPEED[row]]
        count, said = executed(["/usr/bin/openssl", *options])
        ends.append((count, int(re.findall(r": (\d+) \S.* in [\d.]+s", said)[0])))
    (few, few_calls), (more, more_calls) = ends
    return (more - few) / (more_calls - few_calls)


def ours(program: Path, row: Row, size: int) -> float:
    """Return the instructions of one call of Joulemark's program."""
    name, operation = row
    inputs = oracles.drawn(name, operation, size, 1)
    values = " ".join(f"{key}={value.hex()}" for key, value in inputs.items())
    few, more = (oracles.PERIOD * n for n in (1, 9))
    lines = "prepare {} {} {}\nrun {} 0\n"
    ends = [
        executed([str(program)], lines.format(name, operation, values, calls))[0]
        for calls in (few, more)
    ]
    return (ends[1] - ends[0]) / (more - few)


def main() -> None:
    """Print a Markdown table."""
    program = build_library(libraries.load_library("openssl")).path
    print("| algorithm | bytes a call | ours | `openssl speed` | apart |\n|---|--:|--:|--:|--:|")
    for row in SPEED:
        if not oracles.algorithm(row[0]).sized:
            continue
        for size in SIZES:
            a, b = ours(program, row, size), theirs(row, size)
            print(f"| {row[0]} | {size} | {a:,.0f} | {b:,.0f} | {a / b - 1:+.1%} |", flush=True)


if __name__ == "__main__":
    main()
