"""Libraries' algorithms on this machine: verified, pinned, at a measured clock, metered."""

import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Self

import pytest

from command import joulemark, undisturbed
from joulemark import oracles
from joulemark.campaign.job import Setup
from joulemark.campaign.options import checked
from joulemark.catalogue import libraries, machines
from joulemark.catalogue.libraries import LibraryFile
from joulemark.errors import BuildError, InputError, ToolError, VerificationError
from joulemark.images import library as programs
from joulemark.images import toolchain
from joulemark.images.library import build_library
from joulemark.measure.window import Instrument, expected_errors
from joulemark.meters import Specification, open_meter
from joulemark.meters.samples import Counted
from joulemark.oracles.hashes import whirlpool
from joulemark.reference.blocks import rc5, rc6, twofish
from joulemark.runners.library import LibraryProcess
from joulemark.runners.machine import Core, check_clock, refuse_throttled
from joulemark.subjects.library import plan as plans
from joulemark.subjects.library.options import LibraryOptions
from joulemark.subjects.library.plan import LibraryJob
from joulemark.subjects.library.session import LibraryBench, LibrarySession

PAPER = {
    *(
        (f"{name}-ctr", "encrypt")
        for name in ("aes-128", "aes-256", "blowfish-128", "des", "des-ede3", "des-xex3", "idea")
    ),
    *((f"{name}-ctr", "encrypt") for name in ("rc5-32-16", "rc6-128", "twofish-128")),
    *((f"aes-128-gcm-{tables}", "encrypt") for tables in ("2k", "64k")),
    *((name, "hash") for name in ("md5", "sha-1", "sha-256", "sha-512", "sha3-256", "sha3-512")),
    ("whirlpool", "hash"),
    *((f"dh-{bits}", op) for bits in (1024, 2048) for op in ("agree", "keygen")),
    *((name, op) for name in ("dsa-1024", "ecdsa-sect233r1") for op in ("sign", "verify")),
    *(("ecdsa-secp256k1", op) for op in ("sign", "verify")),
    *((f"rsa-{bits}-oaep", op) for bits in (1024, 2048) for op in ("decrypt", "encrypt")),
    *((f"rsa-{bits}-pss", op) for bits in (1024, 2048) for op in ("sign", "verify")),
    *(("xtr-dh-342", op) for op in ("agree", "keygen")),
}
"""The rows of yilmaz-2018's tables I and II."""
WATT = 2.0


@pytest.fixture(scope="module", params=libraries.names())
def library(request: pytest.FixtureRequest) -> LibraryFile:
    return libraries.load_library(request.param)


@pytest.fixture(scope="module")
def process(library: LibraryFile) -> Iterator[LibraryProcess]:
    with LibraryProcess([str(build_library(library).path)]) as started:
        yield started


def test_the_papers_rows_are_there() -> None:
    rows = build_library(libraries.load_library("cryptopp")).rows
    assert len(PAPER) == 39
    assert set(rows) == PAPER


def test_every_row_is_right_and_what_is_wrong_is_seen(
    library: LibraryFile, process: LibraryProcess
) -> None:
    for name, operation in build_library(library).rows:
        algorithm = oracles.algorithm(name)
        size = 48 if algorithm.sized else 0
        inputs = oracles.drawn(name, operation, size, 1)
        process.prepare(name, operation, inputs)
        process.run(oracles.PERIOD if algorithm.sized else 2)
        outputs = process.outputs()
        assert algorithm.problem(operation, inputs, outputs) is None, (name, operation)
        for value in outputs.keys() - {"private", "peer"}:
            wrong = outputs[value][:-1] + bytes([outputs[value][-1] ^ 1])
            changed = {**outputs, value: wrong}
            assert algorithm.problem(operation, inputs, changed), (name, operation, value)
        forged = algorithm.forged(operation, inputs)
        assert (forged is not None) == (operation == "verify")
        if forged is not None:
            process.prepare(name, operation, forged[0])
            process.run(1)
            assert process.outputs() == forged[1], (name, operation)


