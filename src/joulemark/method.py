"""How wrong a way to measure is: each one against an energy that is known exactly.

The exact energy is the emulator's. Its current over a run (idle, the operation repeated, idle) is
put before the simulated instruments, whose errors are drawn anew within their specifications for
each repetition, and measured by the drivers that measure hardware.
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
    Samples,
    estimates,
    evaluate,
    evaluate_counted,
)
from joulemark.bench.agilent_34401a import Agilent34401A
from joulemark.bench.nordic_ppk2 import NordicPpk2
from joulemark.bench.scpi import ScpiServer
from joulemark.bench.supply import CurrentTrace, Floats
from joulemark.meters import Meter, manual, scpi
from joulemark.meters.ppk2 import Ppk2

RUNS = 5
_IDLE_S = 0.2
_USB_WINDOW_S = 100.0
USB_STEP_WH = 1e-5
"""Assumed of a USB meter: the step of its display."""
USB_GAIN = 0.01
"""Assumed of a USB meter: the bound on its gain's error."""
PPK2_BOUND = 0.005


@dataclass(frozen=True)
class Known:
    """An operation whose energy is known."""

    name: str
    seconds: float
    supply_v: float
    busy_a: float
    idle_a: float

    @property
    def gross_j(self) -> float:
        """Of one execution."""
        return self.supply_v * self.busy_a * self.seconds


@dataclass(frozen=True)
class Verdict:
    """How a method did on an operation."""

    method: str
    operation: str
    truth_j: float
    bias: float
    """Mean error, of the truth."""
    spread: float
    """Standard deviation of the results, of the truth."""
    half_width_95: float
    """Mean half width of the stated intervals, of the truth."""
    held: int
    """Stated intervals that held the truth."""
    repetitions: int


class _Line:
    """One run: idle, busy with the marker high, idle."""

    now_s = 0.0

    def __init__(self, known: Known, window_s: float, start_s: float) -> None:
        self.voltage_v = known.supply_v
        self.end_s = start_s + window_s
        self._start_s = start_s
        times = [0.0, start_s, self.end_s, self.end_s + 1e4]
        self._trace = CurrentTrace(times, [known.idle_a, known.busy_a, known.idle_a])

    def mean_current_a(self, start_s: Floats, end_s: Floats) -> Floats:
        return self._trace.mean_current_a(start_s, end_s)

    def marker(self, time_s: Floats) -> npt.NDArray[np.bool_]:
        return (time_s >= self._start_s) & (time_s < self.end_s)


class _Swapped:
    """A supply line that the runs of one repetition share, so that they share the instrument."""

    now_s = 0.0

    def __init__(self, line: _Line) -> None:
        self.line = line
        self.voltage_v = line.voltage_v

    def mean_current_a(self, start_s: Floats, end_s: Floats) -> Floats:
        return self.line.mean_current_a(start_s, end_s)

    def marker(self, time_s: Floats) -> npt.NDArray[np.bool_]:
        return self.line.marker(time_s)


def _record(
    known: Known, window_s: float, meter: Meter, line: _Swapped, draw: random.Random
) -> Run:
    """One run: it begins at no particular moment of the meter's clock."""
    count = max(math.ceil(window_s / known.seconds), 1)
    line.line = _Line(known, count * known.seconds, _IDLE_S + draw.uniform(0, 0.05))
    meter.start(line.line.end_s + _IDLE_S)
    samples = meter.finish()
    assert isinstance(samples, Samples)  # noqa: S101
    return evaluate(samples, count)


def _estimate(runs: list[Run], bound: float) -> Estimate:
    return estimates(runs, bound)[0]


def multimeter(known: Known, seed: int) -> Estimate:
    """34401A at 500 readings a second, windows by threshold, 1.6 s long."""
    draw = random.Random(f"{known.name}/{seed}")
    line = _Swapped(_Line(known, 1.0, _IDLE_S))
    server = ScpiServer(Agilent34401A(line, seed))
    try:
        with scpi.Agilent34401A(server.resource, known.supply_v) as meter:
            bound = meter.ranges[0].of_reading
            return _estimate([_record(known, 1.6, meter, line, draw) for _ in range(RUNS)], bound)
    finally:
        server.close()


