"""What decides a branch of ARMv7-M and ARMv7E-M (ARM DDI 0403E, section A7.7), and of ARMv6-M."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from joulemark._engine import Machine
from joulemark.measure.branches import Decider, disassembled

_ARM_BRANCH = re.compile(r"^b(eq|ne|hs|lo|cs|cc|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)$")
_ARM_IT = re.compile(r"^it[te]{0,3}$")
_ARM_COMPARE = {"cmp", "cmn", "tst", "teq", "cbz", "cbnz"}
_FLOAT_COMPARE = {"vcmp", "vcmpe"}
"""VMRS moves their flags to the APSR (ARM DDI 0403E, sections A7.7.225 and A7.7.244)."""
_ARM_MOVE = {"movs", "mvns", "negs"}
_ARM_FLAGS = {*_ARM_COMPARE, *_ARM_MOVE, "adds", "adcs", "subs", "sbcs", "rsbs", "ands", "orrs"}
_ARM_FLAGS |= {"orns", "eors", "bics", "lsls", "lsrs", "asrs", "rors", "rrxs", "muls"}
"""Instructions that set the flags (ARM DDI 0403E, section A7.7)."""


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


def deciders(path: Path, core: str = "armv7m") -> Iterator[Decider]:
    """Yield the instructions of an ELF file that decide its conditional branches."""
    last: tuple[int, str, tuple[str, ...]] | None = None
    compared: tuple[int, str, tuple[str, ...]] | None = None
    for address, mnemonic, operands in disassembled(path, core):
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
