"""The error of each way to measure, against an energy that is known exactly.

The exact energy is the emulator's. A board's current over a run (waiting, a command received,
quiet, the operation repeated, quiet, the answer sent, waiting) is fed to simulated instruments
and measured by the drivers that measure hardware. For each repetition, the instruments' errors are
drawn anew within their specifications. The same cases also go through the model and through the
whole bench.
"""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

import numpy as np
import numpy.typing as npt

from joulemark.analysis.energy_of_samples import (
    Estimate,
    Run,
    estimates,
    evaluate,
    evaluate_counted,
)
from joulemark.catalogue.boards import Tolerance, load_board
from joulemark.meters import Meter, manual
from joulemark.meters.ppk2 import Ppk2
from joulemark.meters.samples import Samples
from joulemark.meters.scpi.agilent_34401a import Agilent34401A
from joulemark.meters.scpi.agilent_e3631a import AgilentE3631A
from joulemark.meters.scpi.keysight_34465a import Keysight34465A
from joulemark.records.record import PrimitiveRecord
from joulemark.simulated.instruments.agilent_34401a import SimulatedAgilent34401A
from joulemark.simulated.instruments.agilent_e3631a import SimulatedAgilentE3631A
from joulemark.simulated.instruments.keysight_34465a import SimulatedKeysight34465A
from joulemark.simulated.instruments.nordic_ppk2 import SimulatedPpk2
from joulemark.simulated.instruments.scpi import ScpiServer
from joulemark.simulated.supply import CurrentTrace, Floats

RUNS = 5
_QUIET_S = 0.3
_HANDLING_S = 2e-3
_USB_WINDOW_S = 100.0
USB_STEP_WH = 1e-5
"""Assumed for a USB meter: the step of its display."""
USB_GAIN = 0.01
"""Assumed for a USB meter: the bound on its gain error."""
PPK2_BOUND = 0.005
TRUEVOLT_BOUND = 0.0006
"""As assumed for the simulated 34465A: errors of reading, and of range at a fifth of full scale."""
_FEWER = 5
"""A profiler's repetitions take long: run one in this many."""


@dataclass(frozen=True)
class Known:
    """An operation whose energy is known."""

    name: str
    seconds: float
    supply_v: float
    busy_a: float
    idle_a: float
    waiting_a: float

    @property
    def gross_j(self) -> float:
        """Energy of one execution."""
        return self.supply_v * self.busy_a * self.seconds

    @property
    def net_j(self) -> float:
        """Energy of one execution, net of idle."""
        return self.supply_v * (self.busy_a - self.idle_a) * self.seconds


@dataclass(frozen=True)
class Result:
    """An operation's energy by one repetition, and the true one."""

    energy: str
    """"gross" or "net"."""
    stated: Estimate
    truth_j: float


@dataclass(frozen=True)
class Verdict:
    """How a method performed on an operation."""

    method: str
    operation: str
    energy: str
    truth_j: float
    bias: float
    """Mean error, as a fraction of the truth."""
    spread: float
    """Standard deviation of the results, as a fraction of the truth."""
    half_width_95: float
    """Mean half width of the stated intervals, as a fraction of the truth."""
    held: int
    """Stated intervals that contained the truth."""
    repetitions: int


@dataclass(frozen=True)
class Pair:
    """A case through the model and through an instrument."""

    model: PrimitiveRecord
    measured: PrimitiveRecord
    energy: str
    model_nj: float
    measured_nj: float
    half_width_nj: float

    @property
    def agree(self) -> bool:
        """Whether they agree within what the instrument states; the model is exact."""
        return abs(self.measured_nj - self.model_nj) <= self.half_width_nj


class _Line:
    """One run, with the marker high while the operation is repeated."""

    now_s = 0.0

    def __init__(self, known: Known, window_s: float, start_s: float) -> None:
        self.voltage_v = known.supply_v
        self.window_s = window_s
        self._start_s = start_s + _HANDLING_S + _QUIET_S
        self._end_s = self._start_s + window_s
        self.end_s = self._end_s + _QUIET_S + _HANDLING_S
        self._trace = CurrentTrace(
            [
                *(0.0, start_s, start_s + _HANDLING_S, self._start_s, self._end_s),
                *(self._end_s + _QUIET_S, self.end_s, self.end_s + 1e4),
            ],
            [
                *(known.waiting_a, known.busy_a, known.idle_a, known.busy_a, known.idle_a),
                *(known.busy_a, known.waiting_a),
            ],
        )

    def mean_current_a(self, start_s: Floats, end_s: Floats) -> Floats:
        return self._trace.mean_current_a(start_s, end_s)

    def marker(self, time_s: Floats) -> npt.NDArray[np.bool_]:
        return (time_s >= self._start_s) & (time_s < self._end_s)


