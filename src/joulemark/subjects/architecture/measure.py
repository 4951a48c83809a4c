"""Prices an architecture module by module: memory, processing, communication, energy.

The method is that of daidone-2014, section IV. Memory is how much an image grows with a module
wired in. Processing is measured by the firmware's timer, in repetitions of many executions, and by
the emulated core's cycles. Communication is bytes over bit rate, and what is observed on the air.
Energy is, as in the paper, a constant power times time; and what the board's parts draw in the
states that they are in.
"""

import hashlib
import json
import random
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from statistics import fmean

from joulemark._engine import Image
from joulemark.analysis.statistics import summarise
from joulemark.campaign.case import Build, Case, Conditions
from joulemark.campaign.job import METHOD, Point
from joulemark.campaign.versions import engine_digest
from joulemark.catalogue import boards, chips
from joulemark.catalogue.architectures import Architecture, Step, load_architecture
from joulemark.catalogue.boards import MCU, Board
from joulemark.catalogue.near import near
from joulemark.conduct import Means, Records, Task, Work, joined, of_tasks
from joulemark.errors import InputError, VerificationError
from joulemark.images import BuiltImage, Sources, build_program, is_part, memory
from joulemark.measure.recorded import Outcome, of_image, recorded
from joulemark.measure.session import TIMER_OVERFLOW
from joulemark.meters.model import ModelMeter
from joulemark.meters.power import ACTIVE
from joulemark.project import FIRMWARE
from joulemark.records.record import Quantity, Record, Sample, quantity
from joulemark.runners import emulator
from joulemark.runners.emulator import EmulatedBoard, Window
from joulemark.runners.protocol import Device, Flag, Status
from joulemark.subjects.architecture import ArchitectureSubject, Aspect
from joulemark.subjects.architecture.air import OnAir
from joulemark.subjects.architecture.options import ArchitectureOptions

BASE = "Basic"
"""Application and stack without modules."""
WHOLE = "Whole architecture"
INTERACTION = "Interaction"
"""Memory of the whole beyond the sum of its modules; negative where modules share code or data."""


def plan(options: ArchitectureOptions, means: Means) -> Work:
    """Return the work of making the tables of architectures on boards.

    Raises:
        BuildError: an image is rejected.
        InputError: there is no such architecture or board, or it is not wired for the board.
    """
    works = [
        Pricing.asked(options, name, board).work(means, options.only)
        for name in options.architecture
        for board in options.board
    ]
    if not any(work.points for work in works):
        names, tables = ", ".join(options.architecture), " or ".join(options.only)
        what = f"{names} has no table of {tables} with these parts"
        raise InputError(what, "--only", "leave it out, or wire other parts")
    return joined(works)


def _made(pricing: "Pricing", aspect: Aspect) -> Records:
    return pricing.made(aspect)