def profiler(known: Known, seed: int) -> Estimate:
    """PPK2 at 100 000 samples a second, windows by marker edges, 20 ms long."""
    draw = random.Random(f"{known.name}/{seed}")
    runs = []
    for run in range(RUNS):
        # Its time begins anew with each device, as this line's does with each run.
        line = _Swapped(_Line(known, 1.0, _IDLE_S))
        device = NordicPpk2(line, seed * RUNS + run)
        try:
            with Ppk2(device.port, known.supply_v, accuracy=PPK2_BOUND) as meter:
                runs.append(_record(known, 0.02, meter, line, draw))
        finally:
            device.close()
    return _estimate(runs, PPK2_BOUND)


def usb_meter(known: Known, seed: int) -> Estimate:
    """A counter of watt-hours on the supply, read by hand before and after 100 s."""
    draw = random.Random(f"{known.name}/{seed}")
    gain = 1 + draw.uniform(-USB_GAIN, USB_GAIN)
    count = max(math.ceil(_USB_WINDOW_S / known.seconds), 1)
    seconds = count * known.seconds
    shown: list[str] = []
    meter = manual.Manual(lambda _: shown.pop(0), "Wh", 0.0, USB_STEP_WH, USB_GAIN)
    runs = []
    for _ in range(RUNS):
        # It goes on counting while the person reads and types.
        late_s = draw.uniform(0, manual.REACTION_S) + draw.uniform(0, manual.REACTION_S)
        beside_j = known.supply_v * known.idle_a * late_s
        before_wh = draw.uniform(0, 1)
        after_wh = before_wh + gain * (known.gross_j * count + beside_j) / 3600
        shown += [
            f"{math.floor(wh / USB_STEP_WH) * USB_STEP_WH:.6f}" for wh in (before_wh, after_wh)
        ]
        meter.start(seconds)
        runs.append(evaluate_counted(meter.finish(), seconds, count))
    return _estimate(runs, USB_GAIN)


METHODS: Sequence[tuple[str, Callable[[Known, int], Estimate]]] = (
    ("34401A at 500 Hz, window by threshold", multimeter),
    ("PPK2 at 100 kHz, window by edges", profiler),
    ("USB meter read by hand", usb_meter),
)


def check(known: Sequence[Known], repetitions: int) -> list[Verdict]:
    """Measure each operation with each method, again and again."""
    result = []
    for name, method in METHODS:
        for operation in known:
            estimates = [method(operation, seed) for seed in range(repetitions)]
            errors = [e.mean / operation.gross_j - 1 for e in estimates]
            result.append(
                Verdict(
                    name,
                    operation.name,
                    operation.gross_j,
                    fmean(errors),
                    stdev(errors),
                    fmean(e.half_width_95 for e in estimates) / operation.gross_j,
                    sum(e.contains(operation.gross_j) for e in estimates),
                    repetitions,
                )
            )
    return result


def page(verdicts: Sequence[Verdict]) -> str:
    """The verdicts as a page of the docs."""
    rows = [
        f"| {v.method} | {v.operation} | {v.truth_j * 1e6:.4g} | {v.bias:+.3%} | {v.spread:.3%} "
        f"| ± {v.half_width_95:.3%} | {v.held} of {v.repetitions} |"
        for v in verdicts
    ]
    return "\n".join(
        [
            "# How wrong a way to measure is",
            "",
            "Written by `joulemark method-check`; not edited by hand.",
            "",
            "Each method measures operations whose gross energy the emulator knows exactly. The "
            "board's current over a run (asleep in LPM0, the operation repeated, asleep) is put "
            "before simulated instruments that speak the real protocols, and read by the drivers "
            "that read hardware. Each repetition is another specimen, with errors drawn within "
            f"its specification, and states a 95% interval from {RUNS} runs.",
            "",
            "| method | operation | truth (µJ) | bias | spread | 95% interval | held the truth |",
            "|---|---|---|---|---|---|---|",
            *rows,
            "",
            "The 34401A's errors are its manual's. The simulated PPK2 is perfectly calibrated but "
            f"for noise and quantisation, and stated to ± {PPK2_BOUND:.1%}. Of the USB meter, a "
            f"display step of {USB_STEP_WH * 1e3:g} mWh and a gain within {USB_GAIN:.0%} are "
            "assumed. The supply's voltage is taken as exact. The window holds the operation "
            "alone: the handling of a command, which a threshold cannot tell from it, is left out "
            "here ([bench.md](bench.md) says how it is dealt with).",
            "",
        ]
    )
