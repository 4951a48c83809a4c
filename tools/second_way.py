#!/usr/bin/env python3
"""Holds what following finds against two ways that share nothing with it.

`tools/second_way.py RECORDS` runs each operation of every implementation that is portable C as a
program of this machine under Valgrind's memcheck, with secrets marked as undefined, and the same
code on an emulated board with the same secrets followed. Memcheck names branches and addresses that
depend on undefined bits; each must be declared public in its source line, or found by following in
the same line.

`--traces BOARD` instead compares pairs of runs that differ in secrets, instruction by instruction
(`traced.py`): where they differ in control, address or cycles, following must have named it.

Either appends a line of JSON to RECORDS for each operation, and goes on where it was interrupted.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from joulemark._engine import Image, Machine
from joulemark.catalogue import chips, instruction_sets
from joulemark.catalogue.boards import Board, load_board
from joulemark.catalogue.kinds import BUDGET_CYCLES, Exchange
from joulemark.catalogue.primitives import Implementation, Library
from joulemark.errors import JoulemarkError, VerificationError
from joulemark.images import BuiltImage, build_image
from joulemark.images.program import build_local
from joulemark.measure.following import Located, declared_public, varying
from joulemark.measure.leaks import follow, on_secrets, refusals, trials
from joulemark.project import ROOT
from joulemark.runners.local import LocalLink
from joulemark.runners.protocol import Device, Status
from traced import Code, compared

BOARD = "nrf52840-dk"
WITNESS = ROOT / "tools" / "memcheck_witness.c"
KINDS = {"UninitCondition": "branch", "UninitValue": "address"}
MEMCHECK = (
    "valgrind",
    "--quiet",
    "--error-limit=no",
    "--num-callers=50",
    "--expensive-definedness-checks=yes",
    "--leak-check=no",
    "--xml=yes",
)
TIMEOUT_S = 600
MOST_CYCLES = 2_000_000_000
"""What may take longer by its implementation's file, as signing by hashes, is left out unless
`--slow` asks for it."""
MOST_COMPARED = 30_000
"""Instructions of an operation that are compared one by one."""


@dataclass(frozen=True, order=True)
class Found:
    """A source line in which a secret decides something."""

    file: str
    line: int
    decides: str

    @property
    def declared(self) -> str | None:
        """What the line declares public."""
        return declared_public(ROOT / self.file, self.line) if self.decides == "branch" else None


def _file(name: str) -> str:
    """Return a file's name within the project, or its whole name."""
    path = (ROOT / name).resolve()
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)


def _symbols(path: Path) -> dict[str, int]:
    """Return addresses of an image's symbols."""
    listed = subprocess.run(["nm", str(path)], capture_output=True, text=True, check=True).stdout
    rows = (line.split() for line in listed.splitlines())
    return {row[2]: int(row[0], 16) for row in rows if len(row) == 3}


def _of_report(path: Path) -> Iterator[Found]:
    """Yield what memcheck reported, at the innermost line of an image's source."""
    # Valgrind has just written it.
    reported = ElementTree.parse(path)  # noqa: S314
    for error in reported.getroot().iter("error"):
        kind = KINDS.get(error.findtext("kind", ""))
        if kind is None:
            continue
        stack = error.find("stack")
        frames = [] if stack is None else stack.findall("frame")
        # What is behind a window, such as the frame that tells its status, is no operation's.
        if not any(frame.findtext("fn", "").startswith("window") for frame in frames):
            continue
        for frame in frames:
            folder, name = frame.findtext("dir", ""), frame.findtext("file", "")
            # The C library has no debug information; memcheck's own memcpy() and others have.
            if name and not name.startswith("vg_"):
                yield Found(_file(f"{folder}/{name}"), int(frame.findtext("line", "0")), kind)
                break


