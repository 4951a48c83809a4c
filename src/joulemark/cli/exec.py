"""`joulemark exec`: run any image on an emulated chip or board.

joulemark exec firmware.elf --chip msp430f1611 --stop-at main
joulemark exec firmware.elf --board telosb --power current.html
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from joulemark.cli import app
from joulemark.cli._glass import ShownOptions, Wires
from joulemark.cli._grouped import grouped
from joulemark.cli._options import SourceOption, complete_board, complete_chip
from joulemark.cli._output import entry
from joulemark.errors import InputError
from joulemark.runners.whole import DEFAULT_MAX_CYCLES, RESETS, end_error, run_machine

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from joulemark._engine import Fault, Image, Machine, PowerInterval, Stop
    from joulemark.catalogue.boards import Board

Raw = Annotated[
    str | None,
    typer.Option(
        "--raw", metavar="ADDRESS", help="Treat the image as raw bytes and load it at this address."
    ),
]
Entry = Annotated[
    str | None,
    typer.Option(
        "--entry",
        metavar="A",
        help="Start address; the reset vector, or an ELF file's entry, if not given.",
    ),
]
StopAt = Annotated[
    str | None,
    typer.Option(
        "--stop-at", metavar="A", help="Stop before executing the instruction at this address."
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="Initial value of a chip setting; repeatable."
    ),
]
SymbolValues = Annotated[
    list[str] | None,
    typer.Option(
        "--symbol",
        metavar="NAME=VALUE",
        help="Initial value of a variable of the program, by its symbol; repeatable.",
    ),
]
Around = Annotated[
    list[str] | None,
    typer.Option(
        "--around",
        metavar="NAME=VALUE",
        help="What sensors find, such as temperature_c: a number, an expression of t in seconds, "
        "or a .csv file of times and values; repeatable.",
    ),
]
MaxCycles = Annotated[
    int | None,
    typer.Option(
        "--max-cycles",
        metavar="N",
        min=1,
        max=10**18,
        help=f"Stop after this many cycles; {DEFAULT_MAX_CYCLES:,} when not given.",
    ),
]


_OF_NO_FORMAT = "neither ELF, Intel HEX nor UF2"
"""The engine's message for what may be raw bytes."""


def parse_number(text: str, what: str) -> int:
    """Parse a decimal, 0x or 0b number."""
    try:
        return int(text, 0)
    except ValueError:
        raise InputError(f"{text!r} is not a number", what, "write 1234 or 0x4d2") from None


def parse_settings(settings: list[str] | None) -> dict[str, int]:
    """Return NAME=VALUE options as a dictionary."""
    return _pairs(settings, "--set", "setting")


def _pairs(texts: list[str] | None, option: str, what: str) -> dict[str, int]:
    """Return NAME=VALUE options as a dictionary."""
    result = {}
    for text in texts or []:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise InputError(f"{text!r} is not a {what}", option, "write NAME=VALUE")
        result[name] = parse_number(value, f"{option} {name}")
    return result


def load_image(path: Path, raw: str | None, symbols: list[str] | None = None) -> "Image":
    """Load an image from a file, and give variables other initial values."""
    from joulemark._engine import EngineError, Image

    address = None if raw is None else parse_number(raw, "--raw")
    if address is not None and not 0 <= address < 1 << 32:
        raise InputError(f"{raw} is not an address of 32 bits", "--raw", "give 0 to 0xffffffff")
    values = _pairs(symbols, "--symbol", "variable's value")
    try:
        image = Image.load(path, address)
    except (EngineError, OSError) as error:
        mend = "--raw ADDRESS loads it as raw bytes" if _OF_NO_FORMAT in str(error) else None
        raise InputError(str(error), mend=mend) from error
    try:
        return image.with_variables(values) if values else image
    except (EngineError, OverflowError) as error:
        raise InputError(str(error), "--symbol") from error


def resolve(image: "Image", text: str, option: str) -> int:
    """Return an option's number or symbol as an address."""
    from joulemark._engine import EngineError

    try:
        return image.resolve(text)
    except EngineError as error:
        raise InputError(str(error), option) from error


@dataclass(frozen=True)
class Range:
    """A range of memory to read."""

    address: int
    length: int


