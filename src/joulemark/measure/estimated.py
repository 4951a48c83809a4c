"""Estimates what an image would take on a Linux machine that is not here.

The image runs under QEMU in user mode, its output verified as ever; our plugin counts each block
of its code and schedules it on a model of the machine's in-order core (docs/linux-boards.md says
how far such numbers were off). Two runs that differ in the number of executions alone give the
price of one.
"""

import hashlib
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path

from joulemark.campaign.case import Case
from joulemark.campaign.job import Job
from joulemark.campaign.versions import host
from joulemark.catalogue.machines import Machine
from joulemark.errors import InputError, LinkError, VerificationError
from joulemark.images.architectures import architecture
from joulemark.images.plugin import build_plugin
from joulemark.measure.session import Outcome, Session, primitive
from joulemark.records.record import Provenance, Quantity, quantity
from joulemark.runners.local import LocalLink
from joulemark.runners.protocol import Device, Flag, Status

CORES = {"ARM1176JZF-S": "arm1176", "Cortex-A53": "cortex-a53"}
"""Cores that the plugin knows, by what machine files call them."""
ERROR = (
    "estimated: OpenSSL's AES-CBC at 14 lengths on two boards was 8.3% off in the mean and 33% at "
    "worst (docs/linux-boards.md); other code was not compared, branches count as predicted"
)
_FEW, _MORE = 2, 10
_KEPT = ("miss_cycles", "load", "store", "multiply", "long", "branch")
Counts = Mapping[str, int]


class Estimated(Session):
    """One image under QEMU with the plugin."""

    def __init__(self, job: Job, machine: Machine) -> None:
        super().__init__(job)
        if machine.core not in CORES:
            mend = f"there are models of {', '.join(CORES)}"
            raise InputError(f"there is no model of the {machine.core}", machine.name, mend)
        self.machine = machine
        self._plugin = build_plugin()
        self._emulator = architecture(machine.architectures[0]).emulator
        self._empty: dict[str, float] = {}

    def close(self) -> None:
        """Nothing is kept open."""

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
        """What one execution takes, without what calling it takes."""
        few = self._counts(case, number, _FEW, Flag.NONE)
        more = self._counts(case, number, _MORE, Flag.NONE)
        name = primitive(case).operation
        if name not in self._empty:
            empty = [self._counts(case, number, n, Flag.EMPTY) for n in (_FEW, _MORE)]
            self._empty[name] = _each(empty[0], empty[1], "cycles")
        each = {key: _each(few, more, key) for key in ("cycles", "instructions", *_KEPT)}
        each["cycles"] = max(each["cycles"] + each["miss_cycles"] - self._empty[name], 0.0)
        return each

    def _counts(self, case: Case, number: int, repetitions: int, flag: Flag) -> Counts:
        """All that a process did which executes so often; its output is verified."""
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder, "counts.json")
            told = f"{self._plugin},core={CORES[self.machine.core]},out={out},cache=on"
            with LocalLink(self.image.path, through=(*self._emulator, "-plugin", told)) as link:
                device = Device(link)
                put = self.exchange(case, number)
                for slot, data in put.inputs.items():
                    device.write(slot, data)
                result = device.run(primitive(case).operation, flag, repetitions)
                if result.status is not Status.OK:
                    raise VerificationError(f"ended with {result.status.name}", str(case))
                if flag is Flag.NONE:
                    self.verify(device, put, case, number)
                link.finish()
            try:
                counts: Counts = {
                    name: value
                    for name, value in json.loads(out.read_text()).items()
                    if isinstance(value, int)
                }
            except (OSError, ValueError) as error:
                mend = "is it a QEMU with plugins? Debian's qemu-user is"
                raise LinkError(f"the plugin counted nothing: {error}", "qemu", mend) from error
        return counts

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


def _each(few: Counts, more: Counts, name: str) -> float:
    return (more[name] - few[name]) / (_MORE - _FEW)
