"""`joulemark profile`: show where an image spends its cycles, energy and stack."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from joulemark.cli import app
from joulemark.cli._glass import check_power
from joulemark.cli._options import (
    MessageSize,
    SourceOption,
    complete_board,
    message_bytes,
    to_write,
)
from joulemark.cli._output import Form, table
from joulemark.cli.exec import (
    DEFAULT_MAX_CYCLES,
    RESETS,
    Entry,
    MaxCycles,
    Raw,
    Settings,
    StopAt,
    end_error,
    load_image,
    parse_settings,
    resolve,
    run_machine,
)
from joulemark.errors import InputError, JoulemarkError

if TYPE_CHECKING:
    from joulemark._engine import Followed, Image, PowerInterval, Profile
    from joulemark.analysis.spending import Spending, Spent
    from joulemark.catalogue.boards import Board
    from joulemark.images.lines import Line
    from joulemark.meters.power import Occupancy


@dataclass(frozen=True)
class _Profiled:
    """The profiled run, and how it ended if not as asked for."""

    costs: "Profile"
    followed: "Followed"
    times: "Occupancy"
    cycles: int
    instructions: int
    power: "Mapping[str, Sequence[PowerInterval]]" = field(default_factory=dict)
    """Power states of the board's parts; empty for a window."""
    failure: JoulemarkError | None = None


@app.command()
def profile(
    image: Annotated[
        Path, typer.Argument(metavar="IMAGE", help="ELF, Intel HEX, or with --raw raw bytes.")
    ],
    board: Annotated[
        str,
        typer.Option("--board", help="Board that it runs on.", autocompletion=complete_board),
    ],
    operation: Annotated[
        str | None,
        typer.Option("--operation", help="For an image of `run`: only this operation's window."),
    ] = None,
    size: MessageSize = None,
    raw: Raw = None,
    entry: Entry = None,
    stop_at: StopAt = None,
    max_cycles: MaxCycles = None,
    settings: Settings = None,
    source: SourceOption = None,
    flame: Annotated[
        Path | None,
        typer.Option(
            "--flame",
            callback=to_write,
            help="Write a flame graph: .html to zoom in, .speedscope.json in the order of time, "
            "both by energy too; or .svg.",
        ),
    ] = None,
    power: Annotated[
        Path | None,
        typer.Option(
            "--power",
            callback=to_write,
            help="Without --operation: current of each part over time, as .csv or an .html page.",
        ),
    ] = None,
    lines: Annotated[
        bool, typer.Option("--lines", help="Show the costliest source lines, too.")
    ] = False,
    annotate: Annotated[
        Path | None,
        typer.Option(
            "--annotate",
            callback=to_write,
            help="Write the sources with what each line cost: .html.",
        ),
    ] = None,
    top: Annotated[int, typer.Option("--top", min=1, help="Functions and lines to show.")] = 30,
) -> None:
    """Show cycles, energy and stack per function of an image that runs on a board.

    Energy is that of all parts of the board (chip, radio and other devices) while a function runs;
    energy in sleep is under "(asleep)". For source lines an image needs debug information (-g); an
    image that `run` built is built again with it, which changes no byte of its code.
    """
    from joulemark.analysis.spending import Spending
    from joulemark.catalogue import boards
    from joulemark.images.lines import lines_of
    from joulemark.meters.model import ModelMeter
    from joulemark.report.flame import InOrder, write_flame
    from joulemark.report.power import write_power
    from joulemark.report.source import write_source

    program = load_image(image, raw)
    description = boards.load_board(board)
    _check_files(annotate, flame, power, description)
    whole = {"--entry": entry, "--stop-at": stop_at, "--max-cycles": max_cycles, "--set": settings}
    for name, value in {**whole, "--power": power}.items():
        if operation is not None and value is not None:
            raise InputError("is of a whole run", name, "leave out --operation")
    if operation is None and size is not None:
        raise InputError("is of an operation's message", "--size", "give --operation")
    source_lines = lines_of(image) if lines or annotate is not None else None
    if operation is None:
        profiled = _whole(program, description, entry, stop_at, max_cycles, settings)
    else:
        profiled = _window(program, description, operation, size)
    spending = Spending(profiled.followed, ModelMeter(description), description.supply_v.value)
    _print(profiled, description, top, spending)
    if source_lines is not None:
        spent = spending.by_line(source_lines)
        if lines:
            _print_lines(spent, top)
        if annotate is not None:
            write_source(spent, image.name, annotate)
            typer.echo(f"annotated sources: {annotate}")
    if flame is not None:
        in_order = InOrder(spending.parts, list(spending.in_order()))
        paths = ((p.path, p.self_cycles) for p in profiled.costs.paths)
        write_flame(paths, image.name, flame, in_order)
        typer.echo(f"flame graph: {flame}")
    if power is not None:
        write_power(profiled.power, description, image.name, power)
        typer.echo(f"current: {power}")
    if profiled.failure is not None:
        raise profiled.failure


