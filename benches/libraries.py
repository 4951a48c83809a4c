"""Compares what Joulemark measures of a library with what the library's own benchmark says.

`.venv/bin/python benches/libraries.py [ROUNDS]`: `openssl speed` and `cryptest b` run in turn with
Joulemark's programs on one core. Each round gives a ratio of cycles, processor time by the clock
that is measured beside both, so that neither what else the machine does nor a clock that moves
counts. The medians of the rounds are compared.
"""

import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from joulemark import oracles
from joulemark.catalogue import libraries
from joulemark.images.library import build_library
from joulemark.runners.library import LibraryProcess
from joulemark.runners.machine import Core

SECONDS = 0.1
AGREED = 0.03
CALL_BYTES = 2048
LONG_BYTES = 1 << 18
GIGAHERTZ = 1000
"""Told to `cryptest`: at so high a clock its cycles have more digits than its MiB a second."""
SPEED = {
    "aes-128-ctr": ("-evp", "aes-128-ctr"),
    "aes-256-ctr": ("-evp", "aes-256-ctr"),
    "aes-128-cbc": ("-evp", "aes-128-cbc"),
    "aes-256-cbc": ("-evp", "aes-256-cbc"),
    "md5": ("-evp", "md5"),
    "sha-1": ("-evp", "sha1"),
    "sha-256": ("-evp", "sha256"),
    "sha-512": ("-evp", "sha512"),
    "sha3-256": ("-evp", "sha3-256"),
    "sha3-512": ("-evp", "sha3-512"),
    "rsa-1024-pss": ("rsa1024",),
    "rsa-2048-pss": ("rsa2048",),
    "dsa-1024": ("dsa1024",),
    "ecdsa-sect233r1": ("ecdsab233",),
}
"""What `openssl speed` calls ours; of RSA signing alone: its exponent is 65537, and ours 17."""
CRYPTEST_BYTES = {
    "AES/CTR (128-bit key)": "aes-128-ctr",
    "AES/CTR (256-bit key)": "aes-256-ctr",
    "AES/GCM": "aes-128-gcm-2k",
    "Blowfish/CTR (128-bit key)": "blowfish-128-ctr",
    "DES/CTR (64-bit key)": "des-ctr",
    "DES-EDE3/CTR (192-bit key)": "des-ede3-ctr",
    "DES-XEX3/CTR (192-bit key)": "des-xex3-ctr",
    "IDEA/CTR (128-bit key)": "idea-ctr",
    "RC6/CTR (128-bit key)": "rc6-128-ctr",
    "Twofish/CTR (128-bit key)": "twofish-128-ctr",
    "MD5": "md5",
    "SHA-1": "sha-1",
    "SHA-256": "sha-256",
    "SHA-512": "sha-512",
    "SHA3-256": "sha3-256",
    "SHA3-512": "sha3-512",
    "Whirlpool": "whirlpool",
}
CRYPTEST_OPERATIONS = {
    **{f"DH {n} Key Agreement": (f"dh-{n}", "agree") for n in (1024, 2048)},
    **{f"DH {n} Key-Pair Generation": (f"dh-{n}", "keygen") for n in (1024, 2048)},
    "DSA 1024 Signature": ("dsa-1024", "sign"),
    "DSA 1024 Verification": ("dsa-1024", "verify"),
    "ECDSA over GF(2^n) 233 Signature": ("ecdsa-sect233r1", "sign"),
    "ECDSA over GF(2^n) 233 Verification": ("ecdsa-sect233r1", "verify"),
    "ECDSA over GF(p) 256 Signature": ("ecdsa-secp256k1", "sign"),
    "ECDSA over GF(p) 256 Verification": ("ecdsa-secp256k1", "verify"),
    **{f"RSA {n} Decryption": (f"rsa-{n}-oaep", "decrypt") for n in (1024, 2048)},
    **{f"RSA {n} Encryption": (f"rsa-{n}-oaep", "encrypt") for n in (1024, 2048)},
    **{f"RSA {n} Signature": (f"rsa-{n}-pss", "sign") for n in (1024, 2048)},
    **{f"RSA {n} Verification": (f"rsa-{n}-pss", "verify") for n in (1024, 2048)},
    "XTR-DH 342 Key Agreement": ("xtr-dh-342", "agree"),
    "XTR-DH 342 Key-Pair Generation": ("xtr-dh-342", "keygen"),
}
Rates = dict[tuple[str, str, str], float]
"""Bytes or operations in a second, by library, algorithm and operation."""


def own(process: LibraryProcess, library: str, algorithm: str, operation: str) -> Rates:
    """One window of ours."""
    found = oracles.algorithm(algorithm)
    size = CALL_BYTES if found.sized else 0
    inputs = oracles.drawn(algorithm, operation, size, 1)
    process.prepare(algorithm, operation, inputs)
    unit = oracles.PERIOD if found.sized else 1
    count = unit
    while (ran := process.run(count, seconds=SECONDS)).cpu_ns < SECONDS * 1e9:
        count = unit * max(
            round(1.2 * SECONDS * 1e9 * count / max(ran.cpu_ns, 1) / unit), 2 * count // unit
        )
        count = min(count, 64 * count)
    problem = found.problem(operation, inputs, process.outputs())
    if problem is not None:
        sys.exit(f"{algorithm} {operation}: {problem}")
    return {(library, algorithm, operation): count * (size or 1) / (ran.cpu_ns * 1e-9)}


