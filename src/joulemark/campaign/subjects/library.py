"""An operation of a library's algorithm."""

from dataclasses import dataclass
from typing import Any, ClassVar

from joulemark import oracles
from joulemark.campaign.subjects import About, Subject


@dataclass(frozen=True, kw_only=True)
class LibrarySubject(Subject):
    """An operation of an algorithm, as a library that is installed has it."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    library: str
    version: str
    """As the library says itself."""
    algorithm: str
    operation: str
    message_bytes: int = 0
    """Of one call; 0 where the price is an operation's."""

    def __str__(self) -> str:
        text = f"{self.library} {self.version} {self.algorithm} {self.operation}"
        return f"{text} {self.message_bytes} B" if self.message_bytes else text

    def about(self) -> About:
        """The description of its algorithm."""
        algorithm = oracles.algorithm(self.algorithm)
        return About(title=algorithm.title, group=algorithm.group, main=True)
