"""One side of a handshake over the air."""

from dataclasses import dataclass
from typing import Any, ClassVar

from joulemark.campaign.subjects import About, Subject


@dataclass(frozen=True, kw_only=True)
class HandshakeSubject(Subject):
    """A side, from its first step to its last."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    handshake: str
    """The primitive's name."""
    implementation: str
    side: str
    """`initiator` or `responder`."""
    network: str
    """The stem of its file's name."""

    def __str__(self) -> str:
        return f"{self.handshake}/{self.implementation} {self.side} in {self.network}"

    def about(self) -> About:
        """A side is described by its handshake and its network."""
        return About(
            title=f"{self.handshake}, {self.side}", group=f"Network {self.network}", main=True
        )