def by_memcheck(
    way: Implementation,
    operation: str,
    puts: list[Exchange],
    refused: Iterable[list[Exchange]] = (),
    *,
    compiler: str = "gcc",
    optimisation: str = "O0",
) -> set[Found]:
    """Run an operation under memcheck: the last trial, and a refusal of each kind.

    Raises:
        VerificationError: an output was wrong.
    """
    image = build_local(way, compiler=compiler, optimisation=optimisation, witness=WITNESS)
    symbols = _symbols(image.path)
    secret = ",".join(
        f"{symbols[f'slot_{slot}_bytes'] + first:x}:{length:x}"
        for slot in puts[0].inputs
        for first, length in varying([put.inputs[slot] for put in puts])
    )
    cases = [(puts[-1], Status.OK), *((group[-1], Status.BAD_TAG) for group in refused)]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        through = ("env", f"JOULEMARK_SECRETS={secret}", *MEMCHECK, f"--xml-file={report}")
        with LocalLink(image.path, TIMEOUT_S, through) as link:
            device = Device(link, attempts=1)
            for put, wanted in cases:
                for slot, data in put.inputs.items():
                    device.write(slot, data)
                if device.run(operation).status is not wanted:
                    raise VerificationError(f"{way} {operation} failed under memcheck")
                for slot, expected in put.expected.items():
                    if device.read(slot, len(expected)) != expected:
                        raise VerificationError(f"{way} {operation} gave a wrong {slot}")
            link.finish()
        return set(_of_report(report))


def by_following(
    way: Implementation,
    operation: str,
    puts: list[Exchange],
    refused: Iterable[list[Exchange]] = (),
    *,
    compiler: str = "gcc",
    optimisation: str = "O0",
) -> set[Found]:
    """Follow the same secrets through the same code on a board."""
    board = load_board(BOARD)
    image = build_image(way, board, compiler=compiler, optimisation=optimisation)
    cycles = 16 * way.cycles_max(operation)  # Without optimisation.
    found = follow(board, image, operation, puts, refused=list(refused), budget_cycles=cycles)
    if found.lost:
        return {Found("*", 0, "branch"), Found("*", 0, "address")}
    kinds = {"condition": "branch", "select": "branch", "target": "branch"}
    return {
        Found(_file(use.place.file or ""), use.place.line or 0, kinds.get(use.decides, use.decides))
        for use in found.uses
    }


def missed(second: Iterable[Found], first: Iterable[Found]) -> list[Found]:
    """Return what the second way found, and neither the first way nor the source says."""
    known = set(first)
    lines = {(found.file, found.line) for found in known}
    return sorted(
        found
        for found in second
        if found.declared is None and (found.file, found.line) not in lines
    )


def cases(way: Implementation, operation: str) -> tuple[list[Exchange], list[list[Exchange]]]:
    """Return an operation's trials and refusals; no trials where none of its inputs is secret."""
    puts = list(trials(way.algorithm, operation, special=True))
    return (puts if len(puts) > 1 else []), list(refusals(way.algorithm, operation))


def judged(way: Implementation, optimisation: str, most: int) -> Iterator[dict[str, Any]]:
    """Yield a row for each operation."""
    for operation in filter(way.has, on_secrets(way.algorithm)):
        if way.cycles_max(operation) > most:
            continue
        puts, refused = cases(way, operation)
        if not puts:
            continue
        row: dict[str, Any] = {"implementation": str(way), "operation": operation}
        row["build"] = f"gcc -{optimisation}"
        try:
            second = by_memcheck(way, operation, puts, refused, optimisation=optimisation)
            first = by_following(way, operation, puts, refused, optimisation=optimisation)
        except JoulemarkError as error:
            yield row | {"error": str(error)}
            continue
        yield row | {
            "claim": way.secret_independent is True,
            "memcheck": [f"{f.decides} {f.file}:{f.line}" for f in sorted(second)],
            "declared": sum(f.declared is not None for f in second),
            "following": [f"{f.decides} {f.file}:{f.line}" for f in sorted(first)],
            "missed": [f"{f.decides} {f.file}:{f.line}" for f in missed(second, first)],
        }


class Line:
    """A machine's serial line; it stops when a window begins."""

    def __init__(self, machine: Machine, board: Board) -> None:
        self.machine, self._port = machine, board.serial.port
        self.in_window: Callable[[], None] | None = None

    def send(self, data: bytes) -> None:
        """Send bytes to the chip."""
        self.machine.serial_write(self._port, data)

    def receive(self) -> bytes:
        """Run until the chip has sent a zero byte."""
        while True:
            stop = self.machine.run(until_serial=0, until_marker=True, max_cycles=BUDGET_CYCLES)
            if stop.reason == "serial":
                return self.machine.serial_read(self._port)
            if stop.reason != "marker":
                raise VerificationError(f"no answer: {stop.reason}")
            if self.in_window is not None:
                self.in_window()

    def settle(self) -> None:
        """Nothing is under way."""


class _BegunError(Exception):
    """A window has begun."""


def _begun() -> None:
    raise _BegunError


