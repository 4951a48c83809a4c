"""Runs images on emulated boards, and measures them by function."""

import hashlib
import itertools
import json
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from joulemark import meaning
from joulemark._engine import EngineError, Image, Machine
from joulemark.analysis.spending import ASLEEP, Spending
from joulemark.campaign.case import Case, Conditions
from joulemark.campaign.job import Point
from joulemark.campaign.versions import project_commit
from joulemark.catalogue import accuracy, boards, chips
from joulemark.catalogue.boards import MCU, Board
from joulemark.catalogue.surroundings import Points, named
from joulemark.conduct import Means, Records, Task, Work, of_tasks
from joulemark.errors import BudgetError, FaultError, InputError
from joulemark.images.systems import Threads, threads_of
from joulemark.measure.recorded import Outcome, key_of, on_board, recorded
from joulemark.meters.model import NAME as METER
from joulemark.meters.model import ModelMeter
from joulemark.meters.power import ACTIVE, occupancy
from joulemark.records.record import Quantity, quantity
from joulemark.subjects.image import ImageSubject
from joulemark.subjects.image.options import ImageOptions
from joulemark.subjects.image.placing import IDLE, ByPart, Placing, Rule, rules_of

RESETS = 16
"""A program that resets more often is taken to reset for ever."""


@dataclass(frozen=True, kw_only=True)
class ImageCase:
    """An image on a board. It has the image's bytes, because a worker may not have the file."""

    subject: ImageSubject
    board: Board
    data: bytes
    suffix: str
    max_cycles: int
    around: tuple[tuple[str, Points], ...]
    rules: tuple[Rule, ...]
    """What says which function belongs to which part."""

    @property
    def case(self) -> Case:
        """The case as records know it."""
        return Case(
            subject=self.subject,
            build=None,
            conditions=Conditions(
                board=self.board.name,
                clock=self.board.default_clock,
                runner="emulator",
                meter=METER,
                unit="emulated",
            ),
        )

    @property
    def key(self) -> str:
        """Digest of all that the result depends on."""
        bytes_of = hashlib.sha256(self.data).hexdigest()
        rules = _digest(self.rules)
        around = [meaning.of_values(dict(self.around))] if self.around else []
        chip = chips.digest(self.board.chip)
        return key_of(self.case, bytes_of, rules, self.board.digest, chip, *around)


def _digest(rules: Sequence[Rule]) -> str:
    text = json.dumps([rule.model_dump() for rule in rules])
    return hashlib.sha256(text.encode()).hexdigest()


def plan(options: ImageOptions, means: Means) -> Work:
    """Return the work of an image on its boards.

    Raises:
        InputError: the file cannot be read, or a board does not exist.
    """
    try:
        data = options.path.read_bytes()
        # A file that is no image, or has no such symbol, is a mistake and not a case that failed.
        image = Image.load(options.path)
        if options.stop_at:
            image.resolve(options.stop_at)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", str(options.path)) from error
    except EngineError as error:
        raise InputError(str(error).removeprefix(f"{options.path}: "), str(options.path)) from error
    rules = rules_of(options.parts)
    subject = ImageSubject(
        image=options.name or options.path.stem,
        for_ms=options.run_ms,
        stop_at=options.stop_at,
        around=", ".join(sorted(map(_short, options.around))),
        parts=_digest(rules)[:8] if options.parts else "",
    )
    around = tuple(sorted(named(options.around, "--around", Path()).items()))
    tasks = []
    for name in options.board:
        case = ImageCase(
            subject=subject,
            board=boards.load_board(name),
            data=data,
            suffix=options.path.suffix,
            max_cycles=options.max_cycles,
            around=around,
            rules=rules,
        )
        if around:
            try:
                _machine(case, image)
            except EngineError as error:
                raise InputError(str(error), f"--around, on {name}") from error
        point = Point(case=case.case, trials=1, key=case.key)
        tasks.append(Task(points=(point,), measure=partial(_measure, case)))
    return of_tasks(tasks, means)


def _short(around: str) -> str:
    """Return NAME=VALUE, of a file without its folders."""
    name, _, value = around.partition("=")
    return f"{name}={Path(value).name if value.endswith('.csv') else value}"


def _measure(case: ImageCase) -> Records:
    with tempfile.TemporaryDirectory(prefix="joulemark-") as folder:
        path = Path(folder) / f"image{case.suffix}"
        path.write_bytes(case.data)
        try:
            image = Image.load(path)
            machine = _run(case, image)
        except EngineError as error:
            raise InputError(str(error).replace(str(path), case.subject.image)) from error
        placing = Placing(path, case.rules, image.symbols)
        parts = ByPart(machine.profile.functions, placing)
        threads = threads_of(path, machine.read_memory)
    times = occupancy(machine.power_tracks, 0, machine.time_ps)
    provenance = replace(
        on_board(case.board, case.board.default_clock, 0, project_commit()),
        image_digest=image.digest,
        timing_note=accuracy.of_program(case.board),
    )
    notes = [*placing.unused(), *([parts.note] if parts.note else [])]
    quantities = list(_quantities(case, machine, parts))
    if threads is not None:
        # Their calls do not nest: a function of one thread returns while another waits.
        quantities = [q for q in quantities if not _is_stack_of_function(q)]
        notes.append("threads switch stacks, so functions have none of their own here")
        quantities += _of_threads(threads, machine.followed.stack_pointers)
        notes += threads.notes
    outcome = Outcome(quantities=quantities, notes=[*notes, *ModelMeter(case.board).notes(times)])
    return [recorded(case.key, case.subject, case.case, provenance, outcome)]


