"""`joulemark choose`: rank the primitives and builds that meet an application's demands."""

import json
import os
from dataclasses import dataclass, replace
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated, Any

import typer

from joulemark.battery import DEFAULT_MAH
from joulemark.cli import app
from joulemark.cli._grouped import grouped
from joulemark.cli._options import (
    DEFAULT_STORE,
    MessageSize,
    SourceOption,
    StoreOption,
    complete_board,
    complete_kind,
    message_bytes,
    not_nan,
)
from joulemark.cli._output import Form, FormOption, figures
from joulemark.errors import InputError, UnsatisfiedError
from joulemark.words import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from joulemark.analysis.choice import Demands, Option
    from joulemark.catalogue.boards import Board
    from joulemark.catalogue.kinds import Kind
    from joulemark.catalogue.primitives import Algorithm, Implementation, Library
    from joulemark.records.record import PrimitiveRecord
    from joulemark.records.store import Store
    from joulemark.subjects.primitive import PrimitiveSubject

CONSTANT_TIME_TRIALS = 8
"""Where constant time is demanded: `run` by default makes only two for long messages."""


class Standing(StrEnum):
    """The standing of a primitive."""

    STANDARD = "standard"
    FINALIST = "finalist"
    RESEARCH = "research"
    DEPRECATED = "deprecated"
    BROKEN = "broken"


class By(StrEnum):
    """A quantity to rank by."""

    ENERGY = "energy"
    TIME = "time"
    FLASH = "flash"
    RAM = "ram"
    STACK = "stack"


@dataclass(frozen=True, kw_only=True)
class DemandOptions:
    """Demands on a build."""

    status: Annotated[Standing, typer.Option("--status", help="Lowest acceptable status.")] = (
        Standing.STANDARD
    )
    constant_time: Annotated[
        bool,
        typer.Option(
            "--constant-time", help="Require a constant-time claim that no trial contradicts."
        ),
    ] = False
    time_alone: Annotated[
        bool,
        typer.Option(
            "--time-alone",
            help="On a chip without a cache: require times that no trial shows to depend on "
            "secrets, whatever addresses do.",
        ),
    ] = False
    one_time_key: Annotated[
        bool, typer.Option("--one-time-key", help="Accept a key for one message only.")
    ] = False
    security_bits: Annotated[
        int | None,
        typer.Option("--security-bits", min=1, metavar="N", help="Minimum security strength."),
    ] = None
    max_flash: Annotated[
        int | None, typer.Option("--max-flash", min=0, metavar="BYTES", help="Flash budget.")
    ] = None
    max_ram: Annotated[
        int | None,
        typer.Option("--max-ram", min=0, metavar="BYTES", help="RAM budget: context and data."),
    ] = None
    max_stack: Annotated[
        int | None, typer.Option("--max-stack", min=0, metavar="BYTES", help="Stack budget.")
    ] = None
    max_ms: Annotated[
        float | None,
        typer.Option(
            "--max-ms", min=0, callback=not_nan, metavar="MS", help="Time budget for one message."
        ),
    ] = None

    @property
    def demands(self) -> "Demands":
        """The demands, as the analysis takes them."""
        from joulemark.analysis.choice import Demands

        return Demands(
            status=self.status.value,
            constant_time=self.constant_time,
            time_alone=self.time_alone,
            one_time_key=self.one_time_key,
            security_bits=self.security_bits,
            max_flash_bytes=self.max_flash,
            max_ram_bytes=self.max_ram,
            max_stack_bytes=self.max_stack,
            max_time_s=None if self.max_ms is None else self.max_ms * 1e-3,
        )


@dataclass(frozen=True, kw_only=True)
class UseOptions:
    """How often it is used, and the battery."""

    every: Annotated[
        float | None,
        typer.Option(
            "--every",
            min=1e-6,
            max=1e9,
            callback=not_nan,
            metavar="SECONDS",
            help="Interval between messages.",
        ),
    ] = None
    battery_mah: Annotated[
        float,
        typer.Option(
            "--battery-mah",
            min=1e-3,
            max=1e9,
            callback=not_nan,
            help="With --every: usable battery capacity; two alkaline AA cells have about 2,000.",
        ),
    ] = DEFAULT_MAH


