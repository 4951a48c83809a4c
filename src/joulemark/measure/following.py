"""Secrets followed through a machine: what they decide in a build, instruction by instruction.

Trials show what differs between the secrets that were tried. Following shows what could differ
with any secret, as long as control goes the same way: a product of secrets whose time depends on
its operands, a branch that goes the other way once in four billion times. What a branch on a
secret leads to is not followed, and code that no run reaches is not looked at.
"""

import re
import subprocess
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from joulemark._engine import EngineError, Image, Machine, Secrets, SecretUse, Stop
from joulemark.catalogue import chips, instruction_sets
from joulemark.catalogue.boards import Board
from joulemark.catalogue.kinds import BUDGET_CYCLES
from joulemark.errors import BudgetError, FaultError, InputError, JoulemarkError, ToolError
from joulemark.images.lines import Line, Lines, Named, commands_of, is_ours, lines_of, named
from joulemark.measure.branches import disassembled
from joulemark.measure.declared import Declarations, Declared
from joulemark.project import ROOT
from joulemark.words import counted

GAP_BYTES = 8
"""Fewer bytes that stay the same between bytes that are secret count as secret too."""

_DECISIONS = {"branch", "condition", "target"}
"""What a source line can declare public: the verdict, but not the value that it rests on."""
_PUBLIC = re.compile(r"(?:/\*|(?<!:)//)\s*public:\s+(?!\*/)(\S.*?)\s*(?:\*/|$)")
_STRING = re.compile(r""" "(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*' """, re.VERBOSE)


@dataclass(frozen=True)
class Place:
    """An instruction and where it comes from."""

    function: str
    """The symbol that it is in; empty if there is none."""
    file: str | None
    """The source file, within the project where it lies there; None if it is not known."""
    line: int | None
    address: int
    instruction: str
    """Its text; empty if there is no disassembler."""

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}, " if self.file else ""
        text = f": {self.instruction}" if self.instruction else ""
        place = f"{where}{self.address:#06x}{text}"
        return f"{self.function} ({place})" if self.function else place


def _text(mnemonic: str, operands: Sequence[str]) -> str:
    """Return an instruction without the disassembler's remarks."""
    return f"{mnemonic} {', '.join(operands)}".partition(" @ ")[0].rstrip()


@lru_cache(maxsize=4)
def _declaring(path: Path, _changed_ns: int) -> Lines | None:
    """Return the lines of sources that declare something public; operations share them.

    Without them, what one of our images declares would be taken for a leak: then it is an error.
    """
    with nullcontext() if is_ours(path) else suppress(InputError, ToolError):
        return lines_of(path, _PUBLIC)
    return None


def _changed_ns(path: Path) -> int:
    """Return when an image, or where it was compiled from, last changed."""
    return max(each.stat().st_mtime_ns for each in (path, commands_of(path)) if each.is_file())


class Located:
    """Places of an image's instructions; debug information and disassembly are made when needed.

    Args:
        path: the ELF file.
        core: its core.
        symbols: its symbols.
    """

    def __init__(self, path: Path, core: str, symbols: Mapping[str, int]) -> None:
        self.path, self.core = path, core
        # Assemblers mark code and data with symbols that begin with $.
        named = ((at & ~1, name) for name, at in symbols.items() if name[:1] not in "$.")
        self._starts = sorted(named)

    @cached_property
    def _lines(self) -> Lines | None:
        with suppress(InputError, ToolError):
            return lines_of(self.path)
        return None

    def _line(self, address: int, *, declaring: bool = False) -> Line | None:
        """Return the line of an instruction; in haste, only of sources that declare something."""
        of_few = _declaring(self.path, _changed_ns(self.path))
        line = None if of_few is None else of_few[address]
        if line is not None or declaring:
            return line
        return None if self._lines is None else self._lines[address]

    @cached_property
    def _instructions(self) -> dict[int, str]:
        with suppress(ToolError, subprocess.CalledProcessError):
            found = disassembled(self.path, self.core)
            return {at: _text(name, given) for at, name, given in found}
        return {}

    def public_code(self) -> list[tuple[int, int]]:
        """Return the addresses of code whose source declares that what it decides is public."""
        lines = _declaring(self.path, _changed_ns(self.path))
        ranges = [] if lines is None else lines.ranges()
        return [(at, end) for at, end, line in ranges if declared_public(line.file, line.number)]

    def why_public(self, address: int) -> str | None:
        """Return what the source line of an instruction, or the one above, declares public."""
        line = self._line(address, declaring=True)
        return None if line is None else declared_public(line.file, line.number)

    def source(self, address: int) -> Place:
        """Return where an instruction comes from, without its text."""
        before = bisect_right(self._starts, (address, "\uffff")) - 1
        line = self._line(address)
        file = None if line is None else line.file
        if file is not None and file.is_relative_to(ROOT):
            file = file.relative_to(ROOT)
        return Place(
            self._starts[before][1] if before >= 0 else "",
            None if file is None else str(file),
            None if line is None else line.number,
            address,
            "",
        )

    def __getitem__(self, address: int) -> Place:
        """Return the place of an instruction."""
        return replace(self.source(address), instruction=self._instructions.get(address, ""))


