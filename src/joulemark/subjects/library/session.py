"""Measures libraries on this machine: pinned, at a measured clock, with or without a meter."""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from statistics import fmean

from joulemark import oracles
from joulemark.analysis.energy_of_samples import (
    Estimate,
    Run,
    estimates,
    evaluate,
    evaluate_counted,
)
from joulemark.campaign.job import Point
from joulemark.campaign.versions import host, processor
from joulemark.closes import Closes
from joulemark.errors import InputError, JoulemarkError, LinkError, VerificationError
from joulemark.measure.recorded import Outcome, recorded
from joulemark.measure.window import (
    Instrument,
    chosen_window_s,
    energy_quantity,
    expected_errors,
    interval_note,
    marked_note,
    metered_window,
)
from joulemark.meters.samples import Counted
from joulemark.records.record import Provenance, Quantity, Record, quantity
from joulemark.runners.library import LibraryProcess, Ran
from joulemark.runners.machine import Core, check_clock, refuse_throttled
from joulemark.subjects.library import LibrarySubject
from joulemark.subjects.library.plan import LibraryJob

ALONE_S = 0.5
"""Default length of a window without a meter."""
_ROUGH_S = 0.02
_WARM_S = 0.1
"""Length of a busy loop that wakes the core before its clock is measured."""
_TRIES = 4
"""Attempts at a window whose clock moves or that something else disturbs."""
_DISTURBED = 0.05
"""The largest share of a window that other work may have the core, where energy is measured."""


@dataclass(frozen=True, kw_only=True)
class LibraryBench:
    """Instrument for a library, and the length of its windows."""

    instrument: Instrument | None
    seconds: float | None
    """Length of a window; chosen automatically if None."""
    marker: str | None = None
    """Pin that is high during a window, for an instrument beside the machine."""
    tell: Callable[[str], None] = lambda _: None
    """Says something to the user."""

    def window_s(self, watt: float | None) -> float:
        """Return the length of a window.

        Args:
            watt: power of the machine with one busy core; None if unknown.
        """
        if self.seconds is not None:
            return self.seconds
        if self.instrument is None:
            return ALONE_S
        return chosen_window_s(self.instrument.meter.specification, watt)


