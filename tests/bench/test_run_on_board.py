"""`joulemark run` on a board and on this machine, with instruments and with a person's readings."""

import os
import pty
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from command import joulemark
from joulemark import ready
from joulemark._engine import Image
from joulemark.catalogue import boards
from joulemark.catalogue.primitives import Library
from joulemark.images import build_image
from joulemark.records.record import PrimitiveRecord, of_primitives
from joulemark.records.store import Store
from joulemark.simulated.emulated import EmulatedSupplyLine
from joulemark.simulated.instruments.agilent_34401a import SimulatedAgilent34401A
from joulemark.simulated.instruments.agilent_e3631a import SimulatedAgilentE3631A
from joulemark.simulated.instruments.scpi import ScpiInstrument, ScpiServer

TELOSB = boards.load_board("telosb")
CASE = (
    *("--primitive", "aes-128", "--implementation", "msp430", "--opt", "O3"),
    *("--operation", "encrypt", "--seed", "1", "--board", "telosb"),
)
HERE = (
    *("--runner", "local", "--primitive", "sha-256", "--implementation", "ref", "--opt", "O2"),
    *("--operation", "hash", "--seed", "1"),
)


@pytest.fixture
def line() -> Iterator[EmulatedSupplyLine]:
    library = Library.load()
    image = build_image(library.implementation(library["aes-128"], "msp430"), TELOSB, clock="max")
    bench = EmulatedSupplyLine(TELOSB, Image.load(image.path))
    yield bench
    bench.close()


@pytest.fixture
def serve() -> Iterator[Callable[[ScpiInstrument], str]]:
    servers: list[ScpiServer] = []

    def start(instrument: ScpiInstrument) -> str:
        servers.append(ScpiServer(instrument))
        return servers[-1].resource

    yield start
    for server in servers:
        server.close()


def records(folder: Path, *, history: bool = False) -> list[PrimitiveRecord]:
    with Store(folder / "results" / "joulemark.db") as store:
        return of_primitives(store.records(history=history))


def half_width_nj(record: PrimitiveRecord, name: str) -> float:
    found = record.quantity(f"energy_{name}")
    assert found is not None
    assert found.half_width is not None
    return found.half_width


@dataclass
class Terminal:
    """The command with a person at its terminal."""

    process: "subprocess.Popen[bytes]"
    master: int
    seen: str = ""

    def until(self, text: str, timeout_s: float = 120) -> str:
        """Return what was shown up to and including this text."""
        end_s = time.monotonic() + timeout_s
        while text not in self.seen:
            assert time.monotonic() < end_s, f"no {text!r} in:\n{self.seen}"
            if ready.to_read(self.master, 0.1):
                try:
                    self.seen += os.read(self.master, 4096).decode()
                except OSError:
                    assert text in self.seen, f"ended without {text!r}:\n{self.seen}"
        shown, _, self.seen = self.seen.partition(text)
        return shown + text

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def ended(self) -> int:
        return self.process.wait(120)


def person(folder: Path, *arguments: str) -> Terminal:
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", "from joulemark.cli import main; main()", *arguments],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": "200", "TERM": "dumb"},
    )
    os.close(slave)
    return Terminal(process, master)


MANUAL = ("--meter", "manual", "--meter-unit", "mWh", "--resolution", "0.01", "--accuracy", "0.02")


