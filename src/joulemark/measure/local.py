"""Measures cases on this machine with an instrument: pinned, and at a measured clock."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

from joulemark.campaign.case import Case
from joulemark.campaign.job import Job
from joulemark.campaign.versions import engine_version, host, processor
from joulemark.catalogue import machines
from joulemark.errors import VerificationError
from joulemark.images.library import build_watch
from joulemark.measure.metered import Length, Metered, OneRun
from joulemark.measure.recorded import Outcome
from joulemark.measure.session import primitive
from joulemark.measure.window import Instrument, chosen_window_s, expected_errors, marked_note
from joulemark.meters import Specification
from joulemark.records.record import Provenance, Quantity, quantity
from joulemark.runners.counters import Counted, Counters
from joulemark.runners.local import LocalLink
from joulemark.runners.machine import Core, check_clock, refuse_throttled
from joulemark.runners.protocol import Device, Flag, RunResult

_TRIES = 4
"""Attempts at a case whose clock moves."""


class Local(Metered):
    """One image as a program on this machine."""

    def __init__(
        self,
        job: Job,
        instrument: Instrument,
        marker: str | None = None,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        super().__init__(job, instrument)
        self._core = Core.quietest()
        self._machine = machines.recognised()
        self._marker = marker
        self._watch = build_watch()
        self._counters: Counters | None = None
        self._empty: Counted | None = None
        self._counted: list[tuple[float, float]] = []
        """Cycles and instructions of one execution, per run."""
        power = None if self._machine is None else self._machine.watt("one-core")
        self._watt = None if power is None else power.watt
        specification = instrument.meter.specification
        window_s = self._window_s(specification)
        for text in (
            self._core.advice,
            expected_errors(specification, window_s, self._watt),
        ):
            if text:
                tell(text)

    def _open_line(self) -> LocalLink:
        link = LocalLink(self.image.path, core=self._core, marker=self._marker)
        self._counters = Counters(self._watch, link.process)
        return link

    def _run(self, case: Case, repetitions: int, length: Length, number: int) -> OneRun:
        """Count an empty window of as many executions before the metered run."""
        operation = primitive(case).operation
        self._empty = self._between(lambda: self._device.run(operation, Flag.EMPTY, repetitions))[1]
        return super()._run(case, repetitions, length, number)

    def _execute(
        self, device: Device, operation: str, repetitions: int, quiet_ms: int
    ) -> RunResult:
        """Execute the window between readings of the counters."""
        run = super()._execute
        result, counted = self._between(lambda: run(device, operation, repetitions, quiet_ms))
        if counted is not None and self._empty is not None:
            cycles = (counted.cycles - self._empty.cycles) / repetitions
            instructions = (counted.instructions - self._empty.instructions) / repetitions
            self._counted.append((cycles, instructions))
        return result

    def _between(self, run: Callable[[], RunResult]) -> tuple[RunResult, Counted | None]:
        """Run between start and stop of the counters."""
        counters = self._counters
        assert counters is not None  # noqa: S101
        counters.start()
        result = run()
        return result, counters.stop()

    def _check(self, device: Device) -> None:
        self.check_identity(device.description, str(self.image.path), None)

    def _measured(self, case: Case, trials: int) -> Outcome:
        """Measure at a steady clock; retry where it moved.

        A person who types readings is asked only once. If the clock moved, the record says so on a
        machine without a file; otherwise the case fails.
        """
        nominal = None if self._machine is None else self._machine.nominal_hz
        attended = self._instrument.meter.specification.attended
        problem: VerificationError | None = None
        for _ in range(1 if attended else _TRIES):
            refuse_throttled()
            before_hz = self._core.clock_hz(self._watch)
            outcome = super()._measured(case, trials)
            after_hz = self._core.clock_hz(self._watch)
            try:
                refuse_throttled()
                check_clock(before_hz, after_hz, nominal)
            except VerificationError as error:
                problem = error
                if not attended or nominal is not None:
                    continue
            governor = self._core.governor or "none (Linux does not set this machine's clock)"
            return replace(
                outcome,
                quantities=[*outcome.quantities, quantity("clock", "Hz", [before_hz, after_hz])],
                notes=[
                    *outcome.notes,
                    f"pinned to cpu{self._core.number}, governor {governor}",
                    *self._uncounted(),
                    *([] if problem is None or not attended else [problem.what]),
                    *marked_note(self._marker, outcome.repetitions),
                ],
            )
        assert problem is not None  # noqa: S101
        raise problem

    def _uncounted(self) -> list[str]:
        """Return a note with Linux's reason where cycles were not counted."""
        why_not = "" if self._counters is None else self._counters.why_not
        return [f"no cycles by perf_event: {why_not}"] if why_not else []

    def _window_s(self, specification: Specification) -> float:
        return chosen_window_s(specification, self._watt)

    @cached_property
    def _place(self) -> Provenance:
        return Provenance(
            seed=self.job.seed,
            host=host(),
            # The clock varies freely: each record has the measured one.
            clock_hz=0,
            chip=processor(),
            project_commit=self.job.project_commit,
            engine_version=engine_version(),
        )

    def _image_digest(self) -> str:
        return hashlib.sha256(self.image.path.read_bytes()).hexdigest()

    @property
    def _clock_bound(self) -> float:
        return 0.0

    def _cycles(self, times_s: list[float]) -> list[Quantity]:
        if not self._counted:
            return []
        cycles, instructions = zip(*self._counted[-len(times_s) :], strict=True)
        return [
            quantity("cycles", "cycles", cycles, grade="measured"),
            quantity("instructions", "instructions", instructions, grade="measured"),
        ]

    def _memory(self) -> list[Quantity]:
        return []

    def _idle_note(self, idle_a: list[float]) -> str:
        return "net of what was counted or recorded while this machine waited"
