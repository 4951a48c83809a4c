"""Measures cases on a board that answers on a serial line, or on this machine, with a meter."""

import dataclasses
import hashlib
import json
import math
import platform
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from statistics import fmean
from typing import Any, Protocol

from joulemark.analysis.energy_of_samples import (
    Estimate,
    Run,
    estimates,
    evaluate,
    evaluate_counted,
)
from joulemark.campaign.campaign import Campaign
from joulemark.campaign.case import Build, Case
from joulemark.catalogue import boards
from joulemark.catalogue.boards import DCO_STEP_PPM
from joulemark.catalogue.primitives import Library
from joulemark.errors import BuildError, JoulemarkError, LinkError, VerificationError
from joulemark.images import BuiltImage, build_local
from joulemark.measure.session import METHOD, TIMER_OVERFLOW, Job, Point, Session, check_outputs
from joulemark.meters import Meter, Specification
from joulemark.meters.samples import Counted
from joulemark.records.conditions import project_commit
from joulemark.records.record import Record
from joulemark.runners import local, serial
from joulemark.runners.local import LocalLink
from joulemark.runners.protocol import Device, Flag, Link, RunResult, Status
from joulemark.runners.serial import SerialLink

RUNS = 5
_SAMPLES_IN_WINDOW = 2000
"""Where no number of repetitions is given, the window is this many samples long, or as long as the
meter's specification says."""
_TIMER_S = 1.6
"""The chips' timers hold a window that is this long."""
_ROUGH_S = 5e-3
_QUIET_S = 0.3
_QUIET_SAMPLES = 16
"""The board sleeps before and after the window for so long, and for so many samples, at least."""
_LEAD_S = 0.1
_LEAD_SAMPLES = 3
_LATE_S = 1.0
"""What is recorded before the board is told to begin; and how late that may be."""
_TIMER_DISAGREEMENT = 0.01


@dataclasses.dataclass(frozen=True)
class Setup:
    """What a campaign on hardware is measured with."""

    port: str
    """Serial port of the board; empty for this machine."""
    meter: Meter
    meter_name: str
    unit: str
    """Which specimen of the board."""
    runs: int = RUNS
    supply_bound: float = 0.0
    """Relative bound on the error of the supply voltage that the meter was told."""
    supply_note: str = "supply voltage as the board's file says, taken as exact"


class _Line(Link, Protocol):
    timeout_s: float

    def close(self) -> None: ...


def key_of(text: str, runner: str, meter: str, unit: str) -> str:
    """What stands for a case's key or digest in records that stand beside the emulator's."""
    return hashlib.sha256(f"{runner}/{meter}/{unit}/{text}".encode()).hexdigest()


