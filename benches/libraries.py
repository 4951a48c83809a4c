"""Compares what Joulemark measures of a library with what the library's own benchmark says.

`.venv/bin/python benches/libraries.py [ROUNDS [NAME...]]`: `openssl speed` and `cryptest b` run in
turn with Joulemark's programs on one core, in windows of 0.1 s of processor time or less. What else
the machine does only makes a window longer, so that the shortest of each side are compared, the
better the more rounds there are. Ends with 1 where a row is further apart than 3%.
"""

import ctypes
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from joulemark import oracles
from joulemark.catalogue import libraries
from joulemark.images.library import build_library
from joulemark.runners.library import LibraryProcess
from joulemark.runners.machine import Core

WINDOW_S = 0.1
CRYPTEST_S = 0.05
UNIT_S = 1e-4
"""What benchmarks call a second that count the processor's time (finer_timer.c)."""
AGREED = 0.03
CALL_BYTES = 2048
GIGAHERTZ = 1000
"""Told to `cryptest`: at so high a clock its cycles have more digits than its MiB a second."""
SPEED = {
    ("aes-128-ctr", "encrypt"): ("-evp", "aes-128-ctr"),
    ("aes-256-ctr", "encrypt"): ("-evp", "aes-256-ctr"),
    ("aes-128-cbc", "encrypt"): ("-evp", "aes-128-cbc"),
    ("aes-256-cbc", "encrypt"): ("-evp", "aes-256-cbc"),
    ("md5", "digest"): ("-evp", "md5"),
    ("sha-1", "digest"): ("-evp", "sha1"),
    ("sha-256", "digest"): ("-evp", "sha256"),
    ("sha-512", "digest"): ("-evp", "sha512"),
    ("sha3-256", "digest"): ("-evp", "sha3-256"),
    ("sha3-512", "digest"): ("-evp", "sha3-512"),
    ("rsa-1024-pss", "sign"): ("rsa1024",),
    ("rsa-2048-pss", "sign"): ("rsa2048",),
    ("dsa-1024", "sign"): ("dsa1024",),
    ("ecdsa-sect233r1", "sign"): ("ecdsab233",),
}
"""What `openssl speed` calls ours; of RSA signing alone, with its exponent."""
SPEED_EXPONENT = 65537
"""Ours is 17, as in Crypto++'s benchmark. OpenSSL checks what it signs: so it matters."""
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
CRYPTEST_PARTS = {"b1": 1.0, "b2": 1.0, "b3": UNIT_S, "b4": UNIT_S}
"""With what each calls a second: the first two count by clock(), which has microseconds."""
Row = tuple[str, str]
"""An algorithm and its operation."""


@dataclass
class Shortest:
    """The shortest times of a call, or an operation, of one row."""

    ours_s: float = math.inf
    theirs_s: float = math.inf

    @property
    def apart(self) -> float:
        """How much longer ours takes, as a fraction."""
        return self.ours_s / self.theirs_s - 1