def speed(name: str, core: Core) -> Rates:
    """`openssl speed` of one algorithm, by the time that it had the core.

    Its own timer has steps of 10 ms; here a long run less a short one is taken, by what Linux
    counted of both processes.
    """
    sized = oracles.algorithm(name).sized
    # `openssl speed` begins and ends a digest in each call, where ours are long messages.
    size = LONG_BYTES if oracles.algorithm(name).operations == ("hash",) else CALL_BYTES
    command = ["taskset", "-c", str(core.number), "openssl", "speed"]
    ends = []
    for seconds in (1, 3):
        options = ["-seconds", str(seconds), *(["-bytes", str(size)] if sized else [])]
        began_s = children_s()
        text = subprocess.run(
            [*command, *options, *SPEED[name]], capture_output=True, text=True, check=True
        )
        counts = [int(n) for n in re.findall(r": (\d+) \S.* in [\d.]+s", text.stderr)]
        ends.append((counts, children_s() - began_s))
    (few, short_s), (more, long_s) = ends
    # Both last by the wall's clock: something else may have had the core for most of the long one.
    if long_s < 2 * short_s or more[0] < 2 * few[0]:
        return {}
    if sized:
        rate = (more[0] - few[0]) * size / (long_s - short_s)
        return {("openssl", name, oracles.algorithm(name).operations[0]): rate}
    # Signatures, then verifications, each for as long; told apart by their own timer's shares.
    shares = re.findall(r" in ([\d.]+)s", text.stderr)
    of_signing = float(shares[0]) / sum(map(float, shares))
    rate = (more[0] - few[0]) / ((long_s - short_s) * of_signing)
    return {("openssl", name, "sign"): rate}


def children_s() -> float:
    """Processor time of processes that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def cryptest(core: Core) -> Rates:
    """All rows of `cryptest b`, by its own clock, which is the process's."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "TestData").symlink_to("/usr/share/crypto++/TestData")
        Path(folder, "TestVectors").symlink_to("/usr/share/crypto++/TestVectors")
        command = ["taskset", "-c", str(core.number), "cryptest", "b", str(SECONDS), str(GIGAHERTZ)]
        text = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder)
    made: Rates = {}
    for name, cells in rows(text.stdout):
        if name in CRYPTEST_BYTES:
            algorithm = CRYPTEST_BYTES[name]
            operation = oracles.algorithm(algorithm).operations[0]
            made["cryptopp", algorithm, operation] = GIGAHERTZ * 1e9 / float(cells[2])
        elif name in CRYPTEST_OPERATIONS:
            made["cryptopp", *CRYPTEST_OPERATIONS[name]] = GIGAHERTZ * 1e9 / (float(cells[1]) * 1e6)
    return made


def rows(page: str) -> Iterator[tuple[str, list[str]]]:
    """Names of the rows of its tables, and what stands beside them."""
    for row in page.split("<TR>")[1:]:
        name, *cells = (
            cell.strip() for cell in re.findall(r"<T[DH]>([^<]*(?:<sup>n</sup>)?[^<]*)", row)
        )
        yield name.replace("<sup>n</sup>", "^n"), cells


def main() -> None:
    """Compare, and print a table."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    core = Core.quietest()
    missing = [name for name in ("openssl", "cryptest", "taskset") if shutil.which(name) is None]
    if missing:
        sys.exit(f"missing: {', '.join(missing)}; Debian: openssl libcrypto++-utils util-linux")
    os.environ.pop("OPENSSL_CONF", None)
    ratios: dict[tuple[str, str, str], list[float]] = {}
    for number in range(rounds):
        for library in libraries.names():
            program = build_library(libraries.load_library(library))
            with LibraryProcess([str(program.path)], core) as process:
                cycles = Cycles(process)
                ours: Rates = {}
                for algorithm, operation in program.rows:
                    row = partial(own, process, library, algorithm, operation)
                    ours |= cycles.of(row)
                    if library == "openssl" and algorithm in SPEED and operation != "verify":
                        for key, theirs in cycles.of(partial(speed, algorithm, core)).items():
                            ratios.setdefault(key, []).append(ours[key] / theirs)
                if library == "cryptopp":
                    for key, theirs in cycles.of(partial(cryptest, core)).items():
                        ratios.setdefault(key, []).append(ours[key] / theirs)
        print(f"round {number + 1} of {rounds}", file=sys.stderr)
        show(ratios)


class Cycles:
    """What is measured, in a cycle instead of a second: by the clock just before and after."""

    def __init__(self, process: LibraryProcess) -> None:
        self._process = process

    def of(self, measure: Callable[[], Rates]) -> Rates:
        """Rates by the cycle."""
        before_hz = self._process.clock_hz()
        rates = measure()
        hz = (before_hz + self._process.clock_hz()) / 2
        return {key: rate / hz for key, rate in rates.items()}


def show(ratios: Mapping[tuple[str, str, str], list[float]]) -> None:
    """The medians, and how far the middle half of the rounds lies apart."""
    middles = []
    print("| library | algorithm | operation | median | middle half |\n|---|---|---|--:|--:|")
    for key, found in sorted(ratios.items()):
        middle = statistics.median(found) - 1
        middles.append(middle)
        ordered = sorted(found)
        low, high = ordered[len(found) // 4] - 1, ordered[-1 - len(found) // 4] - 1
        print(f"| {' | '.join(key)} | {middle:+.1%} | {low:+.1%} to {high:+.1%} |")
    within = sum(abs(middle) <= AGREED for middle in middles)
    worst, mean = max(map(abs, middles)), statistics.fmean(middles)
    total = f"{within} of {len(middles)} within {AGREED:.0%}"
    print(f"\n{total}, worst {worst:.1%}, mean {mean:+.2%}", flush=True)


if __name__ == "__main__":
    main()
