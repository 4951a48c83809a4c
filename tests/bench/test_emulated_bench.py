"""An emulated board, measured through its serial line and simulated instruments, in steps."""

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest

from joulemark._engine import Image
from joulemark.campaign.job import RUNS, Job, Setup
from joulemark.campaign.plan import plan
from joulemark.catalogue import boards
from joulemark.errors import LinkError
from joulemark.measure.emulated import emulate
from joulemark.meters import Meter, manual, open_meter
from joulemark.meters.ppk2 import Ppk2
from joulemark.meters.samples import Samples
from joulemark.records.record import PrimitiveRecord
from joulemark.report import render
from joulemark.runners.protocol import Device, Flag, RunResult
from joulemark.runners.serial import SerialLink
from joulemark.simulated.emulated import EmulatedSupplyLine, SteppedBench
from joulemark.simulated.instruments.agilent_34401a import SimulatedAgilent34401A
from joulemark.simulated.instruments.keysight_34465a import SimulatedKeysight34465A
from joulemark.simulated.instruments.nordic_ppk2 import SimulatedPpk2
from joulemark.simulated.instruments.scpi import ScpiInstrument, ScpiServer
from joulemark.subjects.primitive.options import PrimitiveOptions
from stepped import Stepped

TELOSB = boards.load_board("telosb")


def planned(setup: Setup) -> Job:
    campaign = PrimitiveOptions(
        board=("telosb",),
        primitive=("aes-128",),
        implementation=("msp430",),
        operation=("encrypt",),
        size=(64,),
        seed=7,
    )
    (made,) = plan(campaign, setup).jobs
    return made


@pytest.fixture(scope="module")
def job() -> Job:
    return planned(Setup(runner="serial", meter="meter", unit="bench", runs=RUNS))


def on_board(job: Job, bench: SteppedBench, meter: Meter) -> PrimitiveRecord:
    with Stepped(job, meter, bench) as session:
        (record,) = session.records()
    return record


@pytest.fixture(scope="module")
def exact() -> PrimitiveRecord:
    (record,) = emulate(planned(Setup()))
    assert record.status == "ok", record.failure
    return record


@pytest.fixture
def bench(job: Job) -> SteppedBench:
    return SteppedBench(TELOSB, Image.load(job.image.path))  # type: ignore[union-attr]


# For cases that fail before anything is measured.
NO_METER = manual.Manual(lambda _: "", "Wh", 0.0, 1.0, 0.0)


def half_width_nj(record: PrimitiveRecord) -> float:
    note = next(n for n in record.notes if n.startswith("gross: "))
    return float(note.split("+- ")[1].split()[0]) * 1e3


def test_the_board_sleeps_while_it_waits(bench: SteppedBench) -> None:
    """Otherwise no multimeter could tell work from waiting."""
    assert Device(bench.line()).description["primitive"] == "aes-128"
    bench.clock().sleep(0.3)
    start = np.array([bench.time_s - 0.1])
    assert bench.mean_current_a(start, start + 0.1)[0] == pytest.approx(54.5e-6)
    assert not bench.marker(start).any()


@pytest.mark.slow
def test_a_board_in_real_time_answers_on_its_terminal(job: Job) -> None:
    line = EmulatedSupplyLine(TELOSB, Image.load(job.image.path))  # type: ignore[union-attr]
    try:
        with SerialLink(line.port, TELOSB.serial.baud, timeout_s=60) as link:
            assert Device(link).description["primitive"] == "aes-128"
    finally:
        line.close()


