"""Meters that Linux offers as files, against fake trees of them; a USB meter on a terminal."""

import os
import sys
import threading
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from joulemark import meters
from joulemark.analysis.energy_of_samples import evaluate
from joulemark.clock import Clock
from joulemark.errors import InputError, MeterError, ToolError
from joulemark.meters import um25c
from joulemark.meters.samples import Counted, Samples
from joulemark.simulated.instruments.rdtech_um25c import SimulatedUm25c
from joulemark.simulated.supply import CurrentTrace

Floats = npt.NDArray[np.float64]
IDLE_A, BUSY_A, SUPPLY_V = 0.1, 0.4, 5.0


def write(folder: Path, **values: object) -> Path:
    folder.mkdir(exist_ok=True)
    for name, value in values.items():
        # A concurrent reader sees the old value or the new one, as in sysfs.
        (folder / ".new").write_text(f"{value}\n")
        (folder / ".new").replace(folder / name)
    return folder


def hwmon(folder: Path, ampere: float) -> Path:
    return write(
        folder, name="ina219", curr1_input=round(ampere * 1e3), in1_input=round(SUPPLY_V * 1e3)
    )


def iio(folder: Path, ampere: float) -> Path:
    return write(
        folder,
        name="ina226",
        in_current3_raw=round(ampere * 1e3 / 0.05),
        in_current3_scale=0.05,
        in_voltage0_raw=1,
        in_voltage0_scale=0.0025,
        in_voltage1_raw=round(SUPPLY_V * 1e3 / 1.25),
        in_voltage1_scale=1.25,
    )


class Script:
    """A clock with events at given times; sleeping takes no real time."""

    def __init__(self, *events: tuple[float, Callable[[], object]]) -> None:
        self._events = list(events)
        self._now_s = 100.0

    def now_s(self) -> float:
        return self._now_s

    def sleep(self, seconds: float) -> None:
        self._now_s += max(seconds, 0.0)
        while self._events and self._now_s >= 100.0 + self._events[0][0]:
            self._events.pop(0)[1]()


@pytest.mark.parametrize(("make", "step_a"), [(hwmon, 1e-3), (iio, 0.05e-3)])
def test_ina_measures_a_window(
    make: Callable[[Path, float], Path], step_a: float, tmp_path: Path
) -> None:
    folder = make(tmp_path / "chip", IDLE_A)
    # Both events fall between two readings.
    clock = Script(
        (0.405, lambda: make(folder, BUSY_A)),
        (1.005, lambda: make(folder, IDLE_A)),
    )
    told = {"resource": str(folder), "accuracy": 0.01}
    with meters.open_meter("ina", told, clock=clock) as meter:
        meter.start(1.5)
        samples = meter.finish()
    assert isinstance(samples, Samples)
    assert samples.supply_v == SUPPLY_V
    assert samples.accuracy.offset_a == pytest.approx(step_a / 2)
    run = evaluate(samples, 1)
    # To within one reading of ten milliseconds.
    net_w = SUPPLY_V * (BUSY_A - IDLE_A)
    assert run.net_j == pytest.approx(net_w * 0.6, abs=1.01 * net_w * 0.01)


def test_ina_that_goes_away_ends_the_run(tmp_path: Path) -> None:
    folder = hwmon(tmp_path / "chip", IDLE_A)
    clock = Script((0.1, (folder / "curr1_input").unlink))
    told = {"resource": str(folder), "accuracy": 0.01}
    with meters.open_meter("ina", told, clock=clock) as meter:
        meter.start(0.3)
        with pytest.raises(MeterError, match=r"curr1_input cannot be read: .*before is kept"):
            meter.finish()


def test_ina_without_voltage_or_at_the_wrong_place(tmp_path: Path) -> None:
    folder = write(tmp_path / "chip", curr1_input=3, in1_input=0)
    with meters.open_meter("ina", {"resource": str(folder), "accuracy": 0.01}) as meter:
        meter.start(0.1)
        with pytest.raises(MeterError, match=r"reads 0 V; is the supply on\?"):
            meter.finish()
    with pytest.raises(InputError, match="is no folder of an INA219"):
        meters.open_meter("ina", {"resource": str(tmp_path), "accuracy": 0.01})
    with pytest.raises(InputError, match="give --resource"):
        meters.open_meter("ina", {"accuracy": 0.01})


def zone(folder: Path, microjoule: int) -> Path:
    return write(
        folder, name="package-0", max_energy_range_uj=262_143_328_850, energy_uj=microjoule
    )


def test_powercap_counts(tmp_path: Path) -> None:
    folder = zone(tmp_path / "intel-rapl:0", 1_000_000)
    with meters.open_meter("powercap", {"resource": str(folder), "accuracy": 0.05}) as meter:
        assert "zone package-0" in meter.specification.title
        meter.start(1.0)
        zone(folder, 3_500_000)
        counted = meter.finish()
        assert isinstance(counted, Counted)
        assert counted.joule == pytest.approx(2.5)
        # It wraps around after its highest count.
        zone(folder, 262_143_328_850 - 999_999)
        meter.start(1.0)
        zone(folder, 500_000)
        counted = meter.finish()
        assert isinstance(counted, Counted)
        assert counted.joule == pytest.approx(1.5)
        meter.start(1.0)
        with pytest.raises(MeterError, match="does not move; use another zone"):
            meter.finish()


