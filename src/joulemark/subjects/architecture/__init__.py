"""A module of a security architecture, one of its operations, or its communication."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from joulemark.catalogue.architectures import load_architecture
from joulemark.subjects import About, Subject

Aspect = Literal["memory", "processing", "communication", "attack"]
ASPECTS: tuple[Aspect, ...] = ("memory", "processing", "communication", "attack")


@dataclass(frozen=True, kw_only=True)
class ArchitectureSubject(Subject):
    """One row of an architecture's tables."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    architecture: str
    aspect: Aspect
    row: str
    wiring: tuple[str, ...] = ()
    """INTERFACE=PART, for parts that differ from the architecture's file."""

    def __str__(self) -> str:
        wired = f" ({', '.join(self.wiring)})" if self.wiring else ""
        return f"{self.architecture} {self.row}, {self.aspect}{wired}"

    def about(self) -> About:
        """Return the description from the architecture's file."""
        return About(title=self.row, group=load_architecture(self.architecture).title, main=True)