@dataclass(frozen=True, kw_only=True)
class Pricing:
    """An architecture on a board, built one way."""

    architecture: Architecture
    board: Board
    clock: str
    build: Build
    repetitions: int
    executions: int
    """Per repetition; the firmware's timer gives their mean, as in the paper."""
    seed: int
    wire: Mapping[str, str] = field(default_factory=dict)
    """Parts behind interfaces; these override the architecture's file."""

    @classmethod
    def asked(cls, options: ArchitectureOptions, name: str, board: str) -> "Pricing":
        """Return the pricing of one architecture on one board.

        Raises:
            InputError: there is no such architecture or board, or a wiring is malformed.
        """
        where = boards.load_board(board)
        return cls(
            architecture=load_architecture(name),
            board=where,
            clock=options.clock or where.default_clock,
            build=Build(compiler=options.compiler, optimisation=options.opt),
            repetitions=options.repetitions,
            executions=options.executions,
            seed=options.seed,
            wire=dict(map(parsed_wire, options.wire)),
        )

    def work(
        self, means: Means, aspects: Collection[Aspect] = ("memory", "processing", "communication")
    ) -> Work:
        """Return the work of making tables.

        A table is measured as a whole or not at all, because its rows share images. Rows that the
        architecture does not describe have no record.

        Args:
            means: its workers make the tables.
            aspects: the tables.

        Raises:
            BuildError: an image is rejected.
            InputError: the architecture is not wired for the board, or the board has no radio.
        """
        tasks = []
        for aspect, table in self._tables().items():
            if aspect in aspects and table.rows:
                cases = [(self._case(aspect, row), self._key(aspect, row)) for row in table.rows]
                points = tuple(Point(case=case, trials=1, key=key) for case, key in cases)
                # Another process builds its own images.
                tasks.append(Task(points=points, measure=partial(_made, replace(self), aspect)))
        return of_tasks(tasks, means)

    def made(self, aspect: Aspect) -> list[Record[ArchitectureSubject]]:
        """Make a table.

        Raises:
            BuildError: an image is rejected.
            FaultError: a mote of its network faulted.
            VerificationError: an operation's result differs from the oracle's, or an attack
                succeeded.
        """
        return list(self._tables()[aspect].measure())

    def _tables(self) -> "dict[Aspect, _Table]":
        """Return the table of each aspect."""
        architecture = self.architecture
        oracle = architecture.oracle if architecture.has_oracle else None
        is_executed = architecture.measured_by is not None and not (
            set(architecture.unmeasured) & set(self._wiring.values())
        )
        executed = oracle.steps(random.Random(self.seed), 1) if oracle and is_executed else ()
        modules = [module.name for module in architecture.module]
        attacks = () if architecture.air is None else architecture.air.attack
        return {
            "memory": _Table((BASE, *modules, WHOLE, INTERACTION), self._memory),
            "processing": _Table(
                tuple(dict.fromkeys(step.row for step in executed)), self._processing
            ),
            "communication": _Table(tuple(oracle.on_air() if oracle else ()), self._communication),
            "attack": _Table(tuple(attack.name for attack in attacks), self._attacks),
        }

    def _key(self, aspect: Aspect, row: str) -> str:
        """Return the digest of all that a row depends on."""
        depends = [
            METHOD,
            self._case(aspect, row).canonical,
            self.board.digest,
            chips.digest(self.board.chip),
            engine_digest(),
            self.repetitions,
            self.executions,
            self.seed,
            self.architecture.digest,
            self._images_of(aspect),
        ]
        return hashlib.sha256(json.dumps(depends).encode()).hexdigest()

    def _images_of(self, aspect: Aspect) -> list[str]:
        """Return the build ids of the images that a table is measured on."""
        if aspect == "memory":
            return [image.build_id for image in self._wirings.values()]
        if aspect == "processing":
            return [self._measuring.build_id]
        if self.architecture.air is None:
            return []
        return self._air.images(is_attacked=aspect == "attack")

    @cached_property
    def _wiring(self) -> Mapping[str, str]:
        wiring = self.architecture.wiring_of(self.board.core)
        unknown = [name for name in self.wire if name not in wiring]
        if unknown:
            what = f"nothing of {self.architecture.name} is wired to {unknown[0]}"
            raise InputError(what, "--wire", near(unknown[0], wiring))
        for name, part in self.wire.items():
            if not is_part(part):
                beside = sorted((FIRMWARE / wiring[name]).parent.iterdir())
                known = [path.relative_to(FIRMWARE).as_posix() for path in beside]
                what = f"there is no part {part} to wire to {name}"
                raise InputError(what, "--wire", near(part, filter(is_part, known)))
        return {**wiring, **self.wire}

    @cached_property
    def _sources(self) -> Sources:
        return Sources()

    def _image(self, application: str, modules: Sequence[str], *, whole: bool = True) -> BuiltImage:
        wired = self.architecture.wired(self._wiring, *modules, whole=whole)
        return build_program(
            application,
            self.board,
            also=wired.parts,
            without=wired.without,
            keep=wired.keep,
            define=wired.define,
            wiring=self._wiring,
            clock=self.clock,
            compiler=self.build.compiler,
            optimisation=self.build.optimisation,
            sources=self._sources,
        )

    @cached_property
    def _wirings(self) -> "dict[_Wiring, BuiltImage]":
        """An image for each wiring whose memory is compared."""
        everything = [module.name for module in self.architecture.module]
        wanted: list[_Wiring] = [((), True), (tuple(everything), True)]
        for name in everything:
            wanted += [((name,), True), ((name,), False), (self._without(name), True)]
        application = self.architecture.application
        return {w: self._image(application, w[0], whole=w[1]) for w in dict.fromkeys(wanted)}

    def _memory(self) -> Iterator[Record[ArchitectureSubject]]:
        def taken(*modules: str, whole: bool = True) -> memory.Difference:
            return memory.total(self._wirings[modules, whole])

        def record(row: str, costs: list[Quantity], *modules: str) -> Record[ArchitectureSubject]:
            return self._record("memory", row, costs, self._wirings[modules, True])

        base = taken()
        yield record(BASE, _bytes(base))
        names = [module.name for module in self.architecture.module]
        everything = taken(*names)
        prices: dict[str, memory.Difference] = {}
        for name in names:
            under = [base, *(prices[other] for other in self._under(name))]
            prices[name] = taken(name).less(*under)
            costs = [
                *_bytes(prices[name]),
                *_bytes(taken(name, whole=False).less(base), "with all"),
                *_bytes(everything.less(taken(*self._without(name))), "given back"),
            ]
            yield record(name, costs, name)
        yield record(WHOLE, _bytes(everything.less(base)), *names)
        rest = everything.less(base, *prices.values())
        yield record(INTERACTION, _bytes(rest), *names)

    def _without(self, name: str) -> tuple[str, ...]:
        """Return all modules except this one and those that depend on it."""
        every = (module.name for module in self.architecture.module)
        return tuple(n for n in every if n != name and name not in self._under(n))

    def _under(self, name: str) -> list[str]:
        """Return the modules that this one is over, directly or through others."""
        over = {m.name: m.over for m in self.architecture.module}
        found: dict[str, None] = {}
        waiting = list(over[name])
        while waiting:
            other = waiting.pop()
            if other not in found:
                found[other] = None
                waiting += over[other]
        return list(found)

    @cached_property
    def _measuring(self) -> BuiltImage:
        """The image that executes the operations."""
        return self._image(
            str(self.architecture.measured_by), [m.name for m in self.architecture.module]
        )

    def _processing(self) -> Iterator[Record[ArchitectureSubject]]:
        image = self._measuring
        board = EmulatedBoard(
            chips.load_chip(self.board.chip),
            Image.load(image.path),
            wiring=self.board.wiring,
            marker=self.board.marker.pin,
            port=self.board.serial.port,
        )
        device = Device(board, attempts=1)
        done: dict[str, list[list[_Execution]]] = defaultdict(list)
        before = ""
        for step in self.architecture.oracle.steps(
            random.Random(self.seed), self.repetitions * self.executions
        ):
            executed = self._execute(device, board, step)
            if step.row == before:
                done[step.row][-1].append(executed)
            else:
                done[step.row].append([executed])
            before = step.row
        for row, trials in done.items():
            yield self._record(
                "processing",
                row,
                self._costs(trials, int(image.description["timer_hz"])),
                image,
                samples=[
                    {"window_cycles": sum(e.cycles for e in t), "addresses": t[0].window.addresses}
                    for t in trials
                ],
            )

    def _execute(self, device: Device, board: EmulatedBoard, step: Step) -> "_Execution":
        """Execute one step and compare its result with the oracle's."""
        where = f"{self.architecture.name}, {step.row}"
        device.write("message", step.message)
        # An empty window around the same step: the cost of the window itself.
        device.run("nothing", Flag.EMPTY)
        empty = board.take_window()
        result = device.run(step.operation)
        window = board.take_window()
        if result.status is not Status.OK:
            raise VerificationError(f"{step.operation} ended with {result.status.name}", where)
        got = device.read("output", len(step.output))
        if got != step.output:
            what = f"{step.operation} gave {got.hex()}, and the oracle {step.output.hex()}"
            raise VerificationError(what, where)
        return _Execution(window, empty, result.timer_ticks)

    def _costs(self, trials: "list[list[_Execution]]", timer_hz: int) -> list[Quantity]:
        meter, hz = ModelMeter(self.board), self.board.clock_profile(self.clock).hz
        cycles = [sum(e.cycles for e in trial) for trial in trials]
        by_power = [meter.energy({(MCU, ACTIVE, hz): round(c * 1e12 / hz)}) for c in cycles]
        drawn = [
            [(meter.energy(e.window.times), meter.energy(e.empty.times)) for e in t] for t in trials
        ]
        gross = [sum(w.gross_nj - o.gross_nj for w, o in trial) for trial in drawn]
        net = [sum(w.net_nj - o.net_nj for w, o in trial) for trial in drawn]
        grade = drawn[0][0][0].grade
        quantities = [
            quantity("cycles", "cycles", cycles, exact=True),
            quantity("time", "ps", [round(c * 1e12 / hz) for c in cycles], exact=True),
            quantity("energy_gross", "nJ", gross, grade=grade),
            quantity("energy_net", "nJ", net, grade=grade),
            quantity(
                "power_by_time", "nJ", [e.gross_nj for e in by_power], grade=by_power[0].grade
            ),
            Quantity("", "stack", "B", max(e.window.stack_bytes for t in trials for e in t)),
        ]
        if all(e.ticks != TIMER_OVERFLOW for t in trials for e in t):
            times = [sum(e.ticks for e in trial) * 1e12 / timer_hz for trial in trials]
            quantities.append(self._interval("timer_time", times))
        return quantities

    def _interval(self, name: str, values: list[float]) -> Quantity:
        """Return the mean of the repetitions' means with its 95% interval, as in the paper."""
        count = self.executions
        means = [fmean(values[i : i + count]) for i in range(0, len(values), count)]
        found = summarise(means, deterministic=True)
        half = found.confidence_95
        if half is None:
            return quantity(name, "ps", means)
        bounds = (round(found.mean - half), round(found.mean + half))
        return Quantity("", name, "ps", round(found.mean), *bounds, "interval", exact=found.exact)

    @cached_property
    def _air(self) -> OnAir:
        return OnAir(self.architecture, self.board, self.clock, self.build, self._wiring)

    def _communication(self) -> Iterator[Record[ArchitectureSubject]]:
        radio = self.board.radio
        if radio is None:
            raise InputError("has no radio", self.board.name, "choose a board that has one")
        state = next((s for s in radio.state if s.name.startswith("tx")), None)
        if state is None:
            raise InputError("no state of its radio transmits", self.board.name)
        seen = {} if self.architecture.air is None else self._air.costs()
        for row, count in self.architecture.oracle.on_air().items():
            time_s = count * 8 / radio.bit_rate_hz.value
            energy_nj = time_s * state.ampere * self.board.supply_v.value * 1e9
            costs = [
                Quantity("", "on_air", "B", count, exact=True),
                Quantity("", "time", "ps", round(time_s * 1e12), exact=True),
                Quantity("radio", "energy", "nJ", energy_nj, grade=state.grade),
            ]
            if row in seen:
                cost = seen[row]
                if cost.octets != count:
                    what = f"{cost.octets:g} bytes were seen on the air, and {count} are computed"
                    raise VerificationError(what, f"{self.architecture.name}, {row}")
                costs += [
                    Quantity("seen", "frames", "frames", cost.frames, exact=True),
                    Quantity("seen", "time", "ps", round(cost.time_ps), exact=True),
                    Quantity("seen", "energy", "nJ", cost.energy_nj, grade=state.grade),
                ]
            note = f"radio {state.name}: {state.ampere * 1e3:g} mA ({state.grade}: {state.source})"
            yield self._record("communication", row, costs, None, notes=(note,))

    def _attacks(self) -> Iterator[Record[ArchitectureSubject]]:
        for attack, harm in self._air.attacks():
            costs = [
                Quantity("attacker", "frames", "frames", harm.frames, exact=True),
                Quantity("", "time", "ps", round(self._air.air.for_s * 1e12), exact=True),
                Quantity("", "energy_before", "nJ", harm.drawn_nj, grade=harm.grade, exact=True),
                Quantity("", "energy_more", "nJ", harm.extra_nj, grade=harm.grade, exact=True),
            ]
            costs += [
                Quantity(part, "energy_more", "nJ", nj, grade=harm.grade, exact=True)
                for part, nj in harm.extra_part_nj.items()
            ]
            note = f"victim: {attack.victim}; nothing of it was taken, and the service went on"
            yield self._record("attack", attack.name, costs, None, notes=(note,))

    def _case(self, aspect: Aspect, row: str) -> Case:
        return Case(
            subject=ArchitectureSubject(
                architecture=self.architecture.name,
                aspect=aspect,
                row=row,
                wiring=tuple(f"{name}={part}" for name, part in sorted(self.wire.items())),
            ),
            build=self.build,
            conditions=Conditions(
                board=self.board.name,
                clock=self.clock,
                runner=emulator.NAME,
                meter="model",
                unit=emulator.UNIT,
            ),
        )

    def _record(
        self,
        aspect: Aspect,
        row: str,
        quantities: list[Quantity],
        image: BuiltImage | None,
        *,
        samples: list[Sample] | None = None,
        notes: tuple[str, ...] = (),
    ) -> Record[ArchitectureSubject]:
        subject = self._case(aspect, row).subject
        assert isinstance(subject, ArchitectureSubject)  # noqa: S101
        clock = self.board.clock_profile(self.clock)
        return recorded(
            self._key(aspect, row),
            subject,
            self._case(aspect, row),
            of_image(self.board, self.clock, self.seed, image),
            Outcome(
                quantities=quantities,
                samples=samples or (),
                repetitions=self.executions if samples else 1,
                notes=[*notes, *filter(None, [clock.note])],
            ),
        )


def parsed_wire(text: str) -> tuple[str, str]:
    """Return the interface and the part of `INTERFACE=PART`.

    Raises:
        InputError: it is not of that form.
    """
    name, sign, part = text.partition("=")
    if not (name and sign and part):
        raise InputError(f"{text!r} is not INTERFACE=PART", "--wire")
    return name, part


_Wiring = tuple[tuple[str, ...], bool]
"""Modules, and whether all that they keep is linked or only what they call of each other."""


@dataclass(frozen=True)
class _Table:
    """Rows of an aspect, and what measures them."""

    rows: tuple[str, ...]
    measure: Callable[[], Iterator[Record[ArchitectureSubject]]]


@dataclass(frozen=True)
class _Execution:
    window: Window
    empty: Window
    ticks: int

    @property
    def cycles(self) -> int:
        return self.window.cycles - self.empty.cycles


def _bytes(taken: memory.Difference, part: str = "") -> list[Quantity]:
    return [
        Quantity(part, "flash", "B", taken.flash_bytes, exact=True),
        Quantity(part, "ram", "B", taken.ram_bytes, exact=True),
    ]