@dataclass(frozen=True)
class Use:
    """An instruction that uses a secret to decide something."""

    address: int
    decided_at: int
    """The instruction that set the flags which decide; otherwise the same."""
    decides: str
    """branch, condition (of an IT block), select (an IT block that takes as long to skip), target
    (of a branch), address, time (the instruction's own), pointer (of DMA), exception (when or
    whether one is taken) or code (which instruction is executed)."""
    secret_bytes: tuple[tuple[str, int, int], ...]
    """The secret bytes that its operand can come from: name, first and last."""
    times: int
    extra_cycles: int | None
    """Cycles between its longest and its shortest time; None if what comes after it decides."""
    calls: tuple[str, ...]
    """The functions that led to it the first time, outermost first."""
    places: Located = field(repr=False, compare=False)

    @property
    def place(self) -> Place:
        """Where it is; the line is that of the comparison, if that is in the same function."""
        here, at = self.places[self.decided_at], self.places[self.address]
        if here.function != at.function or here.line is None:
            return at
        return replace(here, address=at.address, instruction=at.instruction)

    @property
    def secrets(self) -> tuple[str, ...]:
        """The secret bytes that its operand can come from, such as `key[0..15]`."""
        return _text_of(self.secret_bytes)

    @property
    def costs_time(self) -> bool:
        """Whether it can change how long the code takes."""
        return self.extra_cycles != 0

    @property
    def leaks(self) -> bool:
        """Whether it shows in time or addresses; which of two results there is does not."""
        return self.decides != "select"

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        return f"a secret decides ({self.decides})"

    @property
    def row(self) -> dict[str, Any]:
        """Names and numbers."""
        return {
            "decides": self.decides,
            **asdict(self.place),
            "secrets": list(self.secrets),
            "times": self.times,
            "extra_cycles": self.extra_cycles,
            "calls": list(self.calls),
        }

    def __str__(self) -> str:
        cost = (
            ""
            if self.extra_cycles is None
            else f", up to {counted(self.extra_cycles, 'cycle')} more"
        )
        if not self.costs_time:
            cost = ", which costs no cycles at this clock"
        return f"{self.decides} by {', '.join(self.secrets)}{cost}: {self.place}"


def together(uses: Sequence[Use]) -> Use:
    """Return the use that costs most, with the secret bytes of all."""
    joined: list[tuple[str, int, int]] = []
    for name, first, last in sorted({part for use in uses for part in use.secret_bytes}):
        before, start, end = joined[-1] if joined else ("", 0, 0)
        if before == name and first <= end + 1:
            joined[-1] = name, start, max(end, last)
        else:
            joined.append((name, first, last))
    most = max(uses, key=lambda use: use.extra_cycles or 0)
    return replace(most, secret_bytes=tuple(joined))


def leaking(uses: Iterable[Use]) -> list[Use]:
    """Return the uses that show in time or addresses."""
    return [use for use in uses if use.leaks]