def _check_files(
    annotate: Path | None, flame: Path | None, power: Path | None, board: "Board"
) -> None:
    """Refuse files that cannot be written under these names, before anything runs."""
    from joulemark.report.flame import check_flame

    if annotate is not None and annotate.suffix not in {".html", ".htm"}:
        raise InputError("is written as a page", f"--annotate {annotate}", "end it in .html")
    if flame is not None:
        check_flame(flame)
    if power is not None:
        check_power(power, board)


def _whole(
    program: "Image",
    board: "Board",
    entry: str | None,
    stop_at: str | None,
    max_cycles: int | None,
    settings: list[str] | None,
) -> _Profiled:
    """Profile an image from its start to its end."""
    from joulemark._engine import EngineError, Machine
    from joulemark.catalogue import chips
    from joulemark.meters.power import occupancy

    until = None if stop_at is None else resolve(program, stop_at, "--stop-at")
    budget = DEFAULT_MAX_CYCLES if max_cycles is None else max_cycles
    try:
        machine = Machine(
            chips.load_chip(board.chip),
            program,
            wiring=board.wiring,
            entry=None if entry is None else resolve(program, entry, "--entry"),
            profile=True,
            trace=True,
            follow=True,
            resets=RESETS,
            settings=parse_settings(settings) or None,
        )
    except EngineError as error:
        raise InputError(str(error)) from error
    stop = run_machine(machine, until, budget)
    return _Profiled(
        costs=machine.profile,
        followed=machine.followed,
        times=occupancy(machine.power_tracks, 0, machine.time_ps),
        power=machine.power_tracks,
        cycles=machine.cycles,
        instructions=machine.instructions,
        failure=end_error(
            stop, awaited=until is not None, budget=max_cycles is not None, max_cycles=budget
        ),
    )


def _window(program: "Image", board: "Board", operation: str, asked: int | None) -> _Profiled:
    """Profile one operation of an image that speaks the project's protocol, with random inputs."""
    from joulemark._engine import EngineError
    from joulemark.catalogue import chips
    from joulemark.catalogue.primitives import Library
    from joulemark.runners.emulator import EmulatedBoard
    from joulemark.runners.protocol import Device, Status

    try:
        machine = EmulatedBoard(
            chips.load_chip(board.chip),
            program,
            wiring=board.wiring,
            marker=board.marker.pin,
            port=board.serial.port,
            profile=True,
            follow=True,
        )
    except EngineError as error:
        raise InputError(str(error)) from error
    device = Device(machine, attempts=1)
    algorithm = Library.load()[device.description["primitive"]]
    size = message_bytes(algorithm.contract, [operation], asked)
    if algorithm.contract.sized([operation]) and not algorithm.takes_message(size):
        raise InputError(
            f"{algorithm.name} takes no message of {size} bytes",
            "--size",
            f"give {algorithm.messages_taken}",
        )
    random_bytes = random.Random(0).randbytes
    exchange = algorithm.contract.exchange(
        operation,
        sizes={**algorithm.sizes, "message": size},
        forward=algorithm.oracle,
        secret=random_bytes,
        public=random_bytes,
    )
    for slot, data in exchange.inputs.items():
        device.write(slot, data)
    result = device.run(operation)
    if result.status is not Status.OK:
        raise InputError(f"{operation} of {size} bytes ended with {result.status.name}", "--size")
    window = machine.take_window()
    assert window.profile is not None  # noqa: S101
    assert window.followed is not None  # noqa: S101
    return _Profiled(
        window.profile, window.followed, window.times, window.cycles, window.instructions
    )


