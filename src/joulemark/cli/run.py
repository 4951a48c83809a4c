"""`joulemark run`: measure a campaign."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from joulemark.cli import app
from joulemark.cli._options import DEFAULT_REPORT, DEFAULT_STORE, StoreOption
from joulemark.cli.instruments import MeasuringCommand, given
from joulemark.errors import InputError, JoulemarkError, MeterError, VerificationError

if TYPE_CHECKING:
    from rich.progress import Progress

    from joulemark.campaign.case import Build
    from joulemark.campaign.plan import Plan
    from joulemark.catalogue.primitives import Library
    from joulemark.errors import BuildError
    from joulemark.images import BuiltImage
    from joulemark.measure.session import Job, Point
    from joulemark.records.record import Record
    from joulemark.records.store import Store

SUPPLY_LIMIT_A = 0.5
"""What a supply is let deliver to a board."""
SUPPLY_APART = 0.05
"""How far, of what was set, a supply's reading may be off."""
_TABLE_BYTES = 64
"""The table at the end shows the message size nearest to this."""


def _names(option: str, text: str) -> Any:
    return typer.Option(option, metavar="NAME", help=text + "; repeatable.")


def _numbers(text: str | None, option: str) -> list[int] | None:
    if text is None:
        return None
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"{text!r} is no list of sizes", option, "write 16,32,64") from None


class Runner(StrEnum):
    """What executes images."""

    EMULATOR = "emulator"
    SERIAL = "serial"
    LOCAL = "local"


