"""Failures on a bench: the case fails with its cause, earlier ones stay, and the run goes on."""

import dataclasses
import os
import random
import re
import threading
import tty
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from command import joulemark
from joulemark._engine import Image
from joulemark.campaign.job import Job, Setup
from joulemark.campaign.plan import plan
from joulemark.catalogue import boards
from joulemark.errors import LinkError
from joulemark.measure.emulated import emulate
from joulemark.measure.instrumented import Instrumented
from joulemark.measure.metered import Line
from joulemark.measure.window import Instrument
from joulemark.meters import Meter, manual
from joulemark.meters.ppk2 import Ppk2
from joulemark.meters.scpi.agilent_34401a import Agilent34401A
from joulemark.records.record import PrimitiveRecord
from joulemark.runners.protocol import Device, Flag, RunResult
from joulemark.runners.serial import SerialLink
from joulemark.simulated.emulated import EmulatedSupplyLine, SteppedBench
from joulemark.simulated.instruments.agilent_34401a import SimulatedAgilent34401A
from joulemark.simulated.instruments.nordic_ppk2 import SimulatedPpk2
from joulemark.simulated.instruments.scpi import ScpiServer
from joulemark.subjects.primitive.options import PrimitiveOptions
from stepped import Stepped

Floats = npt.NDArray[np.float64]
TELOSB = boards.load_board("telosb")
SUPPLY_V = TELOSB.supply_v.value
RUNS = 2
SIZES = (16, 32, 48)
BROKEN_RUN = RUNS + 1
"""The first run of the second case."""


@pytest.fixture(scope="module")
def job() -> Job:
    """Three cases of one image."""
    campaign = PrimitiveOptions(
        board=("telosb",),
        primitive=("aes-128",),
        implementation=("msp430",),
        operation=("encrypt",),
        size=SIZES,
        repetitions=50,
        seed=7,
    )
    setup = Setup(runner="serial", meter="meter", unit="bench", runs=RUNS)
    (made,) = plan(campaign, setup).jobs
    return made


@pytest.fixture
def line(job: Job) -> SteppedBench:
    return SteppedBench(TELOSB, Image.load(job.image.path))  # type: ignore[union-attr]


def on_board(job: Job, port: str, meter: Meter) -> Iterator[PrimitiveRecord]:
    with Instrumented(job, Instrument(meter), port) as session:
        yield from session.records()


def measure(job: Job, line: SteppedBench, meter: Meter) -> list[PrimitiveRecord]:
    with Stepped(job, meter, line) as session:
        return list(session.records())


class Faulty(SimulatedAgilent34401A):
    """Misbehaves once, in the run that is to be broken."""

    def __init__(self, line: SteppedBench, fault: Callable[[list[str]], str]) -> None:
        super().__init__(line, seed=1)
        self._fault = fault
        self._reads = 0
        self._turned = False

    def execute(self, line: str) -> str | None:
        if self._turned and line.strip() == "CONF?":
            self._turned = False
            return '"VOLT +1.000000E+01,+1.000000E-03"'
        answer = super().execute(line)
        if line.strip() != "READ?" or answer is None:
            return answer
        self._reads += 1
        if self._reads != BROKEN_RUN:
            return answer
        if self._fault is turned:
            self._turned = True
        return self._fault(answer.split(","))


def fewer(readings: list[str]) -> str:
    return ",".join(readings[:-40])


def overloaded(readings: list[str]) -> str:
    return ",".join([*readings[:-40], *["+9.90000000E+37"] * 40])


def not_a_number(readings: list[str]) -> str:
    return ",".join([*readings[:-1], "+nan"])


def no_reading(readings: list[str]) -> str:
    return ",".join([*readings[:-1], "+1.8E"])


def turned(readings: list[str]) -> str:
    return ",".join(readings)