@dataclass(frozen=True)
class OneWay:
    """A conditional branch that went the same way every time: what is behind it was not seen."""

    address: int
    taken: bool
    places: Located = field(repr=False, compare=False)

    @property
    def row(self) -> dict[str, Any]:
        """Names and numbers."""
        return {**asdict(self.places[self.address]), "taken": self.taken}

    def __str__(self) -> str:
        way = "always" if self.taken else "never"
        return f"{way} taken: {self.places[self.address]}"


@dataclass(frozen=True)
class Verdict:
    """Decisions by a secret that a line of the source declares public where they are taken."""

    place: Place
    why: str
    """What may be known, such as whether a tag is right."""
    uses: tuple[Use, ...]

    def __str__(self) -> str:
        where = f"{self.place.file}:{self.place.line}" if self.place.file else self.place.function
        count = len(self.uses)
        decisions = "1 decision" if count == 1 else f"{count} decisions"
        return f"{self.why} ({where}): {decisions} by {', '.join(together(self.uses).secrets)}"


@dataclass(frozen=True)
class Followed:
    """What secrets decided in some runs of an operation."""

    runs: int
    uses: tuple[Use, ...] = ()
    """Without those that the source declares public."""
    verdicts: tuple[Verdict, ...] = ()
    reached: int = 0
    """Number of different instructions executed."""
    one_way: tuple[OneWay, ...] = ()
    devices: tuple[str, ...] = ()
    """Device registers that secrets were written to, or that devices fetched them by; what devices
    make of them is not followed."""
    lost: tuple[int, ...] = ()
    """Stores to so wide a range of secret addresses that following lost what they may change."""
    widened: tuple[str, ...] = ()
    """Other inputs that reached what those before them had not, and how much."""


NOTHING = Followed(0)
"""Of no run."""


@dataclass(frozen=True)
class Marked:
    """Bytes in memory that are secret."""

    name: str
    """What they are called in findings."""
    first: int
    """The number of the first byte within what is called so."""
    address: int
    length: int


def varying(values: Sequence[bytes]) -> Iterator[tuple[int, int]]:
    """Yield where values of the same length differ: first byte and number of bytes."""
    length = min(map(len, values), default=0)
    different = [i for i in range(length) if len({value[i] for value in values}) > 1]
    runs: list[list[int]] = []
    for here in different:
        if runs and here - runs[-1][1] <= GAP_BYTES:
            runs[-1][1] = here
        else:
            runs.append([here, here])
    for first, last in runs:
        yield first, last + 1 - first


def marks(marked: Iterable[Marked]) -> list[tuple[str, int, int]]:
    """Return secrets as a machine takes them."""
    return [(f"{each.name} {each.first}", each.address, each.length) for each in marked]


def _bytes(parts: Iterable[tuple[str, int, int]]) -> tuple[tuple[str, int, int], ...]:
    """Return secret bytes by what they are called, and their numbers within that."""
    found = []
    for name, first, last in parts:
        secret, _, offset = name.rpartition(" ")
        found.append((secret, first + int(offset), last + int(offset)))
    return tuple(found)


def _text_of(parts: Iterable[tuple[str, int, int]]) -> tuple[str, ...]:
    """Name secret bytes, as in `key[0..15]`."""
    return tuple(
        f"{name}[{first}]" if first == last else f"{name}[{first}..{last}]"
        for name, first, last in parts
    )


@lru_cache
def _source(path: Path) -> tuple[str, ...]:
    with suppress(OSError):
        return tuple(path.read_text(encoding="utf-8", errors="replace").splitlines())
    return ()


def declared_public(file: Path, number: int) -> str | None:
    """Return what a line declares to be public, or the one above it, where that has no code."""
    above, here = (number - 2, number - 1)
    lines = _source(file)
    for at in (here, above):
        if not 0 <= at < len(lines):
            continue
        # What stands in a string is no comment.
        line = _STRING.sub('""', lines[at])
        match = _PUBLIC.search(line)
        if match and (at == here or not line[: match.start()].strip(" \t*/")):
            return match[1]
    return None


