"""One side of a handshake over the air."""

from dataclasses import dataclass
from typing import Any, ClassVar

from joulemark.subjects import About, Subject


@dataclass(frozen=True, kw_only=True)
class HandshakeSubject(Subject):
    """One side, from its first step to its last."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    handshake: str
    """The primitive's name."""
    implementation: str
    side: str
    """`initiator` or `responder`."""
    network: str
    """Name of the network's file without its extension."""

    def __str__(self) -> str:
        return f"{self.handshake}/{self.implementation} {self.side} in {self.network}"

    def about(self) -> About:
        """Describe a side by its handshake and network."""
        return About(
            title=f"{self.handshake}, {self.side}", group=f"Network {self.network}", main=True
        )