def test_a_timer_that_stands_still_fails_its_case_alone(
    bench: SteppedBench, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    true_run = Device.run
    counts = []

    def run(
        device: Device, operation: str, flags: Flag = Flag.NONE, count: int = 1, quiet_ms: int = 0
    ) -> RunResult:
        counts.append(count)
        assert count < 2**32
        result = true_run(device, operation, flags, 1, quiet_ms)
        return dataclasses.replace(result, timer_ticks=0)

    monkeypatch.setattr(Device, "run", run)
    record = on_board(job, bench, NO_METER)
    assert record.status == "failed"
    assert "the chip's timer says 0 s for" in (record.failure or "")
    assert max(counts) < 10_000_000


@pytest.mark.slow
def test_profiler_and_model_agree(bench: SteppedBench, job: Job, exact: PrimitiveRecord) -> None:
    device = SimulatedPpk2(bench, seed=3)
    try:
        with Ppk2(device.resource, TELOSB.supply_v.value, accuracy=0.005) as meter:
            record = on_board(job, bench, meter)
    finally:
        device.close()
    assert record.status == "ok", record.failure
    assert exact.energy_gross_nj is not None
    assert record.cycles == pytest.approx(exact.cycles)
    assert record.value("stack_painted") == exact.value("stack_painted")
    assert record.energy_gross_nj == pytest.approx(exact.energy_gross_nj, rel=5e-3)
    assert record.energy_net_nj == pytest.approx(exact.energy_net_nj, rel=5e-3)
    assert record.case.digest != exact.case.digest


@pytest.mark.parametrize(
    ("instrument", "driver"),
    [
        (SimulatedAgilent34401A, ("agilent-34401a", {})),
        (SimulatedKeysight34465A, ("keysight-34465a", {"accuracy": 0.0006})),
    ],
)
def test_multimeters_and_model_agree(
    instrument: Callable[[SteppedBench, int], ScpiInstrument],
    driver: tuple[str, dict[str, object]],
    bench: SteppedBench,
    job: Job,
    exact: PrimitiveRecord,
) -> None:
    server = ScpiServer(instrument(bench, 3))
    name, told = driver
    given = {"resource": server.resource, **told}
    try:
        with open_meter(name, given, supply_v=TELOSB.supply_v.value) as meter:
            record = on_board(job, bench, meter)
    finally:
        server.close()
    assert record.status == "ok", record.failure
    assert record.energy_gross_nj is not None
    assert exact.energy_gross_nj is not None
    width_nj = half_width_nj(record)
    assert abs(record.energy_gross_nj - exact.energy_gross_nj) <= width_nj
    assert width_nj < 0.01 * exact.energy_gross_nj
    # Idle is the same state in both: the board sleeps in it before and after the window.
    (idle,) = (n for n in record.notes if "net of what the board drew" in n)
    assert idle.endswith("uA; the model's net energy is net of 5.1 uA (lpm3)")
    assert record.energy_net_nj is not None
    assert exact.energy_net_nj is not None
    net = next(n for n in record.notes if n.startswith("net: "))
    assert abs(record.energy_net_nj - exact.energy_net_nj) <= (
        float(net.split("+- ")[1].split()[0]) * 1e3
    )


class Hasty(Ppk2):
    """A profiler whose clock is 2% fast."""

    def finish(self) -> Samples:
        true = super().finish()
        return dataclasses.replace(
            true,
            start_s=true.start_s * 1.02,
            interval_s=true.interval_s * 1.02,
            edges_s=tuple(t * 1.02 for t in true.edges_s),
        )


@pytest.mark.slow
def test_clocks_that_disagree_are_reported(bench: SteppedBench, job: Job) -> None:
    """The chip's timer and the meter's edges time each window; both are kept."""
    told = {}
    for kind in (Ppk2, Hasty):
        device = SimulatedPpk2(bench, seed=3)
        try:
            with kind(device.resource, TELOSB.supply_v.value, accuracy=0.005) as meter:
                record = on_board(job, bench, meter)
        finally:
            device.close()
        assert record.status == "ok", record.failure
        ratios = [int(s["window_ns"]) / int(s["timer_ns"]) for s in record.samples]
        assert ratios == pytest.approx([1.02 if kind is Hasty else 1.0] * len(ratios), rel=5e-3)
        told[kind] = [n for n in record.notes if "off the chip's timer's" in n]
        shown = render([record])
        assert ("off the chip&#39;s timer&#39;s" in shown) == (kind is Hasty)
    assert told[Ppk2] == []
    (note,) = told[Hasty]
    assert note.startswith(("the meter's window is +1.", "the meter's window is +2."))


def test_another_image_on_the_board_is_a_failed_case(bench: SteppedBench, job: Job) -> None:
    wanted = dataclasses.replace(
        job.image,  # type: ignore[type-var]
        description={**job.image.description, "build": "0" * 16},  # type: ignore[union-attr]
    )
    other = dataclasses.replace(job, image=wanted)
    record = on_board(other, bench, NO_METER)
    assert record.status == "failed"
    assert "the image says build" in (record.failure or "")


def test_no_such_port() -> None:
    with pytest.raises(LinkError, match="/dev/nowhere: cannot be opened"):
        SerialLink("/dev/nowhere", 9600)
