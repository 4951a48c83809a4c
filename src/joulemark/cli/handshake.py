"""`joulemark handshake`: what a handshake costs each side, message by message."""

import random
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from joulemark.cli import app
from joulemark.cli._builds import first_compiler
from joulemark.errors import InputError

if TYPE_CHECKING:
    from joulemark.catalogue.boards import Board
    from joulemark.catalogue.primitives import Algorithm
    from joulemark.records.record import PrimitiveRecord

KIND = "handshake"
_SIDES: dict[str, dict[str, str | None]] = {
    "initiator": {"message-1": "message_1", "message-3": "message_3"},
    "responder": {"message-2": "message_2", "finish": None},
}
"""Operations of each side, and the message that each sends."""
_DAYS = 365.25
_SECONDS_PER_HOUR = 3600


@app.command()
def handshake(
    primitive: Annotated[
        str, typer.Option("--primitive", metavar="NAME", help="Which handshake.")
    ] = "edhoc-3-2-aes-128",
    board: Annotated[str, typer.Option("--board", metavar="NAME", help="Both sides.")] = "telosb",
    implementation: Annotated[
        str, typer.Option("--implementation", metavar="NAME", help="The first for the board.")
    ] = "",
    opt: Annotated[str, typer.Option("--opt", metavar="NAME", help="Such as O3 or Os.")] = "Os",
    per_day: Annotated[float, typer.Option("--per-day", min=0, help="Handshakes a day.")] = 1.0,
    battery_mah: Annotated[
        float, typer.Option("--battery-mah", min=1, help="Of each side's battery.")
    ] = 2500.0,
) -> None:
    """Show what each message of a handshake costs, and what that takes of a battery.

    Both sides are emulated, their outputs verified; energy is the core's while it computes. What
    the radio takes for the bytes is not in it.
    """
    from joulemark.catalogue import boards
    from joulemark.catalogue.primitives import Library

    library = Library.load()
    algorithm = library[primitive]
    description = boards.load_board(board)
    if algorithm.kind != KIND:
        known = ", ".join(
            a.name for a in library.algorithms.values() if a.kind == KIND and a.is_default
        )
        raise InputError("it is no handshake", f"--primitive {primitive}", f"there are {known}")
    ways = [w.name for w in library.implementations(algorithm) if w.runs_on(description.core)]
    way = implementation or next(iter(ways), "")
    if way not in ways:
        mend = f"there are {', '.join(ways) or 'none'}"
        raise InputError(f"no implementation {way!r} for {board}", "--implementation", mend)
    records = _measured(primitive, way, description, opt)
    lengths = _lengths(algorithm)
    for text in _ledger(records, lengths):
        typer.echo(text)
    volts = description.supply_v.value
    capacity_j = battery_mah / 1000 * _SECONDS_PER_HOUR * volts
    for side, messages in _SIDES.items():
        joules = sum(_of(records[name], "energy_gross_nj") for name in messages) * 1e-9
        year = joules * per_day * _DAYS
        share = 100 * year / capacity_j
        typer.echo(
            f"{side}: {per_day:g} a day take {year:.3g} J a year, {share:.2g}% of a "
            f"battery of {battery_mah:g} mAh at {volts:g} V"
        )


def _measured(
    primitive: str, way: str, board: "Board", opt: str
) -> "Mapping[str, PrimitiveRecord]":
    """Each operation's record."""
    from joulemark.campaign.campaign import Campaign
    from joulemark.campaign.plan import plan
    from joulemark.measure.conduct import Bench
    from joulemark.measure.pool import Processes
    from joulemark.records.record import of_primitives

    asked = {"board": board.name, "primitive": primitive, "implementation": way, "opt": opt}
    asked["compiler"] = first_compiler(board)
    operations = tuple(name for side in _SIDES.values() for name in side)
    campaign = Campaign.model_validate({**asked, "operation": operations, "trials": 2, "seed": 1})
    todo = plan(campaign, Bench().setup)
    measured = Bench().measure(todo.jobs, Processes(1))
    records = of_primitives(record for some in measured for record in some)
    for record in records:
        if record.status != "ok":
            raise InputError(f"{record.subject}: {record.failure}", f"--board {board.name}")
    return {record.subject.operation: record for record in records}


def _lengths(algorithm: "Algorithm") -> dict[str, int]:
    """Bytes of each message."""
    from joulemark.oracle import Inputs

    source = random.Random(algorithm.name)
    drawn: dict[str, Any] = {
        name: source.randbytes(algorithm.sizes[given.size])
        for name, given in algorithm.contract.file.input.items()
    }
    return {name: len(value) for name, value in algorithm.oracle(Inputs(**drawn)).items()}


def _of(record: "PrimitiveRecord", name: str) -> float:
    value = getattr(record, name)
    return float(value) if value is not None else 0.0


def _ledger(records: "Mapping[str, PrimitiveRecord]", lengths: Mapping[str, int]) -> list[str]:
    """The table."""
    first = next(iter(records.values()))
    rows: list[tuple[str, ...]] = [("side", "does", "sends", "cycles", "ms", "core µJ", "stack")]
    for side, messages in _SIDES.items():
        total = [0.0, 0.0, 0.0, 0.0]
        for name, message in messages.items():
            record = records[name]
            sent = lengths[message] if message else 0
            values = (
                float(sent),
                _of(record, "cycles"),
                _of(record, "time_ps") / 1e9,
                _of(record, "energy_gross_nj") / 1e3,
            )
            total = [a + b for a, b in zip(total, values, strict=True)]
            rows.append((side, name, *_cells(values), f"{record.stack_bytes or 0:,}"))
        rows.append((side, "all", *_cells(total), ""))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        f"{first.subject.primitive}/{first.subject.implementation} on {first.conditions.board} at "
        f"{first.provenance.clock_hz / 1e6:g} MHz, {first.build}: "
        f"{first.flash_bytes:,} B flash, {first.ram_bytes:,} B RAM"
    ]
    for row in rows:
        cells = [
            c.ljust(w) if i < 2 else c.rjust(w)
            for i, (c, w) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def _cells(values: "tuple[float, ...] | list[float]") -> list[str]:
    sent, cycles, milliseconds, microjoules = values
    return [f"{sent:,.0f} B", f"{cycles:,.0f}", f"{milliseconds:,.1f}", f"{microjoules:,.0f}"]