@app.command()
@grouped
def choose(
    demanded: DemandOptions,
    use: UseOptions,
    board: Annotated[str, typer.Option("--board", help="Board.", autocompletion=complete_board)],
    kind: Annotated[
        str,
        typer.Option(
            "--kind", help="Kind of primitive: aead, hash, mac, ...", autocompletion=complete_kind
        ),
    ],
    size: MessageSize = None,
    ad_size: Annotated[
        int,
        typer.Option(
            "--ad-size", min=0, max=65535, metavar="BYTES", help="Size of the associated data."
        ),
    ] = 0,
    clock: Annotated[
        str | None, typer.Option("--clock", help="Clock profile; the board's first if not given.")
    ] = None,
    operation: Annotated[
        list[str] | None,
        typer.Option(
            "--operation",
            help="Operation run for each message; repeatable; the kind's if not given.",
        ),
    ] = None,
    primitive: Annotated[
        list[str] | None,
        typer.Option("--primitive", help="Consider only these (names or globs); repeatable."),
    ] = None,
    implementation: Annotated[
        list[str] | None,
        typer.Option("--implementation", help="Consider only these (names or globs); repeatable."),
    ] = None,
    hardware: Annotated[
        bool,
        typer.Option("--hardware/--no-hardware", help="Consider what uses an accelerator."),
    ] = True,
    by: Annotated[By, typer.Option("--sort", help="Quantity to rank by.")] = By.ENERGY,
    top: Annotated[int, typer.Option("--top", min=1, help="Number of builds to show.")] = 15,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show what each demand ruled out.")
    ] = False,
    stored: Annotated[
        bool,
        typer.Option("--stored", help="Use only what the store holds; build and measure nothing."),
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, help="Number of processes; one per core if not given."),
    ] = None,
    form: FormOption = Form.TEXT,
    source: SourceOption = None,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Choose a primitive, its implementation and its build for a board.

    What was not measured is measured now, with every compiler and optimisation level. Shows the
    builds of each implementation on the Pareto front of time, energy, flash and RAM, marked with a
    star, or else its best build. Exits with 13 if nothing satisfies all demands.
    """
    from joulemark.analysis import choice
    from joulemark.analysis.advice import leaking
    from joulemark.catalogue import boards
    from joulemark.records.store import Store

    described = boards.load_board(board)
    described.clock_profile(clock)
    question = _Question(
        board=described,
        clock=clock or described.default_clock,
        kind=_kind(kind),
        asked_size=size,
        ad_size=ad_size,
        operations=tuple(operation or ()),
        primitives=tuple(primitive or ()),
        implementations=tuple(implementation or ("*",)),
        hardware=hardware,
    )
    demands, serving = demanded.demands, question.serving
    _refuse_cache(described, demands)
    with Store(store, "read" if stored else "create") as opened:
        if stored:
            known = question.of_kind(opened)
            question = question.held(known)
            records = question.stored(known)
            unmeasured: dict[Implementation, list[str]] = {}
        else:
            records, unmeasured = question.measured(
                opened, demands, jobs or len(os.sched_getaffinity(0))
            )
            known = question.of_kind(opened)
    found = choice.options(records, serving, leaking(known))
    objections = {o.build: demands.objects(o) for o in found}
    good = [o for o in found if not objections[o.build]]
    if not found and not unmeasured:
        what = f"nothing of this was measured: {question}"
        raise InputError(what, store, "leave --stored out, and it is")
    removed = _removed(found, objections, unmeasured)
    names = {o.build.primitive for o in found} | {way.algorithm.name for way in unmeasured}
    if good:
        _show(question, good, by, top, use, form)
        if form in {Form.TEXT, Form.MARKDOWN}:
            _hardware(question, names)
            if others := question.others:
                typer.echo(f"the report also considers kind {', '.join(others)} for this")
            if stored and (line := question.left_out(records)):
                typer.echo(line)
    if explain and form in {Form.TEXT, Form.MARKDOWN}:
        _explain(removed)
    if not good:
        raise UnsatisfiedError(
            f"none of {len(found) + len(unmeasured)} satisfies all demands: {question}",
            None,
            f"give up one: {'; '.join(removed)}" + ("" if explain else "; --explain says more"),
        )


def _refuse_cache(board: "Board", demands: "Demands") -> None:
    from joulemark.catalogue import chips

    if demands.time_alone and chips.load_chip(board.chip).memories_keep_state:
        what = f"{board.chip} has a cache or line buffers: addresses decide its time"
        raise InputError(what, "--time-alone", "give --constant-time")


def _kind(name: str) -> "Kind":
    from joulemark.catalogue import kinds

    known = {k: v for k, v in kinds.known().items() if not v.file.baseline}
    if name not in known:
        from joulemark.catalogue.near import near

        raise InputError(f"no such kind: {name}", "--kind", near(name, known))
    return known[name]


@dataclass(frozen=True, kw_only=True)
class _Question:
    """The service and its board, before any demand."""

    board: "Board"
    clock: str
    kind: "Kind"
    asked_size: int | None
    ad_size: int
    operations: tuple[str, ...]
    primitives: tuple[str, ...]
    implementations: tuple[str, ...]
    hardware: bool
    wanted_size: int | None = None
    """Size of the message, where a larger one stands for it."""

    def __str__(self) -> str:
        ad = f" with {self.ad_size} of associated data" if self.ad_size else ""
        hz = self.board.clock_profile(self.clock).hz
        served = " and ".join(self.serving)
        more = self.wanted_size is not None and self.wanted_size != self.size
        held = f" (the smallest stored that hold {self.wanted_size})" if more else ""
        message = f", {self.size} bytes{held}{ad}" if self._sized else ""
        return f"{served} of {self.kind.name}{message}, on {self.board.name} at {hz / 1e6:g} MHz"

    @property
    def _sized(self) -> bool:
        """Whether the serving operations take a message."""
        return self.kind.sized(self.serving)

    @property
    def size(self) -> int:
        """Size of the message in bytes; 0 if there is none.

        Raises:
            InputError: a size is given but there is no message.
        """
        return message_bytes(self.kind, self.serving, self.asked_size)

    @property
    def serving(self) -> tuple[str, ...]:
        """Operations that serve one message: those asked for, else of the kind's first service."""
        if self.operations:
            return self.operations
        services = self.kind.file.service
        return tuple(services[0].operations) if services else (self.kind.file.main_operation,)

    @property
    def others(self) -> list[str]:
        """Other kinds that provide the same service; the report chooses among all of them."""
        from joulemark.analysis.advice import services

        mine = [
            s.operations for s in services() if self.kind.name in s.operations and not s.with_ad
        ]
        same = [o for o in mine if tuple(o[self.kind.name]) == self.serving]
        return sorted({name for operations in same for name in operations} - {self.kind.name})

    def _suits(self, record: "PrimitiveRecord") -> bool:
        what, operation = record.subject, self.kind.operation(record.subject.operation)
        names = not self.primitives or any(fnmatchcase(what.primitive, p) for p in self.primitives)
        names = names and any(fnmatchcase(what.implementation, p) for p in self.implementations)
        names = names and (self.hardware or not self._is_hardware(what))
        sized = not operation.sized or what.message_bytes == self.size
        with_ad = not operation.with_ad or what.ad_bytes == self.ad_size
        return names and sized and with_ad

    @staticmethod
    def _is_hardware(what: "PrimitiveSubject") -> bool:
        from joulemark.catalogue.primitives import library

        algorithm = library().algorithms.get(what.primitive)
        ways = [] if algorithm is None else library().implementations(algorithm)
        return any(way.name == what.implementation and way.accelerators for way in ways)

    def left_out(self, records: "Sequence[PrimitiveRecord]") -> str:
        """Say what the board runs and the store does not have; empty if nothing."""
        from joulemark.analysis.advice import left_out
        from joulemark.catalogue.primitives import library

        if self.implementations != ("*",):
            return ""
        return left_out(records, self.board, self._algorithms(library()))

    def of_kind(self, store: "Store") -> "list[PrimitiveRecord]":
        """Return the store's good records of the kind, of all sizes."""
        from joulemark.records.record import of_primitives

        found = store.of_board(self.board.name, self.clock, kind={self.kind.name})
        return [r for r in of_primitives(found) if r.status == "ok"]

    def held(self, records: "Sequence[PrimitiveRecord]") -> "_Question":
        """Return the question of the smallest size of records that holds this one's message.

        So does the report; nothing is interpolated.
        """
        if not self._sized:
            return self
        sizes = [r.subject.message_bytes for r in records if r.subject.operation in self.serving]
        larger = min((size for size in sizes if size >= self.size), default=self.size)
        return replace(self, asked_size=larger, wanted_size=self.size)

    def stored(self, records: "Sequence[PrimitiveRecord]") -> "list[PrimitiveRecord]":
        """Return those of the kind's records that suit."""
        return [r for r in records if self._suits(r)]

    def measured(
        self, store: "Store", demands: "Demands", processes: int
    ) -> "tuple[list[PrimitiveRecord], dict[Implementation, list[str]]]":
        """Return records of all that may meet the demands, and why the rest cannot."""
        from joulemark.campaign.options import checked
        from joulemark.catalogue.primitives import Library
        from joulemark.cli._measuring import conducted, means
        from joulemark.images.toolchain import OPTIMISATIONS
        from joulemark.measure.bench import Bench
        from joulemark.measure.pool import Processes
        from joulemark.records.record import of_primitives
        from joulemark.subjects.primitive.measure import plan
        from joulemark.subjects.primitive.options import PrimitiveOptions

        library = Library.load()
        ways = self._ways(library)
        refused = {str(way): demands.objects_unmeasured(way) for way in ways}
        unmeasured = {way: refused[str(way)] for way in ways if refused[str(way)]}
        if len(unmeasured) == len(ways):
            return [], unmeasured
        campaign = checked(
            PrimitiveOptions,
            {
                "board": [self.board.name],
                "clock": [self.clock],
                "primitive": sorted({way.algorithm.name for way in ways}),
                # Other operations may not accept a message of 0 bytes.
                "size": [self.size] if self._sized else None,
                "ad_size": [self.ad_size],
                "compiler": _compilers(self.board.core),
                "opt": list(OPTIMISATIONS),
                "trials": CONSTANT_TIME_TRIALS
                if demands.constant_time or demands.time_alone
                else None,
            },
        )
        with means(Bench(), Processes(processes)) as used:
            work = plan(campaign, used, lambda way: refused.get(str(way)) == [])
        records = of_primitives(conducted(store, work).records(store))
        failed = [r for r in records if r.status != "ok"]
        if failed:
            typer.echo(f"{counted(len(failed), 'case')} failed: {failed[0].failure}", err=True)
        return [r for r in records if r.status == "ok"], unmeasured

    def _algorithms(self, library: "Library") -> "list[Algorithm]":
        """Return the algorithms with the wanted names that take messages of this size."""
        from joulemark.catalogue.near import near

        of_kind = [a for a in library.algorithms.values() if a.kind == self.kind.name]
        named = [
            algorithm
            for algorithm in of_kind
            if (
                any(fnmatchcase(algorithm.name, p) for p in self.primitives)
                if self.primitives
                else algorithm.is_default
            )
        ]
        if not named:
            names = [a.name for a in of_kind]
            if not self.primitives:
                what = f"nothing of kind {self.kind.name} is considered unless it is named"
                raise InputError(what, "--primitive", f"there are {', '.join(names)}")
            what = f"{', '.join(self.primitives)} matches nothing of kind {self.kind.name}"
            raise InputError(what, "--primitive", near(self.primitives[0], names))
        able = [a for a in named if not self._sized or a.takes_message(self.size)]
        if not able:
            taken = " or ".join(sorted({a.messages_taken for a in named}))
            raise InputError(
                f"none takes a message of {self.size} bytes", "--size", f"give {taken}"
            )
        return able

    def _ways(self, library: "Library") -> "list[Implementation]":
        ways = [
            way
            for algorithm in self._algorithms(library)
            for way in library.implementations(algorithm)
            if way.runs_on(self.board.instruction_set, self.board.accelerators)
            and way.takes(self.size, self.ad_size)
            and any(fnmatchcase(way.name, pattern) for pattern in self.implementations)
            and (self.hardware or not way.accelerators)
        ]
        if not ways:
            raise InputError(f"nothing runs there that does this: {self}", "--primitive, --board")
        return ways