def _run(case: ImageCase, image: Image) -> Machine:
    """Run an image to its end.

    Raises:
        BudgetError: it does not get there.
        EngineError: the image does not fit the board, or has no such symbol.
        FaultError: it faulted.
    """
    subject = case.subject
    until = image.resolve(subject.stop_at) if subject.stop_at else None
    machine = _machine(case, image)
    if until is None:
        stop = machine.run(until_ps=subject.for_ms * 10**9)
    else:
        stop = machine.run(until=until, until_asleep=True, max_cycles=case.max_cycles)
    if stop.fault is not None:
        raise FaultError(f"the program faulted: {stop.fault.message}", subject.image)
    if until is not None and stop.reason != "address":
        what = f"it did not get to {subject.stop_at}: {stop.reason} at {stop.address:#x}"
        raise BudgetError(
            what, subject.image, "check --stop-at (stop_at), or give more --max-cycles (max_cycles)"
        )
    return machine


def _machine(case: ImageCase, image: Image) -> Machine:
    return Machine(
        chips.load_chip(case.board.chip),
        image,
        wiring=case.board.wiring,
        profile=True,
        trace=True,
        follow=True,
        resets=RESETS,
        surroundings=dict(case.around) or None,
    )


def _quantities(case: ImageCase, machine: Machine, parts: ByPart) -> Iterator[Quantity]:
    """Yield what the whole run took, then each part of the board, of the image, and each function.

    Parts of the image have the word before their names, since a board's part may be a "network".
    """
    meter = ModelMeter(case.board)
    drawn = meter.energy(occupancy(machine.power_tracks, 0, machine.time_ps))
    awake = machine.cycles - machine.sleep_cycles
    yield quantity("cycles", "cycles", [awake], exact=True)
    yield quantity("instructions", "instructions", [machine.instructions], exact=True)
    yield quantity("time", "ps", [machine.time_ps], exact=True)
    yield quantity("energy_gross", "nJ", [drawn.gross_nj], grade=drawn.grade, exact=True)
    yield quantity("energy_net", "nJ", [drawn.net_nj], grade=drawn.grade, exact=True)
    yield quantity("stack", "B", [machine.stack_bytes], exact=True)
    yield quantity("wake_ups", "times", [_wake_ups(machine)], exact=True)
    yield quantity("resets", "times", [machine.resets], exact=True)
    spending = Spending(machine.followed, meter, case.board.supply_v.value)
    by_function = spending.by_function()
    for number, part in enumerate(spending.parts):
        nj = sum(parts_nj[number] for parts_nj in by_function.values())
        yield quantity("energy_gross", "nJ", [nj], part=part, grade=drawn.grade, exact=True)
    for part, spent in spending.by_part(parts, IDLE).items():
        named = f"part {part}"
        yield Quantity(named, "cycles", "cycles", spent.cycles, exact=True)
        yield Quantity(named, "time", "ps", spent.time_ps, exact=True)
        yield quantity(
            "energy_gross", "nJ", [spent.energy_nj], part=named, grade=drawn.grade, exact=True
        )
    yield from _of_functions(machine, by_function, drawn.grade)


def _wake_ups(machine: Machine) -> int:
    states = [interval.state for interval in machine.power_tracks.get(MCU, ())]
    return sum(before != ACTIVE and after == ACTIVE for before, after in itertools.pairwise(states))


def _is_stack_of_function(one: Quantity) -> bool:
    return one.part.startswith("function ") and one.name == "stack"


def _of_threads(threads: Threads, stack_pointers: Sequence[int]) -> Iterator[Quantity]:
    """Yield how much of each thread's stack was used, and how much there is."""
    names = Counter(one.name for one in threads.threads)
    for thread in threads.threads:
        alone = names[thread.name] == 1
        part = f"thread {thread.name}" + ("" if alone else f" at {thread.stack_start:#x}")
        yield Quantity(part, "stack", "B", thread.used_bytes(stack_pointers), exact=True)
        yield Quantity(part, "stack_size", "B", thread.stack_bytes, exact=True)


def _of_functions(
    machine: Machine, by_function: dict[str, list[float]], grade: object
) -> Iterator[Quantity]:
    cycles: dict[str, int] = defaultdict(int)
    calls: dict[str, int] = defaultdict(int)
    stacks: dict[str, int] = defaultdict(int)
    # Functions of the same name in several files are one part.
    for function in machine.profile.functions:
        cycles[function.name] += function.self_cycles
        calls[function.name] += function.calls
        stacks[function.name] = max(stacks[function.name], function.stack_bytes)
    for name, count in cycles.items():
        part = f"function {name}"
        yield Quantity(part, "cycles", "cycles", count, exact=True)
        yield Quantity(part, "calls", "times", calls[name], exact=True)
        yield Quantity(part, "stack", "B", stacks[name], exact=True)
    for name, parts_nj in by_function.items():
        part = "asleep" if name == ASLEEP else f"function {name}"
        yield quantity("energy_gross", "nJ", [sum(parts_nj)], part=part, grade=grade, exact=True)  # type: ignore[arg-type]
