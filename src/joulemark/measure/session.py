"""Measures cases: inputs in, empty window, measured window, outputs out, oracle, record."""

import dataclasses
import datetime
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from statistics import fmean
from typing import Any

from joulemark._engine import Chip, EngineError, Image
from joulemark.campaign.case import Build, Case
from joulemark.catalogue import boards
from joulemark.catalogue.kinds import Exchange
from joulemark.catalogue.primitives import Library
from joulemark.errors import BuildError, JoulemarkError, VerificationError
from joulemark.images import BuiltImage, memory
from joulemark.meters import model
from joulemark.meters.model import ModelMeter
from joulemark.meters.power import ACTIVE, Occupancy, weakest
from joulemark.oracle import Inputs, Output
from joulemark.records.conditions import engine_version, host
from joulemark.records.record import Record
from joulemark.runners import emulator
from joulemark.runners.emulator import BUDGET_CYCLES, EmulatedBoard, Window
from joulemark.runners.protocol import Device, Flag, Status

METHOD = 3
"""Counts changes to how cases are measured: results of an older method are not served again."""

_PROBE_BYTES = 16
"""Message that shows whether an init was right."""


TIMER_OVERFLOW = 0xFFFFFFFF
"""What an image says when its timer did not hold the window (docs/image-protocol.md)."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """A case to measure, how often, and the key that its record gets."""

    case: Case
    trials: int
    key: str


@dataclass(frozen=True, kw_only=True)
class Job:
    """Cases of one image."""

    build: Build
    image: BuiltImage | BuildError
    points: tuple[Point, ...]
    seed: int
    project_commit: str | None


@lru_cache(maxsize=1)
def _library() -> Library:
    return Library.load()


@lru_cache(maxsize=4096)
def _forward(algorithm: str, inputs: Inputs) -> Output:
    """The oracle's answer, kept for the other implementations: some oracles are slow."""
    return _library()[algorithm].oracle(inputs)


def measure(job: Job) -> Iterator[Record]:
    """Measure the cases of an image, one record each; a case that fails gives a failed record."""
    session = Session(job)
    for point in job.points:
        yield session.record(point)