def _compilers(core: str) -> list[str]:
    """Return the installed compilers, and the default one in any case."""
    from joulemark.catalogue import instruction_sets
    from joulemark.errors import ToolError
    from joulemark.images import toolchain

    default: str = instruction_sets.compilers(core).default
    found = [default]
    for name in ("clang", "gcc"):
        try:
            toolchain.find(name, core)
        except ToolError:
            continue
        if name != default:
            found.append(name)
    return found


def _removed(
    found: "Sequence[Option]",
    objections: "Mapping[Any, list[str]]",
    unmeasured: "Mapping[Implementation, list[str]]",
) -> dict[str, dict[str, int]]:
    """Return the builds that each demand rules out by itself, by implementation.

    An implementation that was not measured counts as 0 builds.
    """
    result: dict[str, dict[str, int]] = {}
    for way, reasons in unmeasured.items():
        for reason in reasons:
            result.setdefault(reason, {})[str(way)] = 0
    for option in found:
        name = f"{option.build.primitive}/{option.build.implementation}"
        for reason in objections[option.build]:
            builds = result.setdefault(reason, {})
            builds[name] = builds.get(name, 0) + 1
    return result


def _explain(removed: "Mapping[str, Mapping[str, int]]") -> None:
    typer.echo("\nremoved by each demand, whatever the others remove:" if removed else "")
    for reason, builds in sorted(removed.items(), key=lambda item: -len(item[1])):
        typer.echo(f"  {reason}:")
        by_primitive: dict[str, list[str]] = {}
        for name, count in builds.items():
            primitive, _, implementation = name.partition("/")
            counted = f" ({count} build{'s' if count > 1 else ''})" if count else ""
            by_primitive.setdefault(primitive, []).append(implementation + counted)
        for primitive, implementations in sorted(by_primitive.items()):
            typer.echo(f"    {primitive}: {', '.join(implementations)}")


