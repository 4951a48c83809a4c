"""Compares estimates with published measurements of OpenSSL (estimates/published.toml).

`.venv/bin/python benches/estimates.py FOLDER [ARCHITECTURE...]` fetches Debian's OpenSSL for each
architecture into FOLDER, and runs it under QEMU with the plugin. Published results of `openssl
speed` are compared with that very program, of the same release if Debian still has it; published
cycles per byte are compared with long messages in our program, linked with the library. Outputs
are verified, at each length.
"""

import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tomllib
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from Crypto.Cipher import AES

from joulemark import oracles
from joulemark.images.plugin import FOLDER, build_plugin
from joulemark.measure.estimated import Model, model
from joulemark.project import FIRMWARE, LIBRARIES

PACKAGES = {
    "bookworm": ("openssl", "libssl3", "libssl-dev", "libc6", "libgcc-s1"),
    "bullseye": ("openssl", "libssl1.1", "libc6", "libgcc-s1"),
}
"""By Debian release."""
SOURCE = (
    "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] "
    "http://deb.debian.org/debian {} main\n"
)
HOST = FIRMWARE / "hal" / "host"
HARNESS = (LIBRARIES / "harness.c", HOST / "clock.c", HOST / "counters.c", HOST / "marker.c")
LONG = 8192
"""Message size where a publication gives cycles per byte of long messages."""


@dataclass(frozen=True)
class Debian:
    """Debian's name for an architecture, and what compiles for it and runs it here."""

    name: str
    triple: str
    flags: tuple[str, ...]
    qemu: tuple[str, ...]
    """Emulator, with a processor that has no more instructions than the board's."""

    def fetch(self, folder: Path, suite: str) -> Path:
        """Unpack its packages, leaving apt's own state alone; return their folder."""
        root = folder / f"root-{suite}-{self.name}"
        if root.is_dir():
            return root
        work = folder / f"apt-{suite}-{self.name}"
        for name in ("state/lists/partial", "cache/archives/partial", "debs"):
            (work / name).mkdir(parents=True, exist_ok=True)
        (work / "status").touch()
        (work / "sources").write_text(SOURCE.format(suite))
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
        packages = [*PACKAGES[suite], *(["libatomic1"] if self.name == "armel" else [])]
        subprocess.run(["apt-get", "update", "-qq"], check=True, env=environment)
        command = ["apt-get", "download", "-qq", *packages]
        subprocess.run(command, check=True, env=environment, cwd=work / "debs")
        for package in (work / "debs").glob("*.deb"):
            subprocess.run(["dpkg-deb", "-x", str(package), str(root)], check=True)
        return root

    def build(self, folder: Path) -> list[str]:
        """Build our program with the fetched library; return the command that runs it."""
        root = self.fetch(folder, "bookworm")
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
    # The A7 has the A53's AArch32 instructions except cryptography, which the Pi 3 lacks too.
    ("Cortex-A53", "armv6"): Debian("armel", *ARMEL, ("qemu-arm", "-cpu", "cortex-a7")),
    # With AES instructions.
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
    """QEMU with the plugin, as one board."""

    emulator: tuple[str, ...]
    model: Model
    out: Path

    def run(self, program: list[str], told: str = "") -> tuple[str, dict[str, Any]]:
        """Return a program's output and the plugin's counts."""
        plugin = f"{build_plugin()},core={self.model.name},out={self.out},cache=on"
        command = [*self.emulator, "-plugin", plugin, *program]
        done = subprocess.run(command, input=told, capture_output=True, text=True, check=True)
        found: dict[str, Any] = json.loads(self.out.read_text())
        return done.stdout + done.stderr, found


