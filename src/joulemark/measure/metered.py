"""Measures cases with an instrument: independent runs, each with idle around it."""

import dataclasses
import math
from abc import abstractmethod
from collections.abc import Sequence
from statistics import fmean
from typing import Protocol

from joulemark.analysis.energy_of_samples import (
    Run,
    estimates,
    evaluate,
    evaluate_counted,
)
from joulemark.campaign.case import Case
from joulemark.campaign.job import Job
from joulemark.errors import LinkError, VerificationError
from joulemark.measure.recorded import Outcome
from joulemark.measure.session import TIMER_OVERFLOW, Session, primitive
from joulemark.measure.window import Instrument, energy_quantity, interval_note, metered_window
from joulemark.meters import Specification
from joulemark.meters.samples import Counted
from joulemark.records.record import Quantity, quantity
from joulemark.runners.protocol import Device, Flag, Link, RunResult, Status

_SAMPLES_IN_WINDOW = 2000
"""The default window is this many samples long, or as long as the meter's specification says."""
_TIMER_S = 1.6
"""The longest window that the chips' timers hold."""
_ROUGH_S = 5e-3
_ENOUGH, _LEAST_S = 100_000, 1e-10
"""This many executions show whether the timer runs: none is as short as this."""
_TIMER_DISAGREEMENT = 0.01


class Line(Link, Protocol):
    """A line to an image; the session closes it."""

    timeout_s: float
    """How long an answer may take."""

    def close(self) -> None:
        """Release the line."""


class Metered(Session):
    """One image at the end of a line, and the instrument."""

    def __init__(self, job: Job, instrument: Instrument) -> None:
        super().__init__(job)
        self._instrument = instrument
        self._line: Line | None = None
        self._answers: Device | None = None

    @abstractmethod
    def _open_line(self) -> Line:
        """Open the line to what runs the image."""

    @abstractmethod
    def _check(self, device: Device) -> None:
        """Check that the image answers, and no other."""

    @property
    @abstractmethod
    def _clock_bound(self) -> float:
        """Bound on the relative error of the clock that times a window."""

    @abstractmethod
    def _cycles(self, times_s: list[float]) -> list[Quantity]:
        """Return cycles, where the clock is known."""

    @abstractmethod
    def _memory(self) -> list[Quantity]:
        """Return the subject's share of the image, where known."""

    @abstractmethod
    def _idle_note(self, idle_a: list[float]) -> str:
        """Return a note on the baseline that net energy leaves out."""

    def _window_s(self, specification: Specification) -> float:
        """Return the default length of a window."""
        return specification.window_s

    @property
    def _device(self) -> Device:
        if self._answers is None:
            # Build before opening: without an image there is nothing to open the line for.
            self.image  # noqa: B018
            self._line = self._open_line()
            device = Device(self._line)
            self._check(device)
            self._answers = device
        return self._answers

    def close(self) -> None:
        """Release the line."""
        if self._line is not None:
            self._line.close()
        self._line = self._answers = None

    def _measure(self, case: Case, trials: int) -> Outcome:
        try:
            return self._measured(case, trials)
        except LinkError:
            # The board may be plugged in again by the next case.
            self.close()
            raise

    def _measured(self, case: Case, trials: int) -> Outcome:
        """Measure independent runs, each with its own inputs."""
        device, specification = self._device, self._instrument.meter.specification
        for slot, data in self.exchange(case, 0).inputs.items():
            device.write(slot, data)
        painted_bytes = device.run(primitive(case).operation, Flag.PAINT).stack_bytes
        once_s = self._once_s(case)
        repetitions = case.conditions.repetitions
        if repetitions == 1:
            window_s = self._window_s(specification)
            if specification.rate_hz is not None:
                window_s = min(_SAMPLES_IN_WINDOW / specification.rate_hz, window_s)
            repetitions = max(math.ceil(window_s / once_s), 1)
        length = self._length(case, repetitions, once_s)
        runs = [self._run(case, repetitions, length, n) for n in range(trials)]
        # The length of a window found in the current comes from the chip's timer, which is as far
        # off as the chip's clock.
        clock_bound = 0.0 if runs[0].edges or specification.rate_hz is None else self._clock_bound
        supply_bound = 0.0 if specification.measures_voltage else self._instrument.supply_bound
        relative = math.hypot(runs[0].of_reading, clock_bound, supply_bound)
        gross, net = estimates([r.run for r in runs], relative)
        times_s = [((r.timer_s or length.window_s) - length.empty_s) / repetitions for r in runs]
        times_ps = [round(t * 1e12) for t in times_s]
        stated = [("gross", gross), *([("net", net)] if net is not None else [])]
        timers_ps = [round(r.timer_s * 1e12) for r in runs if r.timer_s is not None]
        idle_a = [r.run.idle_a for r in runs if not math.isnan(r.run.idle_a)]
        return Outcome(
            quantities=[
                *self._cycles(times_s),
                quantity("time", "ps", times_ps, value=round(fmean(times_s) * 1e12)),
                *([quantity("timer_time", "ps", timers_ps)] if timers_ps else []),
                *(energy_quantity(name, estimate) for name, estimate in stated),
                *self._memory(),
                *([Quantity("", "stack_painted", "B", painted_bytes)] if painted_bytes else []),
            ],
            samples=[r.sample for r in runs],
            repetitions=repetitions,
            notes=[
                *(interval_note(name, e) for name, e in stated),
                f"{specification.title}: {specification.document}",
                "supply voltage: the meter's"
                if specification.measures_voltage
                else self._instrument.supply_note,
                *_how_found(runs[0], specification),
                self._idle_note(idle_a)
                if net is not None
                else "no net energy: idle was not measured",
                *_disagreement(runs),
            ],
        )

    def _once_s(self, case: Case) -> float:
        """Return roughly how long one execution takes, from as many as the timer can resolve."""
        count, window_s = 1, 0.0
        while window_s < _ROUGH_S:
            timed_s = self._seconds(self._device.run(primitive(case).operation, Flag.NONE, count))
            if timed_s is None:
                what = f"{count} executions are longer than the chip's timer holds"
                raise VerificationError(what, str(case), "choose a smaller message")
            window_s = timed_s
            if window_s < _ROUGH_S:
                if count >= _ENOUGH and window_s < count * _LEAST_S:
                    what = f"the chip's timer says {window_s:g} s for {count} executions"
                    raise VerificationError(what, str(case), "does the timer's clock run?")
                count = max(math.ceil(1.5 * _ROUGH_S * count / max(window_s, 1e-5)), count + 1)
        return window_s / count

    def _length(self, case: Case, repetitions: int, once_s: float) -> "Length":
        """Return the length of a window, and how much of it is overhead.

        The chip's timer measures a window that it can hold; a longer one is extrapolated.
        """
        held = min(repetitions, max(int(_TIMER_S / once_s), 1))
        empty_s = self._seconds(self._device.run(primitive(case).operation, Flag.EMPTY, held))
        window_s: float | None = once_s * repetitions
        if held < repetitions:
            window_s = self._seconds(self._device.run(primitive(case).operation, Flag.NONE, held))
        if empty_s is None or window_s is None:
            what = "the window is longer than the chip's timer holds"
            raise VerificationError(what, str(case), "fewer --repetitions")
        if held < repetitions:
            return Length(window_s * repetitions / held, empty_s * repetitions / held)
        return Length(window_s, empty_s)

    def _run(self, case: Case, repetitions: int, length: "Length", number: int) -> "OneRun":
        """Execute one run with its own inputs, and verify its output."""
        device = self._device
        put = self.exchange(case, number)
        for slot, data in put.inputs.items():
            device.write(slot, data)
        line = self._line
        assert line is not None  # noqa: S101
        operation = primitive(case).operation

        def execute(quiet_s: float) -> RunResult:
            line.timeout_s = 5.0 + 2.0 * length.window_s + 2.1 * quiet_s
            return self._execute(device, operation, repetitions, round(quiet_s * 1e3))

        metered = metered_window(self._instrument, length.window_s, execute)
        result, got, wall_s = metered.result, metered.got, metered.wall_s
        if result.status is not Status.OK:
            raise VerificationError(str(result.status), str(case))
        self.verify(device, put, case, number)
        timer_s = self._seconds(result)
        timed_s = length.window_s if timer_s is None else timer_s
        operation_s = timed_s - length.empty_s
        if isinstance(got, Counted):
            idle_w = metered.idle_w
            run = evaluate_counted(got, wall_s, repetitions, idle_w)
            # The time that the command takes to the board and back counts as idle.
            beside_j = 0.0 if idle_w is None else idle_w * (wall_s - timed_s) / repetitions
            run = dataclasses.replace(run, gross_j=run.gross_j - beside_j)
            return OneRun(run.times(operation_s / timed_s), wall_s, timer_s, got.of_reading)
        run = evaluate(got, repetitions, metered.quiet_s)
        window_s = run.time_s * repetitions
        # Time between edges includes the empty window. A window found in the current is known
        # only to a sample or two, so only its power is used.
        edges = bool(got.edges_s)
        factor = operation_s / (timed_s if edges else window_s)
        return OneRun(run.times(factor), window_s, timer_s, got.accuracy.of_reading, edges)

    def _execute(
        self, device: Device, operation: str, repetitions: int, quiet_ms: int
    ) -> RunResult:
        """Execute one window."""
        return device.run(operation, Flag.NONE, repetitions, quiet_ms)

    def _seconds(self, result: RunResult) -> float | None:
        """Return a window by the chip's own timer; None where the timer overflowed."""
        if result.timer_ticks == TIMER_OVERFLOW:
            return None
        return result.timer_ticks / int(self.image.description["timer_hz"])