def _show(
    question: _Question,
    good: "list[Option]",
    by: By,
    top: int,
    use: UseOptions,
    form: Form,
) -> None:
    from joulemark.analysis import choice

    on_front = choice.front(good)
    chosen = choice.ranked(good, by.value) if form is Form.JSON else choice.shown(good, by.value)
    volt = question.board.supply_v.value
    rows, errors = [], []
    for option in chosen if form in {Form.JSON, Form.CSV} else chosen[:top]:
        build = option.build
        row: dict[str, Any] = {
            "front": "*" if option.build in on_front else "",
            "primitive": build.primitive,
            "implementation": build.implementation,
            "build": f"{build.compiler} -{build.optimisation}",
            "time µs": option.time_s * 1e6,
            "energy µJ": option.energy_j * 1e6,
            "flash": option.flash_bytes,
            "RAM": option.ram_bytes,
            "stack": option.stack_bytes,
            "bits": option.security_bits,
            "secrets": option.secrets,
        }
        if use.every is not None:
            row["mAh a year"] = option.mah_a_year(use.every, volt)
        rows.append(row)
        errors.append(option.errors)
    if form is Form.JSON:
        rows = [{**row, "errors": error} for row, error in zip(rows, errors, strict=True)]
        payload = {"question": str(question), "candidates": rows, **_life(question, good, by, use)}
        typer.echo(json.dumps(payload, indent=1, ensure_ascii=False))
        return
    if form is Form.CSV:
        typer.echo(figures(rows, errors, form))
        return
    typer.echo(f"{question}\n")
    typer.echo(figures(rows, errors, form))
    hidden = len(good) - len(rows)
    more = f"; {hidden} more are dearer builds of these, or beyond --top" if hidden else ""
    typer.echo(f"\n*: on the Pareto front of time, energy, flash and RAM{more}")
    for line in (*_kept(good, by), *_life(question, good, by, use).values()):
        typer.echo(line)