def never_busy(readings: list[str]) -> str:
    return ",".join(["+5.00000000E-05"] * len(readings))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (fewer, "readings came instead of"),
        (overloaded, "overload at sample .*; choose a higher current range"),
        (not_a_number, "is not a number; the run has to be measured again"),
        (no_reading, "a reading is not a number"),
        (turned, r"it is set to 'VOLT .*, and no more to a current of 0.01 A; leave its front"),
        (never_busy, "no window: the current never rises .*wire the marker"),
    ],
)
def test_a_broken_run_fails_its_case_alone(
    fault: Callable[[list[str]], str], message: str, line: SteppedBench, job: Job
) -> None:
    server = ScpiServer(Faulty(line, fault))
    try:
        with Agilent34401A(server.resource, SUPPLY_V) as meter:
            made = measure(job, line, meter)
    finally:
        server.close()
    assert [r.status for r in made] == ["ok", "failed", "ok"], [r.failure for r in made]
    assert re.search(message, made[1].failure or ""), made[1].failure
    assert made[1].energy_gross_nj is None


def unplugged(readings: list[str]) -> str:
    raise ConnectionResetError("pulled out")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_multimeter_that_goes_away_leaves_what_was_measured(line: SteppedBench, job: Job) -> None:
    server = ScpiServer(Faulty(line, unplugged))
    try:
        with Agilent34401A(server.resource, SUPPLY_V) as meter:
            made = measure(job, line, meter)
    finally:
        server.close()
    assert [r.status for r in made] == ["ok", "failed", "failed"]
    assert "34401A at TCPIP" in (made[1].failure or "")
    assert "does not answer" in (made[1].failure or "")


class Loses(SimulatedPpk2):
    """Drops part of one block of samples."""

    at_block = -1

    def _samples(self, edges_s: Floats, counter: int) -> npt.NDArray[np.uint32]:
        words = super()._samples(edges_s, counter)
        if counter // len(words) == self.at_block:
            return words[:-100]
        return words


class PulledOut(SimulatedPpk2):
    """Disconnects in the middle of a run, when told to."""

    now = False

    def _samples(self, edges_s: Floats, counter: int) -> npt.NDArray[np.uint32]:
        if self.now:
            self.now = False
            # `close` joins the calling thread, so it must run in another.
            threading.Thread(target=self.close).start()
        return super()._samples(edges_s, counter)


class Bounces:
    """A supply line with a loose marker wire."""

    def __init__(self, line: SteppedBench, *, wired: bool) -> None:
        self._line = line
        self._wired = wired
        self.voltage_v = line.voltage_v

    @property
    def now_s(self) -> float:
        return self._line.now_s

    def mean_current_a(self, start_s: Floats, end_s: Floats) -> Floats:
        return self._line.mean_current_a(start_s, end_s)

    def marker(self, time_s: Floats) -> npt.NDArray[np.bool_]:
        if not self._wired:
            return time_s < 0
        high = self._line.marker(time_s)
        gaps: npt.NDArray[np.bool_] = np.floor(time_s * 1e3) % 10 != 0
        return high & gaps


def with_profiler(device: SimulatedPpk2, job: Job, line: SteppedBench) -> list[PrimitiveRecord]:
    try:
        with Ppk2(device.resource, SUPPLY_V, accuracy=0.005) as meter:
            return measure(job, line, meter)
    finally:
        device.close()


@pytest.mark.slow
def test_a_profiler_that_loses_samples(line: SteppedBench, job: Job) -> None:
    device = Loses(line, seed=2)
    device.at_block = 30
    made = with_profiler(device, job, line)
    failed = [r for r in made if r.status == "failed"]
    assert len(failed) == 1
    assert "samples are missing after" in (failed[0].failure or "")


@pytest.mark.slow
def test_a_profiler_that_is_pulled_out(line: SteppedBench, job: Job) -> None:
    device = PulledOut(line, seed=2)
    made = []
    with (
        Ppk2(device.resource, SUPPLY_V, accuracy=0.005) as meter,
        Stepped(job, meter, line) as session,
    ):
        for record in session.records():
            made.append(record)
            device.now = len(made) == 1
    device.close()
    assert [r.status for r in made] == ["ok", "failed", "failed"]
    assert "it stopped" in (made[1].failure or "")
    assert "what was measured before is kept" in (made[1].failure or "")


@pytest.mark.slow
def test_a_marker_that_bounces_or_is_not_wired(line: SteppedBench, job: Job) -> None:
    one = dataclasses.replace(job, points=job.points[:1])
    (bounced,) = with_profiler(SimulatedPpk2(Bounces(line, wired=True), seed=2), one, line)
    assert bounced.status == "failed"
    assert "marker edges instead of one rising and one falling" in (bounced.failure or "")
    (unwired,) = with_profiler(SimulatedPpk2(Bounces(line, wired=False), seed=2), one, line)
    assert unwired.status == "ok", unwired.failure
    assert "window found in the current; D0 saw no marker" in unwired.notes
    (wired,) = with_profiler(SimulatedPpk2(line, seed=2), one, line)
    assert "window between the marker's edges" in wired.notes
    assert unwired.energy_gross_nj == pytest.approx(wired.energy_gross_nj, rel=0.01)


