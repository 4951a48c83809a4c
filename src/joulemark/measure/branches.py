"""Values that an image's branches depend on while an operation runs.

A branch on a secret may go the same way 65535 times out of 65536, for example where a compiler
turned a carry into a forward jump. A thousand trials of equal duration do not reveal it. The
operands of the instruction that sets the flags do: if they differ between trials that differ only
in secrets, the branch depends on a secret.
"""

import re
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from joulemark._engine import Image, Machine, Wiring
from joulemark.catalogue import chips
from joulemark.catalogue.boards import Board
from joulemark.catalogue.kinds import Exchange
from joulemark.errors import BudgetError, VerificationError
from joulemark.runners.protocol import Device, Status

MOST_HITS = 100
"""Executions of one instruction that are examined per operation."""
BUDGET_CYCLES = 200_000_000

_LINE = re.compile(r"^ *([0-9a-f]+): +\t([a-z][a-z0-9.]*)(?:\t(\S.*))?$")
_CONDITIONAL = {"jeq", "jne", "jz", "jnz", "jc", "jnc", "jlo", "jhs", "jn", "jge", "jl"}
_NO_FLAGS = {"mov", "bis", "bic", "swpb", "push", "pop", "clr", "nop", "br"}
"""Instructions that leave the flags alone (SLAU049F, section 3.4.4, table 3-15)."""
_ARM_BRANCH = re.compile(r"^b(eq|ne|hs|lo|cs|cc|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)$")
_ARM_IT = re.compile(r"^it[te]{0,3}$")
_ARM_COMPARE = {"cmp", "cmn", "tst", "teq", "cbz", "cbnz"}
_FLOAT_COMPARE = {"vcmp", "vcmpe"}
"""VMRS moves their flags to the APSR (ARM DDI 0403E, sections A7.7.225 and A7.7.244)."""
_ARM_MOVE = {"movs", "mvns", "negs"}
_ARM_FLAGS = {*_ARM_COMPARE, *_ARM_MOVE, "adds", "adcs", "subs", "sbcs", "rsbs", "ands", "orrs"}
_ARM_FLAGS |= {"orns", "eors", "bics", "lsls", "lsrs", "asrs", "rors", "rrxs", "muls"}
"""Instructions that set the flags (ARM DDI 0403E, section A7.7)."""
_INDEXED = re.compile(r"^(-?\d+)\((\w+)\)$")
_CARRY = {"addc", "subc", "adc", "sbc", "rrc", "rlc"}


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


class Msp430Decider(Decider):
    """An MSP430 instruction; see SLAU049F, section 3.4."""

    def values(self, machine: Machine) -> tuple[int, ...]:
        """Return the operands that its next execution will see."""
        registers = {k.lower(): v for k, v in machine.registers.items()}
        registers |= {"r0": registers["pc"], "r1": registers["sp"], "r2": registers["sr"]}
        width = 1 if self.mnemonic.endswith(".b") else 2
        plain = self.mnemonic.removesuffix(".b")
        mask = (1 << 8 * width) - 1
        values = []
        for operand in self.operands:
            indexed = _INDEXED.match(operand)
            if operand.startswith("#"):
                if plain in {"and", "bit"}:
                    mask &= int(operand[1:])
                continue
            if operand in registers:
                values.append(registers[operand])
                continue
            if indexed:
                address = int(indexed[1]) + registers[indexed[2]]
            elif operand.startswith("&"):
                address = int(operand[1:])
            else:
                address = registers[operand.strip("@+")]
            values.append(int.from_bytes(machine.read_memory(address & 0xFFFF, width), "little"))
        values = [value & mask for value in values]
        if plain in _CARRY:
            values.append(registers["sr"] & 1)
        return tuple(values)