@pytest.mark.parametrize(
    ("cipher", "key", "plain", "wanted"),
    [
        # Rivest, The RC5 Encryption Algorithm, 1995, section 5: RC5-32/12/16, first example.
        (lambda key: rc5(key, 12), "00" * 16, "00" * 8, "21a5dbee154b8f6d"),
        # Rivest and others, The RC6 Block Cipher, 1998, appendix: test vectors.
        (rc6, "00" * 16, "00" * 16, "8fc3a53656b1f778c129df4e9848a41e"),
        # Schneier and others, Twofish, 1998, ECB intermediate values, 128-bit key.
        (twofish, "00" * 16, "00" * 16, "9f589f5cf6122c32b6bfec2f2ae8c35a"),
    ],
    ids=["rc5", "rc6", "twofish"],
)
def test_our_own_oracles_of_ciphers(cipher, key: str, plain: str, wanted: str) -> None:  # type: ignore[no-untyped-def]
    assert cipher(bytes.fromhex(key))(bytes.fromhex(plain)).hex() == wanted


def test_our_own_oracle_of_whirlpool() -> None:
    # ISO/IEC 10118-3, test vector of the empty string.
    wanted = "19fa61d75522a4669b44e39c1d2e1726c530232130d407f89afee0964997f7a7"
    assert whirlpool(b"").hex().startswith(wanted)


def _job(setup: Setup, **keys: object) -> LibraryJob:
    asked = {"library": "openssl", "operation": "hash", "seed": 1, **keys}
    campaign = checked(LibraryOptions, asked)
    (job,) = plans.plan(campaign, setup)
    return job


LOCAL = Setup(runner="local", meter="none", unit="u", runs=2)


def test_a_case_is_measured_without_a_meter() -> None:
    job = _job(LOCAL, algorithm="sha-256")
    with LibrarySession(job, LibraryBench(instrument=None, seconds=0.02)) as session:
        (record,) = session.records()
    assert record.status == "ok", record.failure
    assert record.subject.message_bytes == 2048
    assert record.repetitions % oracles.PERIOD == 0
    assert record.trials == 2
    rate = 2048 / ((record.value("time") or 0) * 1e-12)
    assert 1e6 < rate < 1e11
    clock = record.quantity("clock")
    assert clock is not None
    assert 1e8 < clock.value < 1e10
    assert record.value("energy_gross") is None
    assert any(note.startswith("library: libcrypto.so") for note in record.notes)


class Counting:
    """A meter that exactly counts a machine of this many watts."""

    specification = Specification(
        title="counter", document="a test's", rate_hz=None, resolution="1 mJ", step_j=1e-3
    )
    began_s = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def start(self, seconds: float) -> None:
        self.began_s = time.monotonic()

    def finish(self) -> Counted:
        return Counted(WATT * (time.monotonic() - self.began_s), 1e-6, 0.01, 0.0)


def test_energy_with_a_meter_that_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    # Other work on this machine is not part of the test.
    monkeypatch.setattr("joulemark.subjects.library.session._refuse_disturbed", lambda _: None)
    job = _job(LOCAL, algorithm="sha-256")
    bench = LibraryBench(instrument=Instrument(Counting()), seconds=0.1)
    with LibrarySession(job, bench) as session:
        (record,) = session.records()
    assert record.status == "ok", record.failure
    gross, net = record.quantity("energy_gross"), record.quantity("energy_net")
    assert gross is not None
    assert net is not None
    walls = [int(s["window_ns"]) / record.repetitions for s in record.samples]
    assert gross.value == pytest.approx(WATT * sum(walls) / len(walls), rel=0.02)
    # Busy and idle draw the same, so nothing is left.
    assert abs(net.value) < 0.02 * gross.value


