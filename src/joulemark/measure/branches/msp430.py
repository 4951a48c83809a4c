"""What decides a branch of the MSP430 (SLAU049F, section 3.4)."""

import re
from collections.abc import Iterator
from pathlib import Path

from joulemark._engine import Machine
from joulemark.measure.branches import Decider, disassembled

_CONDITIONAL = {"jeq", "jne", "jz", "jnz", "jc", "jnc", "jlo", "jhs", "jn", "jge", "jl"}
_NO_FLAGS = {"mov", "bis", "bic", "swpb", "push", "pop", "clr", "nop", "br"}
"""Instructions that leave the flags alone (SLAU049F, section 3.4.4, table 3-15)."""
_INDEXED = re.compile(r"^(-?\d+)\((\w+)\)$")
_CARRY = {"addc", "subc", "adc", "sbc", "rrc", "rlc"}


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


def deciders(path: Path) -> Iterator[Decider]:
    """Yield the instructions of an ELF file that decide its conditional branches."""
    last: Decider | None = None
    for address, mnemonic, operands in disassembled(path, "msp430"):
        plain = mnemonic.removesuffix(".b")
        if plain in _CONDITIONAL:
            if last is not None:
                yield last
        elif plain in {"call", "ret", "reti", "jmp"}:
            last = None
        elif plain not in _NO_FLAGS:
            last = Msp430Decider(address, mnemonic, operands)