def _at_window(board: Board, image: BuiltImage, operation: str, put: Exchange) -> Machine:
    """Return a machine at the beginning of an operation's window."""
    chip = chips.load_chip(board.chip)
    machine = Machine(chip, Image.load(image.path), marker=board.marker.pin)
    line = Line(machine, board)
    device = Device(line, attempts=1)
    for slot, data in put.inputs.items():
        device.write(slot, data)
    line.in_window = _begun
    with suppress(_BegunError):
        device.run(operation)
    machine.clear_observations()
    return machine


def traced(
    way: Implementation,
    board: Board,
    operation: str,
    *,
    compiler: str,
    optimisation: str,
    most: int,
) -> tuple[list[str], int, int]:
    """Compare a pair of runs.

    Returns:
        What following did not name, the number of divergences, and that of instructions compared.
    """
    image = build_image(way, board, compiler=compiler, optimisation=optimisation)
    program = Image.load(image.path)
    places = Located(image.path, board.core, program.symbols)
    puts = list(trials(way.algorithm, operation, special=True))[-2:]
    cycles = 16 * way.cycles_max(operation)
    named: set[int] = set()
    for those in (puts, puts[::-1]):
        found = follow(board, image, operation, those, budget_cycles=cycles)
        named |= {use.address for use in found.uses}
        if found.lost:
            return [], 0, 0
    first, second = pair = (
        _at_window(board, image, operation, puts[0]),
        _at_window(board, image, operation, puts[1]),
    )
    calls = instruction_sets.calls(board.core)

    def released(one: Machine, other: Machine) -> None:
        registers = {name.upper(): value for name, value in one.registers.items()}
        address, length = (registers[name] for name in calls.arguments[:2])
        other.write_memory(address, one.read_memory(address, length))

    public = program.symbols.get("crypto_public")
    count = 0

    def ends(_at: int) -> bool:
        nonlocal count
        count += 1
        return count % 64 == 0 and bool(first.marker_edges and second.marker_edges)

    code = Code(image.path, board.core)
    met = {} if public is None else {public & ~1: released}
    unnamed, divergences = [], 0
    for one in compared(code, pair, ends, most=most, met=met):
        divergences += 1
        # Behind a branch that may be known, runs part.
        if not one.is_named(named) and not any(map(places.why_public, one.causes)):
            unnamed.append(f"{one.what} {places[one.address]}")
    return unnamed, divergences, count


def judged_by_traces(
    way: Implementation, board: Board, compiler: str, optimisation: str
) -> Iterator[dict[str, Any]]:
    """Yield a row for each operation."""
    for operation in filter(way.has, on_secrets(way.algorithm)):
        if not cases(way, operation)[0]:
            continue
        row: dict[str, Any] = {"implementation": str(way), "operation": operation}
        row["build"] = f"{board.name} {compiler} -{optimisation}"
        try:
            unnamed, divergences, count = traced(
                way,
                board,
                operation,
                compiler=compiler,
                optimisation=optimisation,
                most=MOST_COMPARED,
            )
        except JoulemarkError as error:
            yield row | {"error": str(error)}
            continue
        yield row | {"compared": count, "divergences": divergences, "missed": unnamed}


def main() -> None:
    """Judge all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", type=Path)
    parser.add_argument("--opt", default="O0")
    parser.add_argument("--traces", metavar="BOARD")
    parser.add_argument("--compiler", default="gcc")
    parser.add_argument("--primitive", action="append")
    parser.add_argument("--slow", action="store_true", help="take hours")
    arguments = parser.parse_args()
    most = sys.maxsize if arguments.slow else MOST_CYCLES
    records: Path = arguments.records
    text = records.read_text(encoding="utf-8") if records.exists() else ""
    kept = [json.loads(line) for line in text.splitlines()]
    board = load_board(arguments.traces or BOARD)
    build = f"{arguments.compiler} -{arguments.opt}"
    if arguments.traces:
        build = f"{board.name} {build}"
    done = {row["implementation"] for row in kept if row["build"] == build}
    library = Library.load()
    for algorithm in library.algorithms.values():
        if arguments.primitive and algorithm.name not in arguments.primitive:
            continue
        for way in library.implementations(algorithm):
            portable = way.runs_on("host") and way.runs_on(board.instruction_set)
            if str(way) in done or not portable:
                continue
            if arguments.traces:
                rows = list(judged_by_traces(way, board, arguments.compiler, arguments.opt))
            else:
                rows = list(judged(way, arguments.opt, most))
            with records.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(row) + "\n" for row in rows)


if __name__ == "__main__":
    main()
