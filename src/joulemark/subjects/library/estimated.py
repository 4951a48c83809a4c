"""Estimates what a library's algorithms would take on a Linux machine that is not here.

The program links the library of that machine's Debian release and runs under QEMU with our plugin,
as estimated.py describes for primitives.
"""

import json
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from joulemark import oracles
from joulemark.campaign.job import Point
from joulemark.catalogue.machines import Machine
from joulemark.errors import JoulemarkError, LinkError, VerificationError
from joulemark.images.architectures import Architecture
from joulemark.images.plugin import build_plugin
from joulemark.measure.estimated import ERROR, KEPT, Counts, model
from joulemark.measure.recorded import Outcome, recorded
from joulemark.measure.side_by_side import side_by_side
from joulemark.records.record import Quantity, Record, quantity
from joulemark.subjects.library import LibrarySubject
from joulemark.subjects.library.plan import LibraryJob
from joulemark.subjects.library.session import of_library

_FEW, _MORE = 1, 4
"""Executions in the two processes; for calls that take bytes, messages."""
_LONGEST_S = 1200
_ANSWERS = 3


class EstimatedLibrary:
    """One library's program under QEMU with the plugin."""

    def __init__(self, job: LibraryJob, machine: Machine, target: Architecture) -> None:
        self.job = job
        self._machine = machine
        self._model = model(machine.core, target.name)
        self._target = target

    def records(self) -> Iterator[Record[LibrarySubject]]:
        """Estimate all cases and yield their records; a failed case gives a failed record."""
        return side_by_side(partial(self.record, point) for point in self.job.points)

    def record(self, point: Point) -> Record[LibrarySubject]:
        """Estimate one case."""
        subject = point.case.subject
        assert isinstance(subject, LibrarySubject)  # noqa: S101
        outcome: Outcome | str
        try:
            sample = self._one(subject)
            outcome = Outcome(
                quantities=list(self._quantities(sample)),
                samples=[sample],
                repetitions=_MORE - _FEW,
                notes=[ERROR, f"library: {', '.join(self.job.program.objects)}"],
            )
        except JoulemarkError as error:
            outcome = str(error)
        provenance = replace(
            of_library(self.job, self._machine.nominal_hz, self._machine.core), timing_note=ERROR
        )
        return recorded(point.key, subject, point.case, provenance, outcome)

    def _quantities(self, sample: Mapping[str, int]) -> Iterator[Quantity]:
        hz, cycles = self._machine.nominal_hz, sample["cycles"]
        yield quantity("cycles", "cycles", [cycles], grade="estimated")
        yield quantity("instructions", "instructions", [sample["instructions"]])
        yield quantity("time", "ps", [round(cycles * 1e12 / hz)], grade="estimated")
        power = self._machine.watt("one-core")
        if power is not None:
            energy = cycles / hz * power.watt * 1e9
            yield quantity("energy_gross", "nJ", [energy], grade="estimated")

    def _one(self, subject: LibrarySubject) -> dict[str, int]:
        """Return the mean cost of one execution."""
        unit = oracles.PERIOD if oracles.algorithm(subject.algorithm).sized else 1
        few, more = (self._counts(subject, unit * n) for n in (_FEW, _MORE))
        executions = unit * (_MORE - _FEW)
        found = {name: round((more[name] - few[name]) / executions) for name in KEPT}
        found["cycles"] = round(self._model.cycles(few, more) / executions)
        return found

    def _counts(self, subject: LibrarySubject, count: int) -> Counts:
        """Return the counts of a process with this many executions; the output is verified."""
        algorithm = oracles.algorithm(subject.algorithm)
        inputs = oracles.drawn(
            subject.algorithm, subject.operation, subject.message_bytes, self.job.seed
        )
        values = " ".join(f"{name}={value.hex()}" for name, value in inputs.items())
        row = f"{subject.algorithm} {subject.operation}"
        lines = f"prepare {row} {values}\nrun {count} 0\noutputs\n"
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder, "counts.json")
            plugin = f"{build_plugin()},core={self._model.name},out={out},cache=on"
            program = str(self.job.program.path)
            try:
                done = subprocess.run(
                    [*self._target.emulator, "-plugin", plugin, program],
                    input=lines,
                    capture_output=True,
                    text=True,
                    timeout=_LONGEST_S,
                    check=False,
                )
            except subprocess.TimeoutExpired as error:
                raise LinkError(f"silent for {_LONGEST_S} s", program) from error
            answers = done.stdout.splitlines()
            if done.returncode != 0 or len(answers) < _ANSWERS:
                said = done.stderr.strip()[:400] or "it said nothing"
                raise LinkError(f"the process ended with code {done.returncode}: {said}", program)
            for answer in answers[: _ANSWERS - 1]:
                if answer.startswith("error"):
                    raise VerificationError(f"the library says: {answer}", str(subject))
            given = (pair.split("=") for pair in answers[_ANSWERS - 1].split())
            outputs = {name: bytes.fromhex(value) for name, value in given}
            if wrong := algorithm.problem(subject.operation, inputs, outputs):
                raise VerificationError(wrong, str(subject))
            counts: Counts = json.loads(out.read_text())
            return counts
