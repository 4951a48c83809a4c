"""Prices an architecture module by module: memory, processing, communication, energy.

The method is that of daidone-2014, section IV. Memory is what an image takes more with a module
wired in. Processing is measured in the firmware, by its timer, in repetitions of many executions,
and by the emulated core's cycles. Communication is bytes over bit rate, and what is seen on the
air. Energy is, as in the paper, one power times time; and what the board's parts draw in the states
in which they are.
"""

import datetime
import hashlib
import json
import random
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import fmean

from joulemark._engine import Image
from joulemark.analysis.statistics import summarise
from joulemark.campaign.case import Build, Case, Conditions
from joulemark.campaign.job import METHOD
from joulemark.campaign.subjects.architecture import ArchitectureSubject, Aspect
from joulemark.campaign.versions import engine_version, host, project_commit
from joulemark.catalogue import boards
from joulemark.catalogue.architectures import Architecture, Step
from joulemark.catalogue.boards import MCU, Board
from joulemark.catalogue.near import near
from joulemark.errors import InputError, VerificationError
from joulemark.images import BuiltImage, Sources, build_program, memory
from joulemark.measure.air import OnAir
from joulemark.measure.session import TIMER_OVERFLOW
from joulemark.meters.model import ModelMeter
from joulemark.meters.power import ACTIVE
from joulemark.records.record import Provenance, Quantity, Record, Sample, quantity
from joulemark.runners import emulator
from joulemark.runners.emulator import EmulatedBoard, Window
from joulemark.runners.protocol import Device, Flag, Status

BASE = "Basic"
"""Application and stack without any module."""
WHOLE = "Whole architecture"
INTERACTION = "Interaction"
"""Memory of the whole beyond the sum of its modules; negative where they share."""