@pytest.mark.slow
def test_a_meter_is_ready_again_when_the_board_did_not_answer(
    line: SteppedBench, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise it would go on with the run that failed."""
    true_run = Device.run
    quiet_runs = 0

    def run(
        device: Device, operation: str, flags: Flag = Flag.NONE, count: int = 1, quiet_ms: int = 0
    ) -> RunResult:
        nonlocal quiet_runs
        quiet_runs += quiet_ms > 0
        if quiet_ms and quiet_runs == BROKEN_RUN:
            raise LinkError("silent for 5 s", "the line")
        return true_run(device, operation, flags, count, quiet_ms)

    monkeypatch.setattr(Device, "run", run)
    made = with_profiler(SimulatedPpk2(line, seed=2), job, line)
    assert [r.status for r in made] == ["ok", "failed", "ok"], [r.failure for r in made]
    assert made[1].failure == "the line: silent for 5 s"
    exact = list(emulate(job))
    for number in (0, 2):
        assert made[number].energy_gross_nj == pytest.approx(
            exact[number].energy_gross_nj, rel=5e-3
        )


NO_METER = manual.Manual(lambda _: "", "Wh", 0.0, 1.0, 0.0)


@pytest.mark.slow
def test_a_board_that_is_pulled_out_and_plugged_in_again(job: Job, tmp_path: Path) -> None:
    image = Image.load(job.image.path)  # type: ignore[union-attr]
    first = EmulatedSupplyLine(TELOSB, image)
    link = tmp_path / "board"
    link.symlink_to(first.port)
    readings = iter(range(1000))
    meter = manual.Manual(lambda _: str(next(readings)), "J", 0.0, 1.0, 0.0)
    made = []
    second = None
    try:
        for record in on_board(job, str(link), meter):
            made.append(record)
            if len(made) == 1:
                first.close()
            if len(made) == 2:
                second = EmulatedSupplyLine(TELOSB, image)
                link.unlink()
                link.symlink_to(second.port)
    finally:
        link.unlink()
        if second is not None:
            second.close()
    assert [r.status for r in made] == ["ok", "failed", "ok"], [r.failure for r in made]
    assert "no valid answer" in (made[1].failure or "") or "went away" in (made[1].failure or "")


class Impatient(Instrumented):
    def _open_line(self) -> Line:
        return SerialLink(self._port, self.board.serial.baud, timeout_s=0.3)


def test_a_line_at_the_wrong_baud_rate(job: Job, tmp_path: Path) -> None:
    """What arrives is garbage: as many bytes as were sent, and none of them right."""
    master, slave = os.openpty()
    tty.setraw(slave)
    chance = random.Random(4)

    def answer() -> None:
        while True:
            try:
                os.write(master, chance.randbytes(len(os.read(master, 64))))
            except OSError:
                return

    threading.Thread(target=answer, daemon=True).start()
    one = dataclasses.replace(job, points=job.points[:1])
    with Impatient(one, Instrument(NO_METER), os.ttyname(slave)) as session:
        (record,) = session.records()
    os.close(slave)
    os.close(master)
    assert record.status == "failed"
    assert "check the line, the baud rate and that the image is flashed" in (record.failure or "")


def test_failed_cases_are_kept_and_measured_again(tmp_path: Path) -> None:
    """At the command's end: exit code 6, the cause in the store, and another try next time."""
    arguments = (
        *("run", "--runner", "serial", "--port", "/dev/nowhere", "--meter", "manual"),
        *("--resolution", "1", "--accuracy", "0.1", "--primitive", "sha-256", "--size", "64"),
        *("--implementation", "ref", "--operation", "hash", "--opt", "Os", "--board", "telosb"),
    )
    for _ in range(2):
        failed = joulemark(*arguments, code=6, folder=tmp_path)
        assert "/dev/nowhere: cannot be opened" in failed.stderr
        assert "measured 1, served from the store: 0 of 1" in failed.stdout
