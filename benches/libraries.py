"""Compares Joulemark's measurements of a library with the library's own benchmark.

`.venv/bin/python benches/libraries.py [SECONDS [NAME...]]` takes at most that long (900) for the
rows of these algorithms (all; globs such as `rsa-*`). One window of `openssl speed` or
`cryptest b` runs between two of Joulemark's program, all on one core and within a third of a
second, each converted to cycles of the clock measured right before and after it. Their ratio is one
sample. Both sides are new processes each time, so that samples also vary in the memory that they
get. A row is decided when the 99% interval of the median ratio lies within 3% (agrees) or outside
of it (differs). A row that does not agree is measured again with one allocator for both sides
(whole_lines.c), and then, for Crypto++, also with the library's code 0, 16, 32 and 48 bytes into a
cache line: chance decides both of these wherever a program is linked and run, and each is worth up
to 6%. Exits with 1 unless all agree.
"""

import math
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from joulemark import oracles
from joulemark.catalogue import libraries
from joulemark.catalogue.libraries import LibraryFile
from joulemark.images import cache
from joulemark.images.library import build_library
from joulemark.runners.library import LibraryProcess
from joulemark.runners.machine import Core

SECONDS = 900.0
WINDOW_S = 0.025
"""Length of ours, on each side of one of theirs, which is twice as long (finer_timer.c)."""
CRYPTEST_S = 0.05
SPEED_UNIT_S = 1e-4
CRYPTEST_UNIT_S = 5e-3
"""What benchmarks that count CPU time take for a second (finer_timer.c)."""
AGREED = 0.03
CONFIDENCE = 0.99
MOST_SAMPLES = 41
"""Per program of ours: a row undecided by then lies on the border."""
PLACES = (0, 16, 32, 48)
"""Offsets into a cache line, at the granularity of functions' alignment."""
CALL_BYTES = 2048
GIGAHERTZ = 1000
"""Given to `cryptest`: at so high a clock its cycles have more digits than its MiB/s."""
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
    ("rsa-1024-pkcs1", "sign"): ("rsa1024",),
    ("rsa-2048-pkcs1", "sign"): ("rsa2048",),
    ("dsa-1024", "sign"): ("dsa1024",),
    ("ecdsa-sect233r1", "sign"): ("ecdsab233",),
}
"""Names that `openssl speed` uses for ours; for RSA signing only, with its exponent."""
SPEED_EXPONENT = 65537
"""Ours is 17, as in Crypto++'s benchmark. It matters because OpenSSL verifies its signatures."""
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
CRYPTEST_PARTS = {"b1": 1.0, "b2": 1.0, "b3": CRYPTEST_UNIT_S, "b4": CRYPTEST_UNIT_S}
"""With the time that each takes for a second: the first two use clock(), in microseconds."""
Row = tuple[str, str]
"""An algorithm and its operation."""


CRYPTEST_ROWS = dict.fromkeys(
    [(name, oracles.algorithm(name).operations[0]) for name in CRYPTEST_BYTES.values()]
    + list(CRYPTEST_OPERATIONS.values())
)
"""In the order of the tables."""


