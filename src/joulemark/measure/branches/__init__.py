"""Values that an image's branches depend on while an operation runs.

A branch on a secret may go the same way 65535 times out of 65536, for example where a compiler
turned a carry into a forward jump. A thousand trials of equal duration do not reveal it. The
operands of the instruction that sets the flags do: if they differ between trials that differ only
in secrets, the branch depends on a secret.
"""

import importlib
import pkgutil
import re
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from joulemark._engine import Image, Machine, Wiring
from joulemark.catalogue import chips, instruction_sets
from joulemark.catalogue.boards import Board
from joulemark.catalogue.kinds import Exchange
from joulemark.errors import BudgetError, InputError, VerificationError
from joulemark.images import toolchain
from joulemark.measure.declared import Declarations
from joulemark.runners.protocol import Device, Status

MOST_HITS = 100
"""Executions of one instruction that are examined per operation."""
BUDGET_CYCLES = 2_000_000_000

_LINE = re.compile(r"^ *([0-9a-f]+): +\t([a-z][a-z0-9.]*)(?:\t(\S.*))?$")


@dataclass(frozen=True)
class Decider(ABC):
    """An instruction whose flags decide a branch."""

    address: int
    mnemonic: str
    operands: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.address:#06x}: {self.mnemonic} {', '.join(self.operands)}"

    @abstractmethod
    def values(self, machine: Machine) -> tuple[int, ...]:
        """Return the operands that its next execution will see."""


def disassembled(path: Path, core: str) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    """Yield the instructions of an image for a core: address, mnemonic, operands.

    Raises:
        ToolError: there is no disassembler.
    """
    tool = toolchain.find_disassembler().path
    options = instruction_sets.load(core).disassembly
    command = [tool, "-d", "--no-show-raw-insn", *options, str(path)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for line in text.splitlines():
        match = _LINE.match(line)
        if match is not None:
            address, mnemonic, operands = match.groups()
            yield int(address, 16), mnemonic, tuple((operands or "").split(", "))


def deciders(path: Path, core: str) -> list[Decider]:
    """Return the instructions of an image that decide its conditional branches.

    Args:
        path: the ELF file.
        core: a module here, which knows the core's instructions.

    Raises:
        InputError: no module knows them.
        ToolError: there is no disassembler.
    """
    known = sorted(module.name for module in pkgutil.iter_modules(__path__))
    if core not in known:
        what = f"what decides a branch of the core {core} is not known"
        raise InputError(what, "--branches", f"it is known of {', '.join(known)}")
    found = importlib.import_module(f"{__name__}.{core}").deciders(path)
    return sorted(set(found), key=lambda decider: decider.address)


class WatchedBoard:
    """The line to an image; it stops at instructions between two marker edges.

    Args:
        image: the image to run.
        board: the board to run it on.
        wiring: devices around the chip.
        public: what the image declares public.
    """

    def __init__(
        self,
        image: Image,
        board: Board,
        wiring: Wiring | None = None,
        public: Declarations | None = None,
    ) -> None:
        chip, marker = chips.load_chip(board.chip), board.marker.pin
        self._machine = Machine(chip, image, wiring=wiring, marker=marker)
        self._port = board.serial.port
        self._public = public or Declarations(image, board.core)
        self._watched: dict[int, Decider] = {}
        self._seen: dict[Decider, list[tuple[int, ...]]] = {}

    def watch(
        self, device: Device, operation: str, put: Exchange, candidates: Iterable[Decider]
    ) -> dict[Decider, list[tuple[int, ...]]]:
        """Return the operands of each executed decider, for its first `MOST_HITS` executions."""
        for slot, data in put.inputs.items():
            device.write(slot, data)
        self._watched = {candidate.address: candidate for candidate in candidates}
        self._public.begin()
        if device.run(operation).status is not Status.OK:
            raise VerificationError(f"{operation} failed")
        self._watched = {}
        return self._seen

    def send(self, data: bytes) -> None:
        """Put bytes on the line to the chip."""
        self._machine.serial_write(self._port, data)

    def settle(self) -> None:
        """Do nothing: the line carries nothing unasked and is not disturbed."""

    def receive(self) -> bytes:
        """Run until the program sends a zero byte, and return what it sent.

        Raises:
            BudgetError: it stopped for another reason.
        """
        machine = self._machine
        while True:
            stop = machine.run(until_marker=True, until_serial=0, max_cycles=BUDGET_CYCLES)
            if stop.reason == "serial":
                return machine.serial_read(self._port)
            if stop.reason == "marker":
                if machine.marker_edges[-1].rising:
                    self._seen = {}
                    self._watch(self._watched)
                else:
                    machine.watch([])
            elif stop.reason == "address":
                if stop.address == self._public.address:
                    self._public.meet(machine)
                if stop.address in self._watched:
                    self._look(self._watched[stop.address])
            else:
                raise BudgetError(f"the image stopped: {stop.reason}")

    def _look(self, decider: Decider) -> None:
        """Record what an instruction is about to look at; after its last hit, stop watching it."""
        values = self._seen.setdefault(decider, [])
        values.append(decider.values(self._machine))
        if len(values) == MOST_HITS:
            seen = self._seen
            still = (a for a, d in self._watched.items() if len(seen.get(d, ())) < MOST_HITS)
            self._watch(still)

    def _watch(self, addresses: Iterable[int]) -> None:
        public = [] if self._public.address is None else [self._public.address]
        self._machine.watch([*addresses, *public])