@dataclass(frozen=True, kw_only=True)
class Pricing:
    """An architecture on a board, built one way."""

    architecture: Architecture
    board: Board
    clock: str
    build: Build
    repetitions: int
    executions: int
    """In a repetition; the firmware's timer gives their mean, as in the paper."""
    seed: int
    wire: Mapping[str, str] = field(default_factory=dict)
    """Parts behind interfaces, over those of the architecture's file."""

    def records(
        self, aspects: Collection[Aspect] = ("memory", "processing", "communication")
    ) -> Iterator[Record[ArchitectureSubject]]:
        """Measure; each record is whole when it comes. What is not described has no record.

        Raises:
            BuildError: an image is rejected.
            FaultError: a mote of its network has faulted.
            InputError: the architecture is not wired for the board, or the board has no radio.
            VerificationError: an operation gives something else than the oracle, or an attack has
                succeeded.
        """
        priced: dict[Aspect, Callable[[], Iterator[Record[ArchitectureSubject]]]] = {
            "memory": self._memory,
            "processing": self._processing,
            "communication": self._communication,
            "attack": self._attacks,
        }
        for aspect, price in priced.items():
            if aspect in aspects:
                yield from price()

    @cached_property
    def _wiring(self) -> Mapping[str, str]:
        wiring = self.architecture.wiring_of(self.board.core)
        unknown = [name for name in self.wire if name not in wiring]
        if unknown:
            what = f"nothing of {self.architecture.name} is wired to {unknown[0]}"
            raise InputError(what, "--wire", near(unknown[0], wiring))
        return {**wiring, **self.wire}

    @cached_property
    def _sources(self) -> Sources:
        return Sources()

    def _image(self, application: str, modules: list[str]) -> BuiltImage:
        wired = self.architecture.wired(self._wiring, *modules)
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

    def _memory(self) -> Iterator[Record[ArchitectureSubject]]:
        def taken(modules: list[str]) -> tuple[BuiltImage, memory.Difference]:
            image = self._image(self.architecture.application, modules)
            return image, memory.total(image)

        base_image, base = taken([])
        yield self._record("memory", BASE, _bytes(base), base_image)
        prices: dict[str, memory.Difference] = {}
        for module in self.architecture.module:
            image, all_of_it = taken([module.name])
            under = [base, *(prices[name] for name in self._under(module.name))]
            prices[module.name] = all_of_it.less(*under)
            costs = [*_bytes(prices[module.name]), *_bytes(all_of_it.less(base), "with all")]
            yield self._record("memory", module.name, costs, image)
        image, whole = taken(list(prices))
        yield self._record("memory", WHOLE, _bytes(whole.less(base)), image)
        rest = whole.less(base, *prices.values())
        yield self._record("memory", INTERACTION, _bytes(rest), image)

    def _under(self, name: str) -> list[str]:
        """The modules that a module is over, and those that they are over."""
        over = {m.name: m.over for m in self.architecture.module}
        found: dict[str, None] = {}
        waiting = list(over[name])
        while waiting:
            other = waiting.pop()
            if other not in found:
                found[other] = None
                waiting += over[other]
        return list(found)

    def _processing(self) -> Iterator[Record[ArchitectureSubject]]:
        if self.architecture.measured_by is None:
            return
        image = self._image(
            self.architecture.measured_by, [m.name for m in self.architecture.module]
        )
        board = EmulatedBoard(
            boards.load_chip(self.board.chip),
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
        """Do one step, and compare what it gives with what it must give."""
        where = f"{self.architecture.name}, {step.row}"
        device.write("message", step.message)
        # An empty window around the same step: what every window costs.
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
        """As in the paper: the mean over the repetitions' means, with its 95% interval."""
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
        if not self.architecture.has_oracle:
            return
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
        if self.architecture.air is None:
            return
        for attack, harm in self._air.attacks():
            costs = [
                Quantity("attacker", "frames", "frames", harm.frames, exact=True),
                Quantity("", "time", "ps", round(self._air.air.for_s * 1e12), exact=True),
                Quantity("", "energy_before", "nJ", harm.drawn_nj, exact=True),
                Quantity("", "energy_more", "nJ", harm.extra_nj, exact=True),
            ]
            costs += [
                Quantity(part, "energy_more", "nJ", nj, exact=True)
                for part, nj in harm.extra_part_nj.items()
            ]
            note = f"victim: {attack.victim}; nothing of it was taken, and the service went on"
            yield self._record("attack", attack.name, costs, None, notes=(note,))

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
        subject = ArchitectureSubject(
            architecture=self.architecture.name,
            aspect=aspect,
            row=row,
            wiring=tuple(f"{name}={part}" for name, part in sorted(self.wire.items())),
        )
        chip = boards.load_chip(self.board.chip)
        case = Case(
            subject=subject,
            build=self.build,
            conditions=Conditions(
                board=self.board.name,
                clock=self.clock,
                runner=emulator.NAME,
                meter="model",
                unit=emulator.UNIT,
            ),
        )
        clock = self.board.clock_profile(self.clock)
        depends = [METHOD, case.canonical, self.board.digest, chip.digest, engine_version()]
        depends += [self.repetitions, self.executions, self.seed, self.architecture.digest]
        depends.append(None if image is None else image.build_id)
        provenance = Provenance(
            seed=self.seed,
            host=host(),
            clock_hz=clock.hz,
            chip=self.board.chip,
            board_title=self.board.title,
            board_digest=self.board.digest,
            chip_digest=chip.digest,
            timing_note=chip.timing_note,
            memories_keep_state=chip.memories_keep_state,
            project_commit=project_commit(),
            engine_version=engine_version(),
        )
        if image is not None:
            provenance = replace(
                provenance,
                compiler_version=image.compiler,
                flags=image.flags,
                build_id=image.build_id,
                image_digest=Image.load(image.path).digest,
            )
        return Record(
            key=hashlib.sha256(json.dumps(depends).encode()).hexdigest(),
            measured_at=datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds"),
            status="ok",
            subject=subject,
            build=self.build,
            conditions=case.conditions,
            about=subject.about(),
            provenance=provenance,
            repetitions=self.executions if samples else 1,
            trials=len(samples) if samples else None,
            quantities=tuple(quantities),
            samples=tuple(samples or ()),
            notes=(*notes, *filter(None, [chip.timing_note, clock.note])),
        )


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