def with_exponent(inputs: oracles.Values, exponent: int) -> oracles.Values:
    """An RSA key of the same primes with another public exponent."""
    p, q = (int.from_bytes(inputs[name], "big") for name in ("p", "q"))
    d = pow(exponent, -1, (p - 1) * (q - 1))
    changed = {"e": exponent, "d": d, "dp": d % (p - 1), "dq": d % (q - 1)}
    octets = {name: n.to_bytes((n.bit_length() + 7) // 8, "big") for name, n in changed.items()}
    return {**inputs, **octets}


@dataclass
class Library:
    """One library's program, beside whose own benchmark it runs."""

    process: LibraryProcess
    exponent: int | None = None
    """Of RSA, where it is not the row's."""
    rows: dict[Row, Shortest] = field(default_factory=lambda: defaultdict(Shortest))

    def measure(self, row: Row) -> None:
        """One window of ours, its output verified."""
        algorithm, operation = row
        found = oracles.algorithm(algorithm)
        inputs = oracles.drawn(algorithm, operation, CALL_BYTES if found.sized else 0, 1)
        if self.exponent is not None and "d" in inputs:
            inputs = with_exponent(inputs, self.exponent)
        self.process.prepare(algorithm, operation, inputs)
        unit = oracles.PERIOD if found.sized else 2
        count = unit
        while (ran := self.process.run(count, seconds=WINDOW_S)).cpu_ns < WINDOW_S * 1e9 / 2:
            wanted = WINDOW_S * 1e9 * count / max(ran.cpu_ns, 1)
            count = unit * min(max(round(wanted / unit), 2 * count // unit), 64 * count // unit)
        problem = found.problem(operation, inputs, self.process.outputs())
        if problem is not None:
            sys.exit(f"{algorithm} {operation}: {problem}")
        shortest = self.rows[row]
        shortest.ours_s = min(shortest.ours_s, ran.cpu_ns * 1e-9 / count)

    def told(self, row: Row, seconds: float) -> None:
        """What its own benchmark said of one window."""
        shortest = self.rows[row]
        shortest.theirs_s = min(shortest.theirs_s, seconds)


def own_benchmark(
    command: list[str], core: Core, folder: Path, timer: Path | None
) -> tuple[str, str]:
    """What a library's own benchmark prints."""
    environment = {**os.environ, **({} if timer is None else {"LD_PRELOAD": str(timer)})}
    pinned = ["taskset", "-c", str(core.number), *command]
    done = subprocess.run(
        pinned, capture_output=True, text=True, check=True, env=environment, cwd=folder
    )
    return done.stdout, done.stderr


def speed(row: Row, core: Core, timer: Path) -> float:
    """A call's time as `openssl speed` measures it."""
    options = ["-seconds", "1"]
    if oracles.algorithm(row[0]).sized:
        options += ["-bytes", str(CALL_BYTES)]
    command = ["openssl", "speed", *options, *SPEED[row]]
    _, said = own_benchmark(command, core, timer.parent, timer)
    # Signatures stand before verifications.
    count, took = re.findall(r": (\d+) \S.* in ([\d.]+)s", said)[0]
    return float(took) * UNIT_S / int(count)


def cryptest(part: str, core: Core, timer: Path) -> dict[Row, float]:
    """What a part of `cryptest b` says of a call or an operation."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "TestData").symlink_to("/usr/share/crypto++/TestData")
        Path(folder, "TestVectors").symlink_to("/usr/share/crypto++/TestVectors")
        unit_s = CRYPTEST_PARTS[part]
        command = ["cryptest", part, str(CRYPTEST_S / unit_s), str(GIGAHERTZ)]
        finer = timer if unit_s == UNIT_S else None
        page, _ = own_benchmark(command, core, Path(folder), finer)
    said: dict[Row, float] = {}
    library = ctypes.CDLL(str(timer))
    library.times_ns.restype = ctypes.c_double
    read_s = min(library.times_ns() for _ in range(5)) * 1e-9
    cycle_s = unit_s / (GIGAHERTZ * 1e9)
    for name, cells in rows(page):
        if name in CRYPTEST_BYTES:
            algorithm = CRYPTEST_BYTES[name]
            row = algorithm, oracles.algorithm(algorithm).operations[0]
            said[row] = float(cells[2]) * cycle_s * CALL_BYTES
        elif name in CRYPTEST_OPERATIONS:
            row = CRYPTEST_OPERATIONS[name]
            # It reads its timer after each operation, of key agreements after every second.
            reads = 0.5 if row[1] == "agree" else 1.0
            said[row] = float(cells[1]) * 1e6 * cycle_s - reads * read_s
    return said


def rows(page: str) -> Iterator[tuple[str, list[str]]]:
    """Names of the rows of its tables, and what stands beside them."""
    for row in page.split("<TR>")[1:]:
        name, *cells = (
            cell.strip() for cell in re.findall(r"<T[DH]>([^<]*(?:<sup>n</sup>)?[^<]*)", row)
        )
        yield name.replace("<sup>n</sup>", "^n"), cells


def run_round(found: dict[str, Library], core: Core, timer: Path, wanted: list[str]) -> None:
    """Each row once by its library's own benchmark, and around it by ours."""

    def chosen(row: Row) -> bool:
        return any(fnmatchcase(row[0], pattern) for pattern in wanted)

    openssl, cryptopp = found["openssl"], found["cryptopp"]
    for row in filter(chosen, SPEED):
        openssl.measure(row)
        openssl.told(row, speed(row, core, timer))
        openssl.measure(row)
    for part in CRYPTEST_PARTS:
        said = {row: took for row, took in cryptest(part, core, timer).items() if chosen(row)}
        for row, took in said.items():
            cryptopp.told(row, took)
            cryptopp.measure(row)


def build_timer(folder: Path) -> Path:
    """Build finer_timer.c."""
    made, source = folder / "finer_timer.so", Path(__file__).with_name("finer_timer.c")
    command = ["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    subprocess.run([*command, str(source), "-o", str(made)], check=True)
    return made


def show(found: dict[str, Library]) -> bool:
    """Print the table; whether all rows agree."""
    print("| library | algorithm | operation | ours, µs | its own, µs | apart | |")
    print("|---|---|---|--:|--:|--:|---|")
    apart = []
    for name, library in found.items():
        for (algorithm, operation), took in library.rows.items():
            apart.append(abs(took.apart))
            verdict = "agrees" if abs(took.apart) <= AGREED else "differs"
            times = f"{took.ours_s * 1e6:,.3f} | {took.theirs_s * 1e6:,.3f} | {took.apart:+.1%}"
            print(f"| {name} | {algorithm} | {operation} | {times} | {verdict} |")
    within = sum(size <= AGREED for size in apart)
    print(f"\n{within} of {len(apart)} within {AGREED:.0%}, worst {max(apart):.1%}", flush=True)
    return within == len(apart)


def main() -> None:
    """Compare, and print a table."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    wanted = sys.argv[2:] or ["*"]
    missing = [n for n in ("openssl", "cryptest", "taskset", "cc") if shutil.which(n) is None]
    if missing:
        packages = "openssl libcrypto++-utils util-linux gcc"
        sys.exit(f"missing: {', '.join(missing)}; Debian: {packages}")
    os.environ.pop("OPENSSL_CONF", None)
    core = Core.quietest()
    with ExitStack() as stack:
        timer = build_timer(Path(stack.enter_context(tempfile.TemporaryDirectory())))
        found = {
            name: Library(
                stack.enter_context(
                    LibraryProcess([str(build_library(libraries.load_library(name)).path)], core)
                ),
                SPEED_EXPONENT if name == "openssl" else None,
            )
            for name in ("openssl", "cryptopp")
        }
        for number in range(rounds):
            run_round(found, core, timer, wanted)
            print(f"round {number + 1} of {rounds}", file=sys.stderr)
        agree = show(found)
    sys.exit(0 if agree else 1)


if __name__ == "__main__":
    main()
