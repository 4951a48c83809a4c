"""Pairs of runs that differ in secrets alone, compared instruction by instruction.

A second way to see what secrets decide, which shares nothing with the engine's own following: it
reads registers before each instruction of both runs, knows from the disassembler's text which of
them make an address, and counts cycles. What it sees is true of these two secrets; it sees nothing
that they do not show.
"""

import re
from collections import deque
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from joulemark._engine import Machine
from joulemark.measure.branches import disassembled

_BRACKETS = {
    # [r1, r2, lsl #2]; ldm r1!, {...}
    "armv6m": re.compile(r"\[([^\]]+)\]|^(?:ldm|stm)\S* (\w+)"),
    "armv7m": re.compile(r"\[([^\]]+)\]|^(?:ldm|stm)\S* (\w+)"),
    # 2(r12), @r5+
    "msp430": re.compile(r"\((r\d+|sp)\)|@(r\d+|sp)"),
    # 8(a0)
    "riscv": re.compile(r"\((\w+)\)"),
}
_NAME = re.compile(r"[a-z]\w*")
_WAITS = 6
"""Instructions after which a core has waited for one that took longer."""
_IT = re.compile(r"it[te]{0,3}")


@dataclass(frozen=True, order=True)
class Divergence:
    """An instruction at which two runs differ in what an observer could see."""

    address: int
    what: str
    """`control`, `address`, `condition` or `cycles`."""
    causes: tuple[int, ...]
    """The instruction, and others that it may follow from: the IT instruction of its block; for
    cycles and exceptions, those just before it, which it may have waited for; for cycles, earlier
    divergences, too, which leave queues of fetches and stores in other states."""

    def is_named(self, named: Container[int]) -> bool:
        """Return whether one of these instructions is among those."""
        return any(cause in named for cause in self.causes)


class Code:
    """An image's instructions, and the registers that make their addresses."""

    def __init__(self, path: Path, core: str) -> None:
        pattern = _BRACKETS[core]
        self.texts: dict[int, str] = {}
        self._bases: dict[int, tuple[str, ...]] = {}
        for address, mnemonic, operands in disassembled(path, core):
            text = f"{mnemonic} {', '.join(operands)}".lower()
            self.texts[address] = text
            inside = " ".join(part for match in pattern.findall(text) for part in match if part)
            self._bases[address] = tuple(dict.fromkeys(_NAME.findall(inside)))

    def addressing(self, at: int, registers: Mapping[str, int]) -> tuple[int, ...]:
        """Return the values of the registers that make the address of an instruction's data."""
        return tuple(registers[name] for name in self._bases.get(at, ()) if name in registers)

    def condition(self, at: int, registers: Mapping[str, int]) -> bool:
        """Return whether the condition of an IT block holds; False for other instructions."""
        mnemonic, _, operand = self.texts.get(at, "").partition(" ")
        return _IT.fullmatch(mnemonic) is not None and _holds(operand.strip(), registers)

    def skipped(self, at: int, registers: Mapping[str, int]) -> bool:
        """Return whether an instruction of an IT block is skipped."""
        mnemonic = self.texts.get(at, "").partition(" ")[0].partition(".")[0]
        return not _holds(mnemonic[-2:], registers)

    def block(self, at: int) -> int:
        """Return the number of instructions in the block of an IT instruction; 0 of others."""
        mnemonic = self.texts.get(at, "").partition(" ")[0]
        return len(mnemonic) - 1 if _IT.fullmatch(mnemonic) else 0


def _holds(condition: str, registers: Mapping[str, int]) -> bool:
    """Return whether a Cortex-M's condition holds (ARM DDI 0403E, section A7.3), or is none."""
    n, z, c, v = (bool(registers["xpsr"] >> bit & 1) for bit in (31, 30, 29, 28))
    holds = {
        **{"eq": z, "ne": not z, "cs": c, "cc": not c, "mi": n, "pl": not n, "vs": v},
        **{"vc": not v, "hi": c and not z, "ls": not c or z, "ge": n == v, "lt": n != v},
        **{"gt": not z and n == v, "le": z or n != v, "hs": c, "lo": not c},
    }
    return holds.get(condition, True)


def compared(
    code: Code,
    pair: tuple[Machine, Machine],
    ends: Callable[[int], bool],
    *,
    most: int = 100_000,
    met: Mapping[int, Callable[[Machine, Machine], None]] | None = None,
) -> Iterator[Divergence]:
    """Step two machines, and yield where they differ, until control does or both have ended.

    Args:
        code: the image's.
        pair: machines at the same instruction.
        ends: whether to end before the instruction at an address.
        most: instructions to compare at most.
        met: what is done before the instructions at these addresses.
    """
    gap = pair[1].cycles - pair[0].cycles
    recent: deque[int] = deque(maxlen=_WAITS)
    earlier: tuple[int, ...] = ()
    block = (0, 0)  # The last IT instruction, and how many instructions its block still has.
    for _ in range(most):
        here = [{k.lower(): v for k, v in machine.registers.items()} for machine in pair]
        at = here[0]["pc"] & ~1
        found = []
        conditional = (block[0],) if block[1] else ()
        if here[1]["pc"] & ~1 != at:
            handlers = {registers.get("xpsr", 0) & 0x1FF for registers in here}
            causes = recent if len(handlers) > 1 else (recent[-1],)
            yield Divergence(recent[-1], "control", (*causes, *conditional))
            return
        now = pair[1].cycles - pair[0].cycles
        if now != gap:
            found.append(Divergence(recent[-1], "cycles", (*recent, *conditional, *earlier)))
            gap = now
        if met and at in met:
            met[at](*pair)
        skipped = block[1] and any(code.skipped(at, registers) for registers in here)
        if not skipped and code.addressing(at, here[0]) != code.addressing(at, here[1]):
            found.append(Divergence(at, "address", (at, *conditional)))
        if code.condition(at, here[0]) != code.condition(at, here[1]):
            found.append(Divergence(at, "condition", (at,)))
        yield from found
        if ends(at):
            return
        earlier += tuple(divergence.address for divergence in found)
        recent.append(at)
        block = (at, code.block(at)) if code.block(at) else (block[0], max(block[1] - 1, 0))
        for machine in pair:
            machine.run(max_cycles=1)