def _declared(use: Use) -> tuple[Place, str] | None:
    """Return where a decision is declared to be public, and what."""
    for address in (use.decided_at, use.address) if use.decides in _DECISIONS else ():
        why = use.places.why_public(address)
        if why is not None:
            return replace(use.places.source(address), address=0), why
    return None


def located(found: Secrets, places: Located, runs: int) -> Followed:
    """Return what was found in so many runs, with names."""

    def of(use: SecretUse) -> Use:
        calls = tuple(frame.symbol for frame in reversed(use.call_stack) if frame.symbol)
        parts = _bytes(use.parts)
        return Use(
            use.address,
            use.decided_at,
            use.decides,
            parts,
            use.times,
            use.extra_cycles,
            calls,
            places,
        )

    uses, verdicts = list[Use](), dict[tuple[Place, str], list[Use]]()
    for use in map(of, found.uses):
        verdict = _declared(use)
        if verdict is None:
            uses.append(use)
        else:
            verdicts.setdefault(verdict, []).append(use)
    return Followed(
        runs,
        tuple(uses),
        tuple(sorted((Verdict(*at, tuple(some)) for at, some in verdicts.items()), key=str)),
        found.reached,
        tuple(OneWay(at, taken, places) for at, taken in found.one_way),
        tuple(
            f"{_device(at, places.core)} ({', '.join(_text_of(_bytes(parts)))})"
            for at, parts in found.devices
        ),
        tuple(found.lost),
    )


def _device(at: int, core: str) -> str:
    """Name a register: a control and status register has a number below any address."""
    return f"CSR {at:#x}" if core == "riscv" and at < 0x1000 else f"{at:#x}"


def with_what_is_declared(
    follow: Callable[[list[tuple[int, int]]], Followed], places: Located
) -> Followed:
    """Follow secrets; again, where something is declared and something else leaks.

    What a declared branch says of a register may be known, too: a compiler goes on with a register
    that it knows to be 0.

    Args:
        follow: follows, given the addresses of code whose decisions are public.
        places: the image's.
    """
    found = follow([])
    if found.verdicts and leaking(found.uses):
        # Of what the declared decisions decide in turn nothing is found any more.
        verdicts = found.verdicts
        found = follow(places.public_code())
        missing = {(verdict.place, verdict.why) for verdict in found.verdicts}
        more = [verdict for verdict in verdicts if (verdict.place, verdict.why) not in missing]
        found = replace(found, verdicts=tuple(sorted((*found.verdicts, *more), key=str)))
    return found


@dataclass(frozen=True)
class Called:
    """A call of a function in somebody's own program, followed until it returned."""

    function: str
    cycles: int
    followed: Followed
    declared: tuple[Declared, ...]
    """What the program declares public although it is derived from a secret."""
    unfinished: JoulemarkError | None = None
    """Why it did not return; what was found until then counts all the same."""


def follow_call(
    path: Path,
    board: Board,
    function: str,
    secrets: Sequence[tuple[str, int]],
    *,
    max_cycles: int = BUDGET_CYCLES,
) -> Called:
    """Run a program until it calls a function, and follow secrets until that returns.

    Args:
        path: the program's ELF file.
        board: the board that it is for.
        function: its symbol.
        secrets: symbols or addresses, and numbers of bytes.
        max_cycles: cycles for the program to get there, and for the function to return.

    Raises:
        InputError: something is not there.
        BudgetError: the function is not called.
        FaultError: the program faulted before that.
    """
    program = _loaded(path)
    marked = [
        Marked(name, 0, _resolved_bytes(path, program, name, length, "--secret"), length)
        for name, length in secrets
    ]
    chip = chips.load_chip(board.chip)
    try:
        Machine(chip, program, wiring=board.wiring)
    except EngineError as error:  # It may be for another core.
        raise InputError(str(error), str(path)) from error
    start = _resolved_function(path, program, function, board)
    calls = instruction_sets.calls(board.core)
    places = Located(path, board.core, program.symbols)
    ended: list[tuple[int, tuple[Declared, ...], JoulemarkError | None]] = []

    def once(public_code: list[tuple[int, int]]) -> Followed:
        machine = Machine(chip, program, wiring=board.wiring)
        public = Declarations(program, board.core)
        # A symbol may lie where a function of another does.
        stop = machine.run(until=start, until_asleep=True, max_cycles=max_cycles)
        if stop.reason != "address":
            raise _never(stop, function, machine.cycles, places, called=False)
        registers = {name.upper(): value for name, value in machine.registers.items()}
        stack = registers["SP"]
        if calls.returns_to is None:
            back = int.from_bytes(machine.read_memory(stack, 2), "little")
        else:
            back = registers[calls.returns_to] & ~1
        machine.follow_secrets(marks(marked), public_code)
        begin = machine.cycles
        machine.watch([] if public.address is None else [public.address])
        unfinished = None
        while True:
            left = max(begin + max_cycles - machine.cycles, 1)
            stop = machine.run(until=back, until_asleep=True, max_cycles=left)
            if stop.reason == "address" and stop.address == public.address:
                public.release(machine)
            elif stop.reason != "address":
                took = machine.cycles - begin
                unfinished = _never(stop, function, took, places, called=True)
                break
            elif machine.registers["sp"] >= stack:
                break
        ended.append((machine.cycles - begin, public.found, unfinished))
        return located(machine.secrets, places, 1)

    try:
        followed = with_what_is_declared(once, places)
    except EngineError as error:
        raise InputError(str(error), str(path)) from error
    cycles, declared, unfinished = ended[-1]
    return Called(function, cycles, followed, declared, unfinished)


