"""The simulated instruments, driven by independent clients over real sockets and terminals."""

import time
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest
import pyvisa
from ppk2_api.ppk2_api import PPK2_API

from joulemark.bench.agilent_34401a import RANGES, Agilent34401A
from joulemark.bench.agilent_e3631a import AgilentE3631A
from joulemark.bench.multimeter import OVERLOAD
from joulemark.bench.nordic_ppk2 import SAMPLE_RATE_HZ, NordicPpk2
from joulemark.bench.scpi import ScpiServer
from joulemark.bench.supply import CurrentTrace

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
    server = ScpiServer(Agilent34401A(StepLine(), seed=7))
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

    meter = Agilent34401A(Short(), seed=1)
    meter.execute("CONF:CURR:DC 10e-3,1e-6;:SAMP:COUN 1")
    assert float(meter.execute("READ?") or 0) == OVERLOAD


def test_supply_dialogue() -> None:
    supply = AgilentE3631A(StepLine(), seed=3)
    assert supply.execute("APPL P6V, 3.0, 0.1; OUTP ON; INST?; VOLT?; CURR?; OUTP?") == (
        "P6V;+3.00000000E+00;+1.00000000E-01;1"
    )
    assert abs(float(supply.execute("MEAS:VOLT? P6V") or 0) - 3.0) < 3.0 * 0.1e-2 + 5e-3
    assert abs(supply.true_voltage_v - 3.0) < 3.0 * 0.05e-2 + 20e-3
    assert supply.execute("APPL P6V, 7.0") is None
    assert supply.execute("SYST:ERR?") == '-222,"Data out of range"'


def test_profiler_streams_what_the_vendor_library_decodes() -> None:
    device = NordicPpk2(StepLine(), seed=5)
    client = PPK2_API(device.port, timeout=1)
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