@dataclasses.dataclass(frozen=True)
class Length:
    """Length of a window that is to be measured."""

    window_s: float
    empty_s: float
    """The part of it that is not the operation."""


@dataclasses.dataclass(frozen=True)
class OneRun:
    """One run's figures."""

    run: Run
    """Figures of the operation, without the empty window's share."""
    window_s: float
    """By the meter; by this machine's clock where the meter counts."""
    timer_s: float | None
    of_reading: float
    edges: bool = False

    @property
    def sample(self) -> dict[str, int]:
        """Its fields in a record."""
        values = {"gross_pj": self.run.gross_j * 1e12, "net_pj": self.run.net_j * 1e12}
        values["window_ns"] = self.window_s * 1e9
        if self.timer_s is not None:
            values["timer_ns"] = self.timer_s * 1e9
        return {name: round(v) for name, v in values.items() if not math.isnan(v)}


def _how_found(run: OneRun, specification: Specification) -> list[str]:
    if specification.rate_hz is None:
        return []
    if run.edges:
        return ["window between the marker's edges"]
    unseen = f"; {specification.marker} saw no marker" if specification.marker else ""
    return [f"window found in the current{unseen}"]


def _disagreement(runs: Sequence[OneRun]) -> list[str]:
    """Return a note where the chip's timer and the meter's window differ, or cannot be compared."""
    timed = [(r.window_s, r.timer_s) for r in runs if r.timer_s is not None]
    if not timed:
        return ["windows are longer than the chip's timer holds: told from shorter ones"]
    apart = fmean(w for w, _ in timed) / fmean(t for _, t in timed) - 1.0
    if abs(apart) <= _TIMER_DISAGREEMENT:
        return []
    return [f"the meter's window is {apart:+.1%} off the chip's timer's"]
