"""Holds estimates against published measurements of OpenSSL on boards (estimates/published.toml).

`.venv/bin/python benches/estimates.py FOLDER [ARCHITECTURE...]`: fetches Debian's OpenSSL for each
architecture into FOLDER, and runs it under QEMU with the plugin, linked dynamically as on the
boards. Every output is verified.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from joulemark import oracles
from joulemark.images.plugin import FOLDER, build_plugin
from joulemark.measure.estimated import Model, model
from joulemark.project import FIRMWARE, LIBRARIES

PACKAGES = ("libssl3", "libssl-dev", "libc6", "libgcc-s1")
SOURCE = (
    "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] "
    "http://deb.debian.org/debian bookworm main\n"
)
HOST = FIRMWARE / "hal" / "host"
HARNESS = (LIBRARIES / "harness.c", HOST / "clock.c", HOST / "counters.c", HOST / "marker.c")
LONG = 8192
"""Bytes of a message where a publication says cycles a byte of long ones."""


@dataclass(frozen=True)
class Debian:
    """What Debian calls an architecture, and what compiles for it and runs it here."""

    name: str
    triple: str
    flags: tuple[str, ...]
    qemu: tuple[str, ...]
    """With a processor that has no more instructions than the board's."""

    def fetch(self, folder: Path) -> Path:
        """Its packages, unpacked; apt's own state is left alone."""
        root = folder / f"root-{self.name}"
        if root.is_dir():
            return root
        work = folder / f"apt-{self.name}"
        for name in ("state/lists/partial", "cache/archives/partial", "debs"):
            (work / name).mkdir(parents=True, exist_ok=True)
        (work / "status").touch()
        (work / "sources").write_text(SOURCE)
        options = {
            "APT::Architecture": self.name,
            "APT::Architectures::": self.name,
            "APT::Sandbox::User": "root",
            "Dir::State": work / "state",
            "Dir::State::status": work / "status",
            "Dir::Cache": work / "cache",
            "Dir::Etc::SourceList": work / "sources",
            "Dir::Etc::SourceParts": "/dev/null",
        }
        (work / "conf").write_text("".join(f'{key} "{value}";\n' for key, value in options.items()))
        environment = {**os.environ, "APT_CONFIG": str(work / "conf")}
        packages = [*PACKAGES, *(["libatomic1"] if self.name == "armel" else [])]
        subprocess.run(["apt-get", "update", "-qq"], check=True, env=environment)
        command = ["apt-get", "download", "-qq", *packages]
        subprocess.run(command, check=True, env=environment, cwd=work / "debs")
        for package in (work / "debs").glob("*.deb"):
            subprocess.run(["dpkg-deb", "-x", str(package), str(root)], check=True)
        return root

    def build(self, folder: Path) -> list[str]:
        """OpenSSL's program, linked with the library that was fetched; what runs it."""
        root = self.fetch(folder)
        program, include = folder / f"program-{self.name}", root / "usr" / "include"
        library = next((root / "usr" / "lib").glob("*/libcrypto.so.3"))
        sources = (*HARNESS, LIBRARIES / "openssl" / "program.c")
        command = [f"{self.triple}-gcc", "-O2", "-std=gnu11", *self.flags, f"-I{include}"]
        command.append(f"-I{HOST}")
        command += [f"-I{include / library.parent.name}", *map(str, sources), str(library)]
        subprocess.run([*command, "-o", str(program)], check=True)
        return ["-L", str(root), str(program)]


ARMEL = ("arm-linux-gnueabi", ("-march=armv6kz", "-mfloat-abi=soft", "-marm"))
PLACES = {
    ("ARM1176JZF-S", "armv6"): Debian("armel", *ARMEL, ("qemu-arm", "-cpu", "arm1176")),
    # The A7 has what the A53 has in AArch32, but for its cryptography, which the Pi 3's lacks too.
    ("Cortex-A53", "armv6"): Debian("armel", *ARMEL, ("qemu-arm", "-cpu", "cortex-a7")),
    # With instructions for AES.
    ("Cortex-A53", "armv7"): Debian(
        "armhf",
        "arm-linux-gnueabihf",
        ("-march=armv7-a", "-mfpu=vfpv3-d16", "-mthumb"),
        ("qemu-arm", "-cpu", "max"),
    ),
    ("Cortex-A53", "aarch64"): Debian(
        "arm64", "aarch64-linux-gnu", (), ("qemu-aarch64", "-cpu", "cortex-a53")
    ),
    ("Silvermont", "i686"): Debian("i386", "i686-linux-gnu", (), ("qemu-i386", "-cpu", "n270")),
    ("Silvermont", "x86-64"): Debian(
        "amd64", "x86_64-linux-gnu", (), ("qemu-x86_64", "-cpu", "core2duo")
    ),
}


@dataclass(frozen=True)
class Bench:
    """OpenSSL as one board executes it."""

    emulator: tuple[str, ...]
    program: list[str]
    model: Model
    out: Path

    def counts(self, algorithm: str, size: int, count: int) -> dict[str, Any]:
        """What a process counted that executes so often, its output verified."""
        operation = "encrypt" if algorithm.startswith("aes") else "hash"
        inputs = oracles.drawn(algorithm, operation, size, 1)
        values = " ".join(f"{name}={value.hex()}" for name, value in inputs.items())
        lines = f"prepare {algorithm} {operation} {values}\nrun {count} 0\noutputs\n"
        plugin = f"{build_plugin()},core={self.model.name},out={self.out},cache=on"
        command = [*self.emulator, "-plugin", plugin, *self.program]
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
    folder = Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    programs: dict[str, list[str]] = {}
    errors: dict[str, list[float]] = {"held-back": [], "calibration": []}
    instructions, began_s = 0, cpu_s()
    took_s = 0.0
    print("| core | board | algorithm | bytes | published | cycles/B | estimated | error | use |")
    print("|---|---|---|--:|--:|--:|--:|--:|---|")
    for result in tomllib.loads((FOLDER / "published.toml").read_text())["result"]:
        key = result["core"], result["architecture"]
        if sys.argv[2:] and result["architecture"] not in sys.argv[2:]:
            continue
        place = PLACES[key]
        program = programs.setdefault(place.name, [])
        if not program:
            program += place.build(folder)
        options = ("-E", result["environment"]) if "environment" in result else ()
        bench = Bench((*place.qemu, *options), program, model(*key), folder / "counts.json")
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