def _loaded(path: Path) -> Image:
    try:
        return Image.load(path)
    except (EngineError, OSError) as error:
        raise InputError(str(error)) from error  # It names the file.


def _resolved(program: Image, name: str, option: str) -> int:
    try:
        return program.resolve(name)
    except EngineError as error:
        raise InputError(str(error), option) from error


def _resolved_function(path: Path, program: Image, name: str, board: Board) -> int:
    """Return the address of a function; assembly may leave out that it is one."""
    address = _resolved(program, name, "--call")
    memories = chips.load_chip(board.chip).memories
    if not any(0 <= address - memory.start < memory.size for memory in memories):
        what = f"{address:#x} is in no memory of {board.chip}"
        raise InputError(what, "--call", "give a function, or where one begins")
    found = named(path, name)
    if found.is_variable and not found.is_function:
        raise InputError(f"{name} is a variable", "--call", "give a function")
    _refuse_several(name, found, "--call")
    return address & ~1


def _resolved_bytes(path: Path, program: Image, name: str, length: int, option: str) -> int:
    """Return the address of so many bytes; what lies behind a variable is none of it."""
    address = _resolved(program, name, option)
    found = named(path, name)
    if found.is_function and not found.is_variable:
        raise InputError(f"{name} is a function", option, "give a variable, or an address")
    _refuse_several(name, found, option)
    size = found.largest_bytes
    if size and length > size:
        mend = f"write {name}:{size}, or ADDRESS:BYTES for what lies behind it too"
        raise InputError(f"{name} has {size} bytes, not {length}", option, mend)
    return address


def _refuse_several(name: str, found: Named, option: str) -> None:
    """Refuse a name that several static symbols have: whichever was taken, another may be meant."""
    if found.others:
        mend = f"give the address of one: {', '.join(found.others)}"
        raise InputError(f"{len(found.others)} symbols are called {name}", option, mend)


def _never(
    stop: Stop, function: str, cycles: int, places: Located, *, called: bool
) -> JoulemarkError:
    """Return the error that a run amounts to which ended before a call, or within it."""
    what = f"{function} {'did not return' if called else 'was not called'}"
    if stop.fault is not None:
        return FaultError(f"{what}: the program faulted: {stop.fault.message}")
    asleep = stop.reason == "asleep"
    why = "it sleeps" if asleep else f"{cycles:,} cycles are spent"
    if asleep:
        mend = "nothing can wake it: let it call by itself"
    elif called:
        mend = "give --max-cycles more"
    else:
        mend = (
            "the program itself must call what --call names: build one that does, without waiting "
            "for anything; if it only comes to it later, give --max-cycles more"
        )
    return BudgetError(f"{what}: {why} at {places.source(stop.address)}", "--call", mend)