def _kept(good: "list[Option]", by: By) -> list[str]:
    """Name the first option that keeps its secrets, which the report advises, if it is another."""
    from joulemark.analysis import choice

    first, *others = choice.ranked(good, by.value)
    kept = next((o for o in (first, *others) if o.claims and not o.leaks), None)
    if kept is first:
        return []
    if kept is None:
        return ["none of these claims independence of secrets and keeps it"]
    build = kept.build
    return [
        f"the first that keeps its secrets, which the report advises: {build.primitive}, "
        f"{build.implementation}, {build.compiler} -{build.optimisation}: "
        f"{kept.time_s * 1e6:,.4g} µs, {kept.energy_j * 1e6:,.4g} µJ, {kept.flash_bytes:,} B flash"
    ]


def _hardware(question: _Question, names: "Collection[str]") -> None:
    """Point out the board's accelerators that could do some of it where nothing here uses them."""
    from joulemark.catalogue.primitives import library

    known = library()
    for engine in question.board.accelerator:
        # A store may have algorithms of others, or some that no longer exist.
        there = (known.algorithms[name] for name in names if name in known.algorithms)
        used = {
            algorithm.name
            for algorithm in there
            if any(engine.name in way.accelerators for way in known.implementations(algorithm))
        }
        able = sorted(
            name
            for name in set(names) - used
            if any(fnmatchcase(name, pattern) for pattern in engine.primitives)
        )
        if able:
            typer.echo(
                f"hardware for {', '.join(able)}: {engine.description}; not measured here "
                f"({engine.grade}: {engine.source})"
            )