class _Lab(Session):
    """One image on a board, and the meter."""

    runner = serial.NAME

    def __init__(self, job: Job, setup: Setup, open_line: Callable[[], _Line]) -> None:
        super().__init__(job)
        self._setup = setup
        self._open_line = open_line
        self._line: _Line | None = None
        self._answers: Device | None = None

    def record(self, point: Point) -> Record:
        """Measure one case."""
        made = super().record(point)
        told = (self.runner, self._setup.meter_name, self._setup.unit)
        return dataclasses.replace(made, case_digest=key_of(point.case.digest, *told))

    def _conditions(self) -> dict[str, Any]:
        return super()._conditions() | {
            "runner": self.runner,
            "meter": self._setup.meter_name,
            "unit": self._setup.unit,
        }

    @property
    def _device(self) -> Device:
        if self._answers is None:
            image = self.image
            self._line = self._open_line()
            device = Device(self._line)
            for key, value in image.description.items():
                if device.description.get(key) != value:
                    raise LinkError(
                        f"the board's image says {key} = {device.description.get(key)}, and this "
                        f"case needs {value}",
                        self._setup.port,
                        f"flash {image.path}, or give --flash",
                    )
            self._answers = device
        return self._answers

    def _cost(self, case: Case, count: int) -> dict[str, Any]:
        """Independent runs, each with its own inputs; the number of trials is the runs'."""
        try:
            return self._measured(case)
        except LinkError:
            # The next case may find it plugged in again.
            self.close()
            raise

    def close(self) -> None:
        """Let go of the line."""
        if self._line is not None:
            self._line.close()
        self._line = self._answers = None

    def _measured(self, case: Case) -> dict[str, Any]:
        device, specification = self._device, self._setup.meter.specification
        for slot, data in self._exchange(case, 0).inputs.items():
            device.write(slot, data)
        painted_bytes = device.run(case.operation, Flag.PAINT).stack_bytes
        once_s = self._once_s(case)
        repetitions = case.repetitions
        if repetitions == 1:
            window_s = specification.window_s
            if specification.rate_hz is not None:
                window_s = min(_SAMPLES_IN_WINDOW / specification.rate_hz, window_s)
            repetitions = max(math.ceil(window_s / once_s), 1)
        length = self._length(case, repetitions, once_s)
        runs = [self._run(case, repetitions, length, n) for n in range(self._setup.runs)]
        # A window that was found in the current is as long as the chip's timer says, and that is
        # as far off as its clock is.
        clock_bound = 0.0 if runs[0].edges or specification.rate_hz is None else self._clock_bound
        supply_bound = 0.0 if specification.measures_voltage else self._setup.supply_bound
        relative = math.hypot(runs[0].of_reading, clock_bound, supply_bound)
        gross, net = estimates([r.run for r in runs], relative)
        times_s = [(r.timer_s or length.window_s) - length.empty_s for r in runs]
        stated = [("gross", gross), *([("net", net)] if net is not None else [])]
        return {
            "status": "ok",
            "repetitions": repetitions,
            "samples": [r.sample for r in runs],
            "exact": False,
            **self._cycles([t / repetitions for t in times_s]),
            "time_ps": round(fmean(times_s) / repetitions * 1e12),
            "timer_time_ps": None if runs[0].timer_s is None else round(runs[0].timer_s * 1e12),
            "energy_gross_nj": gross.mean * 1e9,
            "energy_gross_half_width_nj": gross.half_width_95 * 1e9,
            "energy_net_nj": None if net is None else net.mean * 1e9,
            "energy_net_half_width_nj": None if net is None else net.half_width_95 * 1e9,
            "energy_grade": "measured",
            **self._memory(),
            "stack_painted_bytes": painted_bytes or None,
            "trials": len(runs),
            "secret_independent_claim": self.implementation.secret_independent,
            "notes": [
                *(_interval(name, e) for name, e in stated),
                f"{specification.title}: {specification.document}",
                "supply voltage: the meter's"
                if specification.measures_voltage
                else self._setup.supply_note,
                *_how_found(runs[0], specification),
                self._idle_note(runs)
                if net is not None
                else "no net energy: idle was not measured",
                *_disagreement(runs),
            ],
        }

    def _once_s(self, case: Case) -> float:
        """About how long one execution takes: of as many as the timer can tell apart."""
        count, window_s = 1, 0.0
        while window_s < _ROUGH_S:
            timed_s = self._seconds(self._device.run(case.operation, Flag.NONE, count))
            if timed_s is None:
                what = f"{count} executions are longer than the chip's timer holds"
                raise VerificationError(what, str(case), "choose a smaller message")
            window_s = timed_s
            if window_s < _ROUGH_S:
                count = max(math.ceil(1.5 * _ROUGH_S * count / max(window_s, 1e-5)), count + 1)
        return window_s / count

    def _length(self, case: Case, repetitions: int, once_s: float) -> "_Length":
        """How long a window is, and how much of it is no operation.

        The chip's timer times a window that it holds; a longer one is told from a shorter one.
        """
        held = min(repetitions, max(int(_TIMER_S / once_s), 1))
        empty_s = self._seconds(self._device.run(case.operation, Flag.EMPTY, held))
        window_s: float | None = once_s * repetitions
        if held < repetitions:
            window_s = self._seconds(self._device.run(case.operation, Flag.NONE, held))
        if empty_s is None or window_s is None:
            what = "the window is longer than the chip's timer holds"
            raise VerificationError(what, str(case), "fewer --repetitions")
        if held < repetitions:
            return _Length(window_s * repetitions / held, empty_s * repetitions / held)
        return _Length(window_s, empty_s)

    def _run(self, case: Case, repetitions: int, length: "_Length", number: int) -> "_OneRun":
        """One run with its own inputs, its output verified."""
        device, meter = self._device, self._setup.meter
        put = self._exchange(case, number)
        for slot, data in put.inputs.items():
            device.write(slot, data)
        assert self._line is not None  # noqa: S101
        self._line.timeout_s = 5.0 + 2.0 * length.window_s
        rate_hz, idle_w, quiet_s = meter.specification.rate_hz, None, 0.0
        if rate_hz is None:
            if not meter.specification.attended:
                idle_w = self._idle_w(length.window_s)
            meter.start(length.window_s)
        else:
            quiet_s = max(_QUIET_S, _QUIET_SAMPLES / rate_hz)
            lead_s = max(_LEAD_S, _LEAD_SAMPLES / rate_hz)
            # A slow meter's first sample is of what was before it.
            time.sleep(1 / rate_hz)
            # The clock that the board sleeps by is another than the meter's, and the command may
            # be late.
            meter.start(length.window_s + 2.1 * quiet_s + 4 * lead_s + _LATE_S)
            time.sleep(lead_s)
            self._line.timeout_s += 2.1 * quiet_s
        began_s = time.monotonic()
        try:
            result = device.run(case.operation, Flag.NONE, repetitions, round(quiet_s * 1e3))
        except LinkError:
            if not meter.specification.attended:
                # Or it would still be at this run in the next one.
                with suppress(JoulemarkError):
                    meter.finish()
            raise
        wall_s = time.monotonic() - began_s
        got = meter.finish()
        if result.status is not Status.OK:
            raise VerificationError(f"ended with {result.status.name}", str(case))
        check_outputs(device, put, case, number, self.job.seed)
        timer_s = self._seconds(result)
        timed_s = length.window_s if timer_s is None else timer_s
        operation_s = timed_s - length.empty_s
        if isinstance(got, Counted):
            run = evaluate_counted(got, wall_s, repetitions, idle_w)
            # The command's way to the board and back counts as idle.
            beside_j = 0.0 if idle_w is None else idle_w * (wall_s - timed_s) / repetitions
            run = dataclasses.replace(run, gross_j=run.gross_j - beside_j)
            return _OneRun(run.times(operation_s / timed_s), wall_s, timer_s, got.of_reading)
        run = evaluate(got, repetitions, quiet_s)
        window_s = run.time_s * repetitions
        # Between edges lies the empty window's time too. A window found in the current is known
        # to a sample or two: only its power is taken.
        edges = bool(got.edges_s)
        factor = operation_s / (timed_s if edges else window_s)
        return _OneRun(run.times(factor), window_s, timer_s, got.accuracy.of_reading, edges)

    def _idle_w(self, seconds: float) -> float:
        """What a counting meter counts while nothing is asked for."""
        self._setup.meter.start(seconds)
        began_s = time.monotonic()
        time.sleep(seconds)
        counted = self._setup.meter.finish()
        assert isinstance(counted, Counted)  # noqa: S101
        return counted.joule / (time.monotonic() - began_s)

    @property
    def _clock_bound(self) -> float:
        """How far off the clock may be that the chip's timer counts."""
        return DCO_STEP_PPM * 1e-6

    def _idle_note(self, runs: "list[_OneRun]") -> str:
        text = "net of what the board drew asleep before and after the window, in the same run"
        idle_a = [r.run.idle_a for r in runs]
        if any(math.isnan(a) for a in idle_a):
            return text
        return (
            f"{text}: {fmean(idle_a) * 1e6:.4g} uA; the model's net energy is net of "
            f"{self.meter.idle.ampere * 1e6:.4g} uA ({self.board.idle_state})"
        )

    def _cycles(self, times_s: list[float]) -> dict[str, float | None]:
        cycles = [t * self.clock.hz for t in times_s]
        return {"cycles": fmean(cycles), "cycles_min": min(cycles), "cycles_max": max(cycles)}

    def _memory(self) -> dict[str, int | None]:
        memory = self.memory
        return {
            "flash_bytes": memory.flash_bytes,
            "ram_bytes": memory.ram_bytes,
            "flash_wiring_bytes": memory.flash_wiring_bytes,
            "ram_wiring_bytes": memory.ram_wiring_bytes,
        }

    def _seconds(self, result: RunResult) -> float | None:
        """A window by the chip's own timer; None where it did not hold it."""
        if result.timer_ticks == TIMER_OVERFLOW:
            return None
        return result.timer_ticks / int(self.image.description["timer_hz"])


