"""Measures cases on an emulated board."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING

from joulemark.campaign.case import Case
from joulemark.campaign.job import Job
from joulemark.catalogue.boards import MCU
from joulemark.catalogue.kinds import Exchange
from joulemark.catalogue.primitives import library
from joulemark.errors import VerificationError
from joulemark.measure import declared
from joulemark.measure.following import NOTHING, Followed, leaking
from joulemark.measure.leaks import changed, follow
from joulemark.measure.recorded import Outcome
from joulemark.measure.session import TIMER_OVERFLOW, BoardSession, primitive
from joulemark.meters.model import ModelMeter
from joulemark.meters.power import ACTIVE, Occupancy, weakest
from joulemark.records.record import DECIDED, IN_STATE, Quantity, Record, quantity
from joulemark.runners.emulator import EmulatedBoard, Window
from joulemark.runners.protocol import Device, Flag, Status
from joulemark.subjects.primitive import PrimitiveSubject

if TYPE_CHECKING:
    from joulemark._engine import Machine

TAG = "tag"
"""The slot of which every decryption that is measured refuses a changed bit."""
CANARY = bytes(range(0x81, 0xC1))
"""Bytes that lie behind the outputs of an AEAD while it runs, as far as their slots reach."""
FOLLOWED_BYTES = 64
"""The message with which secrets are followed where one may have this size: whole blocks, several
of most ciphers. Following a long one takes the time of many executions and finds the same."""


def emulate(job: Job) -> Iterator[Record[PrimitiveSubject]]:
    """Measure the cases of an image, one record each; a failed case gives a failed record."""
    with Emulated(job) as session:
        yield from session.records()


class Emulated(BoardSession):
    """One image on an emulated board, measured by its energy model."""

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        self.meter = ModelMeter(self.board, self.job.firmware.clock)
        self._way = library().implementation(self.algorithm, job.firmware.implementation)
        self._is_accelerated = bool(self._way.accelerators)
        self._running: tuple[EmulatedBoard, Device] | None = None
        self._earlier: EmulatedBoard | None = None
        self._empty: dict[tuple[str, int], Window] = {}
        self._written: dict[str, bytes] = {}
        self._followed: dict[tuple[str, int, int, int], Followed] = {}
        self._refused: set[str] = set()

    def _recover(self) -> None:
        """Discard the running image, so that the next case boots it anew."""
        self._running = None
        self._empty.clear()

    @property
    def running(self) -> tuple[EmulatedBoard, Device]:
        """The booted image; booted anew after a failure."""
        if self._running is None:
            machine = EmulatedBoard(
                self.chip,
                self.program,
                wiring=self.board.wiring,
                marker=self.board.marker.pin,
                port=self.board.serial.port,
                earlier=self._earlier,
            )
            self._earlier = machine
            device = Device(machine, attempts=1)
            self.check_identity(device.description, str(self.image.path), None)
            if not self.clock.accepts(machine.clock_hz):
                raise VerificationError(
                    f"the core runs at {machine.clock_hz} Hz, and the clock profile "
                    f"{self.job.firmware.clock} says {self.clock.hz} Hz",
                    self.board.name,
                )
            self._written = {}
            self._running = machine, device
        return self._running

    def _measure(self, case: Case, trials: int) -> Outcome:
        repetitions = case.conditions.repetitions
        keeps_state = self.board.keeps_state(self.job.firmware.clock)
        if keeps_state or self._is_accelerated:
            # Boot for each case, so that its time does not depend on what was measured before: an
            # accelerator may have a clock and a state of its own.
            self._recover()
        if keeps_state:
            # The first execution is cold; a second one is needed for a warm figure, and a third to
            # compare it with where the number of polls depends on what the cache holds.
            trials = max(trials, 3 if self._is_accelerated else 2)
        done = [self._trial(case, number) for number in range(trials)]
        windows = [t.window for t in done]
        empty = self._empty_window(case)
        shown = done[0]
        if keeps_state:
            cold, windows_later = windows[:1], windows[1:]
            shown = done[1]
            later = self._run_empty(case)
            costs = [
                *self._costs(windows_later, windows_later[:1], later, repetitions),
                *(
                    q._replace(lower=None, upper=None, bounds=None)
                    for q in self._costs(cold, cold, empty, repetitions, "_cold")
                ),
            ]
            empty = later
        else:
            costs = self._costs(windows, windows, empty, repetitions)
        exact = len({w.cycles for w in windows}) == 1
        instructions = [(w.instructions - empty.instructions) / repetitions for w in windows]
        states: Counter[tuple[str, str]] = Counter()
        for (part, state, clock_hz), picoseconds in self._at_clock(shown.window).items():
            if self.meter.current_of(part, state, clock_hz) is not None:
                states[part, state] += picoseconds
        timer_ps = self._timer_ps(shown)
        alike = windows[1:] if keeps_state and self._is_accelerated else windows
        equal = len({w.addresses for w in alike}) == 1
        self._refuse(case)
        followed = self._follow(case, trials)
        # What code declares public differs between trials too, values and verdicts, and its time
        # may depend on that: only following can tell.
        decided = [len(leaking(followed.uses))] if followed.runs else []
        declares = declared.FUNCTION in self.program.symbols
        if followed.verdicts and decided == [0]:
            declares |= not (equal and (exact or keeps_state))
        return Outcome(
            quantities=[
                *(q._replace(exact=exact) if q.unit in {"cycles", "ps"} else q for q in costs),
                quantity("instructions", "instructions", instructions, exact=True),
                Quantity("", "window_cycles", "cycles", shown.window.cycles),
                Quantity("", "window_instructions", "instructions", shown.window.instructions),
                Quantity("", "empty_cycles", "cycles", empty.cycles),
                Quantity("", "empty_instructions", "instructions", empty.instructions),
                *([] if timer_ps is None else [Quantity("", "timer_time", "ps", timer_ps)]),
                *(
                    Quantity(part, IN_STATE + state, "ps", ps)
                    for (part, state), ps in states.items()
                ),
                *self.memory,
                Quantity("", "stack", "B", max(w.stack_bytes for w in windows)),
                Quantity("", "stack_painted", "B", max(t.painted_bytes for t in done)),
                *(quantity(DECIDED, "instructions", [n], exact=True) for n in decided),
            ],
            samples=[
                {
                    "window_cycles": t.window.cycles,
                    "window_instructions": t.window.instructions,
                    "addresses": t.window.addresses,
                    **({} if t.attempts is None else {"attempts": t.attempts}),
                }
                for t in done
            ],
            repetitions=repetitions,
            addresses_equal=None if declares else equal,
            notes=[
                *self.meter.notes(self._at_clock(shown.window)),
                *(["varies with what the code declares public"] if declares else []),
                *(
                    [f"clock {self.job.firmware.clock}: {self.clock.note}"]
                    if self.clock.note
                    else []
                ),
            ],
        )

    def _refuse(self, case: Case) -> None:
        """Try an altered tag, once for each operation that must refuse it, outside all figures.

        Raises:
            VerificationError: it was not refused.
        """
        operation = primitive(case).operation
        if (
            operation in self._refused
            or TAG not in self.algorithm.contract.operation(operation).refuses
        ):
            return
        machine, device = self.running
        put = changed(self.algorithm, self.exchange(case, 0), TAG)
        for slot, data in put.inputs.items():
            device.write(slot, data)
        self._written = {}
        status = device.run(operation).status
        machine.take_window()
        if status is not Status.BAD_TAG:
            raise VerificationError(f"an altered tag was not refused: it {status}", str(case))
        self._refused.add(operation)

    def _follow(self, case: Case, trials: int) -> Followed:
        """Find what a secret decides, in one execution more.

        Code is followed, not a case: messages of all sizes share what one of FOLLOWED_BYTES shows.
        """
        subject = primitive(case)
        if self._is_accelerated or subject.about().secret_independent is None or trials < 2:
            return NOTHING
        contract = self.algorithm.contract.operation(subject.operation)
        takes = self.algorithm.takes_message(FOLLOWED_BYTES)
        if contract.sized and takes and self._way.takes(FOLLOWED_BYTES, subject.ad_bytes):
            subject = replace(subject, message_bytes=FOLLOWED_BYTES)
        known = subject.operation, subject.message_bytes, subject.ad_bytes, trials
        if known not in self._followed:
            self._followed[known] = follow(
                self.board,
                self.image,
                subject.operation,
                [self.exchange(replace(case, subject=subject), n) for n in range(trials)],
                budget_cycles=self._way.cycles_max(subject.operation),
            )
        return self._followed[known]

    def _costs(
        self,
        windows: Sequence[Window],
        taken: Sequence[Window],
        empty: Window,
        repetitions: int,
        suffix: str = "",
    ) -> list[Quantity]:
        """Return cycles, time and energy of one execution, net of the empty window.

        Args:
            windows: windows that give the range.
            taken: those of them that give the mean.
            empty: the same window around nothing.
            repetitions: executions in a window.
            suffix: appended to the names.
        """
        hz = self.clock.hz
        none = self.meter.energy(self._at_clock(empty))

        def cycles(window: Window) -> float:
            return (window.cycles - empty.cycles) / repetitions

        def time_ps(window: Window) -> int:
            return round(cycles(window) * 1e12 / hz)

        mean = fmean(map(cycles, taken))
        gross = {id(w): self.meter.energy(self._at_clock(w)) for w in windows}
        grade = weakest(e.grade for e in gross.values())

        def energy(name: str, empty_nj: float, values: dict[int, float]) -> Quantity:
            def net(those: Sequence[Window]) -> list[float]:
                return [(values[id(w)] - empty_nj) / repetitions for w in those]

            mean_nj = (fmean(values[id(w)] for w in taken) - empty_nj) / repetitions
            return quantity(f"{name}{suffix}", "nJ", net(windows), value=mean_nj, grade=grade)

        return [
            quantity(f"cycles{suffix}", "cycles", map(cycles, windows), value=mean),
            quantity(f"time{suffix}", "ps", map(time_ps, windows), value=round(mean * 1e12 / hz)),
            energy("energy_gross", none.gross_nj, {i: e.gross_nj for i, e in gross.items()}),
            energy("energy_net", none.net_nj, {i: e.net_nj for i, e in gross.items()}),
        ]

    def _at_clock(self, window: Window) -> Occupancy:
        """Scale a window to the case's clock: an oscillator only approximates it, and jitters."""
        times = {
            (part, state, self.clock.hz if part == MCU else clock_hz): picoseconds
            for (part, state, clock_hz), picoseconds in window.times.items()
            if (part, state) != (MCU, ACTIVE)
        }
        times[MCU, ACTIVE, self.clock.hz] = round(window.cycles * 1e12 / self.clock.hz)
        return times

    def _timer_ps(self, trial: "_Trial") -> int | None:
        """Return the window by the chip's own timer, which counts core cycles; None on overflow."""
        hz = int(self.image.description["timer_hz"])
        if trial.timer_ticks == TIMER_OVERFLOW:
            return None
        return trial.timer_ticks * 10**12 // hz

    def _run_empty(self, case: Case) -> Window:
        machine, device = self.running
        device.run(primitive(case).operation, Flag.EMPTY, case.conditions.repetitions)
        return machine.take_window()

    def _empty_window(self, case: Case) -> Window:
        """Return the empty window, run before anything else since the image booted."""
        known = primitive(case).operation, case.conditions.repetitions
        if known not in self._empty:
            self._empty[known] = self._run_empty(case)
        return self._empty[known]

    def _behind(self, put: Exchange) -> dict[str, tuple[int, int]]:
        """Return address and number of the bytes behind each output of an AEAD, in its slot."""
        slots = self.algorithm.contract.file.slot
        if not {TAG, "output"} <= slots.keys():
            return {}
        found = {}
        for name, expected in put.expected.items():
            length = min(slots[name].room(self.algorithm.sizes) - len(expected), len(CANARY))
            if length > 0:
                start = self.program.symbols[f"slot_{name}_bytes"] + len(expected)
                found[name] = start, length
        return found

    def _trial(self, case: Case, number: int) -> "_Trial":
        """Execute once with this trial's own random inputs, and verify the output."""
        machine, device = self.running
        repetitions = case.conditions.repetitions
        machine.budget_cycles = self._way.cycles_max(primitive(case).operation) * repetitions
        put = self.exchange(case, number)
        for slot, data in put.inputs.items():
            if self._written.get(slot) != data:
                device.write(slot, data)
                self._written[slot] = data
        for slot in put.expected:  # The image overwrites these itself.
            self._written.pop(slot, None)
        self._empty_window(case)
        # Painting takes longer than most operations, and the emulator sees each trial's stack.
        paint = Flag.PAINT if number == 0 else Flag(0)
        behind = self._behind(put)
        machine.opening = lambda chip: _lay(chip, behind)
        try:
            result = device.run(primitive(case).operation, paint, repetitions)
        finally:
            machine.opening = None
        window = machine.take_window()
        if result.status is not Status.OK:
            raise VerificationError(str(result.status), str(case))
        self.verify(device, put, case, number)
        for slot, (address, length) in behind.items():
            found = machine.read_memory(address, length)
            changed_at = [n for n, (a, b) in enumerate(zip(found, CANARY, strict=False)) if a != b]
            if changed_at:
                what = f"it writes behind its {slot}: byte {changed_at[0] + 1} after the end"
                raise VerificationError(what, str(case))
        return _Trial(window, result.stack_bytes, result.timer_ticks, put.attempts)


def _lay(chip: "Machine", behind: Mapping[str, tuple[int, int]]) -> None:
    for address, length in behind.values():
        chip.write_memory(address, CANARY[:length])


@dataclass(frozen=True)
class _Trial:
    window: Window
    painted_bytes: int
    timer_ticks: int
    attempts: int | None
