"""A case, one point of a campaign: what is measured, how it is built, and where it is measured."""

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property

from joulemark.subjects import Subject


@dataclass(frozen=True, kw_only=True)
class Build:
    """How firmware is compiled."""

    compiler: str
    """`clang`, `gcc` or the name of a clang."""
    optimisation: str
    """For example "O3"."""
    variant: str = ""
    """Name of a set of further flags, or "+4": the bytes by which the code begins further on in
    flash; empty if there are none."""

    @property
    def offset_bytes(self) -> int:
        """The bytes by which the code begins further on in flash."""
        return int(self.variant) if self.variant.startswith("+") else 0

    def __str__(self) -> str:
        return f"{self.compiler} -{self.optimisation}{self.variant and f' {self.variant}'}"


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """Where and how a case is measured."""

    board: str
    clock: str
    """Name of the board's clock profile."""
    runner: str
    meter: str
    unit: str
    """The specimen: "emulated", or a board's serial number."""
    repetitions: int = 1
    """Requested executions per window; 1 lets a runner with an instrument choose enough."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One point of a campaign."""

    subject: Subject
    build: Build | None
    """None if nothing is built for it."""
    conditions: Conditions

    def __str__(self) -> str:
        on = f"{self.conditions.board} ({self.conditions.clock}"
        return f"{self.subject} on {on}{', ' if self.build else ''}{self.build or ''})"

    @cached_property
    def canonical(self) -> str:
        """The case as JSON; equal cases have the same text everywhere and always."""
        values = {
            "subject": self.subject.tagged,
            "build": None if self.build is None else vars(self.build),
            "conditions": vars(self.conditions),
        }
        return json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=True)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the canonical form, hexadecimal."""
        return hashlib.sha256(self.canonical.encode()).hexdigest()
