"""Measures cases on a board that answers on a serial line, with an instrument on its supply."""

import dataclasses
import hashlib
import math
import time
from collections.abc import Iterator
from statistics import fmean
from typing import Any

from joulemark import boards
from joulemark.analysis.energy_of_samples import Estimate, combine, evaluate
from joulemark.boards import DCO_STEP_PPM
from joulemark.case import Case
from joulemark.errors import LinkError, VerificationError
from joulemark.measure import TIMER_OVERFLOW, Job, Point, Session, check_outputs
from joulemark.meters import Meter
from joulemark.protocol import Device, Flag, RunResult, Status
from joulemark.records import Record
from joulemark.runners import serial
from joulemark.runners.serial import SerialLink

RUNS = 5
_SAMPLES_IN_WINDOW = 2000
"""Where no number of repetitions is given: the window is this many samples long, and fits the
chip's timer."""
_WINDOW_MAX_S = 1.6
_QUIET_S = 0.3
"""Idle time that is recorded before and after the window, at least."""
_TIMER_DISAGREEMENT = 0.01


@dataclasses.dataclass(frozen=True)
class Setup:
    """What a campaign on hardware is measured with."""

    port: str
    meter: Meter
    meter_name: str
    unit: str
    """Which specimen of the board."""


class _Lab(Session):
    """One image on a board, and the meter."""

    def __init__(self, job: Job, setup: Setup, link: SerialLink) -> None:
        super().__init__(job)
        self._setup = setup
        self._link = link
        self._answers: Device | None = None

    def record(self, point: Point) -> Record:
        """Measure one case."""
        made = super().record(point)
        apart = f"{serial.NAME}/{self._setup.meter_name}/{self._setup.unit}/"
        return dataclasses.replace(
            made,
            # These records stand beside the emulator's of the same case.
            key=hashlib.sha256(f"{apart}{point.key}".encode()).hexdigest(),
            case_digest=hashlib.sha256(f"{apart}{point.case.digest}".encode()).hexdigest(),
            runner=serial.NAME,
            meter=self._setup.meter_name,
            unit=self._setup.unit,
        )

    @property
    def _device(self) -> Device:
        if self._answers is None:
            device = Device(self._link)
            for key, value in self.image.description.items():
                if device.description.get(key) != value:
                    raise LinkError(
                        f"the board's image says {key} = {device.description.get(key)}, and this "
                        f"case needs {value}",
                        self._setup.port,
                        f"flash {self.image.path}",
                    )
            self._answers = device
        return self._answers

    def _cost(self, case: Case, count: int) -> dict[str, Any]:
        """Independent runs, each with its own inputs; the number of trials is the runs'."""
        try:
            return self._measured(case)
        except LinkError:
            self._answers = None
            raise

    def _measured(self, case: Case) -> dict[str, Any]:
        device, meter = self._device, self._setup.meter
        rate_hz = meter.specification.rate_hz
        for slot, data in self._exchange(case, 0).inputs.items():
            device.write(slot, data)
        once_s = self._seconds(device.run(case.operation), case)
        repetitions = case.repetitions
        if repetitions == 1:
            window_s = min(_SAMPLES_IN_WINDOW / rate_hz, _WINDOW_MAX_S)
            repetitions = max(math.ceil(window_s / max(once_s, 1e-6)), 1)
        empty_s = self._seconds(device.run(case.operation, Flag.EMPTY, repetitions), case)
        runs, timer_s = [], []
        for number in range(RUNS):
            put = self._exchange(case, number)
            for slot, data in put.inputs.items():
                device.write(slot, data)
            expected_s = once_s * repetitions
            self._link.timeout_s = 5.0 + 2.0 * expected_s
            # A meter may take as long again to be triggered as the quiet time is.
            meter.start(expected_s + 4 * _QUIET_S)
            time.sleep(_QUIET_S)
            result = device.run(case.operation, Flag.NONE, repetitions)
            samples = meter.finish()
            if result.status is not Status.OK:
                raise VerificationError(f"ended with {result.status.name}", str(case))
            check_outputs(device, put, case, number, self.job.seed)
            runs.append(evaluate(samples, repetitions))
            timer_s.append(self._seconds(result, case))
        edges = bool(samples.edges_s)
        # Between edges lies the empty window's time too. A window found in the current holds the
        # command's and the answer's handling as well: only its power is taken, and its time is the
        # chip's timer's, which is as far off as the clock is.
        factors = [
            1.0 - empty_s / t if edges else (t - empty_s) / (r.time_s * repetitions)
            for r, t in zip(runs, timer_s, strict=True)
        ]
        clock_bound = 0.0 if edges else DCO_STEP_PPM * 1e-6
        bound = math.hypot(samples.accuracy.of_reading, clock_bound)
        sampling = max(r.sampling_uncertainty_j for r in runs)
        gross = combine(
            [r.gross_j * f for r, f in zip(runs, factors, strict=True)], sampling, bound
        )
        net = combine([r.net_j * f for r, f in zip(runs, factors, strict=True)], sampling, bound)
        times_s = [(t - empty_s) / repetitions for t in timer_s]
        cycles = [t * self.clock.hz for t in times_s]
        memory = self.memory
        return {
            "status": "ok",
            "repetitions": repetitions,
            "samples": [
                {
                    "gross_pj": round(r.gross_j * 1e12),
                    "net_pj": round(r.net_j * 1e12),
                    "window_ns": round(r.time_s * repetitions * 1e9),
                    "timer_ns": round(t * 1e9),
                }
                for r, t in zip(runs, timer_s, strict=True)
            ],
            "exact": False,
            "cycles": fmean(cycles),
            "cycles_min": min(cycles),
            "cycles_max": max(cycles),
            "time_ps": round(fmean(times_s) * 1e12),
            "timer_time_ps": round(timer_s[0] * 1e12),
            "energy_gross_nj": gross.mean * 1e9,
            "energy_net_nj": net.mean * 1e9,
            "energy_grade": "measured",
            "flash_bytes": memory.flash_bytes,
            "ram_bytes": memory.ram_bytes,
            "flash_wiring_bytes": memory.flash_wiring_bytes,
            "ram_wiring_bytes": memory.ram_wiring_bytes,
            "trials": RUNS,
            "secret_independent_claim": self.implementation.secret_independent,
            "notes": [
                *(_interval(name, e) for name, e in (("gross", gross), ("net", net))),
                f"{meter.specification.title}: {meter.specification.document}",
                "net of what the board drew while it waited for its next command",
                *self._disagreement([r.time_s * repetitions for r in runs], timer_s),
            ],
        }

    def _seconds(self, result: RunResult, case: Case) -> float:
        if result.timer_ticks == TIMER_OVERFLOW:
            raise VerificationError(
                "the window is longer than the chip's timer holds", str(case), "fewer --repetitions"
            )
        return result.timer_ticks / int(self.image.description["timer_hz"])

    @staticmethod
    def _disagreement(window_s: list[float], timer_s: list[float]) -> list[str]:
        """The chip's timer and the meter's window tell the same time, or the record says not."""
        apart = fmean(window_s) / fmean(timer_s) - 1.0
        if abs(apart) <= _TIMER_DISAGREEMENT:
            return []
        return [f"the meter's window is {apart:+.1%} of the chip's timer's"]


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
    """Measure the cases of the image that the board has, one record each.

    Raises:
        LinkError: the port cannot be opened.
    """
    baud = boards.load_board(job.build.board).serial.baud
    with SerialLink(setup.port, baud) as link:
        session = _Lab(job, setup, link)
        for point in job.points:
            yield session.record(point)
