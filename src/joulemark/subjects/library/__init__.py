"""An operation of a library's algorithm."""

from dataclasses import dataclass
from typing import Any, ClassVar

from joulemark import oracles
from joulemark.subjects import About, Subject


@dataclass(frozen=True, kw_only=True)
class LibrarySubject(Subject):
    """An operation of an algorithm in a library."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    library: str
    version: str
    """The library's version, as it reports it."""
    algorithm: str
    operation: str
    message_bytes: int = 0
    """Message size of one call; 0 if the price is per operation."""

    def __str__(self) -> str:
        text = f"{self.library} {self.version} {self.algorithm} {self.operation}"
        return f"{text} {self.message_bytes} B" if self.message_bytes else text

    def about(self) -> About:
        """Return the description of its algorithm."""
        algorithm = oracles.algorithm(self.algorithm)
        return About(title=algorithm.title, group=algorithm.group, main=True)