class _Swapped:
    """A supply line shared by the runs of one repetition, so that they share the instrument."""

    now_s = 0.0

    def __init__(self, line: _Line) -> None:
        self.line = line
        self.voltage_v = line.voltage_v

    def mean_current_a(self, start_s: Floats, end_s: Floats) -> Floats:
        return self.line.mean_current_a(start_s, end_s)

    def marker(self, time_s: Floats) -> npt.NDArray[np.bool_]:
        return self.line.marker(time_s)


def _draw(known: Known, seed: int) -> random.Random:
    return random.Random(f"{known.name}/{seed}")


def _record(
    known: Known, window_s: float, meter: Meter, line: _Swapped, draw: random.Random
) -> tuple[Samples, int]:
    """Record one run, which begins at an arbitrary phase of the meter's clock."""
    count = max(math.ceil(window_s / known.seconds), 1)
    line.line = _Line(known, count * known.seconds, 0.1 + draw.uniform(0, 0.05))
    meter.start(line.line.end_s + 0.1)
    samples = meter.finish()
    assert isinstance(samples, Samples)  # noqa: S101
    return samples, count


def _by_current(known: Known, meter: Meter, line: _Swapped, draw: random.Random) -> list[Run]:
    """Measure windows of 1.6 s, found in the current; the chip's timer gives their length."""
    # Error of the timer's clock: a property of this board, the same in all runs.
    off = _clock()
    clock = 1 + draw.uniform(-off.slow_ppm, off.fast_ppm) * 1e-6
    runs = []
    for _ in range(RUNS):
        samples, count = _record(known, 1.6, meter, line, draw)
        run = evaluate(samples, count, _QUIET_S)
        factor = line.line.window_s * clock / (run.time_s * count)
        runs.append(run.times(factor))
    return runs


def _results(runs: list[Run], bound: float, known: Known, volt: float = 1.0) -> list[Result]:
    """Return the runs' energies beside the true ones.

    Args:
        runs: of one repetition.
        bound: relative bound on all systematic errors.
        known: the operation.
        volt: true supply voltage as a fraction of the nominal one.
    """
    gross, net = estimates(runs, bound)
    results = [Result("gross", gross, known.gross_j * volt)]
    if net is not None:
        results.append(Result("net", net, known.net_j * volt))
    return results


def _clock() -> Tolerance:
    """Return the tolerance of the clock of the board's timer."""
    return load_board("telosb").clock_profile(None).tolerance


def multimeter(known: Known, seed: int) -> list[Result]:
    """Measure with a 34401A at 500 readings a second; the supply's voltage is taken as exact."""
    line = _Swapped(_Line(known, 1.0, 0.1))
    server = ScpiServer(SimulatedAgilent34401A(line, seed))
    try:
        with Agilent34401A(server.resource, known.supply_v) as meter:
            runs = _by_current(known, meter, line, _draw(known, seed))
            bound = meter.ranges[0].of_reading
    finally:
        server.close()
    return _results(runs, math.hypot(bound, _clock().bound), known)


def multimeter_and_supply(known: Known, seed: int) -> list[Result]:
    """Measure likewise, with the supply's voltage read back from an E3631A."""
    line = _Swapped(_Line(known, 1.0, 0.1))
    feeds = SimulatedAgilentE3631A(line, seed + 1_000_000)
    servers = [ScpiServer(SimulatedAgilent34401A(line, seed)), ScpiServer(feeds)]
    try:
        supply = AgilentE3631A(servers[1].resource)
        supply.power(known.supply_v, 0.5)
        read_v = supply.measure_v()
        supply.close()
        with Agilent34401A(servers[0].resource, read_v) as meter:
            runs = _by_current(known, meter, line, _draw(known, seed))
            bound = meter.ranges[0].of_reading
    finally:
        for server in servers:
            server.close()
    of_voltage = supply.readback_of_output + supply.readback_v / read_v
    volt = feeds.true_voltage_v / known.supply_v
    return _results(runs, math.hypot(bound, _clock().bound, of_voltage), known, volt)