def parse_ranges(image: "Image", texts: list[str] | None) -> list[Range]:
    """Parse ADDRESS:LENGTH options."""
    ranges = []
    for text in texts or []:
        where, colon, length = text.rpartition(":")
        if not colon:
            raise InputError(f"{text!r} is not a range", "--read", "write ADDRESS:LENGTH")
        address = resolve(image, where, "--read")
        count = parse_number(length, "--read")
        if count < 0:
            raise InputError(f"{text!r} has a negative length", "--read")
        if address + count > 1 << 32:
            raise InputError(f"{text!r} goes beyond 32 bits of address", "--read")
        ranges.append(Range(address, count))
    return ranges


def read_ranges(machine: "Machine", ranges: list[Range]) -> list[dict[str, Any]]:
    """Return the memory that was asked for."""
    from joulemark._engine import EngineError

    result = []
    for r in ranges:
        try:
            data = machine.read_memory(r.address, r.length)
        except EngineError as error:
            raise InputError(str(error), f"--read {r.address:#06x}:{r.length}") from error
        result.append({"address": r.address, "length": r.length, "hex": data.hex()})
    return result


def fault_object(fault: "Fault") -> dict[str, Any]:
    """Return a fault for JSON."""
    return {
        "kind": fault.kind,
        "message": fault.message,
        "address": fault.address,
        "call_stack": [
            {"address": f.address, "symbol": f.symbol, "offset": f.offset} for f in fault.call_stack
        ],
    }