@dataclass(frozen=True)
class ArmDecider(Decider):
    """A Cortex-M instruction; of a shift, only what the branch condition tests."""

    condition: str

    def values(self, machine: Machine) -> tuple[int, ...]:
        """Return the operands that its next execution will see."""
        registers = {name.lower(): value for name, value in machine.registers.items()}
        plain = self.mnemonic.partition(".")[0]
        looks_at_all = plain in _ARM_COMPARE | _FLOAT_COMPARE or (
            len(self.operands) == 2 and plain not in _ARM_MOVE
        )
        operands = self.operands if looks_at_all else self.operands[1:]
        values = [registers[name] for name in operands if name in registers]
        if plain in {"cbz", "cbnz"}:
            return (int(values[0] == 0),)
        if operands[-1].startswith("#"):
            number = int(operands[-1][1:], 0)
            if plain in {"tst", "ands"}:
                values = [value & number for value in values]
            elif plain in {"lsls", "lsrs"}:
                return (_shifted(values[0], plain, number, self.condition),)
        if plain in {"adcs", "sbcs"}:
            values.append(registers["xpsr"] >> 29 & 1)
        return tuple(values)


def _shifted(value: int, how: str, by: int, condition: str) -> int:
    """Return what a condition tests of a shift: its sign, its carry, or the whole result."""
    left = how == "lsls"
    if condition in {"hs", "lo", "cs", "cc"}:
        return value >> (32 - by if left else by - 1) & 1
    result = (value << by if left else value >> by) & 0xFFFFFFFF
    return result >> 31 if condition in {"mi", "pl"} else result


def _lines(path: Path, *options: str) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    """Yield the instructions of an image: address, mnemonic, operands."""
    command = ["llvm-objdump-19", "-d", "--no-show-raw-insn", *options, str(path)]
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
        core: `msp430` or `armv7m`.
    """
    of_core = _msp430 if core == "msp430" else _arm
    return sorted(set(of_core(path)), key=lambda decider: decider.address)


def _msp430(path: Path) -> Iterator[Decider]:
    last: Decider | None = None
    for address, mnemonic, operands in _lines(path):
        plain = mnemonic.removesuffix(".b")
        if plain in _CONDITIONAL:
            if last is not None:
                yield last
        elif plain in {"call", "ret", "reti", "jmp"}:
            last = None
        elif plain not in _NO_FLAGS:
            last = Msp430Decider(address, mnemonic, operands)


def _arm(path: Path) -> Iterator[Decider]:
    last: tuple[int, str, tuple[str, ...]] | None = None
    compared: tuple[int, str, tuple[str, ...]] | None = None
    # Enable every extension that any core has: what a core lacks does not occur in its images.
    for address, mnemonic, operands in _lines(path, "--triple=thumbv7em", "--mattr=+vfp4d16sp"):
        plain = mnemonic.partition(".")[0]
        branch = _ARM_BRANCH.match(plain)
        if plain in {"cbz", "cbnz"}:
            yield ArmDecider(address, mnemonic, operands[:1], "eq")
        elif branch or _ARM_IT.match(plain):
            if last is not None:
                yield ArmDecider(*last, branch[1] if branch else operands[0])
        elif plain in {"b", "bl", "bx", "blx", "tbb", "tbh"} or "pc" in "".join(operands):
            last = None
        elif plain in _FLOAT_COMPARE:
            compared = (address, mnemonic, operands)
        elif plain == "vmrs" and operands[0].lower() == "apsr_nzcv":
            last = compared
        elif plain in _ARM_FLAGS:
            last = (address, mnemonic, operands)


class WatchedBoard:
    """The line to an image; it stops at instructions between two marker edges.

    Args:
        image: the image to run.
        board: the board to run it on.
        wiring: devices around the chip.
    """

    def __init__(self, image: Image, board: Board, wiring: Wiring | None = None) -> None:
        chip, marker = chips.load_chip(board.chip), board.marker.pin
        self._machine = Machine(chip, image, wiring=wiring, marker=marker)
        self._port = board.serial.port
        self._watched: dict[int, Decider] = {}
        self._seen: dict[Decider, list[tuple[int, ...]]] = {}

    def watch(
        self, device: Device, operation: str, put: Exchange, candidates: Iterable[Decider]
    ) -> dict[Decider, list[tuple[int, ...]]]:
        """Return the operands of each executed decider, for its first `MOST_HITS` executions."""
        for slot, data in put.inputs.items():
            device.write(slot, data)
        self._watched = {candidate.address: candidate for candidate in candidates}
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
                    machine.watch(list(self._watched))
                else:
                    machine.watch([])
            elif stop.reason == "address":
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
            self._machine.watch(list(still))
