"""A case: one point of a campaign. What is priced, how it is built, what it is measured on."""

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property

from joulemark.campaign.subjects import Subject


@dataclass(frozen=True, kw_only=True)
class Build:
    """How firmware is compiled."""

    compiler: str
    """Family: "clang" or "gcc"."""
    optimisation: str
    """Such as "O3"."""
    variant: str = ""
    """Name of further flags; none when empty."""

    def __str__(self) -> str:
        return f"{self.compiler} -{self.optimisation}{self.variant and f' {self.variant}'}"


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """The place and the means of a case's measurement."""

    board: str
    clock: str
    """Name of the board's clock profile."""
    runner: str
    meter: str
    unit: str
    """Which specimen: "emulated", or a board's serial number."""
    repetitions: int = 1
    """Executions in one window, as asked for; a runner with an instrument takes 1 as "enough"."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One point."""

    subject: Subject
    build: Build | None
    """None where nothing is built for it."""
    conditions: Conditions

    def __str__(self) -> str:
        on = f"{self.conditions.board} ({self.conditions.clock}"
        return f"{self.subject} on {on}{', ' if self.build else ''}{self.build or ''})"

    @cached_property
    def canonical(self) -> str:
        """The case as JSON, the same for equal cases everywhere and always."""
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