def test_a_persons_readings(monkeypatch: pytest.MonkeyPatch) -> None:
    # A window on a busy machine would be measured again.
    monkeypatch.setattr("joulemark.subjects.library.session._refuse_disturbed", lambda _: None)
    monkeypatch.setattr("joulemark.subjects.library.session.check_clock", lambda *_: None)
    began_s, said = time.monotonic(), []

    def ask(question: str) -> str:
        said.append(question)
        return f"{WATT * (time.monotonic() - began_s) / 3.6:.6f}"

    given = {"resolution": 1e-6, "accuracy": 0.01, "unit": "mWh"}
    with open_meter("manual", given, ask=ask) as meter:
        told: list[str] = []
        bench = LibraryBench(instrument=Instrument(meter), seconds=0.1, tell=told.append)
        with LibrarySession(_job(LOCAL, algorithm="md5"), bench) as session:
            (record,) = session.records()
    assert record.status == "ok", record.failure
    # An idle window, and two runs, each with two readings.
    assert len(said) == 6
    gross = record.quantity("energy_gross")
    assert gross is not None
    walls = [int(s["window_ns"]) / record.repetitions for s in record.samples]
    assert gross.value == pytest.approx(WATT * sum(walls) / len(walls), rel=0.05)
    assert any("one count of 1e-06 mWh" in text for text in told)


def test_the_papers_way_is_told_before_measuring() -> None:
    meter = Specification("m", "d", None, "1 mWh", attended=True, step_j=3.6)
    text = expected_errors(meter, 30, 2.11)
    assert "+-5.7% of 2.11 W" in text
    assert "+-3.3%" in text
    bench = LibraryBench(instrument=None, seconds=None)
    assert bench.window_s(2.11) == 0.5
    counted = LibraryBench(instrument=Instrument(Counting()), seconds=None)
    # 1 mJ is 1% of 0.1 J, which 0.2 W draws in half a second.
    assert counted.window_s(0.1) == pytest.approx(1.0)


def test_a_throttled_machine_is_refused(tmp_path: Path) -> None:
    flags = tmp_path / "get_throttled"
    flags.write_text("50000\n")  # It was throttled once, and is not now.
    refuse_throttled(flags)
    flags.write_text("50005\n")
    with pytest.raises(VerificationError, match="voltage is too low, it is throttled"):
        refuse_throttled(flags)
    check_clock(1_187_000_000, 1_190_000_000, 1_200_000_000)
    with pytest.raises(VerificationError, match="600 MHz instead of 1200"):
        check_clock(600_000_000, 600_000_000, 1_200_000_000)
    with pytest.raises(VerificationError, match="went from 1200 to 1100"):
        check_clock(1_200_000_000, 1_100_000_000, 1_200_000_000)


def test_the_clock_is_measured_and_the_core_is_pinned() -> None:
    program = build_library(libraries.load_library("openssl"))
    core = Core.quietest()
    with LibraryProcess([str(program.path)], core) as started:
        for _ in range(20):
            # Other work makes the clock seem slower.
            readings = [started.clock_hz() for _ in range(5)]
            if max(readings) < 1.5 * min(readings):
                break
        assert 2e8 < min(readings) < 1e10
        assert max(readings) < 1.5 * min(readings)


def test_a_library_that_is_missing_is_named(tmp_path: Path) -> None:
    (tmp_path / "program.c").write_text('#include "no/such.h"\n')
    missing = libraries.LibraryFile(
        title="Nothing",
        language="c",
        source="program.c",
        link=["-lnothing"],
        header="no/such.h",
        package="libnothing-dev",
    )
    missing._folder = tmp_path
    with pytest.raises(ToolError, match="install the Debian package libnothing-dev"):
        build_library(missing)


@pytest.mark.parametrize(
    "said",
    [
        "x.cpp:6:10: fatal error: cryptopp/aes.h: No such file or directory",
        "x.cpp:6:10: fatal error: 'cryptopp/aes.h' file not found",
    ],
)
def test_whichever_header_a_compiler_misses_first(
    said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise BuildError(said)

    monkeypatch.setattr(toolchain, "run", fails)
    compilers = dict.fromkeys(("c", "c++"), ("cc", "1"))
    with pytest.raises(ToolError, match="is not installed; install the Debian package libcrypto"):
        programs._make(libraries.load_library("cryptopp"), compilers, tmp_path)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--library", "openssl"), "give --runner local"),
        (("--runner", "local", "--library", "nss"), "there are cryptopp, openssl"),
        (("--runner", "local", "--library", "openssl", "--algorithm", "x"), "matches no row"),
        (("--algorithm", "md5"), "give --library"),
        (("--runner", "local", "--library", "openssl", "--seconds", "0"), "is no window"),
        (("--runner", "local", "--library", "openssl", "--primitive", "x"), "or of primitives"),
    ],
)
def test_options_that_do_not_go_together(options: tuple[str, ...], words: str) -> None:
    assert words in joulemark("run", *options, code=3).stderr