def with_exponent(inputs: oracles.Values, exponent: int) -> oracles.Values:
    """Return an RSA key of the same primes with another public exponent."""
    p, q = (int.from_bytes(inputs[name], "big") for name in ("p", "q"))
    d = pow(exponent, -1, (p - 1) * (q - 1))
    changed = {"e": exponent, "d": d, "dp": d % (p - 1), "dq": d % (q - 1)}
    octets = {name: n.to_bytes((n.bit_length() + 7) // 8, "big") for name, n in changed.items()}
    return {**inputs, **octets}


def interval(values: list[float]) -> tuple[float, float]:
    """Return a distribution-free confidence interval of the median, by the sign test."""
    count, ranked = len(values), sorted(values)
    outside, left_out = 0.0, 0
    while left_out < count // 2:
        outside += 2 * math.comb(count, left_out) / 2**count
        if outside > 1 - CONFIDENCE:
            break
        left_out += 1
    if left_out == 0:
        return -math.inf, math.inf
    return ranked[left_out - 1], ranked[count - left_out]


def placed(library: LibraryFile, further: int) -> LibraryFile:
    """Return the library with its code this many bytes further into a cache line."""
    code = f".text\n.p2align 6\n.skip {64 + further}\n.section .note.GNU-stack\n"
    with cache.entry("placements", cache.digest([code])) as (folder, work):
        if work is not None:
            source = work / "placement.s"
            source.write_text(code)
            subprocess.run(["cc", "-c", str(source), "-o", str(work / "placement.o")], check=True)
    return library.model_copy(update={"link": [str(folder / "placement.o"), *library.link]})


@dataclass
class Samples:
    """Samples of one row: cycles of a call or an operation."""

    program: int = 0
    """Index of the program among the library's."""
    ours: list[float] = field(default_factory=list)
    theirs: list[float] = field(default_factory=list)

    @property
    def apart(self) -> list[float]:
        """How much longer ours took, as fractions."""
        return [a / b - 1 for a, b in zip(self.ours, self.theirs, strict=True)]

    @property
    def verdict(self) -> str:
        """Whether they agree, as far as known so far."""
        low, high = interval(self.apart)
        if low >= -AGREED and high <= AGREED:
            return "agrees"
        return "differs" if low > AGREED or high < -AGREED else "undecided"


@dataclass(frozen=True)
class Program:
    """One of our programs, and what both sides are run with."""

    path: Path
    allocator: Path | None = None
    """Preloaded on both sides."""
    how: str = ""


@dataclass
class Library:
    """One library's programs: ours as it is, and the variants tried for rows that do not agree."""

    programs: list[Program]
    core: Core
    exponent: int | None = None
    """RSA exponent, if not the row's."""
    rows: dict[Row, list[Samples]] = field(default_factory=dict)
    """One entry per program that was tried."""
    counts: dict[Row, int] = field(default_factory=dict)
    """Executions that fill a window."""
    right: dict[Row, oracles.Values] = field(default_factory=dict)
    """Outputs most recently verified."""

    def left(self) -> list[Row]:
        """Return the undecided rows; move a row that does not agree on to the next program."""
        found = []
        for row, tried in self.rows.items():
            now = tried[-1]
            given_up = now.verdict == "differs" or len(now.ours) >= MOST_SAMPLES
            if now.verdict == "agrees" or (given_up and len(tried) == len(self.programs)):
                continue
            if given_up:
                tried.append(Samples(len(tried)))
            found.append(row)
        return found

    def program(self, row: Row) -> Program:
        """Return the program that a row is measured with now."""
        return self.programs[self.rows[row][-1].program]


class Around:
    """A process of ours that measures before and after a window of theirs."""

    def __init__(self, library: Library, row: Row) -> None:
        self._library, self._row = library, row
        algorithm, operation = row
        self._algorithm = oracles.algorithm(algorithm)
        size = CALL_BYTES if self._algorithm.sized else 0
        self._inputs: oracles.Values = oracles.drawn(algorithm, operation, size, 1)
        if library.exponent is not None and "d" in self._inputs:
            self._inputs = with_exponent(self._inputs, library.exponent)
        self._ours: list[float] = []
        self._clocks_hz: list[int] = []
        program = library.program(row)
        preload = ["env", f"LD_PRELOAD={program.allocator}"] if program.allocator else []
        self._process = LibraryProcess([*preload, str(program.path)], library.core)
        self._process.prepare(algorithm, operation, self._inputs)
        self._measure()

    def after(self) -> None:
        """Measure again, now that their window has ended."""
        self._measure()
        self._process.close()

    def told(self, theirs_s: float) -> None:
        """Keep the sample."""
        samples = self._library.rows[self._row][-1]
        samples.ours.append(statistics.fmean(self._ours))
        samples.theirs.append(theirs_s * statistics.fmean(self._clocks_hz[1:3]))

    def _measure(self) -> None:
        """Measure one window of ours, with its output verified."""
        unit = oracles.PERIOD if self._algorithm.sized else 2
        count = self._library.counts.get(self._row, unit)
        while True:
            before_hz = self._process.clock_hz()
            ran = self._process.run(count, seconds=WINDOW_S)
            if ran.cpu_ns > WINDOW_S * 1e9 / 2:
                break
            wanted = WINDOW_S * 1e9 * count / max(ran.cpu_ns, 1)
            count = unit * min(max(round(wanted / unit), 2 * count // unit), 64 * count // unit)
        after_hz = self._process.clock_hz()
        self._library.counts[self._row] = count
        outputs = self._process.outputs()
        if outputs != self._library.right.get(self._row):
            problem = self._algorithm.problem(self._row[1], self._inputs, outputs)
            if problem is not None:
                sys.exit(f"{' '.join(self._row)}: {problem}")
            self._library.right[self._row] = outputs
        self._ours.append(ran.cpu_ns * 1e-9 / count * (before_hz + after_hz) / 2)
        self._clocks_hz += [before_hz, after_hz]


@dataclass(frozen=True)
class Benchmark:
    """How the libraries' own benchmarks are run."""

    core: Core
    timer: Path
    """finer_timer.c, built."""
    folder: Path
    """Folder with the data that `cryptest` reads."""

    def start(
        self, command: list[str], windows: str | None = None, allocator: Path | None = None
    ) -> subprocess.Popen[bytes]:
        """Start one, with its output kept in a file."""
        loaded = " ".join(str(path) for path in (self.timer, allocator) if path)
        environment = {**os.environ, "LD_PRELOAD": loaded}
        if windows is not None:
            environment["WINDOWS"] = windows
        with self._out.open("w") as out:
            process = subprocess.Popen(
                command, stdout=out, stderr=subprocess.STDOUT, env=environment, cwd=self.folder
            )
        self.core.pin(process.pid)
        return process

    def said(self, process: subprocess.Popen[bytes]) -> str:
        """Return the output after it has ended."""
        said = self._out.read_text()
        if process.wait() != 0:
            sys.exit(f"{process.args!r} failed: {said}")
        return said

    @property
    def _out(self) -> Path:
        return self.folder / "said"

    def speed(self, library: Library, row: Row) -> None:
        """Take one sample beside `openssl speed`."""
        options = ["-seconds", "1"]
        if oracles.algorithm(row[0]).sized:
            options += ["-bytes", str(CALL_BYTES)]
        around = Around(library, row)
        command = ["openssl", "speed", *options, *SPEED[row]]
        process = self.start(command, allocator=library.program(row).allocator)
        process.wait()
        around.after()
        # Signing comes before verification.
        count, took = re.findall(r": (\d+) \S.* in ([\d.]+)s", self.said(process))[0]
        around.told(float(took) * SPEED_UNIT_S / int(count))

    def cryptest_windows(self, part: str) -> dict[Row, int]:
        """Return the numbers of a part's windows whose rows are ours."""
        process = self.start(["cryptest", part, "1", str(GIGAHERTZ)], windows="")
        process.wait()
        return {row: number for row, number, _ in rows(self.said(process), 1.0)}

    def cryptest(
        self, part: str, library: Library, windows: dict[int, Row], allocator: Path | None
    ) -> None:
        """Take one sample of some rows, given by window number, beside a part of `cryptest b`."""
        unit_s = CRYPTEST_PARTS[part]
        command = ["cryptest", part, str(CRYPTEST_S / unit_s), str(GIGAHERTZ)]
        process = self.start(command, " ".join(map(str, windows)), allocator)
        around: dict[int, Around] = {}
        # It stops before each window, and after each that no other follows at once.
        for number in sorted({n for window in windows for n in (window, window + 1)}):
            _, status = os.waitpid(process.pid, os.WUNTRACED)
            if number - 1 in windows:
                around[number - 1].after()
            if not os.WIFSTOPPED(status):
                process.returncode = os.waitstatus_to_exitcode(status)
                break
            if number in windows:
                around[number] = Around(library, windows[number])
            os.kill(process.pid, signal.SIGCONT)
        process.wait()
        for _, number, took_s in rows(self.said(process), unit_s):
            if number in windows:
                around[number].told(took_s)


def rows(page: str, unit_s: float) -> list[tuple[Row, int, float]]:
    """Return our rows on a page of `cryptest`: window, and time of a call or an operation."""
    cycle_s = unit_s / (GIGAHERTZ * 1e9)
    found = []
    for number, text in re.findall(r"<!-- \d+ reads, window (\d+) -->\n<TR>(?=(.*))", page):
        plain = re.sub(r"<!--.*?-->|</?su[bp]>", "", text.replace("<sup>", "^"))
        name, *cells = re.split(r"<T[DH]>", plain)[1:]
        if name in CRYPTEST_BYTES:
            algorithm = CRYPTEST_BYTES[name]
            row = algorithm, oracles.algorithm(algorithm).operations[0]
            found.append((row, int(number), float(cells[2]) * cycle_s * CALL_BYTES))
        elif name in CRYPTEST_OPERATIONS:
            row = CRYPTEST_OPERATIONS[name]
            found.append((row, int(number), float(cells[1]) * 1e6 * cycle_s))
    return found


def build_loaded(name: str, folder: Path) -> Path:
    """Build finer_timer.c or whole_lines.c."""
    made, source = folder / f"{name}.so", Path(__file__).with_name(f"{name}.c")
    command = [
        "cc",
        "-O2",
        "-fno-builtin-malloc",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-shared",
        "-fPIC",
    ]
    subprocess.run([*command, str(source), "-o", str(made)], check=True)
    return made


def show(found: dict[str, Library]) -> bool:
    """Print the table, and return whether all rows agree."""
    print("| library | algorithm | operation | ours | its own | apart | 99% | samples | |")
    print("|---|---|---|--:|--:|--:|---|--:|---|")
    verdicts = []
    for name, library in found.items():
        for (algorithm, operation), tried in library.rows.items():
            for samples in filter(lambda samples: samples.ours, tried):
                low, high = interval(samples.apart)
                between = f"{low:+.1%} to {high:+.1%}" if math.isfinite(low) else "too few"
                ours, theirs = (statistics.median(s) for s in (samples.ours, samples.theirs))
                apart = statistics.median(samples.apart)
                cells = (
                    *(name, algorithm, operation, f"{ours:,.0f}", f"{theirs:,.0f}"),
                    *(f"{apart:+.1%}", between, len(samples.apart)),
                    f"{samples.verdict}{library.programs[samples.program].how}",
                )
                print(f"| {' | '.join(map(str, cells))} |")
            verdicts.append((tried[-1].verdict, len(tried)))
    agree = sum(verdict == "agrees" for verdict, _ in verdicts)
    as_linked = verdicts.count(("agrees", 1))
    print(
        f"\n{as_linked} of {len(verdicts)} agree within {AGREED:.0%} as they are linked, ", end=""
    )
    print(f"{agree} with one allocator, or code placed alike too", flush=True)
    return agree == len(verdicts)


def tried_programs(core: Core, allocator: Path) -> dict[str, Library]:
    """Return the programs to try for OpenSSL and for Crypto++, in order."""
    found = {}
    for name in ("openssl", "cryptopp"):
        path = build_library(libraries.load_library(name)).path
        alike = Program(path, allocator, ", one allocator")
        found[name] = Library([Program(path), alike], core)
    found["openssl"].exponent = SPEED_EXPONENT
    # Statically linked, so that its code lies where the linker put it.
    linked = libraries.load_library("cryptopp")
    for further in PLACES:
        path = build_library(placed(linked, further)).path
        how = f", one allocator, +{further} bytes"
        found["cryptopp"].programs.append(Program(path, allocator, how))
    return found


def main() -> None:
    """Compare, and print a table."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    patterns = sys.argv[2:] or ["*"]
    missing = [n for n in ("openssl", "cryptest", "cc") if shutil.which(n) is None]
    if missing:
        sys.exit(f"missing: {', '.join(missing)}; Debian: openssl libcrypto++-utils gcc")
    os.environ.pop("OPENSSL_CONF", None)
    core = Core.quietest()

    def wanted(row: Row) -> bool:
        return any(fnmatchcase(row[0], pattern) for pattern in patterns)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for data in ("TestData", "TestVectors"):
            (folder / data).symlink_to(f"/usr/share/crypto++/{data}")
        benchmark = Benchmark(core, build_loaded("finer_timer", folder), folder)
        alike = build_loaded("whole_lines", folder)
        found = tried_programs(core, alike)
        openssl, cryptopp = found.values()
        openssl.rows = {row: [Samples()] for row in SPEED if wanted(row)}
        parts = {part: benchmark.cryptest_windows(part) for part in CRYPTEST_PARTS}
        seen = {row for numbers in parts.values() for row in numbers}
        if absent := CRYPTEST_ROWS.keys() - seen:
            sys.exit(f"cryptest shows no row of {', '.join(map(' '.join, absent))}")
        cryptopp.rows = {row: [Samples()] for row in CRYPTEST_ROWS if wanted(row)}
        end_s = time.monotonic() + seconds
        while (left := [library.left() for library in found.values()]) != [[], []]:
            for row in left[0]:
                benchmark.speed(openssl, row)
            for part, numbers in parts.items():
                ordered = {n: row for row, n in numbers.items() if row in left[1]}
                for allocator in (None, alike):
                    windows = {
                        n: row
                        for n, row in ordered.items()
                        if cryptopp.program(row).allocator == allocator
                    }
                    if windows:
                        benchmark.cryptest(part, cryptopp, windows, allocator)
            print(f"{sum(map(len, left))} rows were left", file=sys.stderr)
            if time.monotonic() > end_s:
                break
    sys.exit(0 if show(found) else 1)


if __name__ == "__main__":
    main()
