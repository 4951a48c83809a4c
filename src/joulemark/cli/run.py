"""`joulemark run`: measure a campaign."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from joulemark.cli import app
from joulemark.cli.output import DEFAULT_REPORT, DEFAULT_STORE, StoreOption
from joulemark.errors import InputError, JoulemarkError, VerificationError

if TYPE_CHECKING:
    from rich.progress import Progress

    from joulemark.build import BuiltImage
    from joulemark.case import Build
    from joulemark.errors import BuildError
    from joulemark.measure import Job
    from joulemark.primitives import Library
    from joulemark.records import Record
    from joulemark.store import Store

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


@app.command()
def run(
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
        Runner, typer.Option("--runner", help="Emulated, or a board on a serial line.")
    ] = Runner.EMULATOR,
    port: Annotated[str | None, typer.Option("--port", help="Serial port of the board.")] = None,
    meter: Annotated[
        str | None, typer.Option("--meter", help="Instrument on the board's supply.")
    ] = None,
    resource: Annotated[
        str | None, typer.Option("--resource", help="Its VISA resource name, or serial port.")
    ] = None,
    accuracy: Annotated[
        float | None, typer.Option("--accuracy", help="Bound on its error, where it states none.")
    ] = None,
    unit: Annotated[str, typer.Option("--unit", help="Which specimen of the board.")] = "unnamed",
) -> None:
    """Build firmware, run it on an emulated board, verify every output, and keep what it cost.

    What the store already has is served from there. Options override the campaign file. Stopped
    at any moment, the same command goes on where it stopped.

    With --runner serial the board has its image and measures it with an instrument, always anew.
    """
    from joulemark.campaign import expand, load_campaign
    from joulemark.plan import plan
    from joulemark.primitives import Library
    from joulemark.store import Store

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
    cases = expand(chosen, library)
    processes = jobs or len(os.sched_getaffinity(0))
    with Store(store) as opened:
        todo = plan(chosen, library, _build(cases, library, processes), cases)
        on_board = runner is Runner.SERIAL
        served = {} if fresh or on_board else opened.find(todo.keys)
        left = todo.without(served)
        if on_board:
            measured = _measure_on_board(opened, left, port, meter, resource, accuracy, unit)
        else:
            measured = _measure(opened, left, processes) if left else []
        typer.echo(
            f"measured {len(measured)}, served from the store: {len(served)} of {len(todo.keys)}"
            + ("; --fresh measures again" if served else "")
        )
        records = [*served.values(), *measured]
        _show(records)
        path = report or _report_path(opened)
        good = any(r.status == "ok" and r.kind != "identity" for r in records)
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
    from joulemark.plan import build_all

    with _progress() as progress:
        task = progress.add_task("building", total=len(cases))
        return build_all(cases, library, processes, lambda: progress.advance(task))


def _measure(store: "Store", jobs: "Sequence[Job]", processes: int) -> "list[Record]":
    """Measure with a progress bar; each record is in the store before the next is awaited."""
    from joulemark.conduct import conduct

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


def _measure_on_board(
    store: "Store",
    jobs: "Sequence[Job]",
    port: str | None,
    meter: str | None,
    resource: str | None,
    accuracy: float | None,
    unit: str,
) -> "list[Record]":
    """Measure the image that the board has; each record is in the store before the next."""
    from joulemark import boards
    from joulemark.lab import Setup, measure_on_board
    from joulemark.meters import find

    if port is None or meter is None or resource is None:
        raise InputError("--port, --meter and --resource are needed", "--runner serial")
    if len(jobs) != 1:
        what = f"a board has one image, and these cases need {len(jobs)}"
        mend = "choose one with --board, --primitive, --implementation and --opt"
        raise InputError(what, "--runner serial", mend)
    kind = find(meter)
    options = {} if kind.specification.ranges else {"accuracy": accuracy}
    supply_v = boards.load_board(jobs[0].build.board).supply_v.value
    measured: list[Record] = []
    with kind(resource, supply_v, **options) as opened:  # type: ignore[call-arg]
        for record in measure_on_board(jobs[0], Setup(port, opened, meter, unit)):
            store.append(record)
            measured.append(record)
            for note in record.notes[:2]:
                typer.echo(f"{record.operation} {record.message_bytes} B: {note}")
    return measured


class InterruptedRunError(JoulemarkError):
    """Ctrl-C."""

    exit_code = 130


def _failures(failed: "Sequence[Record]") -> str:
    kinds = Counter(r.failure for r in failed)
    lines = [f"  {count} x {failure}" for failure, count in kinds.most_common(10)]
    if len(kinds) > 10:
        lines.append(f"  and {len(kinds) - 10} other failures, all in the store")
    return f"{len(failed)} cases failed and have no number:\n" + "\n".join(lines)


def _show(records: "Sequence[Record]") -> None:
    """One line for each implementation: its fastest build, at one operation and size."""
    from rich.console import Console
    from rich.table import Table

    main = {"encrypt", "hash", "mac"}
    good = [r for r in records if r.status == "ok" and r.kind != "identity"]
    shown = [r for r in good if r.operation in main] or good
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
            f"{best.cycles:,.0f}",
            f"{(best.time_ps or 0) / 1e9:.3f}",
            f"{(best.energy_net_nj or 0) / 1e3:.2f}",
            str(best.flash_bytes),
            str(best.ram_bytes),
            str(best.stack_bytes),
            finding or "",
        )
    # A pipe or a file has no width that a table must fit.
    console = Console()
    if not console.is_terminal:
        console = Console(width=160)
    console.print(table)
