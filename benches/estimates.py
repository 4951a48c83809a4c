"""Holds estimates against published measurements of OpenSSL on boards (estimates/published.toml).

`.venv/bin/python benches/estimates.py FOLDER`: fetches Debian's OpenSSL for armel, whose AES is the
ARM assembly that Raspbian's has too, into FOLDER, and runs it under QEMU with the plugin.
"""

import json
import os
import statistics
import subprocess
import sys
import time
import tomllib
from pathlib import Path

from joulemark import oracles
from joulemark.catalogue.machines import load_machine
from joulemark.images.architectures import architecture
from joulemark.images.plugin import FOLDER, build_plugin
from joulemark.measure.estimated import CORES
from joulemark.project import LIBRARIES

ARMEL = architecture("armv6")
QEMU = {"raspberry-pi-zero-w": "arm1176", "raspberry-pi-3b": "cortex-a7"}
"""The A7 has what the A53 has in AArch32, but for its cryptography, which the Pi 3's lacks too."""
PACKAGES = ("libssl3", "libssl-dev", "libc6", "libgcc-s1", "libatomic1")
SOURCE = (
    "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] "
    "http://deb.debian.org/debian bookworm main\n"
)


def fetch(folder: Path) -> Path:
    """Debian's packages for armel, unpacked; apt's own state is left alone."""
    root = folder / "root"
    if root.is_dir():
        return root
    for name in ("state/lists/partial", "cache/archives/partial", "debs"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "status").touch()
    (folder / "sources").write_text(SOURCE)
    options = {
        "APT::Architecture": "armel",
        "APT::Architectures::": "armel",
        "APT::Sandbox::User": "root",
        "Dir::State": folder / "state",
        "Dir::State::status": folder / "status",
        "Dir::Cache": folder / "cache",
        "Dir::Etc::SourceList": folder / "sources",
        "Dir::Etc::SourceParts": "/dev/null",
    }
    (folder / "conf").write_text("".join(f'{key} "{value}";\n' for key, value in options.items()))
    environment = {**os.environ, "APT_CONFIG": str(folder / "conf")}
    subprocess.run(["apt-get", "update", "-qq"], check=True, env=environment)
    command = ["apt-get", "download", "-qq", *PACKAGES]
    subprocess.run(command, check=True, env=environment, cwd=folder / "debs")
    for package in (folder / "debs").glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", str(package), str(root)], check=True)
    return root


def build(root: Path, folder: Path) -> Path:
    """OpenSSL's program, linked with the library that was fetched."""
    compiler, _ = ARMEL.compiler("gcc")
    program = folder / "program"
    include = root / "usr" / "include"
    library = root / "usr" / "lib" / ARMEL.triple / "libcrypto.so.3"
    sources = (LIBRARIES / "harness.c", LIBRARIES / "openssl" / "program.c")
    command = [compiler.path, "-O2", "-std=gnu11", *ARMEL.flags, f"-I{include}"]
    command += [f"-I{include / ARMEL.triple}", *map(str, sources), str(library)]
    subprocess.run([*command, "-o", str(program)], check=True)
    return program


def counts(command: list[str], out: Path, row: tuple[str, str, int], count: int) -> dict[str, int]:
    """What a process counted that executes so often, its output verified."""
    algorithm, operation, size = row
    inputs = oracles.drawn(algorithm, operation, size, 1)
    values = " ".join(f"{name}={value.hex()}" for name, value in inputs.items())
    lines = f"prepare {algorithm} {operation} {values}\nrun {count} 0\noutputs\n"
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    pairs = (pair.split("=") for pair in done.stdout.splitlines()[2].split())
    outputs = {name: bytes.fromhex(value) for name, value in pairs}
    problem = oracles.algorithm(algorithm).problem(operation, inputs, outputs)
    if problem is not None:
        sys.exit(f"{algorithm}: {problem}")
    found: dict[str, int] = json.loads(out.read_text())
    return found


def main() -> None:
    """Print a table of Markdown."""
    folder = Path(sys.argv[1]).resolve()
    root = fetch(folder)
    program, out = build(root, folder), folder / "counts.json"
    errors, speeds = [], []
    print("| board | algorithm | bytes | measured kB/s | estimated | error |")
    print("|---|---|--:|--:|--:|--:|")
    for result in tomllib.loads((FOLDER / "published.toml").read_text())["result"]:
        machine = load_machine(result["machine"])
        plugin = f"{build_plugin()},core={CORES[machine.core]},out={out},cache=on"
        command = ["qemu-arm", "-cpu", QEMU[machine.name], "-L", str(root), "-plugin", plugin]
        for algorithm in ("aes-128-cbc", "aes-256-cbc"):
            for size, published in result[algorithm].items():
                row = (algorithm, "encrypt", int(size))
                few = oracles.PERIOD * max(1, 4096 // int(size))
                began_s = time.monotonic()
                ends = [counts([*command, str(program)], out, row, n) for n in (few, 5 * few)]
                took_s = time.monotonic() - began_s
                speeds.append(sum(end["instructions"] for end in ends) / took_s / 1e6)
                cycles = sum(ends[1][k] - ends[0][k] for k in ("cycles", "miss_cycles"))
                rate = result["clock_hz"] * int(size) * 4 * few / cycles / 1000
                errors.append(rate / published - 1)
                cells = (algorithm, size, f"{published:,}", f"{rate:,.0f}", f"{errors[-1]:+.1%}")
                print(f"| {machine.title} | {' | '.join(cells)} |")
    mean = statistics.fmean(map(abs, errors))
    worst = max(map(abs, errors))
    print(f"\nmean {mean:.1%}, worst {worst:.1%}; {max(speeds):.0f} M instructions a second")


if __name__ == "__main__":
    main()