def buffered_multimeter(known: Known, seed: int) -> list[Result]:
    """Measure with a 34465A at 1000 readings a second, out of its memory."""
    line = _Swapped(_Line(known, 1.0, 0.1))
    server = ScpiServer(SimulatedKeysight34465A(line, seed))
    try:
        with Keysight34465A(server.resource, known.supply_v, TRUEVOLT_BOUND) as meter:
            runs = _by_current(known, meter, line, _draw(known, seed))
    finally:
        server.close()
    # Only net: with one bound stated for gain and offset, the offset cannot be separated out.
    return _results(runs, math.hypot(TRUEVOLT_BOUND, _clock().bound), known)[1:]


def profiler(known: Known, seed: int) -> list[Result]:
    """Measure with a PPK2 at 100 000 samples a second: windows of 20 ms, by marker edges."""
    draw = _draw(known, seed)
    runs = []
    for run in range(RUNS):
        # Time starts anew with each device, as this line's does with each run.
        line = _Swapped(_Line(known, 1.0, 0.1))
        device = SimulatedPpk2(line, seed * RUNS + run)
        try:
            with Ppk2(device.resource, known.supply_v, accuracy=PPK2_BOUND) as meter:
                samples, count = _record(known, 0.02, meter, line, draw)
                runs.append(evaluate(samples, count, _QUIET_S))
        finally:
            device.close()
    return _results(runs, PPK2_BOUND, known)


def usb_meter(known: Known, seed: int) -> list[Result]:
    """Measure with a watt-hour counter on the supply, read by hand before and after 100 s."""
    draw = _draw(known, seed)
    gain = 1 + draw.uniform(-USB_GAIN, USB_GAIN)
    count = max(math.ceil(_USB_WINDOW_S / known.seconds), 1)
    seconds = count * known.seconds
    shown: list[str] = []
    meter = manual.Manual(lambda _: shown.pop(0), "Wh", 0.0, USB_STEP_WH, USB_GAIN)
    runs = []
    for _ in range(RUNS):
        # It goes on counting while the person reads and types.
        late_s = draw.uniform(0, manual.REACTION_S) + draw.uniform(0, manual.REACTION_S)
        beside_j = known.supply_v * known.waiting_a * late_s
        before_wh = draw.uniform(0, 1)
        after_wh = before_wh + gain * (known.gross_j * count + beside_j) / 3600
        shown += [
            f"{math.floor(wh / USB_STEP_WH) * USB_STEP_WH:.6f}" for wh in (before_wh, after_wh)
        ]
        meter.start(seconds)
        runs.append(evaluate_counted(meter.finish(), seconds, count))
    return _results(runs, USB_GAIN, known)


Method = Callable[[Known, int], list[Result]]
METHODS: Sequence[tuple[str, Method]] = (
    ("34401A at 500 Hz, window by threshold", multimeter),
    ("the same, voltage read back from E3631A", multimeter_and_supply),
    ("34465A at 1 kHz, window by threshold", buffered_multimeter),
    ("PPK2 at 100 kHz, window by edges", profiler),
    ("USB meter read by hand", usb_meter),
)


def judge(name: str, method: Method, operation: Known, repetitions: int) -> list[Verdict]:
    """Measure an operation repeatedly with a method, each time with another specimen."""
    each = [method(operation, seed) for seed in range(repetitions)]
    verdicts = []
    for results in zip(*each, strict=True):
        errors = [r.stated.mean / r.truth_j - 1 for r in results]
        verdicts.append(
            Verdict(
                name,
                operation.name,
                results[0].energy,
                operation.gross_j if results[0].energy == "gross" else operation.net_j,
                fmean(errors),
                stdev(errors),
                fmean(r.stated.half_width_95 / r.truth_j for r in results),
                sum(r.stated.contains(r.truth_j) for r in results),
                repetitions,
            )
        )
    return verdicts


