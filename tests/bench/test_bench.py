"""The simulated instruments, driven by independent clients over real sockets and terminals."""

import time
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest
import pyvisa
from ppk2_api.ppk2_api import PPK2_API

from joulemark.simulated.instruments.agilent_34401a import RANGES, SimulatedAgilent34401A
from joulemark.simulated.instruments.agilent_e3631a import SimulatedAgilentE3631A
from joulemark.simulated.instruments.keysight_34465a import SimulatedKeysight34465A
from joulemark.simulated.instruments.multimeter import OVERLOAD
from joulemark.simulated.instruments.nordic_ppk2 import SAMPLE_RATE_HZ, SimulatedPpk2
from joulemark.simulated.instruments.scpi import ScpiServer
from joulemark.simulated.supply import CurrentTrace

Floats = npt.NDArray[np.float64]
STEP_S = 0.5
LOW_A, HIGH_A = 50e-6, 2e-3


class StepLine:
    """A line whose current goes from LOW_A to HIGH_A at STEP_S, with the marker high from there."""

    voltage_v = 3.0
    now_s = 0.0

    def __init__(self) -> None:
        self._trace = CurrentTrace([0.0, STEP_S, 1e6], [LOW_A, HIGH_A])

    def mean_current_a(self, start_s: Floats, end_s: Floats) -> Floats:
        return self._trace.mean_current_a(start_s, end_s)

    def marker(self, time_s: Floats) -> npt.NDArray[np.bool_]:
        return time_s >= STEP_S


Resource = pyvisa.resources.MessageBasedResource


@pytest.fixture
def multimeter() -> Iterator[Resource]:
    server = ScpiServer(SimulatedAgilent34401A(StepLine(), seed=7))
    manager = pyvisa.ResourceManager("@py")
    session = manager.open_resource(server.resource)
    assert isinstance(session, Resource)
    session.read_termination = session.write_termination = "\n"
    session.timeout = 5000
    yield session
    session.close()
    manager.close()
    server.close()


def test_trace_integrates_exactly_across_steps() -> None:
    trace = CurrentTrace([0.0, 1.0, 3.0], [2.0, 5.0])
    assert trace.charge_c(0.5, 2.0) == pytest.approx(0.5 * 2 + 1.0 * 5)
    assert trace.charge_c(-1.0, 9.0) == pytest.approx(2 + 10)


def test_multimeter_samples_at_500_hz_within_its_specification(multimeter: Resource) -> None:
    """The papers' setting: 4.5 digits, autozero off, a reading every 2 ms."""
    for line in (
        "*RST",
        "CONF:CURR:DC 10e-3",
        "CURR:DC:NPLC 0.02",
        "ZERO:AUTO OFF",
        "TRIG:DEL 0.001",
        "SAMP:COUN 500",
    ):
        multimeter.write(line)
    assert multimeter.query("CURRent:DC:NPLCycles?;:TRIGger:DELay?") == (
        "+2.00000000E-02;+1.00000000E-03"
    )
    readings = np.array(multimeter.query("READ?").split(","), dtype=float)
    assert len(readings) == 500
    scale = RANGES[0]
    noise_bound = scale.full_scale_a * 0.01e-2 + 4e-6
    # A reading every 2 ms: half a second holds 250 of them.
    for part, true in ((readings[:249], LOW_A), (readings[251:], HIGH_A)):
        bound = true * scale.of_reading + scale.full_scale_a * scale.of_range
        assert abs(part.mean() - true) < bound + 3 * noise_bound / len(part) ** 0.5
        assert 0 < part.std() < noise_bound
    assert multimeter.query("SYST:ERR?") == '+0,"No error"'


def test_multimeter_refuses_as_the_manual_says(multimeter: Resource) -> None:
    dialogue = {
        "CONF:VOLT:DC 10": '-113,"Undefined header"',
        "SAMP:COUN": '-109,"Missing parameter"',
        "SAMP:COUN 60000": '-222,"Data out of range"',
        "FETC?": '-230,"Data stale"',
        "SAMP:COUN 513;:INIT": '+531,"Insufficient memory"',
        "CURR:RANG banana": '-224,"Illegal parameter value"',
    }
    for line, expected in dialogue.items():
        multimeter.write(line)
        assert multimeter.query("SYST:ERR?") == expected, line
    for _ in range(25):
        multimeter.write("NONSENSE")
    errors = [multimeter.query("SYSTEM:ERROR?") for _ in range(21)]
    assert errors[18] == '-113,"Undefined header"'
    assert errors[19] == '-350,"Too many errors"'
    assert errors[20] == '+0,"No error"'


def test_multimeter_overload_is_not_a_number_to_trust() -> None:
    class Short(StepLine):
        def mean_current_a(self, start_s: Floats, end_s: Floats) -> Floats:
            return np.full(len(start_s), 0.013)

    meter = SimulatedAgilent34401A(Short(), seed=1)
    meter.execute("CONF:CURR:DC 10e-3,1e-6;:SAMP:COUN 1")
    assert float(meter.execute("READ?") or 0) == OVERLOAD


class Advancing(StepLine):
    """A line whose time advances each time it is read."""

    step_s = 0.1
    _now_s = 0.0

    @property
    def now_s(self) -> float:  # type: ignore[override]
        self._now_s += self.step_s
        return self._now_s


