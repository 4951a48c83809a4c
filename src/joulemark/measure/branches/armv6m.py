"""What decides a branch of ARMv6-M, whose instructions ARMv7-M has, too (ARM DDI 0419E, A6.7)."""

from collections.abc import Iterator
from pathlib import Path

from joulemark.measure.branches import Decider, armv7m


def deciders(path: Path) -> Iterator[Decider]:
    """Yield the instructions of an ELF file that decide its conditional branches."""
    return armv7m.deciders(path, "armv6m")