def test_one_command_measures_this_machine(tmp_path: Path) -> None:
    command = ("run", "--runner", "local", "--library", "openssl", "--algorithm", "sha*-512")
    some = ("--operation", "hash", "--runs", "2", "--seconds", "0.02", "--seed", "1")
    done = undisturbed(*command, *some, folder=tmp_path)
    assert "of 2\n" in done.stdout
    assert "sha3-512" in done.stdout
    again = joulemark(*command, *some, folder=tmp_path)
    assert "measured 0, served from the store: 2 of 2" in again.stdout
    with closing(sqlite3.connect(tmp_path / "results" / "joulemark.db")) as store:
        (count,) = store.execute("SELECT count(*) FROM records WHERE status = 'ok'").fetchone()
    assert count == 2
    joulemark("export", "--format", "csv", "--out", "x.csv", folder=tmp_path)
    assert "libcrypto" not in (tmp_path / "x.csv").read_text().splitlines()[0]
    # A store with only libraries has a report too.
    joulemark("report", "--out", "x.html", folder=tmp_path)
    page = (tmp_path / "x.html").read_text()
    assert "SHA3-512" in page
    assert "hash, 2048 B a call" in page


@pytest.mark.parametrize("name", machines.names())
def test_machines_say_where_everything_is_from(name: str) -> None:
    machine = machines.load_machine(name)
    sources = [machine.supply_v.source, *(c.source for c in machine.clock.values())]
    sources += [c.source for c in machine.cache] + [p.source for p in machine.power]
    for source in sources:
        assert source.partition(":")[0].partition(",")[0] in machine.documents, source
    used = " ".join(sources)
    assert all(document in used for document in machine.documents)
    assert machine.default_clock in machine.clock


def test_a_machine_is_recognised_by_a_file_of_linux(tmp_path: Path) -> None:
    sign = machines.Sign(file="/proc/version", begins="Linux version")
    assert sign.fits()
    assert not machines.Sign(file="/proc/version", begins="Raspberry").fits()
    assert not machines.Sign(file="/proc/no-such", begins="Linux").fits()
    with pytest.raises(InputError, match="no such machine"):
        machines.load_machine("abacus")


PERF = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

// In place of a kernel whose counters work, or that refuses: each reading is COUNTED.
long syscall(long number, ...) {
    if (number != SYS_perf_event_open || getenv("COUNTED") == NULL) {
        errno = EACCES;
        return -1;
    }
    uint64_t value = strtoull(getenv("COUNTED"), NULL, 10);
    int file = memfd_create("counter", 0);
    for (int i = 0; i < 1000; i++)
        if (write(file, &value, sizeof value) != sizeof value)
            return -1;
    lseek(file, 0, SEEK_SET);
    return file;
}
"""


@pytest.mark.parametrize("counted", [None, 640_000_000])
def test_counters_of_the_processor(
    counted: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, stub = tmp_path / "perf.c", tmp_path / "perf.so"
    source.write_text(PERF)
    subprocess.run(["cc", "-shared", "-fPIC", str(source), "-o", str(stub)], check=True)
    program = build_library(libraries.load_library("openssl"))
    monkeypatch.setenv("LD_PRELOAD", str(stub))
    if counted is not None:
        monkeypatch.setenv("COUNTED", str(counted))
    with LibraryProcess([str(program.path)]) as process:
        process.prepare("md5", "hash", oracles.drawn("md5", "hash", 64, 1))
        ran = process.run(64)
    if counted is None:
        assert (ran.cycles, ran.instructions) == (None, None)
        assert ran.why_not == "Permission denied"
    else:
        assert (ran.cycles, ran.instructions) == (counted, counted)