def test_powercap_that_only_root_may_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = zone(tmp_path / "intel-rapl:0", 1)
    read_text = Path.read_text

    def refuse(path: Path, *arguments: Any, **named: Any) -> str:
        # Root reads everything; the kernel refuses others like this.
        if path.name == "energy_uj":
            raise PermissionError(13, "Permission denied")
        return read_text(path, *arguments, **named)

    monkeypatch.setattr(Path, "read_text", refuse)
    with pytest.raises(MeterError, match=r"may not be read; let your user read it \(sudo chmod"):
        meters.open_meter("powercap", {"resource": str(folder), "accuracy": 0.05})
    with pytest.raises(InputError, match=r"is no power zone.*intel-rapl:0"):
        meters.open_meter("powercap", {"resource": str(tmp_path), "accuracy": 0.05})


class Busy:
    """A line that is busy from START_S to END_S of a clock's time."""

    START_S, END_S = 5.0, 10.0
    voltage_v = SUPPLY_V

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._begin_s = clock.now_s()
        self._trace = CurrentTrace([0.0, self.START_S, self.END_S, 1e3], [IDLE_A, BUSY_A, IDLE_A])

    @property
    def now_s(self) -> float:
        return self._clock.now_s() - self._begin_s

    def mean_current_a(self, start_s: Floats, end_s: Floats) -> Floats:
        return self._trace.mean_current_a(start_s, end_s)

    def marker(self, time_s: Floats) -> npt.NDArray[np.bool_]:
        return time_s < 0


@pytest.fixture
def clock() -> Script:
    return Script()


@pytest.fixture
def usb_meter(clock: Script) -> Iterator[SimulatedUm25c]:
    device = SimulatedUm25c(Busy(clock), seed=5)
    yield device
    device.close()


def test_usb_meter_measures_a_window(usb_meter: SimulatedUm25c, clock: Script) -> None:
    with meters.open_meter("um25c", {"resource": usb_meter.resource}, clock=clock) as meter:
        assert meter.specification.title == "RDTech UM25C"
        meter.start(15.0)
        samples = meter.finish()
    assert isinstance(samples, Samples)
    assert samples.supply_v == pytest.approx(SUPPLY_V, rel=0.001)
    net_j = SUPPLY_V * (BUSY_A - IDLE_A) * (Busy.END_S - Busy.START_S)
    run = evaluate(samples, 1)
    assert run.net_j == pytest.approx(net_j, abs=3 * run.sampling_uncertainty_j + 0.01 * net_j)


def test_usb_meter_s_frames(usb_meter: SimulatedUm25c) -> None:
    frame = usb_meter.frame()
    name, ampere, volt = um25c.decode(frame)
    assert name == "UM25C"
    assert volt == pytest.approx(SUPPLY_V, abs=SUPPLY_V * 0.0005 + 2.5e-3)
    assert ampere == pytest.approx(IDLE_A, abs=IDLE_A * 0.001 + 4.5e-4)
    for broken in (frame[:-1], b"\0\0" + frame[2:], frame[:-2] + b"\0\0"):
        with pytest.raises(ValueError, match=r"instead of 130|is no frame of UM24C, UM25C"):
            um25c.decode(broken)


def test_usb_meter_that_is_another_or_silent() -> None:
    master, slave = os.openpty()
    port = os.ttyname(slave)

    def answer() -> None:
        os.read(master, 1)
        os.write(master, bytes(130))

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    with pytest.raises(MeterError, match=r"is no frame of UM24C, UM25C; is it a UM25C\?"):
        meters.open_meter("um25c", {"resource": port})
    thread.join()
    with pytest.raises(MeterError, match="silent for 2 s; check that it is near, on and paired"):
        meters.open_meter("um25c", {"resource": port})
    os.close(slave)
    os.close(master)
    with pytest.raises(MeterError, match="cannot be opened"):
        meters.open_meter("um25c", {"resource": "/dev/nowhere"})


class FakeJoulescope:
    """What the driver calls of the package's device, without an instrument behind it."""

    lost: int | None = None

    def open(self) -> None:
        pass

    def close(self) -> None:
        pass

    def parameter_set(self, name: str, value: object) -> None:
        assert (name, value) == ("sampling_frequency", 100_000)

    def read(self, contiguous_duration: float) -> npt.NDArray[np.float32]:
        count = round(contiguous_duration * 100_000)
        ampere = np.where(np.abs(np.arange(count) - count / 2) < count / 4, BUSY_A, IDLE_A)
        if self.lost is not None:
            ampere[self.lost] = np.nan
        return np.stack([ampere, np.full(count, SUPPLY_V)], axis=1).astype(np.float32)


def test_joulescope_s_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    package = types.ModuleType("joulescope")
    device = FakeJoulescope()
    package.scan_require_one = lambda config: device  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "joulescope", package)
    with meters.open_meter("joulescope", {"accuracy": 0.01}) as meter:
        meter.start(0.2)
        samples = meter.finish()
        assert isinstance(samples, Samples)
        net_j = SUPPLY_V * (BUSY_A - IDLE_A) * 0.1
        assert evaluate(samples, 1).net_j == pytest.approx(net_j, rel=1e-3)
        device.lost = 700
        meter.start(0.2)
        lost = meter.finish()
        assert isinstance(lost, Samples)
        with pytest.raises(InputError, match="sample 700 is not a number"):
            evaluate(lost, 1)


def test_joulescope_without_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "joulescope", None)
    with pytest.raises(ToolError, match=r"not installed; pip install joulemark\[joulescope\]"):
        meters.open_meter("joulescope", {"accuracy": 0.01})