@app.command("exec")
@grouped
def execute(
    image: Annotated[
        Path, typer.Argument(metavar="IMAGE", help="ELF, Intel HEX, UF2, or with --raw raw bytes.")
    ],
    shown: ShownOptions,
    chip: Annotated[
        str | None,
        typer.Option(
            "--chip",
            help="Chip to emulate; `list chips` names them.",
            autocompletion=complete_chip,
        ),
    ] = None,
    board: Annotated[
        str | None,
        typer.Option(
            "--board",
            help="Board to emulate instead: its chip and devices.",
            autocompletion=complete_board,
        ),
    ] = None,
    raw: Raw = None,
    entry: Entry = None,
    start_at: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="A", help="Start counting at the instruction at this address."
        ),
    ] = None,
    stop_at: StopAt = None,
    read: Annotated[
        list[str] | None,
        typer.Option("--read", metavar="ADDRESS:LENGTH", help="Print this memory; repeatable."),
    ] = None,
    max_cycles: MaxCycles = None,
    settings: Settings = None,
    symbols: SymbolValues = None,
    around: Around = None,
    source: SourceOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Run any image on an emulated chip and print what it took.

    Addresses are numbers or symbols. What the program sends on its serial ports, and by
    semihosting, is shown as it comes; the result is printed however the run ended. A fault exits
    with 7, as does a reset after 16 others, and an end other than the one asked for with 8. With
    --gdb a debugger runs it.
    """
    from joulemark._engine import EngineError, Machine
    from joulemark.catalogue import accuracy, chips
    from joulemark.catalogue.surroundings import named

    described = None if board is None else _described(board)
    if (described is None) == (chip is None):
        raise InputError("one of them says what to emulate", "--chip, --board", "give one")
    shown.check(described)
    if shown.gdb is not None and (stop_at is not None or max_cycles is not None):
        what = "with --gdb the debugger says how far the program runs"
        raise InputError(what, "--stop-at, --max-cycles", "leave them out")
    program = load_image(image, raw, symbols)
    until = None if stop_at is None else resolve(program, stop_at, "--stop-at")
    begin = None if start_at is None else resolve(program, start_at, "--from")
    ranges = parse_ranges(program, read)
    budget = DEFAULT_MAX_CYCLES if max_cycles is None else max_cycles
    try:
        machine = Machine(
            chips.load_chip(described.chip if described else str(chip)),
            program,
            wiring=None if described is None else described.wiring,
            entry=None if entry is None else resolve(program, entry, "--entry"),
            # What a debugger may ask for: the energy of a board.
            trace=shown.traces or (shown.gdb is not None and described is not None),
            resets=RESETS,
            settings=parse_settings(settings) or None,
            surroundings=named(around or (), "--around", Path()) or None,
        )
    except EngineError as error:
        raise InputError(str(error)) from error
    read_ranges(machine, ranges)  # Fail on a wrong range before the program runs.
    wires = Wires(machine, shown.uart_input or (), quiet=as_json)
    before = {"cycles": 0, "instructions": 0, "time_ps": 0}
    stop = None
    if begin is not None:
        stop = run_machine(machine, begin, budget, wires)
        if stop.reason == "address":
            stop = None
            machine.clear_observations()
            before = {name: getattr(machine, name) for name in before}
    if shown.gdb is not None:
        stop = _debugged(machine, *shown.address, wires, described)
    elif stop is None:
        stop = run_machine(machine, until, budget, wires)
    wires.flush()
    result: dict[str, Any] = {
        "stop": stop.reason,
        "cycles": machine.cycles - before["cycles"],
        "cycles_error": str(accuracy.of_chip(described.chip if described else str(chip))),
        "instructions": machine.instructions - before["instructions"],
        "resets": machine.resets,
        "registers": machine.registers,
        "read": read_ranges(machine, ranges),
    }
    if stop.fault is not None:
        result["fault"] = fault_object(stop.fault)
    if as_json:
        result["serial"] = {port: text.decode("utf-8", "replace") for port, text in wires.sent()}
        typer.echo(json.dumps(result))
    else:
        _print(result, stop)
    shown.write(machine, described, image.name, before["time_ps"])
    failure = end_error(
        stop,
        awaited=until is not None or begin is not None,
        budget=max_cycles is not None,
        max_cycles=budget,
    )
    if failure is not None and shown.gdb is None:
        raise failure


def _described(board: str) -> "Board":
    # Importing the reader of board files takes longer than a bare chip takes for a million cycles.
    from joulemark.catalogue import boards

    return boards.load_board(board)


def _drawn_by(board: "Board") -> "Callable[[Mapping[str, Sequence[PowerInterval]], int], str]":
    """Return what a debugger is told of the energy that a board has drawn."""
    from joulemark.meters.model import ModelMeter
    from joulemark.meters.power import occupancy

    meter = ModelMeter(board)

    def told(tracks: "Mapping[str, Sequence[PowerInterval]]", now_ps: int) -> str:
        drawn = meter.energy(occupancy(tracks, 0, now_ps))
        now = [(part, intervals[-1]) for part, intervals in tracks.items() if intervals]
        currents = [
            f"{part} {one.state} {current.ampere * 1e3:.6g} mA"
            for part, one in now
            if (current := meter.current_of(part, one.state, one.clock_hz)) is not None
        ]
        return f"{drawn.gross_nj / 1e3:,.6g} µJ ({drawn.grade}); now {', '.join(currents)}"

    return told


def _debugged(
    machine: "Machine", host: str, port: int, wires: Wires, board: "Board | None"
) -> "Stop":
    """Let a debugger control the machine; the run ends where the debugger leaves it."""
    from joulemark._engine import EngineError

    typer.echo(f"waiting for a debugger: target remote {host}:{port}", err=True)
    try:
        machine.serve_gdb(host, port, None if board is None else _drawn_by(board))
    except EngineError as error:
        raise InputError(str(error), "--gdb", "give a free port, as in --gdb :3333") from error
    wires.pump()
    return machine.run(max_cycles=0)


def _print(result: dict[str, Any], stop: "Stop") -> None:
    typer.echo(f"stop          {stop.reason} at {stop.address:#06x}")
    entry("cycles        ", f"{result['cycles']:,}, {result['cycles_error']}")
    typer.echo(f"instructions  {result['instructions']:,}")
    if result["resets"]:
        typer.echo(f"resets        {result['resets']}")
    digits = 8 if "lr" in result["registers"] else 4  # 32 bits or 16
    cells = [f"{name:>4} {value:0{digits}x}" for name, value in result["registers"].items()]
    for i in range(0, len(cells), 4):
        typer.echo(("registers   " if i == 0 else " " * 12) + "  ".join(cells[i : i + 4]))
    for item in result["read"]:
        entry(f"{item['address']:#06x}:{item['length']}  ", item["hex"])