class Session:
    """One image, its emulated board, and what all of its records share."""

    def __init__(self, job: Job) -> None:
        self.job = job
        library = _library()
        self.algorithm = library[job.build.primitive]
        self.implementation = library.implementation(self.algorithm, job.build.implementation)
        self._running: tuple[EmulatedBoard, Device] | None = None
        self._empty: dict[tuple[str, int], Window] = {}
        self._written: dict[str, bytes] = {}

    @cached_property
    def board(self) -> boards.Board:
        """The board's file."""
        return boards.load_board(self.job.build.board)

    @cached_property
    def chip(self) -> Chip:
        """Its chip's file."""
        return boards.load_chip(self.board.chip)

    @cached_property
    def clock(self) -> boards.Clock:
        """The clock profile."""
        return self.board.clock_profile(self.job.build.clock)

    @cached_property
    def meter(self) -> ModelMeter:
        """The model of its currents."""
        return ModelMeter(self.board)

    @property
    def image(self) -> BuiltImage:
        """The image, where the compiler made one."""
        if isinstance(self.job.image, BuildError):
            raise self.job.image
        return self.job.image

    @cached_property
    def memory(self) -> memory.Memory:
        """What the primitive takes of the image."""
        return memory.measure(self.image)

    def record(self, point: Point) -> Record:
        """Measure one case."""
        case, build = point.case, self.job.build
        base: dict[str, Any] = {
            "key": point.key,
            "case_digest": case.digest,
            **dataclasses.asdict(build),
            "operation": case.operation,
            "message_bytes": case.message_bytes,
            "ad_bytes": case.ad_bytes,
            "tag_bytes": case.tag_bytes,
            "repetitions": case.repetitions,
            "seed": self.job.seed,
            **self._conditions(),
            "project_commit": self.job.project_commit,
            "engine_version": engine_version(),
            "host": host(),
        }
        try:
            base |= {
                "compiler_version": self.image.compiler,
                "flags": self.image.flags,
                "build_id": self.image.build_id,
                "image_digest": self._image_digest,
            }
            cost = self._cost(case, point.trials)
        except (JoulemarkError, EngineError) as error:
            self._boot_anew()
            cost = {"status": "failed", "failure": str(error)}
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
        return Record(measured_at=now, **(base | cost))

    def _boot_anew(self) -> None:
        self._running = None
        self._empty.clear()

    @property
    def _image_digest(self) -> str:
        return self.program.digest

    def _conditions(self) -> dict[str, Any]:
        """What the case is measured on, and with."""
        return {
            "clock_hz": self.clock.hz,
            "chip": self.board.chip,
            "unit": emulator.UNIT,
            "runner": emulator.NAME,
            "meter": model.NAME,
            "board_digest": self.board.digest,
            "chip_digest": self.chip.digest,
        }

    @cached_property
    def program(self) -> Image:
        """The image as the engine loads it."""
        return Image.load(self.image.path)

    @property
    def running(self) -> tuple[EmulatedBoard, Device]:
        """The booted image; booted anew after a failure."""
        if self._running is None:
            machine = EmulatedBoard(
                self.chip, self.program, marker=self.board.marker.pin, port=self.board.serial.port
            )
            device = Device(machine, attempts=1)
            self._check_identity(device.description, machine)
            self._written = {}
            self._running = machine, device
        return self._running

    def _check_identity(self, description: Mapping[str, str], machine: EmulatedBoard) -> None:
        for key, value in self.image.description.items():
            if description.get(key) != value:
                raise VerificationError(
                    f"the image says {key} = {description.get(key)}, and should say {value}",
                    str(self.image.path),
                )
        if not self.clock.accepts(machine.clock_hz):
            raise VerificationError(
                f"the core runs at {machine.clock_hz} Hz, and the clock profile "
                f"{self.job.build.clock} says {self.clock.hz} Hz",
                self.board.name,
            )

    def _cost(self, case: Case, count: int) -> dict[str, Any]:
        if boards.load_chip(self.board.chip).memories_keep_state:
            self._boot_anew()  # A case then takes the same time whatever was measured before.
        trials = [self._trial(case, number) for number in range(count)]
        windows = [t.window for t in trials]
        empty = self._empty[case.operation, case.repetitions]
        cycles = [(w.cycles - empty.cycles) / case.repetitions for w in windows]
        instructions = [(w.instructions - empty.instructions) / case.repetitions for w in windows]
        first = windows[0]
        net = fmean(cycles)
        gross = [self.meter.energy(self._at_clock(w)) for w in windows]
        none = self.meter.energy(self._at_clock(empty))
        states: Counter[str] = Counter()
        for (state, _), picoseconds in self._at_clock(first).items():
            states[state] += picoseconds
        memory = self.memory
        return {
            "status": "ok",
            "samples": [
                {
                    "window_cycles": w.cycles,
                    "window_instructions": w.instructions,
                    "addresses": w.addresses,
                }
                for w in windows
            ],
            "exact": len({w.cycles for w in windows}) == 1,
            "window_cycles": first.cycles,
            "empty_cycles": empty.cycles,
            "cycles": net,
            "cycles_min": min(cycles),
            "cycles_max": max(cycles),
            "window_instructions": first.instructions,
            "empty_instructions": empty.instructions,
            "instructions": fmean(instructions),
            "time_ps": round(net * 1e12 / self.clock.hz),
            "timer_time_ps": self._timer_ps(trials[0]),
            "energy_gross_nj": (fmean(e.gross_nj for e in gross) - none.gross_nj)
            / case.repetitions,
            "energy_net_nj": (fmean(e.net_nj for e in gross) - none.net_nj) / case.repetitions,
            "energy_grade": weakest(e.grade for e in gross),
            "power_states_ps": dict(states),
            "flash_bytes": memory.flash_bytes,
            "ram_bytes": memory.ram_bytes,
            "flash_wiring_bytes": memory.flash_wiring_bytes,
            "ram_wiring_bytes": memory.ram_wiring_bytes,
            "stack_bytes": max(w.stack_bytes for w in windows),
            "stack_painted_bytes": max(t.painted_bytes for t in trials),
            "trials": len(trials),
            "addresses_equal": len({w.addresses for w in windows}) == 1,
            "memories_keep_state": boards.load_chip(self.board.chip).memories_keep_state,
            "secret_independent_claim": self.implementation.secret_independent,
            "notes": [
                *self.meter.notes(self._at_clock(first)),
                *filter(None, [boards.load_chip(self.board.chip).timing_note]),
                *([f"clock {self.job.build.clock}: {self.clock.note}"] if self.clock.note else []),
            ],
        }

    def _at_clock(self, window: Window) -> Occupancy:
        """A window's times at the case's clock: an oscillator only comes near it, and jitters."""
        times = {
            (state, self.clock.hz): picoseconds
            for (state, _), picoseconds in window.times.items()
            if state != ACTIVE
        }
        times[ACTIVE, self.clock.hz] = round(window.cycles * 1e12 / self.clock.hz)
        return times

    def _timer_ps(self, trial: "_Trial") -> int | None:
        """The window by the chip's own timer, which counts the core's cycles."""
        hz = int(self.image.description["timer_hz"])
        if trial.timer_ticks == TIMER_OVERFLOW:
            return None
        return trial.timer_ticks * 10**12 // hz

    def _trial(self, case: Case, number: int) -> "_Trial":
        """One execution with its own random inputs, its output verified."""
        machine, device = self.running
        machine.budget_cycles = BUDGET_CYCLES * case.repetitions
        put = self._exchange(case, number)
        for slot, data in put.inputs.items():
            if self._written.get(slot) != data:
                device.write(slot, data)
                self._written[slot] = data
        for slot in put.expected:  # The image writes these itself.
            self._written.pop(slot, None)
        known = case.operation, case.repetitions
        if known not in self._empty:
            device.run(case.operation, Flag.EMPTY, case.repetitions)
            self._empty[known] = machine.take_window()
        # Painting costs more time than most operations do; the emulator sees each trial's stack.
        paint = Flag.PAINT if number == 0 else Flag(0)
        result = device.run(case.operation, paint, case.repetitions)
        window = machine.take_window()
        if result.status is not Status.OK:
            raise VerificationError(f"ended with {result.status.name}", str(case))
        check_outputs(device, put, case, number, self.job.seed)
        return _Trial(window, result.stack_bytes, result.timer_ticks)

    def _exchange(self, case: Case, number: int) -> Exchange:
        """Inputs of one trial; all implementations of a primitive get the same."""
        contract, sizes = self.algorithm.contract, self.algorithm.sizes
        sized = contract.operation(case.operation).sized
        message = case.message_bytes if sized else sizes.get("block_bytes", _PROBE_BYTES)
        drawn = f"{self.job.seed}/{self.algorithm}/{message}/{case.ad_bytes}"
        try:
            return contract.exchange(
                case.operation,
                sizes={**sizes, "message": message, "ad": case.ad_bytes},
                forward=lambda inputs: _forward(self.algorithm.name, inputs),
                secret=random.Random(f"{drawn}/{number}").randbytes,
                public=random.Random(drawn).randbytes,
            )
        except Exception as error:  # An oracle is anybody's code; its failure is this case's.
            raise VerificationError(f"the oracle failed: {error!r}", str(case)) from error


@dataclass(frozen=True)
class _Trial:
    window: Window
    painted_bytes: int
    timer_ticks: int


def check_outputs(device: Device, put: Exchange, case: Case, number: int, seed: int) -> None:
    """Compare what a trial left in the image with the oracle's answer.

    Raises:
        VerificationError: it differs.
    """
    for slot, expected in put.expected.items():
        got = device.read(slot, len(expected))
        if got != expected:
            raise VerificationError(
                f"wrong {slot}: {_short(got)} instead of {_short(expected)} "
                f"(trial {number}, seed {seed})",
                str(case),
            )


def _short(data: bytes) -> str:
    text = data.hex()
    return text if len(text) <= 64 else f"{text[:64]}... ({len(data)} bytes)"
