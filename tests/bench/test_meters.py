"""Meters against the simulated instruments; traces from elsewhere; what goes wrong with them."""

import math
import os
import subprocess
import sys
import tty
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from typer.testing import CliRunner

from command import by_itself, joulemark
from joulemark import meters
from joulemark.analysis.energy_of_samples import evaluate
from joulemark.cli import app
from joulemark.errors import InputError, MeterError
from joulemark.meters import manual, trace
from joulemark.meters.ppk2 import Ppk2
from joulemark.meters.scpi.agilent_34401a import Agilent34401A
from joulemark.meters.scpi.agilent_e3631a import AgilentE3631A
from joulemark.meters.scpi.keysight_34465a import Keysight34465A
from joulemark.simulated.instruments.agilent_34401a import RANGES, SimulatedAgilent34401A
from joulemark.simulated.instruments.agilent_e3631a import SimulatedAgilentE3631A
from joulemark.simulated.instruments.keysight_34465a import SimulatedKeysight34465A
from joulemark.simulated.instruments.nordic_ppk2 import SimulatedPpk2
from joulemark.simulated.instruments.scpi import ScpiInstrument, ScpiServer
from joulemark.simulated.supply import CurrentTrace

Floats = npt.NDArray[np.float64]
START_S, END_S, IDLE_A, BUSY_A, SUPPLY_V = 0.4, 1.4, 50e-6, 2e-3, 3.0
NET_J = SUPPLY_V * (BUSY_A - IDLE_A) * (END_S - START_S)