@pytest.mark.slow
def test_a_person_reads_the_meter_of_a_board(line: EmulatedSupplyLine, tmp_path: Path) -> None:
    person_at = person(
        tmp_path,
        *("run", "--runner", "serial", "--port", line.port, *CASE, *MANUAL),
        *("--size", "16,32", "--repetitions", "1000", "--runs", "2"),
    )
    person_at.until("reading now (mWh); about 0.24 s run then: ")
    person_at.type("\n")
    person_at.until("'' is not a number; once more: ")
    person_at.type("a lot\n")
    person_at.until("'a lot' is not a number; once more: ")
    person_at.type("5.00\n")
    person_at.until("reading at the end (mWh): ")
    person_at.type("4.99\n")
    person_at.until("4.99 is below 5, or not finite; once more: ")
    person_at.type("7,00\n")
    person_at.until("reading now (mWh)")
    person_at.type("7.50\n")
    person_at.until("reading at the end (mWh): ")
    person_at.type("9.60\n")
    person_at.until("aes-128/msp430 encrypt 16 B: gross: 72")
    # At the next case, the person leaves.
    person_at.until("reading now (mWh)")
    person_at.type("\x04")
    shown = person_at.until("give the same command again to go on")
    assert "interrupted after 1 of 2 cases, all of them in the store" in shown
    assert person_at.ended() == 130
    (record,) = records(tmp_path)
    assert (record.status, record.conditions.runner, record.conditions.meter) == (
        "ok",
        "serial",
        "manual",
    )
    assert (record.subject.message_bytes, record.repetitions, record.trials) == (16, 1000, 2)
    assert [s["gross_pj"] for s in record.samples] == pytest.approx(
        [2.0 * 3.6e9, 2.1 * 3.6e9], rel=0.05
    )
    assert record.energy_net_nj is None
    assert any("no net energy: idle was not measured" in n for n in record.notes)
    # Run again, it goes on: the first case is served, the second one is asked for.
    person_at = person(
        tmp_path,
        *("run", "--runner", "serial", "--port", line.port, *CASE, *MANUAL),
        *("--size", "16,32", "--repetitions", "1000", "--runs", "2"),
    )
    for reading in ("1", "1.001", "2", "3"):
        person_at.until("reading ")
        person_at.until(": ")
        person_at.type(f"{reading}\n")
        if reading == "1.001":
            break
    # A case fails, and is to be repeated, if the display moved by less than its step.
    shown = person_at.until("1 case failed, without a number")
    assert "the display moved by 0.001 mWh and its step is 0.01" in shown
    assert "served from the store: 1 of 2" in shown
    assert person_at.ended() == 6
    statuses = {r.subject.message_bytes: r.status for r in records(tmp_path)}
    assert statuses == {16: "ok", 32: "failed"}


def test_a_person_reads_the_meter_of_this_machine(tmp_path: Path) -> None:
    person_at = person(
        tmp_path, "run", *HERE, *MANUAL, "--size", "64", "--repetitions", "50000", "--runs", "2"
    )
    for reading in ("1.00", "3.00", "4.00", "6.00"):
        person_at.until("reading ")
        person_at.until(": ")
        person_at.type(f"{reading}\n")
    person_at.until("report:")
    assert person_at.ended() == 0
    (record,) = records(tmp_path)
    where = record.conditions
    assert (where.runner, where.meter, where.board) == ("local", "manual", "local")
    assert record.energy_gross_nj == pytest.approx(
        2.0 * 3.6e9 / 50000, rel=0.02
    )  # minus the empty window
    assert record.cycles is None
    assert record.time_ps is not None
    assert 1e4 < record.time_ps < 1e9
    report = (tmp_path / "results" / "report.html").read_text()
    assert "local" in report
    assert not re.search(r"\b0 MHz", report.partition("<script")[0])


@pytest.mark.slow
def test_a_multimeter_agrees_with_the_model_in_real_time(
    line: EmulatedSupplyLine, serve: Callable[[ScpiInstrument], str], tmp_path: Path
) -> None:
    """Each multimeter does so in steps, which is faster: see test_emulated_bench.py."""
    resource = serve(SimulatedAgilent34401A(line, 4))
    meter = ("--meter", "agilent-34401a", "--resource", resource)
    # The board is fed by a supply whose voltage is read back.
    supply = SimulatedAgilentE3631A(line, seed=9)
    on_board = ("--runner", "serial", "--port", line.port, "--supply", serve(supply))
    size = ("--size", "64")
    few = ("--runs", "3")
    done = joulemark("run", *on_board, *CASE, *size, *meter, *few, folder=tmp_path).stdout
    assert "aes-128/msp430 encrypt 64 B: gross: " in done
    joulemark("run", *CASE, *size, folder=tmp_path)
    measured, exact = sorted(records(tmp_path), key=lambda r: r.conditions.runner == "emulator")
    assert (measured.conditions.runner, measured.conditions.meter) == ("serial", "agilent-34401a")
    assert exact.conditions.meter == "model"
    for name in ("gross", "net"):
        true_nj, stated_nj = (getattr(r, f"energy_{name}_nj") for r in (exact, measured))
        # The model uses the nominal voltage; the supply's output is slightly off.
        true_nj *= supply.true_voltage_v / TELOSB.supply_v.value
        width_nj = half_width_nj(measured, name)
        assert abs(stated_nj - true_nj) <= width_nj
        assert width_nj < 0.01 * true_nj
    assert any("read back by E3631A" in n for n in measured.notes)
    # Once more: from the store.
    again = joulemark("run", *on_board, *CASE, *size, *meter, *few, folder=tmp_path).stdout
    assert "measured 0, served from the store: 1 of 1" in again