class LibrarySession(Closes):
    """One library's program, and what its records share."""

    def __init__(self, job: LibraryJob, bench: LibraryBench) -> None:
        self.job = job
        self._bench = bench
        self._core = Core.quietest()
        self._started: LibraryProcess | None = None
        power = None if job.machine is None else job.machine.watt("one-core")
        self._watt = None if power is None else power.watt
        self._idle_w: float | None = None

    def close(self) -> None:
        """End the program."""
        if self._started is not None:
            self._started.close()
        self._started = None

    @property
    def _process(self) -> LibraryProcess:
        if self._started is None:
            self._started = LibraryProcess(
                [str(self.job.program.path)], self._core, self._bench.marker
            )
        return self._started

    def records(self) -> Iterator[Record[LibrarySubject]]:
        """Measure all cases; a failed case gives a failed record."""
        for text in (self._core.advice, self._errors()):
            if text:
                self._bench.tell(text)
        for point in self.job.points:
            yield self.record(point)

    def _errors(self) -> str:
        if self._bench.instrument is None:
            return ""
        window_s = self._bench.window_s(self._watt)
        return expected_errors(self._bench.instrument.meter.specification, window_s, self._watt)

    def record(self, point: Point) -> Record[LibrarySubject]:
        """Measure one case."""
        subject = point.case.subject
        assert isinstance(subject, LibrarySubject)  # noqa: S101
        outcome: Outcome | str
        clock_hz = 0
        try:
            made = self._measured(subject, point.trials, point.case.conditions.repetitions)
            clock_hz = made.clock_hz
            outcome = Outcome(
                quantities=list(made.quantities()),
                samples=[run.sample for run in made.runs],
                repetitions=made.count,
                notes=[
                    *made.notes(),
                    *marked_note(self._bench.marker, made.count),
                    f"library: {', '.join(self.job.program.objects)}",
                ],
            )
        except JoulemarkError as error:
            if isinstance(error, LinkError):
                self.close()
            outcome = str(error)
        provenance = of_library(self.job, clock_hz, processor())
        return recorded(point.key, subject, point.case, provenance, outcome)

    def _measured(self, subject: LibrarySubject, trials: int, repetitions: int) -> "_Made":
        algorithm = oracles.algorithm(subject.algorithm)
        inputs = oracles.drawn(
            subject.algorithm, subject.operation, subject.message_bytes, self.job.seed
        )
        self._refuses_forgeries(subject, algorithm)
        self._process.prepare(subject.algorithm, subject.operation, inputs)
        unit = oracles.PERIOD if algorithm.sized else 1
        once_s = self._once_s(unit)
        window_s = self._bench.window_s(self._watt)
        count = repetitions if repetitions > 1 else math.ceil(window_s / once_s)
        count = max(math.ceil(count / unit), 1) * unit
        made = _Made(self._core, self._bench.instrument, count)
        for _ in range(trials):
            made.runs.append(self._steady(subject, algorithm, count, count * once_s))
        return made

    def _refuses_forgeries(self, subject: LibrarySubject, algorithm: oracles.Algorithm) -> None:
        given = oracles.drawn(
            subject.algorithm, subject.operation, subject.message_bytes, self.job.seed
        )
        forged = algorithm.forged(subject.operation, given)
        if forged is None:
            return
        self._process.prepare(subject.algorithm, subject.operation, forged[0])
        self._process.run(1)
        if self._process.outputs() != forged[1]:
            raise VerificationError("it accepts what is forged", str(subject))

    def _once_s(self, unit: int) -> float:
        """Return roughly how long one execution takes."""
        count = unit
        while True:
            took_s = self._process.run(count).cpu_ns * 1e-9
            if took_s >= _ROUGH_S:
                return took_s / count
            count *= max(2, min(64, math.ceil(_ROUGH_S / max(took_s, 1e-5))))

    def _steady(
        self, subject: LibrarySubject, algorithm: oracles.Algorithm, count: int, seconds: float
    ) -> "_Run":
        """Return a run at a steady clock, its output verified; retry where it was disturbed."""
        nominal = None if self.job.machine is None else self.job.machine.nominal_hz
        problem: VerificationError | None = None
        for _ in range(_TRIES):
            refuse_throttled()
            self._warm()
            before_hz = self._process.clock_hz()
            run = self._run(count, seconds)
            given = oracles.drawn(
                subject.algorithm, subject.operation, subject.message_bytes, self.job.seed
            )
            after_hz = self._process.clock_hz()
            wrong = algorithm.problem(subject.operation, given, self._process.outputs())
            if wrong is not None:
                raise VerificationError(wrong, str(subject))
            try:
                refuse_throttled()
                check_clock(before_hz, after_hz, nominal)
                if self._bench.instrument is not None:
                    _refuse_disturbed(run.ran)
            except VerificationError as error:
                problem = error
                continue
            return replace(run, clock_hz=(before_hz + after_hz) // 2)
        assert problem is not None  # noqa: S101
        raise problem

    def _warm(self) -> None:
        end_s = time.monotonic() + _WARM_S
        while time.monotonic() < end_s:
            self._process.clock_hz()

    def _run(self, count: int, seconds: float) -> "_Run":
        instrument = self._bench.instrument
        if instrument is None:
            return _Run(self._process.run(count, seconds=seconds), count)
        specification = instrument.meter.specification
        if specification.attended and self._idle_w is None:
            self._idle_w = self._attended_idle_w(instrument, seconds)
        metered = metered_window(
            instrument,
            seconds,
            lambda quiet_s: self._process.run(count, quiet_s=quiet_s, seconds=seconds),
        )
        ran, got = metered.result, metered.got
        wall_s = ran.wall_ns * 1e-9
        if isinstance(got, Counted):
            idle_w = self._idle_w if specification.attended else metered.idle_w
            run = evaluate_counted(got, metered.wall_s, count, idle_w)
            beside_j = 0.0 if idle_w is None else idle_w * (metered.wall_s - wall_s) / count
            run = replace(run, gross_j=run.gross_j - beside_j)
            return _Run(ran, count, run, got.of_reading)
        run = evaluate(got, count, metered.quiet_s)
        return _Run(ran, count, run.times(wall_s / (run.time_s * count)), got.accuracy.of_reading)

    def _attended_idle_w(self, instrument: Instrument, seconds: float) -> float:
        """Return the idle power from a reading that the user types in."""
        self._bench.tell("first a window in which nothing runs, for the energy net of idle")
        instrument.meter.start(seconds)
        began_s = instrument.clock.now_s()
        instrument.clock.sleep(seconds)
        counted = instrument.meter.finish()
        if not isinstance(counted, Counted):
            raise InputError("a person's readings are counts", "--meter")
        return counted.joule / (instrument.clock.now_s() - began_s)


def _refuse_disturbed(ran: Ran) -> None:
    apart = 1 - ran.cpu_ns / ran.wall_ns
    if apart > _DISTURBED:
        what = f"not measured: something else had the core for {apart:.0%} of the window"
        raise VerificationError(what, "this machine", "stop what else runs")


@dataclass(frozen=True)
class _Run:
    """One window."""

    ran: Ran
    count: int
    energy: Run | None = None
    """Energy of one execution."""
    of_reading: float = 0.0
    clock_hz: int = 0

    @property
    def time_s(self) -> float:
        """Time of one execution, by the CPU time of the program."""
        return self.ran.cpu_ns * 1e-9 / self.count

    @property
    def sample(self) -> dict[str, int | str]:
        """Its fields in a record."""
        kept: dict[str, int | str] = {
            "window_ns": self.ran.wall_ns,
            "cpu_ns": self.ran.cpu_ns,
            "clock_hz": self.clock_hz,
        }
        if self.ran.cycles is not None and self.ran.instructions is not None:
            kept |= {"cycles": self.ran.cycles, "instructions": self.ran.instructions}
        if self.energy is not None:
            kept["gross_pj"] = round(self.energy.gross_j * 1e12)
            if not math.isnan(self.energy.net_j):
                kept["net_pj"] = round(self.energy.net_j * 1e12)
        return kept


class _Made:
    """The runs of a case."""

    def __init__(self, core: Core, instrument: Instrument | None, count: int) -> None:
        self.runs: list[_Run] = []
        self.count = count
        self._core = core
        self._instrument = instrument

    @property
    def clock_hz(self) -> int:
        """Mean of the measured clocks."""
        return round(fmean(run.clock_hz for run in self.runs))

    def quantities(self) -> Iterator[Quantity]:
        """Yield time, cycles and instructions of one execution, the clock, and energies."""
        yield quantity("time", "ps", [round(run.time_s * 1e12) for run in self.runs])
        yield quantity("clock", "Hz", [run.clock_hz for run in self.runs])
        if all(run.ran.cycles is not None for run in self.runs):
            yield quantity("cycles", "cycles", self._each(lambda ran: ran.cycles))
            yield quantity("instructions", "instructions", self._each(lambda ran: ran.instructions))
        else:
            cycles = [run.time_s * run.clock_hz for run in self.runs]
            yield quantity("cycles", "cycles", cycles, grade="inferred")
        for name, estimate in self._energies():
            yield energy_quantity(name, estimate)

    def _each(self, of: Callable[[Ran], int | None]) -> list[float]:
        return [(of(run.ran) or 0) / run.count for run in self.runs]

    def _energies(self) -> Iterator[tuple[str, Estimate]]:
        energies = [run.energy for run in self.runs if run.energy is not None]
        if not energies or self._instrument is None:
            return
        measures = self._instrument.meter.specification.measures_voltage
        bound = 0.0 if measures else self._instrument.supply_bound
        gross, net = estimates(energies, math.hypot(self.runs[0].of_reading, bound))
        yield "gross", gross
        if net is not None:
            yield "net", net

    def notes(self) -> Iterator[str]:
        """Yield notes for readers."""
        if self._instrument is not None:
            for name, estimate in self._energies():
                yield interval_note(name, estimate)
            specification = self._instrument.meter.specification
            yield f"{specification.title}: {specification.document}"
            if not specification.measures_voltage:
                yield self._instrument.supply_note
        first = self.runs[0].ran
        if first.cycles is None:
            yield f"cycles: time x measured clock (perf_event: {first.why_not})"
        governor = self._core.governor or "none (Linux does not set this machine's clock)"
        yield f"pinned to cpu{self._core.number}, governor {governor}"
        away = 1 - fmean(run.ran.cpu_ns for run in self.runs) / fmean(
            run.ran.wall_ns for run in self.runs
        )
        if away > 0.01:
            yield f"something else had the core for {away:.0%} of the windows; time is without it"


def of_library(job: LibraryJob, clock_hz: int, chip: str) -> Provenance:
    """Return the circumstances of a library's program.

    Args:
        job: the cases and the program.
        clock_hz: the core's; 0 if unknown.
        chip: the core's name.
    """
    machine = job.machine
    return Provenance(
        seed=job.seed,
        host=host(),
        clock_hz=clock_hz,
        chip=chip,
        board_title="" if machine is None else machine.title,
        board_digest="" if machine is None else machine.digest,
        compiler_version=job.program.compiler,
        flags=job.program.flags,
        image_digest=job.program.digest,
        project_commit=job.project_commit,
    )