class Line:
    voltage_v = SUPPLY_V
    now_s = 0.0
    trace = CurrentTrace([0.0, START_S, END_S, 1e6], [IDLE_A, BUSY_A, IDLE_A])

    def mean_current_a(self, start_s: Floats, end_s: Floats) -> Floats:
        return self.trace.mean_current_a(start_s, end_s)

    def marker(self, time_s: Floats) -> npt.NDArray[np.bool_]:
        return (time_s >= START_S) & (time_s < END_S)


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    """Each command would wait for it."""
    heavy = "numpy", "scipy", "pandas", "pyvisa", "serial"
    program = (
        "import sys, joulemark.cli, joulemark.meters.model, joulemark.measure.session\n"
        f"print([m for m in {heavy} if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.stdout == "[]\n", done.stderr


Serve = Callable[[ScpiInstrument], ScpiServer]


@pytest.fixture
def serve() -> Iterator[Serve]:
    servers: list[ScpiServer] = []

    def start(instrument: ScpiInstrument) -> ScpiServer:
        servers.append(ScpiServer(instrument))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def test_meters_are_found_by_name() -> None:
    assert {"agilent-34401a", "keysight-34465a", "manual", "ppk2"} <= set(meters.names())
    # Other modules in the folder are not meters.
    for name in ("ppk3", "model", "trace", "session", "agilent-e3631a"):
        with pytest.raises(InputError, match=f"no such meter: {name}; there are .*manual, "):
            meters.open_meter(name)


def test_multimeter_measures_the_window(serve: Serve) -> None:
    server = serve(SimulatedAgilent34401A(Line(), seed=11))
    with Agilent34401A(server.resource, SUPPLY_V) as meter:
        meter.start(2.0)
        samples = meter.finish()
    assert len(samples.current_a) == 1000
    run = evaluate(samples, 1)
    assert run.net_j == pytest.approx(NET_J, rel=3e-3)
    assert run.time_s == pytest.approx(END_S - START_S, abs=2 * samples.interval_s)


def test_buffered_multimeter_measures_the_window(serve: Serve) -> None:
    server = serve(SimulatedKeysight34465A(Line(), seed=11))
    with Keysight34465A(server.resource, SUPPLY_V, 0.0006) as meter:
        meter.start(2.5)
        samples = meter.finish()
        # More than its memory holds would be overwritten.
        with pytest.raises(InputError, match="60000 readings do not fit one trigger"):
            meter.start(60.0)
    assert len(samples.current_a) == 2500
    assert evaluate(samples, 1).net_j == pytest.approx(NET_J, rel=3e-3)
    with pytest.raises(InputError, match=r"no range of 0.5 A.*0.0001, 0.001, 0.01, 0.1, 1, 3 A"):
        Keysight34465A(server.resource, SUPPLY_V, 0.0006, 0.5)


def test_readings_go_through_the_memory_where_the_line_is_slow(serve: Serve) -> None:
    server = serve(SimulatedAgilent34401A(Line(), seed=11))
    with Agilent34401A(server.resource, SUPPLY_V, through_memory=True) as meter:
        assert meter.specification.rate_hz == pytest.approx(100)
        meter.start(2.0)
        samples = meter.finish()
        with pytest.raises(InputError, match="600 readings do not fit one trigger, which"):
            meter.start(6.0)
    assert evaluate(samples, 1).net_j == pytest.approx(NET_J, rel=5e-3)


@pytest.mark.parametrize(
    ("instrument", "name", "options"),
    [
        (SimulatedAgilent34401A, "agilent-34401a", {}),
        (SimulatedKeysight34465A, "keysight-34465a", {"accuracy": 0.001}),
    ],
)
def test_a_multimeter_is_set_to_the_range_that_was_asked_for(
    serve: Serve,
    instrument: Callable[[Line, int], ScpiInstrument],
    name: str,
    options: dict[str, object],
) -> None:
    simulated = instrument(Line(), 1)
    told = {"resource": serve(simulated).resource, "range_a": 100e-3, **options}
    with meters.open_meter(name, told, supply_v=SUPPLY_V):
        assert simulated.execute("CURR:RANG?") == "+1.00000000E-01"


@pytest.mark.parametrize("name", ["keysight-34465a", "ppk2", "ina", "powercap", "joulescope"])
def test_meters_without_a_table_want_their_accuracy_stated(name: str) -> None:
    given = {} if name == "joulescope" else {"resource": "/dev/null"}
    with pytest.raises(
        InputError, match=f"--meter {name}: --accuracy is missing: Bound on .*; give --accuracy"
    ):
        meters.open_meter(name, given, supply_v=SUPPLY_V)


@pytest.mark.parametrize("accuracy", [math.nan, math.inf, -0.1, 1.0])
def test_an_accuracy_that_is_none_is_refused(accuracy: float) -> None:
    given = {"resource": "/dev/null", "accuracy": accuracy}
    with pytest.raises(InputError, match=r"--accuracy: .* is out of range; such as 0\.005"):
        meters.open_meter("ppk2", given, supply_v=SUPPLY_V)


def test_driver_and_simulation_have_the_same_table() -> None:
    """Both were taken from the manual, independently."""
    driver = [(r.full_scale_a, r.of_reading, r.of_range) for r in Agilent34401A.ranges]
    assert driver == [(r.full_scale_a, r.of_reading, r.of_range) for r in RANGES]


def test_supply_is_driven(serve: Serve) -> None:
    instrument = SimulatedAgilentE3631A(Line(), seed=2)
    supply = AgilentE3631A(serve(instrument).resource)
    supply.power(3.0, 0.1)
    assert supply.measure_v() == pytest.approx(
        instrument.true_voltage_v, abs=3.1 * supply.readback_of_output + supply.readback_v
    )
    assert instrument.true_voltage_v == pytest.approx(3.0, abs=0.03)
    with pytest.raises(MeterError, match=r"-222,\"Data out of range\" to APPL P6V, 9"):
        supply.power(9.0, 0.1)
    supply.off()
    assert instrument.true_voltage_v == 0
    supply.close()


def test_the_wrong_instrument_is_noticed(serve: Serve) -> None:
    server = serve(SimulatedAgilentE3631A(Line(), seed=2))
    with pytest.raises(MeterError, match=r"34401A at .*: it says it is 'HEWLETT-PACKARD,E3631A"):
        Agilent34401A(server.resource, SUPPLY_V)


def test_nothing_at_the_address_is_a_clear_error() -> None:
    with pytest.raises(MeterError, match=r"34401A at TCPIP::127.0.0.1::9::SOCKET"):
        Agilent34401A("TCPIP::127.0.0.1::9::SOCKET", SUPPLY_V)


class _Unplugged(SimulatedAgilent34401A):
    """Sends only half of its readings."""

    def execute(self, line: str) -> str | None:
        answer = super().execute(line)
        return answer[: len(answer) // 2] if answer and line.strip() == "READ?" else answer


class _Elsewhere(SimulatedAgilent34401A):
    """Sends a reading that is out of its range."""

    def execute(self, line: str) -> str | None:
        answer = super().execute(line)
        if answer is None or line.strip() != "READ?":
            return answer
        return ",".join([*answer.split(",")[:-1], "+1.00000000E+01"])


def test_a_reading_beyond_the_range_is_refused(serve: Serve) -> None:
    server = serve(_Elsewhere(Line(), seed=1))
    with Agilent34401A(server.resource, SUPPLY_V) as meter:
        meter.start(0.2)
        with pytest.raises(MeterError, match=r"reading 99 is 10 A, in the range of 0\.01 A"):
            meter.finish()


@pytest.mark.parametrize(
    "resource",
    ["TCPIP::nosuchhost.invalid::5025::SOCKET", "TCPIP::127.0.0.1::99999::SOCKET", "banana"],
)
def test_an_address_that_leads_nowhere_is_a_clear_error(resource: str) -> None:
    with pytest.raises(MeterError, match=r"34401A at .*: cannot be opened: .*; check the resource"):
        Agilent34401A(resource, SUPPLY_V)


def test_a_port_of_something_else_is_no_profiler() -> None:
    master, slave = os.openpty()
    tty.setraw(slave)
    os.write(master, bytes(range(128, 256)))
    try:
        with pytest.raises(MeterError, match=r"does not tell its calibration; is it a PPK2\?"):
            Ppk2(os.ttyname(slave), SUPPLY_V, 0.01)
    finally:
        os.close(slave)
        os.close(master)


def test_lost_readings_are_noticed(serve: Serve) -> None:
    server = serve(_Unplugged(Line(), seed=1))
    with Agilent34401A(server.resource, SUPPLY_V) as meter:
        meter.start(0.2)
        with pytest.raises(MeterError, match=r"readings came instead of 100|not a number"):
            meter.finish()


def test_more_readings_than_a_trigger_gives(serve: Serve) -> None:
    server = serve(SimulatedAgilent34401A(Line(), seed=1))
    with (
        Agilent34401A(server.resource, SUPPLY_V) as meter,
        pytest.raises(InputError, match="60000 readings do not fit"),
    ):
        meter.start(120.0)
    with pytest.raises(InputError, match=r"no range of 0.5 A.*0.01, 0.1, 1, 3 A"):
        Agilent34401A(server.resource, SUPPLY_V, 0.5)


def test_profiler_measures_the_window_by_its_edges() -> None:
    device = SimulatedPpk2(Line(), seed=4)
    with Ppk2(device.resource, SUPPLY_V, accuracy=0.0) as meter:
        meter.start(2.0)
        samples = meter.finish()
    device.close()
    assert samples.edges_s == pytest.approx((START_S, END_S), abs=1.1e-5)
    assert evaluate(samples, 1).net_j == pytest.approx(NET_J, rel=5e-3)


# Traces, which all hold the same run.
TIMES_S = np.arange(200) * 1e-2
CURRENT_A = np.where((TIMES_S >= START_S - 1e-9) & (TIMES_S < END_S - 1e-9), BUSY_A, IDLE_A)
CHOICE = trace.Choice(supply_v=SUPPLY_V, accuracy=0.0)


def rows(*columns: npt.NDArray[Any], separator: str = ",") -> str:
    lines = (separator.join(f"{v:.9g}" for v in row) for row in zip(*columns, strict=True))
    return "".join(f"{line}\n" for line in lines)


def labview(decimal: str = ".") -> str:
    head = (
        "LabVIEW Measurement\t\nWriter_Version\t2\nReader_Version\t2\nSeparator\tTab\n"
        f"Decimal_Separator\t{decimal}\nMulti_Headings\tNo\nX_Columns\tOne\n"
        "Time_Pref\tRelative\n***End_of_Header***\t\n\t\nChannels\t1\t\nSamples\t200\t\n"
        "Y_Unit_Label\tA\t\nX_Dimension\tTime\t\nX0\t0.0\t\nDelta_X\t0.010000\t\n"
        "***End_of_Header***\t\t\nX_Value\tCurrent\tComment\n"
    )
    return head + rows(TIMES_S, CURRENT_A, separator="\t").replace(".", decimal)


LEVEL = (CURRENT_A > 1e-3).astype(float)
WHOLE = {
    "plain.csv": "time (s),current (A)\n" + rows(TIMES_S, CURRENT_A),
    "other-units.csv": "time (ms);supply (V);board (mA)\n"
    + rows(TIMES_S * 1e3, np.full(200, 3.0), CURRENT_A * 1e3, separator=";"),
    "ppk2.csv": "Timestamp(ms),Current(uA),D0,D1\n"
    + rows(TIMES_S * 1e3, CURRENT_A * 1e6, LEVEL, LEVEL * 0),
    "joulescope.csv": "# exported\n#time (s),current (A),voltage (V)\n"
    + rows(TIMES_S, CURRENT_A, np.full(200, 3.0)),
    "labview.lvm": labview(),
    "labview-comma.lvm": labview(","),
    "micro-sign.csv": "time (s)\tcurrent (\N{MICRO SIGN}A)\n"
    + rows(TIMES_S, CURRENT_A * 1e6, separator="\t"),
}


@pytest.mark.parametrize("name", WHOLE)
def test_traces_of_all_kinds_hold_the_same_run(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(WHOLE[name])
    samples = trace.read(path, CHOICE)
    assert samples.interval_s == pytest.approx(1e-2)
    assert evaluate(samples, 1).net_j == pytest.approx(NET_J, rel=1e-9)
    assert bool(samples.edges_s) == (name == "ppk2.csv")


BROKEN = {
    "two alike": (
        "time (s),board (A),radio (A)\n" + rows(TIMES_S, CURRENT_A, CURRENT_A),
        r"2 columns could be the current: 'board \(A\)', 'radio \(A\)'; give --current-column",
    ),
    "no current": ("time (s),x\n" + rows(TIMES_S, CURRENT_A), "no column is a current; give"),
    "no unit": (
        "time (s),current\n" + rows(TIMES_S, CURRENT_A),
        "unit of column 'current' is not known; give --current-unit",
    ),
    "no names": (rows(TIMES_S, CURRENT_A), "line 1: has no line of column names; put one before"),
    "not a number": (
        "time (s),current (A)\n" + rows(TIMES_S, CURRENT_A).replace("0.05,5e-05", "0.05,NaN"),
        r"line 7: 'NaN' is not a number",
    ),
    "wrong unit": (
        "time (s),current (K)\n" + rows(TIMES_S, CURRENT_A),
        r"column 'current \(K\)' is in K, which is no unit of current; units are a, ma",
    ),
    "cut in a line": (
        WHOLE["plain.csv"][:-10] + "\n",
        r"line 201: is cut short: 1 of 2 columns",
    ),
    "cut in a number": (WHOLE["plain.csv"][:-2], "last line does not end"),
    "a hole": (
        "time (s),current (A)\n" + rows(np.delete(TIMES_S, [9, 10]), np.delete(CURRENT_A, [9, 10])),
        r"samples are missing after 0\.08",
    ),
    "time goes back": (
        "time (s),current (A)\n" + rows(TIMES_S[[0, 1, 1, 2]], CURRENT_A[:4]),
        "line 4: time does not go on",
    ),
    "half a header": (labview()[:120], "ends in its header"),
    "a header alone": (labview().partition("X_Value")[0], "ends in its header"),
    "a field without end": (
        "time (s),current (A)\n" + rows(TIMES_S, CURRENT_A) + "9" * 140_000 + ",1\n",
        "is no CSV: field larger than field limit",
    ),
    "empty": ("", "is empty"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_traces_say_what_and_where(name: str, tmp_path: Path) -> None:
    text, message = BROKEN[name]
    path = tmp_path / "run.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        trace.read(path, CHOICE)


def test_a_wrong_unit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text(WHOLE["plain.csv"])
    choice = trace.Choice(current_unit="mV", supply_v=3.0, accuracy=0.0)
    with pytest.raises(InputError, match="is in mV, which is no unit of current; units are a, ma"):
        trace.read(path, choice)
    choice = trace.Choice(current_unit="mA", supply_v=3.0, accuracy=0.0)
    with pytest.raises(InputError, match="says A, and mA was given"):
        trace.read(path, choice)


def test_a_choice_settles_what_the_file_leaves_open(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text("t,board,radio\n" + rows(TIMES_S, CURRENT_A * 1e3, CURRENT_A))
    choice = trace.Choice(
        supply_v=SUPPLY_V,
        accuracy=0.0,
        time="t",
        current="board",
        time_unit="s",
        current_unit="mA",
    )
    assert evaluate(trace.read(path, choice), 1).net_j == pytest.approx(NET_J)


def test_command_combines_runs(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"{number}.csv").write_text(WHOLE["plain.csv"])
    arguments = ("--repetitions", "100", "--supply-v", "3", "--accuracy", "0.001")
    printed = joulemark("energy", "1.csv", "2.csv", *arguments, folder=tmp_path).stdout
    net_uj = NET_J / 100 * 1e6
    assert f"{net_uj:.6g} uJ net" in printed
    assert f"net: {net_uj:.6g} uJ +- " in printed
    assert "page: " not in printed
    page = ("--out", "page.html")
    assert (
        "page: page.html"
        in joulemark("energy", "1.csv", "2.csv", *arguments, *page, folder=tmp_path).stdout
    )
    assert "2.csv" in (tmp_path / "page.html").read_text()
    refused = joulemark("energy", "1.csv", "--supply-v", "3", code=3, folder=tmp_path).stderr
    assert "give --accuracy" in refused


def test_a_marker_that_never_moves_is_said(tmp_path: Path) -> None:
    """The window is then where the current is high, which may be other work."""
    level = np.zeros_like(LEVEL)
    text = "Timestamp(ms),Current(uA),D0\n" + rows(TIMES_S * 1e3, CURRENT_A * 1e6, level)
    (tmp_path / "1.csv").write_text(text)
    told = ("--supply-v", "3", "--accuracy", "0.001")
    printed = joulemark("energy", "1.csv", *told, folder=tmp_path).stdout
    assert "(window by threshold; D0 saw no marker)" in printed
    (tmp_path / "1.csv").write_text(WHOLE["ppk2.csv"])
    assert "(window by edges)" in joulemark("energy", "1.csv", *told, folder=tmp_path).stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("1.csv", "--supply-v", "0", "--accuracy", "0"), "--supply-v: 0 is out of range"),
        (("1.csv", "--supply-v", "nan", "--accuracy", "0"), "--supply-v: nan is out of range"),
        (("1.csv", "--supply-v", "-3", "--accuracy", "0"), "--supply-v: -3 is out of range"),
        (("1.csv", "--supply-v", "3", "--accuracy", "nan"), "--accuracy: nan is out of range"),
        (("1.csv", "--supply-v", "3", "--accuracy", "-1"), "--accuracy: -1 is out of range"),
        (("1.csv", "--supply-v", "3", "--accuracy", "inf"), "--accuracy: inf is out of range"),
        (("1.csv", "--supply-v", "3"), "1.csv: --accuracy is missing"),
        (("1.csv", "--accuracy", "0"), "1.csv: the supply voltage is not known; give --supply-v"),
        (("--meter", "manual", "--seconds", "nan"), "--seconds"),
        (("--meter", "manual", "--seconds", "-1"), "--seconds"),
    ],
)
def test_values_that_cannot_be_are_refused(
    options: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "1.csv").write_text(WHOLE["ppk2.csv"])
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["energy", *options])
    assert isinstance(done.exception, InputError)
    assert message in str(done.exception)


@pytest.mark.parametrize("option", ["--seconds=-1", "--seed=-1", "--speed=nan", "--seconds=inf"])
def test_a_bench_refuses_values_that_cannot_be(option: str) -> None:
    image = ("--primitive", "aes-128", "--implementation", "ref")
    done = CliRunner().invoke(app, ["bench", *image, option])
    assert isinstance(done.exception, InputError)
    assert option.partition("=")[0] in str(done.exception)


def test_command_records_with_an_instrument(serve: Serve) -> None:
    resource = serve(SimulatedAgilent34401A(Line(), seed=4)).resource
    instrument = ("--meter", "agilent-34401a", "--resource", resource, "--supply-v", "3")
    printed = joulemark(
        *("energy", *instrument, "--seconds", "2", "--runs", "2", "--repetitions", "100")
    ).stdout
    assert "run 1: start the operation now; recording for 2 s" in printed
    (net,) = (line for line in printed.splitlines() if line.startswith("net: "))
    assert float(net.split()[1]) == pytest.approx(NET_J / 100 * 1e6, rel=3e-3)
    refused = joulemark("energy", *instrument[:-2], code=3).stderr
    assert "the supply voltage is not known; give --supply-v" in refused
    gone = joulemark(
        "energy", *instrument[:3], "TCPIP::127.0.0.1::9::SOCKET", *instrument[4:], code=11
    )
    assert "Connection refused; check cable and power" in gone.stderr


def test_command_asks_a_person() -> None:
    typed = "1.0\n1.5\nnothing\n2.0\n2.6\n"
    done = subprocess.run(
        [
            *(sys.executable, "-c", "from joulemark.cli import main; main()", "energy"),
            *("--meter", "manual", "--meter-unit", "mWh", "--resolution", "0.01"),
            *("--accuracy", "0.02", "--runs", "2", "--repetitions", "1000", "--seconds", "60"),
        ],
        input=typed,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "'nothing' is not a number" in done.stdout
    assert "gross: 1980 uJ +- " in done.stdout
    assert "net: " not in done.stdout


def test_a_person_leaves() -> None:
    told = ("--meter", "manual", "--resolution", "0.01", "--accuracy", "0.02")
    by_itself("energy", *told, code=130)


def test_manual_readings_are_checked() -> None:
    typed = iter(["twelve", "", "0,5", "0.4", "nan", "0.7"])
    questions: list[str] = []

    def read_line(question: str) -> str:
        questions.append(question)
        return next(typed)

    meter = manual.Manual(read_line, "mWh", 0.0, 0.1, 0.02)
    meter.start(60.0)
    counted = meter.finish()
    assert counted.joule == pytest.approx(0.2 * 3.6)
    assert counted.uncertainty_j == pytest.approx(0.1 * 3.6 / math.sqrt(6))
    assert counted.of_reading == 0.02
    for question, said in zip(
        questions,
        (
            "reading now (mWh); about 60 s run then: ",
            "'twelve' is not a number; once more: ",
            "'' is not a number; once more: ",
            "reading at the end (mWh): ",
            "0.4 is below 0.5, or not finite; once more: ",
            "nan is below 0.5, or not finite; once more: ",
        ),
        strict=True,
    ):
        assert question == said
    still = manual.Manual(lambda _: "1", "Wh", 0.0, 0.01, 0.02)
    still.start(60.0)
    with pytest.raises(InputError, match="repeat the operation more often"):
        still.finish()
    with pytest.raises(InputError, match="no such unit: kWh"):
        manual.Manual(lambda _: "1", "kWh", 0.0, 0.01, 0.02)
    for options, missing in (
        ({"accuracy": 0.02}, "give --resolution"),
        ({"resolution": 0.1}, "give --accuracy"),
        ({"resolution": 0.1, "accuracy": 0.02, "unit": "mAh"}, "give --supply-v"),
        ({"resolution": 0.0, "accuracy": 0.02}, "--resolution: 0 is out of range"),
    ):
        with pytest.raises(InputError, match=missing):
            meters.open_meter("manual", dict(options))