@dataclass(frozen=True)
class Ours:
    """Our program, which calls OpenSSL."""

    bench: Bench
    program: list[str]

    def counts(self, algorithm: str, size: int, count: int) -> dict[str, Any]:
        """Return the counts of a process with this many executions, its output verified."""
        operation = "encrypt" if algorithm.startswith("aes") else "hash"
        inputs = oracles.drawn(algorithm, operation, size, 1)
        values = " ".join(f"{name}={value.hex()}" for name, value in inputs.items())
        lines = f"prepare {algorithm} {operation} {values}\nrun {count} 0\noutputs\n"
        said, found = self.bench.run(self.program, lines)
        given = (pair.split("=") for pair in said.splitlines()[2].split())
        outputs = {name: bytes.fromhex(value) for name, value in given}
        problem = oracles.algorithm(algorithm).problem(operation, inputs, outputs)
        if problem is not None:
            sys.exit(f"{algorithm}: {problem}")
        return found

    def cycles_per_byte(self, algorithm: str, size: int) -> tuple[float, int]:
        """Return the cycles per byte at a message size, and the instructions executed for it."""
        few = oracles.PERIOD * max(1, 4096 // size)
        ends = [self.counts(algorithm, size, n) for n in (few, 5 * few)]
        cycles = self.bench.model.cycles(ends[0], ends[1])
        return cycles / (4 * few * size), sum(end["instructions"] for end in ends)


@dataclass(frozen=True)
class Speed:
    """`openssl speed` of a package."""

    bench: Bench
    root: Path

    def openssl(self, *arguments: str) -> list[str]:
        """Return the command line for one of its commands."""
        return ["-L", str(self.root), str(self.root / "usr" / "bin" / "openssl"), *arguments]

    @property
    def release(self) -> str:
        """The release that the program reports."""
        return self.bench.run(self.openssl("version"))[0].split()[1]

    def verify(self, algorithm: str, size: int) -> None:
        """Compare its encryption with another library's."""
        inputs = oracles.drawn(algorithm, "encrypt", size, 1)
        key, iv, message = (inputs[name] for name in ("key", "iv", "message"))
        options = ("-K", key.hex(), "-iv", iv.hex(), "-nopad", "-nosalt")
        command = [*self.bench.emulator, *self.openssl("enc", f"-{algorithm}", *options)]
        got = subprocess.run(command, input=message, capture_output=True, check=True).stdout
        if got != AES.new(key, AES.MODE_CBC, iv).encrypt(message):
            sys.exit(f"{algorithm} of {self.root} encrypts {size} bytes wrongly")

    def cycles_per_byte(self, algorithm: str, size: int) -> tuple[float, int]:
        """Return the cycles per byte at a message size, from runs of one and two seconds."""
        self.verify(algorithm, size)
        ends = []
        for seconds in ("1", "2"):
            options = ("-elapsed", "-seconds", seconds, "-bytes", str(size), "-evp", algorithm)
            said, counted = self.bench.run(self.openssl("speed", *options))
            ends.append((counted, int(re.findall(r": (\d+) \S.* in [\d.]+s", said)[0])))
        (few, few_calls), (more, more_calls) = ends
        cycles = self.bench.model.cycles(few, more)
        executed = sum(end["instructions"] for end, _ in ends)
        return cycles / (more_calls - few_calls) / size, executed


def rows(result: dict[str, Any]) -> list[tuple[str, int, float, str]]:
    """Return algorithm, bytes, published cycles per byte, and the figure as printed."""
    found = []
    for algorithm, sizes in result.get("kilobytes_per_second", {}).items():
        for size, rate in sizes.items():
            cycles = result["clock_hz"] / (rate * 1000)
            found.append((algorithm, int(size), cycles, f"{rate:,} kB/s"))
    for algorithm, cycles in result.get("cycles_per_byte", {}).items():
        found.append((algorithm, LONG, float(cycles), f"{cycles} cycles/B"))
    return found


def cpu_s() -> float:
    """Return the CPU time of children so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Print a Markdown table."""
    folder = Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    errors: dict[str, list[float]] = defaultdict(list)
    instructions, took_s = 0, 0.0
    print("| core | board | algorithm | bytes | published | cycles/B | estimated | error | use |")
    print("|---|---|---|--:|--:|--:|--:|--:|---|")
    for result in tomllib.loads((FOLDER / "published.toml").read_text())["result"]:
        key = result["core"], result["architecture"]
        if sys.argv[2:] and result["architecture"] not in sys.argv[2:]:
            continue
        place, use = PLACES[key], result["use"]
        options = ("-E", result["environment"]) if "environment" in result else ()
        bench = Bench((*place.qemu, *options), model(*key), folder / "counts.json")
        of: Speed | Ours
        if "openssl" in result:
            of = Speed(bench, place.fetch(folder, result.get("suite", "bookworm")))
            if not of.release.startswith(result["openssl"]):
                use += f", {of.release} for {result['openssl']}"
        else:
            of = Ours(bench, place.build(folder))
        for algorithm, size, published, printed in rows(result):
            began_s = cpu_s()
            estimated, executed = of.cycles_per_byte(algorithm, size)
            took_s += cpu_s() - began_s
            instructions += executed
            error = published / estimated - 1 if "kB" in printed else estimated / published - 1
            errors[use].append(error)
            cells = (" ".join(key), result["board"], algorithm, size, printed)
            numbers = (f"{published:.2f}", f"{estimated:.2f}", f"{error:+.1%}", use)
            print(f"| {' | '.join(map(str, (*cells, *numbers)))} |", flush=True)
    for use, found in errors.items():
        sizes = [abs(error) for error in found]
        print(f"\n{use}: {len(sizes)}, mean {statistics.fmean(sizes):.1%}, worst {max(sizes):.1%}")
    print(f"\n{instructions / took_s / 1e6:.0f} M instructions a second of processor time")


if __name__ == "__main__":
    main()