def test_powercap_measures_this_machine(tmp_path: Path) -> None:
    zone = tmp_path / "intel-rapl:0"
    zone.mkdir()
    (zone / "name").write_text("package-0\n")
    (zone / "max_energy_range_uj").write_text("262143328850\n")
    stop = threading.Event()
    watt = 12.5

    def count() -> None:
        begin_s = time.monotonic()
        while not stop.wait(0.001):
            # The counter wraps around in the middle of the first run.
            microjoule = 262143328850 - 500_000 + round((time.monotonic() - begin_s) * watt * 1e6)
            (zone / ".new").write_text(f"{microjoule % 262143328851}\n")
            (zone / ".new").replace(zone / "energy_uj")

    thread = threading.Thread(target=count)
    thread.start()
    try:
        while not (zone / "energy_uj").exists():
            time.sleep(0.01)
        done = joulemark(
            *("run", *HERE, "--size", "64", "--meter", "powercap", "--resource", str(zone)),
            # Long enough that a counter which is written late by some milliseconds is no matter.
            *("--accuracy", "0.02", "--repetitions", "1000000", "--runs", "2"),
            folder=tmp_path,
        ).stdout
    finally:
        stop.set()
        thread.join()
    assert "sha-256/ref hash 64 B: gross: " in done
    (record,) = records(tmp_path)
    assert record.energy_gross_nj is not None
    assert record.energy_net_nj is not None
    assert record.time_ps is not None
    true_nj = watt * record.time_ps * 1e-3
    assert record.energy_gross_nj == pytest.approx(true_nj, rel=0.1)
    # It draws as much idle as busy.
    assert abs(record.energy_net_nj) < 0.1 * true_nj


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--runner", "serial"), "no instrument given; give --meter"),
        (("--runner", "serial", "--meter", "manual"), "not said where the board is; give --port"),
        (("--runner", "local", "--meter", "um25c", "--port", "/dev/null"), "has no port"),
        (("--meter", "ppk2"), "an emulated board has no port and no instrument"),
        (
            ("--runner", "serial", "--port", "/x", "--meter", "ppk2", "--supply-v", "-3"),
            "--supply-v: -3 is out of range",
        ),
        (("--runner", "local", "--meter", "powercap", "--supply-v", "nan"), "nan is out of range"),
        (("--runner", "local", "--meter", "powercap", "--supply-v", "0"), "0 is out of range"),
        (("--runner", "local", "--meter", "manual"), "--resolution is missing"),
        (("--runner", "local", "--meter", "powercap"), "--resource is missing"),
        (
            (
                *("--runner", "local", "--meter", "manual", "--meter-unit", "mAh"),
                *("--resolution", "1", "--accuracy", "0.1"),
            ),
            "ampere-hours need the supply voltage; give --supply-v",
        ),
        (
            ("--runner", "local", "--meter", "manual", "--resolution", "1", "--accuracy", "2"),
            "--accuracy: 2 is out of range",
        ),
    ],
)
def test_options_that_do_not_go_together(
    options: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    case = ("--primitive", "sha-256", "--implementation", "ref", "--size", "64", "--opt", "O2")
    refused = joulemark("run", *case, "--operation", "hash", *options, code=3, folder=tmp_path)
    assert re.search(message, refused.stderr), refused.stderr