def _life(question: _Question, good: "list[Option]", by: By, use: UseOptions) -> dict[str, str]:
    """Return the battery life with the best option, beside that of the sleeping board."""
    from joulemark.analysis import choice
    from joulemark.analysis.budget import life_text, lifetime_s
    from joulemark.analysis.scenario import Battery
    from joulemark.meters.model import ModelMeter

    if use.every is None:
        return {}
    first = choice.ranked(good, by.value)[0]
    idle = ModelMeter(question.board).idle
    battery = Battery(
        capacity_ah=use.battery_mah / 1000,
        capacity_tolerance=0.0,
        capacity_to_v=0.1,
        cutoff_v=0.1,
        self_discharge_per_year=0.03,
        source="--battery-mah",
    )
    security_a = first.energy_j / question.board.supply_v.value / use.every
    asleep_s, both_s = (
        lifetime_s(battery, ampere) for ampere in (idle.ampere, idle.ampere + security_a)
    )
    idle_mah = idle.ampere * choice.YEAR_S / 3.6
    return {
        "battery": (
            f"a battery of {use.battery_mah:g} mAh that discharges itself by 3% a year feeds the "
            f"board asleep ({idle_mah:.4g} mAh a year) {life_text(asleep_s)}, with "
            f"{first.build.primitive} every {use.every:g} s {life_text(both_s)}; radio and "
            "sensors are not in it: `joulemark budget` has them"
        )
    }