def _print(profiled: _Profiled, board: "Board", top: int, spending: "Spending") -> None:
    from joulemark.analysis.spending import ASLEEP
    from joulemark.meters.model import ModelMeter
    from joulemark.meters.power import duration_s
    from joulemark.records import bounds

    meter = ModelMeter(board)
    spent_nj = spending.by_function()
    nothing = [0.0] * len(spending.parts)
    asleep_nj = spent_nj.pop(ASLEEP, nothing)
    parts = [
        n for n in range(len(nothing)) if asleep_nj[n] or any(nj[n] for nj in spent_nj.values())
    ]
    functions = sorted(profiled.costs.functions, key=lambda f: -f.self_cycles)
    cycles = sum(f.self_cycles for f in functions) or 1

    names = {n: spending.parts[n] for n in parts} if len(parts) > 1 else {}

    def energies(parts_nj: list[float]) -> dict[str, float]:
        each = {f"{name} µJ": parts_nj[n] / 1e3 for n, name in names.items()}
        return {"energy µJ": sum(parts_nj) / 1e3} | each

    rows = [
        {
            "function": f.name,
            "calls": f.calls,
            "self cycles": f.self_cycles,
            "%": 100 * f.self_cycles / cycles,
            "total cycles": f.total_cycles,
            "stack B": f.stack_bytes,
        }
        | energies(spent_nj.get(f.name, nothing))
        for f in functions[:top]
    ]
    if any(asleep_nj) and rows:
        rows.append(dict.fromkeys(rows[0]) | {"function": ASLEEP} | energies(asleep_nj))
    typer.echo(table(rows, Form.TEXT))
    if len(functions) > top:
        typer.echo(f"{len(functions) - top} more functions; --top shows more")
    milliseconds = duration_s(profiled.times) * 1e3
    typer.echo(
        f"{profiled.cycles:,} cycles, {profiled.instructions:,} instructions, "
        f"{milliseconds:,.3f} ms, {meter.energy(profiled.times).gross_nj / 1e3:,.3f} µJ "
        f"({sum(asleep_nj) / 1e3:,.3f} µJ of it asleep)"
    )
    for note in meter.notes(profiled.times):
        typer.echo(note)
    for line in bounds.lines([bounds.of_board(board, None, meter.energy(profiled.times).grade)]):
        typer.echo(line)


def _print_lines(spent: "Mapping[Line | None, Spent]", top: int) -> None:
    """Print the lines that took the most energy."""
    from rich.console import Console
    from rich.table import Table

    from joulemark.report.source import text_of

    total_nj = sum(cost.energy_nj for cost in spent.values()) or 1.0
    table = Table(box=None, pad_edge=False, expand=True)
    table.add_column("line", no_wrap=True, min_width=16)
    for name in ("cycles", "instructions", "energy µJ", "%"):
        table.add_column(name, justify="right", no_wrap=True, min_width=len(name))
    table.add_column("source", no_wrap=True, overflow="ellipsis", ratio=1)
    ranked = sorted(spent.items(), key=lambda item: -item[1].energy_nj)
    for line, cost in ranked[:top]:
        table.add_row(
            "(no line)" if line is None else f"{line.file.name}:{line.number}",
            f"{cost.cycles:,}",
            f"{cost.instructions:,}",
            f"{cost.energy_nj / 1e3:.3f}",
            f"{100 * cost.energy_nj / total_nj:.1f}",
            "" if line is None else text_of(line),
        )
    Console(markup=False, emoji=False).print(table)
    if len(ranked) > top:
        typer.echo(f"{len(ranked) - top} more lines; --top shows more, --annotate all")