@app.command(cls=MeasuringCommand)
def run(
    ctx: typer.Context,
    campaign: Annotated[
        Path | None,
        typer.Argument(
            metavar="CAMPAIGN.toml", help="TOML file; the default campaign when not given."
        ),
    ] = None,
    board: Annotated[list[str] | None, _names("--board", "Board")] = None,
    clock: Annotated[list[str] | None, _names("--clock", "Clock profile of the board")] = None,
    primitive: Annotated[list[str] | None, _names("--primitive", "Primitive, or a glob")] = None,
    implementation: Annotated[
        list[str] | None, _names("--implementation", "Implementation, or a glob")
    ] = None,
    operation: Annotated[list[str] | None, _names("--operation", "Operation, or a glob")] = None,
    size: Annotated[
        str | None, typer.Option("--size", metavar="BYTES,...", help="Message sizes.")
    ] = None,
    ad_size: Annotated[
        str | None,
        typer.Option("--ad-size", metavar="BYTES,...", help="Sizes of associated data (AEAD)."),
    ] = None,
    compiler: Annotated[list[str] | None, _names("--compiler", "Compiler")] = None,
    opt: Annotated[list[str] | None, _names("--opt", "Optimisation, such as O3 or Os")] = None,
    repetitions: Annotated[
        int | None, typer.Option("--repetitions", help="Executions in one window.")
    ] = None,
    trials: Annotated[
        int | None, typer.Option("--trials", help="Executions with random keys and messages.")
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Of the random inputs.")] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, help="Processes; one for each core.")
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    report: Annotated[
        Path | None,
        typer.Option("--report", help="The HTML report; beside the store if not given."),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Measure again what the store already has.")
    ] = False,
    runner: Annotated[
        Runner,
        typer.Option("--runner", help="Emulated, a board on a serial line, or this machine."),
    ] = Runner.EMULATOR,
    port: Annotated[str | None, typer.Option("--port", help="Serial port of the board.")] = None,
    meter: Annotated[
        str | None,
        typer.Option(
            "--meter",
            help="Instrument on the board's supply; its options are in `joulemark list meters`.",
        ),
    ] = None,
    runs: Annotated[
        int, typer.Option("--runs", min=2, help="Independent runs of a case with an instrument.")
    ] = 5,
    supply_v: Annotated[
        float | None, typer.Option("--supply-v", help="Supply voltage; the board's if not given.")
    ] = None,
    supply: Annotated[
        str | None, typer.Option("--supply", help="VISA resource of an E3631A that feeds it.")
    ] = None,
    unit: Annotated[str, typer.Option("--unit", help="Which specimen of the board.")] = "unnamed",
    flash: Annotated[
        bool, typer.Option("--flash", help="Write each image to the board, as its file says.")
    ] = False,
) -> None:
    """Build firmware, run it on an emulated board, verify every output, and keep what it cost.

    What the store already has is served from there. Options override the campaign file. Stopped
    at any moment, the same command goes on where it stopped.

    With --runner serial a real board runs its image, with --runner local this machine does, and
    an instrument measures it.
    """
    from joulemark.campaign.campaign import expand, load_campaign
    from joulemark.campaign.plan import Plan, plan
    from joulemark.catalogue.kinds import is_result
    from joulemark.catalogue.primitives import Library
    from joulemark.records.store import Store

    chosen = load_campaign(
        campaign,
        {
            "board": board,
            "clock": clock,
            "primitive": primitive,
            "implementation": implementation,
            "operation": operation,
            "size": _numbers(size, "--size"),
            "ad_size": _numbers(ad_size, "--ad-size"),
            "compiler": compiler,
            "opt": [o.removeprefix("-") for o in opt] if opt else None,
            "repetitions": repetitions,
            "trials": trials,
            "seed": seed,
        },
    )
    library = Library.load()
    here = runner is Runner.LOCAL
    cases = expand(chosen, library, local=here)
    processes = jobs or len(os.sched_getaffinity(0))
    bench = _Bench(
        runner, port, meter, given(ctx), runs, supply_v, supply, unit, flash
    )  # fmt: skip
    bench.check()
    with Store(store) as opened:
        if here:
            from joulemark.measure.instrumented import local_jobs

            todo = Plan(tuple(local_jobs(chosen, library, cases)))
        else:
            todo = plan(chosen, library, _build(cases, library, processes), cases)
        if runner is not Runner.EMULATOR:
            todo = bench.keyed(todo)
        served = {} if fresh else opened.find(todo.keys)
        left = todo.without(served)
        if not left:
            measured = []
        elif runner is Runner.EMULATOR:
            measured = _measure(opened, left, processes)
        else:
            measured = bench.measure(opened, left)
        typer.echo(
            f"measured {len(measured)}, served from the store: {len(served)} of {len(todo.keys)}"
            + ("; --fresh measures again" if served else "")
        )
        records = [*served.values(), *measured]
        _show(records)
        path = report or _report_path(opened)
        good = any(r.status == "ok" and is_result(r.kind) for r in records)
        if good and (measured or not path.exists()):
            from joulemark.report import write_report

            write_report(opened, path)
        typer.echo(f"store:  {opened.name}")
        if path.exists():
            typer.echo(f"report: {path}")
    failed = [r for r in measured if r.status == "failed"]
    if failed:
        raise VerificationError(_failures(failed))


def _report_path(store: "Store") -> Path:
    """Beside the store where that is a file."""
    if store.url.get_backend_name() == "sqlite" and store.url.database:
        return Path(store.url.database).with_name(DEFAULT_REPORT.name)
    return DEFAULT_REPORT


def _progress() -> "Progress":
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    return Progress(
        TextColumn("{task.description:9}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )


def _build(
    cases: "Mapping[Build, object]", library: "Library", processes: int
) -> "dict[Build, BuiltImage | BuildError]":
    """Build all images with a progress bar."""
    from joulemark.campaign.plan import build_all

    with _progress() as progress:
        task = progress.add_task("building", total=len(cases))
        return build_all(cases, library, processes, lambda: progress.advance(task))


def _measure(store: "Store", jobs: "Sequence[Job]", processes: int) -> "list[Record]":
    """Measure with a progress bar; each record is in the store before the next is awaited."""
    from joulemark.measure.pool import conduct

    measured: list[Record] = []
    total = sum(len(job.points) for job in jobs)
    try:
        with _progress() as progress:
            task = progress.add_task("measuring", total=total)
            for record in conduct(jobs, min(processes, len(jobs))):
                store.append(record)
                measured.append(record)
                progress.advance(task)
    except KeyboardInterrupt:
        raise InterruptedRunError(
            f"interrupted after {len(measured)} of {total} cases, all of them in the store",
            None,
            "give the same command again to go on",
        ) from None
    return measured


@dataclass(frozen=True)
class _Bench:
    """A real board or this machine, and the instrument that measures it: as the options say."""

    runner: Runner
    port: str | None
    meter: str | None
    told: dict[str, object]
    """The meter's options, by parameter."""
    runs: int
    supply_v: float | None
    supply: str | None
    unit: str
    flash: bool

    def check(self) -> None:
        """Refuse what does not go together, before anything is built."""
        where = f"--runner {self.runner}"
        if self.runner is Runner.EMULATOR:
            if self.flash or self.meter or self.port:
                raise InputError(
                    "an emulated board has no port and no instrument",
                    where,
                    "give --runner serial or local",
                )
            return
        if self.supply_v is not None:
            from joulemark.meters.options import SUPPLY

            SUPPLY.check(self.supply_v)
        if self.meter is None:
            raise InputError("it is not said what measures", where, "give --meter")
        if self.runner is Runner.SERIAL and self.port is None:
            raise InputError("it is not said where the board is", where, "give --port")
        if self.runner is Runner.LOCAL and (self.flash or self.port):
            raise InputError("this machine is not flashed and has no port", where)

    def keyed(self, todo: "Plan") -> "Plan":
        """The same cases, with keys of records that stand beside the emulator's."""
        from joulemark import meters
        from joulemark.measure.instrumented import key_of

        # Measured in another way it is another result.
        known = [o.parameter for o in meters.options(self.meter or "") if o.option.identifies]
        options = {name: value for name, value in sorted(self.told.items()) if name in known}
        how = (options, self.runs, self.supply_v, self.supply is not None)

        def point(old: "Point") -> "Point":
            text = f"{old.key}/{how}"
            return replace(old, key=key_of(text, self.runner, self.meter or "", self.unit))

        return replace(
            todo,
            jobs=tuple(replace(j, points=tuple(map(point, j.points))) for j in todo.jobs),
        )

    def measure(self, store: "Store", jobs: "Sequence[Job]") -> "list[Record]":
        """Measure; each record is in the store before the next case begins."""
        from joulemark.catalogue import boards
        from joulemark.images import BuiltImage
        from joulemark.measure.instrumented import Setup, measure_here, measure_on_board
        from joulemark.meters import open_meter
        from joulemark.runners.flash import flash

        total = sum(len(job.points) for job in jobs)
        if self.runner is Runner.SERIAL and len(jobs) != 1 and not self.flash:
            what = f"a board has one image, and these cases need {len(jobs)}"
            mend = "choose one with --board, --primitive, --implementation and --opt, or --flash"
            raise InputError(what, f"--runner {self.runner}", mend)
        measured: list[Record] = []
        with ExitStack() as opened:
            supply_v, bound, note = self._voltage(jobs[0].build.board, opened)
            meter = opened.enter_context(open_meter(self.meter or "", self.told, supply_v=supply_v))
            setup = Setup(
                self.port or "", meter, self.meter or "", self.unit, self.runs, bound, note
            )
            measure = measure_here if self.runner is Runner.LOCAL else measure_on_board
            try:
                for job in jobs:
                    if self.flash and isinstance(job.image, BuiltImage):
                        flash(boards.load_board(job.build.board), job.image, setup.port)
                    for record in measure(job, setup):
                        store.append(record)
                        measured.append(record)
                        _tell(record)
            except (KeyboardInterrupt, EOFError):
                raise InterruptedRunError(
                    f"interrupted after {len(measured)} of {total} cases, all of them in the store",
                    None,
                    "give the same command again to go on",
                ) from None
        return measured

    def _voltage(self, board: str, opened: ExitStack) -> tuple[float | None, float, str]:
        """Supply voltage, the relative bound on its error, and where it is from."""
        from joulemark.catalogue import boards

        if self.supply_v is not None:
            volt, where = self.supply_v, "as stated by whoever measured"
        elif self.runner is Runner.LOCAL:
            # Meters of a whole machine know its voltage, or say that they need it.
            return None, 0.0, "the meter knows the voltage"
        else:
            volt, where = boards.load_board(board).supply_v.value, "as the board's file says"
        if self.supply is None:
            return volt, 0.0, f"supply voltage: {volt:g} V, {where}, taken as exact"
        from joulemark.meters.scpi.agilent_e3631a import AgilentE3631A

        supply = AgilentE3631A(self.supply)
        opened.callback(supply.close)
        supply.power(volt, SUPPLY_LIMIT_A)
        read_v = supply.measure_v()
        if abs(read_v - volt) > SUPPLY_APART * volt:
            raise MeterError(
                f"it is set to {volt:g} V and reads {read_v:g} V", self.supply, "is it overloaded?"
            )
        bound = supply.readback_of_output + supply.readback_v / read_v
        return read_v, bound, f"supply voltage: {read_v:.4f} V +- {bound:.2%}, read back by E3631A"


def _tell(record: "Record") -> None:
    """What came of a case, as soon as it is there."""
    name = f"{record.primitive} {record.operation} {record.message_bytes} B"
    if record.status == "failed":
        typer.echo(f"{name}: failed: {record.failure}")
    for note in record.notes[:2]:
        typer.echo(f"{name}: {note}")


class InterruptedRunError(JoulemarkError):
    """Ctrl-C."""

    exit_code = 130


def _failures(failed: "Sequence[Record]") -> str:
    kinds = Counter(r.failure for r in failed)
    lines = [f"  {count} x {failure}" for failure, count in kinds.most_common(10)]
    if len(kinds) > 10:
        lines.append(f"  and {len(kinds) - 10} other failures, all in the store")
    return f"{len(failed)} cases failed and have no number:\n" + "\n".join(lines)


def _memory(record: "Record") -> tuple[int | None, int | None, int | None]:
    return record.flash_bytes, record.ram_bytes, record.stack_bytes


def _show(records: "Sequence[Record]") -> None:
    """One line for each implementation: its fastest build, at one operation and size."""
    from rich.console import Console
    from rich.table import Table

    from joulemark.catalogue.kinds import is_result, main_operation

    good = [r for r in records if r.status == "ok" and is_result(r.kind)]
    shown = [r for r in good if r.operation == main_operation(r.kind)] or good
    groups: dict[tuple[str, str, str, str, str], list[Record]] = {}
    for r in shown:
        groups.setdefault((r.board, r.clock, r.kind, r.primitive, r.implementation), []).append(r)
    if not groups:
        return
    boards = len({(board, clock) for board, clock, *_ in groups}) > 1
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in (*(("board",) if boards else ()), "primitive", "implementation", "operation"):
        table.add_column(name, no_wrap=True)
    for name in ("bytes", "opt", "cycles", "ms", "µJ", "flash", "RAM", "stack"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("secrets")
    for (board, clock, *_), group in sorted(groups.items()):
        best = min(
            group,
            key=lambda r: (abs(r.message_bytes - _TABLE_BYTES), r.ad_bytes, r.cycles or 0),
        )
        builds = [r for r in group if r.optimisation == best.optimisation]
        findings = {r.finding for r in builds}
        finding = next(
            (f for f in ("time depends on data", "addresses depend on data") if f in findings),
            best.finding,
        )
        table.add_row(
            *((f"{board} {clock}",) if boards else ()),
            best.primitive,
            best.implementation,
            best.operation,
            str(best.message_bytes),
            best.optimisation,
            "" if best.cycles is None else f"{best.cycles:,.0f}",
            f"{(best.time_ps or 0) / 1e9:.3f}",
            "" if best.energy_net_nj is None else f"{best.energy_net_nj / 1e3:.2f}",
            *("" if v is None else str(v) for v in _memory(best)),
            finding or "",
        )
    # A pipe or a file has no width that a table must fit.
    console = Console()
    if not console.is_terminal:
        console = Console(width=200)
    console.print(table)