def truevolt(line: StepLine | None = None) -> SimulatedKeysight34465A:
    meter = SimulatedKeysight34465A(line or StepLine(), seed=7)
    for command in (
        "*RST",
        "CONF:CURR:DC 10e-3",
        "CURR:DC:ZERO:AUTO OFF",
        "CURR:DC:APER 500e-6",
        "SAMP:SOUR TIM",
        "SAMP:TIM 1e-3",
        "SAMP:COUN 1000",
    ):
        assert meter.execute(command) is None
        assert meter.execute("SYST:ERR?") == '+0,"No error"'
    return meter


def test_truevolt_samples_into_its_memory() -> None:
    """Truevolt Series Operating and Service Guide: SAMPle, DATA and R?."""
    meter = truevolt()
    meter.execute("INIT")
    first = (meter.execute("DATA:REM? 400,WAIT") or "").split(",")
    assert len(first) == 400
    # Asking for more than there is is an error without WAIT.
    assert meter.execute("DATA:REM? 5") is None
    assert meter.execute("SYST:ERR?") == '-230,"Data stale"'
    rest = (meter.execute("DATA:REM? 600,WAIT") or "").split(",")
    readings = np.array([*first, *rest], dtype=float)
    # A reading every millisecond: half a second holds 500 of them.
    for part, true in ((readings[:499], LOW_A), (readings[501:], HIGH_A)):
        assert abs(part.mean() - true) < 10e-3 * 0.05e-2
        assert part.std() > 0
    # There were only a thousand.
    assert meter.execute("DATA:REM? 1,WAIT") is None
    assert meter.execute("SYST:ERR?") == '-230,"Data stale"'


def test_truevolt_sends_what_there_is_as_a_block() -> None:
    meter = truevolt(Advancing())
    meter.execute("INIT")
    points = int(meter.execute("DATA:POIN?") or 0)
    assert 0 < points < 1000
    block = meter.execute("R? 3") or ""
    # "#2" and two digits: the length of what follows.
    assert block.startswith("#2")
    assert int(block[2:4]) == len(block[4:])
    assert len(block[4:].split(",")) == 3
    everything = meter.execute("R?") or ""
    digits = int(everything[1])
    assert int(everything[2 : 2 + digits]) == len(everything) - 2 - digits


def test_truevolt_overwrites_the_oldest_readings_and_says_so() -> None:
    line = Advancing()
    meter = truevolt(line)
    meter.execute("SAMP:COUN 60000")
    meter.execute("INIT")
    assert meter.execute("STAT:QUES:COND?") == "0"
    line.step_s = 100.0
    assert meter.execute("DATA:POIN?") == "+50000"
    assert meter.execute("STAT:QUES:COND?") == str(1 << 14)
    # Another setting clears the memory.
    meter.execute("SAMP:TIM 2e-3")
    assert meter.execute("DATA:POIN?") == "+0"


def test_truevolt_refuses_as_the_manual_says() -> None:
    meter = truevolt()
    dialogue = {
        "CURR:DC:APER 100e-6": '-222,"Data out of range"',  # 200 us without the option DIG
        "SAMP:SOUR NOISE": '-224,"Illegal parameter value"',
        "SAMP:TIM 100e-6": '-222,"Data out of range"',
        "FETC?": '-230,"Data stale"',
        "SAMP:COUN 2000000000": '-222,"Data out of range"',
    }
    for line, expected in dialogue.items():
        meter.execute(line)
        assert meter.execute("SYST:ERR?") == expected, line
    assert float(meter.execute("SAMP:TIM? MIN") or 0) == pytest.approx(550e-6)


def test_supply_dialogue() -> None:
    supply = SimulatedAgilentE3631A(StepLine(), seed=3)
    assert supply.execute("APPL P6V, 3.0, 0.1; OUTP ON; INST?; VOLT?; CURR?; OUTP?") == (
        "P6V;+3.00000000E+00;+1.00000000E-01;1"
    )
    # The output is not exactly what was set, and the readback is of the output.
    given_v = supply.true_voltage_v
    assert 0 < abs(given_v - 3.0) < 3.0 * 0.05e-2 + 20e-3
    assert 0 < abs(float(supply.execute("MEAS:VOLT? P6V") or 0) - given_v) < 3.1 * 0.1e-2 + 5e-3
    assert supply.execute("APPL P6V, 7.0") is None
    assert supply.execute("SYST:ERR?") == '-222,"Data out of range"'


def test_profiler_streams_what_the_vendor_library_decodes() -> None:
    device = SimulatedPpk2(StepLine(), seed=5)
    client = PPK2_API(device.resource, timeout=1)
    assert client.get_modifiers()
    client.use_ampere_meter()
    client.set_source_voltage(3000)
    client.start_measuring()
    current_ua: list[float] = []
    digital: list[int] = []
    deadline = time.monotonic() + 20
    while len(current_ua) < SAMPLE_RATE_HZ and time.monotonic() < deadline:
        data = client.get_data()
        if data:
            samples, bits = client.get_samples(data)
            current_ua += samples
            digital += bits
    client.stop_measuring()
    client.ser.close()
    client.ser = None
    device.close()
    step = digital.index(1)
    assert step == round(STEP_S * SAMPLE_RATE_HZ)
    assert np.mean(current_ua[:step]) * 1e-6 == pytest.approx(LOW_A, rel=5e-3)
    assert np.mean(current_ua[step + 10 :]) * 1e-6 == pytest.approx(HIGH_A, rel=5e-3)
