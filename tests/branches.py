"""What the branches of an MSP430 image look at while an operation runs.

A branch on a secret may go one way 65535 times of 65536: a carry that a compiler made a forward
jump of. Equal times over a thousand trials do not show it. What the deciding instruction compares
does: in trials with different secrets it compares the same values, or else it looks at secrets.
"""

import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from joulemark._engine import Image, Machine
from joulemark.catalogue import boards
from joulemark.catalogue.boards import Board
from joulemark.catalogue.kinds import Exchange
from joulemark.runners.protocol import Device, Status

MOST_HITS = 100
"""Of one instruction in one operation that are looked at."""
BUDGET_CYCLES = 200_000_000

_LINE = re.compile(r"^ *([0-9a-f]+): +\t([a-z.]+)(?:\t(\S.*))?$")
_CONDITIONAL = {"jeq", "jne", "jz", "jnz", "jc", "jnc", "jlo", "jhs", "jn", "jge", "jl"}
_NO_FLAGS = {"mov", "bis", "bic", "swpb", "push", "pop", "clr", "nop", "br"}
"""Instructions that leave the flags alone (SLAU049F, section 3.4.4, table 3-15)."""
_INDEXED = re.compile(r"^(-?\d+)\((\w+)\)$")
_CARRY = {"addc", "subc", "adc", "sbc", "rrc", "rlc"}


@dataclass(frozen=True)
class Decider:
    """An instruction whose flags decide a branch."""

    address: int
    mnemonic: str
    operands: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.address:#06x}: {self.mnemonic} {', '.join(self.operands)}"

    def values(self, machine: Machine) -> tuple[int, ...]:
        """What it is about to look at."""
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


def deciders(path: Path) -> list[Decider]:
    """The instructions of an image that decide its conditional jumps."""
    command = ["llvm-objdump-19", "-d", "--no-show-raw-insn", str(path)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = set()
    last: Decider | None = None
    for line in text.splitlines():
        match = _LINE.match(line)
        if match is None:
            continue
        address, mnemonic, operands = match.groups()
        plain = mnemonic.removesuffix(".b")
        if plain in _CONDITIONAL:
            if last is not None:
                found.add(last)
        elif plain in {"call", "ret", "reti", "jmp"}:
            last = None
        elif plain not in _NO_FLAGS:
            last = Decider(int(address, 16), mnemonic, tuple((operands or "").split(", ")))
    return sorted(found, key=lambda decider: decider.address)


class WatchedBoard:
    """An image's line that stops at an instruction between two marker edges.

    Args:
        image: what to run.
        board: where.
    """

    def __init__(self, image: Image, board: Board) -> None:
        self._machine = Machine(boards.load_chip(board.chip), image, marker=board.marker.pin)
        self._port = board.serial.port
        self.watched: Decider | None = None
        self.seen: list[tuple[int, ...]] = []

    def watch(
        self, device: Device, operation: str, put: Exchange, candidates: Iterable[Decider]
    ) -> dict[Decider, list[tuple[int, ...]]]:
        """What each of those that are executed looks at; they are watched one at a time."""
        for slot, data in put.inputs.items():
            device.write(slot, data)
        found = {}
        for candidate in candidates:
            self.watched = candidate
            assert device.run(operation).status is Status.OK
            if self.seen:
                found[candidate] = self.seen
        self.watched = None
        return found

    def send(self, data: bytes) -> None:
        self._machine.serial_write(self._port, data)

    def settle(self) -> None:
        """Nothing comes unasked: the line is not disturbed."""

    def receive(self) -> bytes:
        machine = self._machine
        inside = False
        while True:
            watch = inside and self.watched is not None and len(self.seen) < MOST_HITS
            stop = machine.run(
                until=self.watched.address if watch and self.watched else None,
                until_marker=True,
                until_serial=0,
                max_cycles=BUDGET_CYCLES,
            )
            if stop.reason == "serial":
                return machine.serial_read(self._port)
            if stop.reason == "marker":
                inside = machine.marker_edges[-1].rising
                if inside:
                    self.seen = []
            elif stop.reason == "address" and self.watched is not None:
                self.seen.append(self.watched.values(machine))
            else:
                raise AssertionError(stop.reason)
