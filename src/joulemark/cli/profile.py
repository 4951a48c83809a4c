"""`joulemark profile`: show where an image spends its cycles, energy and stack.

joulemark profile firmware.elf --board telosb --flame flame.html
joulemark profile firmware.elf --board telosb --operation encrypt --size 64
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from joulemark.cli import app
from joulemark.cli._glass import check_power
from joulemark.cli._options import (
    MessageSize,
    SourceOption,
    complete_board,
    to_write,
)
from joulemark.cli._output import Form, table
from joulemark.cli.exec import (
    Entry,
    MaxCycles,
    Raw,
    Settings,
    StopAt,
    SymbolValues,
    load_image,
    parse_settings,
    resolve,
)
from joulemark.errors import InputError

if TYPE_CHECKING:
    from joulemark._engine import Image
    from joulemark.analysis.spending import Spent
    from joulemark.catalogue.boards import Board
    from joulemark.images.lines import Line
    from joulemark.measure.profiled import Profiled


@app.command()
def profile(
    image: Annotated[
        Path, typer.Argument(metavar="IMAGE", help="ELF, Intel HEX, UF2, or with --raw raw bytes.")
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
    symbols: SymbolValues = None,
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
    from joulemark.catalogue import boards
    from joulemark.images.lines import lines_of
    from joulemark.measure.profiled import window
    from joulemark.records import bounds
    from joulemark.report.flame import InOrder, write_flame
    from joulemark.report.power import write_power
    from joulemark.report.source import write_source

    program = load_image(image, raw, symbols)
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
        profiled = window(program, description, operation, size)
    spending = profiled.spending(description)
    grade = profiled.grade(description)
    errors = (
        bounds.of_program(description, grade)
        if operation is None
        else bounds.of_board(description, None, grade)
    )
    _print(profiled, description, top)
    typer.echo(f"errors, {errors}")
    if source_lines is not None:
        spent = spending.by_line(source_lines)
        if lines:
            _print_lines(spent, top)
        if annotate is not None:
            write_source(spent, image.name, annotate, errors)
            typer.echo(f"annotated sources: {annotate}")
    if flame is not None:
        in_order = InOrder(spending.parts, list(spending.in_order()))
        paths = ((p.path, p.self_cycles) for p in profiled.costs.paths)
        write_flame(paths, image.name, flame, errors, in_order)
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
) -> "Profiled":
    from joulemark.measure.profiled import whole

    return whole(
        program,
        board,
        entry=None if entry is None else resolve(program, entry, "--entry"),
        until=None if stop_at is None else resolve(program, stop_at, "--stop-at"),
        max_cycles=max_cycles,
        settings=parse_settings(settings),
    )


def _print(profiled: "Profiled", board: "Board", top: int) -> None:
    from joulemark.meters.model import ModelMeter
    from joulemark.meters.power import duration_s

    meter = ModelMeter(board)
    rows, asleep_j = profiled.by_function(board)
    typer.echo(table([*rows[:top], *asleep_j], Form.TEXT))
    if len(rows) > top:
        typer.echo(f"{len(rows) - top} more functions; --top shows more")
    milliseconds = duration_s(profiled.times) * 1e3
    asleep_uj = sum(row["energy µJ"] for row in asleep_j)
    typer.echo(
        f"{profiled.cycles:,} cycles, {profiled.instructions:,} instructions, "
        f"{milliseconds:,.3f} ms, {meter.energy(profiled.times).gross_nj / 1e3:,.3f} µJ "
        f"({asleep_uj:,.3f} µJ of it asleep)"
    )
    for note in meter.notes(profiled.times):
        typer.echo(note)


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