def check(known: Sequence[Known], repetitions: int) -> list[Verdict]:
    """Measure each operation with each method."""
    return [
        verdict
        for name, method in METHODS
        for operation in known
        for verdict in judge(
            name,
            method,
            operation,
            max(repetitions // _FEWER, 2) if method is profiler else repetitions,
        )
    ]


def pairs(model: PrimitiveRecord, measured: PrimitiveRecord) -> list[Pair]:
    """Return a case's energies through the model and through an instrument."""
    result = []
    for energy in ("gross", "net"):
        model_nj, of_meter = (r.quantity(f"energy_{energy}") for r in (model, measured))
        if model_nj is None or of_meter is None or of_meter.half_width is None:
            continue
        stated = (model_nj.value, of_meter.value, of_meter.half_width)
        result.append(Pair(model, measured, energy, *stated))
    return result


def page(verdicts: Sequence[Verdict], compared: Sequence[Pair]) -> str:
    """Return the verdicts as a page of the docs."""
    rows = [
        f"| {v.method} | {v.operation} | {v.energy} | {v.truth_j * 1e6:.4g} | {v.bias:+.3%} "
        f"| {v.spread:.3%} | ± {v.half_width_95:.3%} | {v.held} of {v.repetitions} |"
        for v in verdicts
    ]
    beside = [
        f"| {p.model.subject.primitive} {p.model.subject.operation}, "
        f"{p.model.subject.message_bytes} bytes "
        f"| {p.measured.conditions.meter} | {p.energy} | {p.model_nj / 1e3:.4f} "
        f"| {p.measured_nj / 1e3:.4f} ± {p.half_width_nj / 1e3:.4f} "
        f"| {p.measured_nj / p.model_nj - 1:+.3%} | {'yes' if p.agree else 'no'} |"
        for p in compared
    ]
    return "\n".join(
        [
            "# How wrong each measuring method is",
            "",
            "Written by `joulemark method-check`; not edited by hand. This page says how wrong the "
            "methods are, not how wrong an instrument on your bench is. Only the drivers and the "
            "evaluation are those that measure hardware. Everything else is simulated: the board "
            "is emulated, and the instruments are programs that speak the real protocols on "
            "sockets and terminals.",
            "",
            "## Against a known energy",
            "The emulator knows each operation's energy exactly. The instruments see the board's "
            "current over a run: waiting in LPM0, a command received, quiet in LPM3, the operation "
            "repeated, quiet, the answer sent. Each repetition is another specimen, with gain, "
            "offset, noise, clock and phase drawn within its specification, seeded by its number. "
            f"It states a 95% interval from {RUNS} runs (Student's t). The rows of a method share "
            "their specimens.",
            "",
            "| method | operation | energy | truth (µJ) | bias | spread | 95% interval "
            "| held the truth |",
            "|---|---|---|---|---|---|---|---|",
            *rows,
            "",
            "- **34401A**: gain and offset are drawn evenly within its one-year specification, "
            "noise so that the specified bound is three deviations. The chip's timer times the "
            f"windows, with a clock drawn from {-_clock().slow_ppm / 1e4:+.2f}% to "
            f"{_clock().fast_ppm / 1e4:+.2f}% of its nominal value. The bound stated for that "
            f"clock, ± {_clock().bound:.2%}, is most of the interval.",
            "- **Supply voltage**: taken as exact except in the second method, where the E3631A's "
            "output is off within its programming accuracy, and its readback within its own (both "
            "inferred). The same specimen's error is in both.",
            "- **34465A**: its errors are assumed (its data sheet was not at hand), and "
            f"± {TRUEVOLT_BOUND:.2%} is stated for it.",
            "- **PPK2**: perfectly calibrated except for noise and quantisation, and stated to "
            f"± {PPK2_BOUND:.1%}. Its row shows the effect of edges, ranges and the vendor "
            "library's filter, not of a specimen's calibration.",
            f"- **USB meter**: a display step of {USB_STEP_WH * 1e3:g} mWh, a gain within "
            f"{USB_GAIN:.0%} and a person who reads up to {manual.REACTION_S:g} s late, at either "
            "end, are assumed.",
            "- **Board**: it draws a constant current in each power state. Ripple, temperature and "
            "currents that depend on the data are not simulated.",
            "",
            "## The same cases through the model and through an instrument",
            "The whole bench in real time, as `joulemark run` uses it: image loaded, commands over "
            "the serial line, readings from the instrument. The model's energy is exact, so the "
            "two agree when it lies inside the instrument's interval. Net is net of LPM3 in both: "
            "the TelosB's idle state, in which the image sleeps before and after a window.",
            "",
            "| case | meter | energy | model (µJ) | instrument (µJ) | apart | agree |",
            "|---|---|---|---|---|---|---|",
            *beside,
            "",
        ]
    )