class _LocalLab(_Lab):
    """One image as a program on this machine."""

    runner = local.NAME

    def _conditions(self) -> dict[str, Any]:
        return {
            # Its clock goes up and down as it likes.
            "clock_hz": 0,
            "chip": _processor(),
            "runner": self.runner,
            "meter": self._setup.meter_name,
            "unit": self._setup.unit,
            "board_digest": "",
            "chip_digest": "",
        }

    @property
    def _image_digest(self) -> str:
        return hashlib.sha256(self.image.path.read_bytes()).hexdigest()

    @property
    def _clock_bound(self) -> float:
        return 0.0

    def _idle_note(self, runs: "list[_OneRun]") -> str:
        return "net of what was counted or recorded while this machine waited"

    def _cycles(self, times_s: list[float]) -> dict[str, float | None]:
        return {}

    def _memory(self) -> dict[str, int | None]:
        return {}


@dataclasses.dataclass(frozen=True)
class _Length:
    """Of a window that is to be measured."""

    window_s: float
    empty_s: float
    """Its share that is no operation."""


@dataclasses.dataclass(frozen=True)
class _OneRun:
    run: Run
    """The operation's, without the empty window's share."""
    window_s: float
    """By the meter, or by this machine's clock where the meter counts."""
    timer_s: float | None
    of_reading: float
    edges: bool = False

    @property
    def sample(self) -> dict[str, int]:
        """What a record keeps of it."""
        values = {"gross_pj": self.run.gross_j * 1e12, "net_pj": self.run.net_j * 1e12}
        values["window_ns"] = self.window_s * 1e9
        if self.timer_s is not None:
            values["timer_ns"] = self.timer_s * 1e9
        return {name: round(v) for name, v in values.items() if not math.isnan(v)}


