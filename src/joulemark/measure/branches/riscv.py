"""What decides a branch of RISC-V: its own operands (RISC-V ISA manual, section 2.5.2)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from joulemark._engine import Machine
from joulemark.measure.branches import Decider, disassembled

_BRANCH = re.compile(r"^(?:c\.)?b(?:eq|ne|lt|ge|gt|le)u?(z?)$")


@dataclass(frozen=True)
class RiscvDecider(Decider):
    """A conditional branch."""

    def values(self, machine: Machine) -> tuple[int, ...]:
        """Return the operands that its next execution will see."""
        registers = machine.registers
        values = tuple(registers[_NAMES.get(name, name)] for name in self.operands)
        if "eqz" in self.mnemonic or "nez" in self.mnemonic:
            return (int(values[0] == 0),)
        return values


_NAMES = {"fp": "s0"}
"""Names of registers that the engine calls otherwise."""


def deciders(path: Path) -> Iterator[Decider]:
    """Yield the conditional branches of an ELF file."""
    for address, mnemonic, operands in disassembled(path, "riscv"):
        branch = _BRANCH.match(mnemonic)
        if branch:
            count = 1 if branch[1] else 2
            yield RiscvDecider(address, mnemonic, operands[:count])
