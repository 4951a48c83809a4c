"""Estimates what an image would take on a Linux machine that is not here.

The image runs under QEMU in user mode, and its output is verified as always. Our plugin counts
each block of code and schedules it on a model of the machine's in-order core
(docs/linux-boards.md says how far off such numbers were). Two runs that differ only in the number
of executions give the cost of one.
"""

import hashlib
import json
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from joulemark import meaning
from joulemark.campaign.case import Case
from joulemark.campaign.job import Job
from joulemark.campaign.versions import host
from joulemark.catalogue.machines import Machine
from joulemark.errors import InputError, LinkError, VerificationError
from joulemark.images.architectures import Architecture
from joulemark.images.plugin import build_plugin
from joulemark.measure import scheduled
from joulemark.measure.recorded import Outcome
from joulemark.measure.scheduled import Target, cycles, pairs
from joulemark.measure.session import Session, primitive
from joulemark.records.record import Provenance, Quantity, quantity
from joulemark.runners.local import LocalLink
from joulemark.runners.protocol import Device, Flag, Status


@dataclass(frozen=True)
class Model:
    """How to derive cycles on a core from code for an architecture."""

    name: str
    """The plugin's name for it."""
    target: Target | None = None
    """LLVM's target, where the plugin has no model of the pipeline."""
    factor: float = 1.0
    """For costs that LLVM's model leaves out; calibrated in estimates/published.toml."""

    def cycles(self, few: "Counts", more: "Counts") -> float:
        """Return how many cycles more one process took than another that did less.

        Raises:
            ToolError: LLVM's tools are not installed.
        """
        if self.target is None:
            pipeline = float(more["cycles"] - few["cycles"])
        else:
            counted = pairs(more)
            counted.subtract(pairs(few))
            pipeline = self.factor * cycles(counted, self.target)
        waited: int = sum(more[name] - few[name] for name in ("branch_cycles", "miss_cycles"))
        return pipeline + waited


_SILVERMONT = 1.17
MODELS = {
    ("ARM1176JZF-S", "armv6"): Model("arm1176"),
    ("Cortex-A53", "armv6"): Model("cortex-a53"),
    ("Cortex-A53", "armv7"): Model("cortex-a53"),
    ("Cortex-A53", "armv8"): Model("cortex-a53"),
    ("Cortex-A53", "aarch64"): Model("cortex-a53-a64"),
    ("Silvermont", "i686"): Model("silvermont", Target("i686-linux-gnu", "slm"), _SILVERMONT),
    ("Silvermont", "x86-64"): Model(
        "silvermont-64", Target("x86_64-linux-gnu", "slm"), _SILVERMONT
    ),
}
"""By core, as machine files name it, and architecture."""
ERROR = (
    "estimated: of 53 published speeds of OpenSSL's AES, SHA and Keccak on such cores, none of "
    "them used to make the models, the mean error was 5.5% and the worst 32%; the worst of the 32 "
    "where the release that was measured was run, 16% (docs/linux-boards.md)"
)
_FEW, _MORE = 4, 20
KEPT = ("instructions", "miss_cycles", "branch_cycles", "mispredicted", "l1_misses", "l1i_misses")
Counts = Mapping[str, Any]
"""The plugin's counts of a process."""


def method() -> str:
    """Return a digest of all that turns executed code into cycles: the plugin and this side."""
    sides = [meaning.of_file(Path(side)) for side in (__file__, scheduled.__file__)]
    return meaning.of_values(sides, hashlib.sha256(build_plugin().read_bytes()).hexdigest())


def model(core: str, architecture: str) -> Model:
    """Return the model of a core.

    Raises:
        InputError: there is none.
    """
    if (core, architecture) not in MODELS:
        known = ", ".join(f"{of} ({how})" for of, how in MODELS)
        what = f"there is no model of the {core} that executes {architecture}"
        raise InputError(what, mend=f"there is {known}")
    return MODELS[core, architecture]


class Estimated(Session):
    """One image under QEMU with the plugin; threads may record its cases in parallel."""

    def __init__(self, job: Job, machine: Machine, architecture: Architecture) -> None:
        super().__init__(job)
        self.machine = machine
        self._model = model(machine.core, architecture.name)
        self._plugin = build_plugin()
        self._emulator = architecture.emulator
        self._empty: dict[str, float] = {}
        self._lock = threading.Lock()

    def close(self) -> None:
        """Do nothing: nothing is kept open."""

    def _measure(self, case: Case, trials: int) -> Outcome:
        runs = [self._one(case, number) for number in range(trials)]
        hz = self.machine.nominal_hz
        cycles = [run["cycles"] for run in runs]
        return Outcome(
            quantities=[
                quantity("cycles", "cycles", cycles, grade="estimated"),
                quantity("instructions", "instructions", [run["instructions"] for run in runs]),
                quantity("time", "ps", [round(c * 1e12 / hz) for c in cycles], grade="estimated"),
                *self._energy(cycles, hz),
            ],
            samples=[{name: round(value) for name, value in run.items()} for run in runs],
            repetitions=_MORE - _FEW,
            notes=[ERROR],
        )

    def _energy(self, cycles: list[float], hz: int) -> list[Quantity]:
        power = self.machine.watt("one-core")
        if power is None:
            return []
        energies = [c / hz * power.watt * 1e9 for c in cycles]
        return [quantity("energy_gross", "nJ", energies, grade="estimated")]

    def _one(self, case: Case, number: int) -> dict[str, float]:
        """Return the cost of one execution, net of the call."""
        few, more = (self._counts(case, number, n, Flag.NONE) for n in (_FEW, _MORE))
        name = primitive(case).operation
        with self._lock:
            if name not in self._empty:
                empty = [self._counts(case, number, n, Flag.EMPTY) for n in (_FEW, _MORE)]
                self._empty[name] = self._model.cycles(empty[0], empty[1])
        took = {kept: float(more[kept] - few[kept]) for kept in KEPT}
        took["cycles"] = max(self._model.cycles(few, more) - self._empty[name], 0.0)
        return {kept: value / (_MORE - _FEW) for kept, value in took.items()}

    def _counts(self, case: Case, number: int, repetitions: int, flag: Flag) -> Counts:
        """Return the counts of a process with this many executions; the output is verified."""
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder, "counts.json")
            told = f"{self._plugin},core={self._model.name},out={out},cache=on"
            with LocalLink(self.image.path, through=(*self._emulator, "-plugin", told)) as link:
                device = Device(link)
                put = self.exchange(case, number)
                for slot, data in put.inputs.items():
                    device.write(slot, data)
                result = device.run(primitive(case).operation, flag, repetitions)
                if result.status is not Status.OK:
                    raise VerificationError(str(result.status), str(case))
                if flag is Flag.NONE:
                    self.verify(device, put, case, number)
                link.finish()
            try:
                counts: Counts = json.loads(out.read_text())
            except (OSError, ValueError) as error:
                mend = "is it a QEMU with plugins? Debian's qemu-user is"
                raise LinkError(f"the plugin counted nothing: {error}", "qemu", mend) from error
        return counts

    @cached_property
    def _place(self) -> Provenance:
        return Provenance(
            seed=self.job.seed,
            host=host(),
            clock_hz=self.machine.nominal_hz,
            chip=self.machine.core,
            board_title=self.machine.title,
            board_digest=self.machine.digest,
            timing_note=ERROR,
            project_commit=self.job.project_commit,
        )

    def _image_digest(self) -> str:
        return hashlib.sha256(self.image.path.read_bytes()).hexdigest()