def _how_found(run: _OneRun, specification: Specification) -> list[str]:
    if specification.rate_hz is None:
        return []
    if run.edges:
        return ["window between the marker's edges"]
    unseen = f"; {specification.marker} saw no marker" if specification.marker else ""
    return [f"window found in the current{unseen}"]


def _disagreement(runs: list[_OneRun]) -> list[str]:
    """The chip's timer and the meter's window tell the same time, or the record says not."""
    timed = [(r.window_s, r.timer_s) for r in runs if r.timer_s is not None]
    if not timed:
        return ["windows are longer than the chip's timer holds: told from shorter ones"]
    apart = fmean(w for w, _ in timed) / fmean(t for _, t in timed) - 1.0
    if abs(apart) <= _TIMER_DISAGREEMENT:
        return []
    return [f"the meter's window is {apart:+.1%} off the chip's timer's"]


def _interval(name: str, estimate: Estimate) -> str:
    text = (
        f"{name}: {estimate.mean * 1e6:.6g} uJ +- {estimate.half_width_95 * 1e6:.2g} (95%), "
        f"{estimate.runs} runs"
    )
    if estimate.outliers:
        far = ", ".join(str(i + 1) for i in estimate.outliers)
        text += f"; far from the others, and counted: {far}"
    return text


def measure_on_board(job: Job, setup: Setup) -> Iterator[Record]:
    """Measure the cases of the image that the board has, one record each."""
    baud = boards.load_board(job.build.board).serial.baud
    with closing(_Lab(job, setup, lambda: SerialLink(setup.port, baud))) as session:
        for point in job.points:
            yield session.record(point)


def measure_here(job: Job, setup: Setup) -> Iterator[Record]:
    """Measure the cases of an image as a program on this machine, one record each."""
    with closing(_LocalLab(job, setup, lambda: LocalLink(_built(job).path))) as session:
        for point in job.points:
            yield session.record(point)


def _built(job: Job) -> BuiltImage:
    if isinstance(job.image, BuildError):
        raise job.image
    return job.image


def local_jobs(
    campaign: Campaign, library: Library, cases: Mapping[Build, list[Case]]
) -> list[Job]:
    """Build a campaign's images for this machine, and give each case its key."""
    jobs = []
    for build, points in cases.items():
        way = library.implementation(library[build.primitive], build.implementation)
        image: BuiltImage | BuildError
        try:
            image = build_local(way, compiler=build.compiler, optimisation=build.optimisation)
        except BuildError as error:
            image = error
        made_of = str(image) if isinstance(image, BuildError) else image.build_id
        shared = json.dumps([METHOD, platform.node(), _processor(), made_of, campaign.seed])
        jobs.append(
            Job(
                build=build,
                image=image,
                points=tuple(
                    Point(
                        case=case,
                        trials=campaign.trials,
                        key=hashlib.sha256(f"{shared}{case.canonical}".encode()).hexdigest(),
                    )
                    for case in points
                ),
                seed=campaign.seed if campaign.seed is not None else secrets.randbits(53),
                project_commit=project_commit(),
            )
        )
    return jobs


def _processor() -> str:
    """What Linux calls this machine's processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    named = {key.strip(): value.strip() for key, value in fields.items()}
    return named.get("Model") or named.get("model name") or platform.machine()
