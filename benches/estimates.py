"""Holds estimates against published measurements of OpenSSL on boards (estimates/published.toml).

`.venv/bin/python benches/estimates.py [ARCHITECTURE...]`: runs Debian's OpenSSL for each
architecture, which is fetched once, under QEMU with the plugin. Every output is verified.
"""

import json
import resource
import statistics
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from joulemark import oracles
from joulemark.catalogue.libraries import load_library
from joulemark.images.architectures import ARCHITECTURES, Architecture
from joulemark.images.library import build_foreign
from joulemark.images.plugin import FOLDER, build_plugin
from joulemark.measure.estimated import Model, model

LONG = 8192
"""Bytes of a message where a publication says cycles a byte of long ones."""
PLACES = {
    ("ARM1176JZF-S", "armv6"): ARCHITECTURES["armv6"],
    # The A7 has what the A53 has in AArch32, but for its cryptography, which the Pi 3's lacks too.
    ("Cortex-A53", "armv6"): replace(
        ARCHITECTURES["armv6"], qemu=("qemu-arm", "-cpu", "cortex-a7")
    ),
    # With instructions for AES.
    ("Cortex-A53", "armv7"): replace(ARCHITECTURES["armv7"], qemu=("qemu-arm", "-cpu", "max")),
    ("Cortex-A53", "aarch64"): ARCHITECTURES["aarch64"],
    ("Silvermont", "i686"): ARCHITECTURES["i686"],
    ("Silvermont", "x86-64"): Architecture(
        name="x86-64",
        triple="x86_64-linux-gnu",
        flags=(),
        debian="amd64",
        qemu=("qemu-x86_64", "-cpu", "core2duo"),
    ),
}
"""With processors that have no more instructions than the board's."""


@dataclass(frozen=True)
class Bench:
    """OpenSSL as one board executes it."""

    emulator: tuple[str, ...]
    program: Path
    model: Model
    out: Path

    def counts(self, algorithm: str, size: int, count: int) -> dict[str, Any]:
        """What a process counted that executes so often, its output verified."""
        operation = "encrypt" if algorithm.startswith("aes") else "hash"
        inputs = oracles.drawn(algorithm, operation, size, 1)
        values = " ".join(f"{name}={value.hex()}" for name, value in inputs.items())
        lines = f"prepare {algorithm} {operation} {values}\nrun {count} 0\noutputs\n"
        plugin = f"{build_plugin()},core={self.model.name},out={self.out},cache=on"
        command = [*self.emulator, "-plugin", plugin, str(self.program)]
        done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
        given = (pair.split("=") for pair in done.stdout.splitlines()[2].split())
        outputs = {name: bytes.fromhex(value) for name, value in given}
        problem = oracles.algorithm(algorithm).problem(operation, inputs, outputs)
        if problem is not None:
            sys.exit(f"{algorithm}: {problem}")
        found: dict[str, Any] = json.loads(self.out.read_text())
        return found

    def cycles_per_byte(self, algorithm: str, size: int) -> tuple[float, int]:
        """Of a message of so many bytes; and instructions that were executed to know it."""
        few = oracles.PERIOD * max(1, 4096 // size)
        ends = [self.counts(algorithm, size, n) for n in (few, 5 * few)]
        cycles = self.model.cycles(ends[0], ends[1])
        return cycles / (4 * few * size), sum(end["instructions"] for end in ends)


def rows(result: dict[str, Any]) -> list[tuple[str, int, float, str]]:
    """Algorithm, bytes, what was published as cycles a byte, and as it was printed."""
    found = []
    for algorithm, sizes in result.get("kilobytes_per_second", {}).items():
        for size, rate in sizes.items():
            cycles = result["clock_hz"] / (rate * 1000)
            found.append((algorithm, int(size), cycles, f"{rate:,} kB/s"))
    for algorithm, cycles in result.get("cycles_per_byte", {}).items():
        found.append((algorithm, LONG, float(cycles), f"{cycles} cycles/B"))
    return found


def cpu_s() -> float:
    """Processor time of children so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Print a table of Markdown."""
    wanted = sys.argv[1:]
    errors: dict[str, list[float]] = {"held-back": [], "calibration": []}
    instructions, took_s = 0, 0.0
    print("| core | board | algorithm | bytes | published | cycles/B | estimated | error | use |")
    print("|---|---|---|--:|--:|--:|--:|--:|---|")
    with tempfile.TemporaryDirectory() as folder:
        for result in tomllib.loads((FOLDER / "published.toml").read_text())["result"]:
            key = result["core"], result["architecture"]
            if wanted and result["architecture"] not in wanted:
                continue
            target = PLACES[key]
            program = build_foreign(load_library("openssl"), target).path
            options = ("-E", result["environment"]) if "environment" in result else ()
            emulator = (*target.emulator, *options)
            bench = Bench(emulator, program, model(*key), Path(folder, "counts.json"))
            for algorithm, size, published, printed in rows(result):
                began_s = cpu_s()
                estimated, executed = bench.cycles_per_byte(algorithm, size)
                took_s += cpu_s() - began_s
                instructions += executed
                error = published / estimated - 1 if "kB" in printed else estimated / published - 1
                errors[result["use"]].append(error)
                cells = (" ".join(key), result["board"], algorithm, size, printed)
                numbers = (f"{published:.2f}", f"{estimated:.2f}", f"{error:+.1%}", result["use"])
                print(f"| {' | '.join(map(str, (*cells, *numbers)))} |", flush=True)
    for use, found in errors.items():
        if sizes := [abs(error) for error in found]:
            mean, worst = statistics.fmean(sizes), max(sizes)
            print(f"\n{use}: {len(sizes)}, mean {mean:.1%}, worst {worst:.1%}")
    print(f"\n{instructions / took_s / 1e6:.0f} M instructions a second of processor time")


if __name__ == "__main__":
    main()
