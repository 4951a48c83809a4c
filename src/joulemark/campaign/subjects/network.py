"""A mote in a network, for some time."""

from dataclasses import dataclass
from typing import Any, ClassVar

from joulemark.campaign.subjects import About, Subject


@dataclass(frozen=True, kw_only=True)
class NetworkSubject(Subject):
    """One mote of a network that runs for so long."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    network: str
    """The stem of its file's name."""
    mote: str
    program: str
    """An application's folder, or an image's file."""
    duration_ms: int

    def __str__(self) -> str:
        return f"{self.network} {self.mote} for {self.duration_ms / 1000:g} s"

    def about(self) -> About:
        """A mote is described by its network and its program."""
        return About(
            title=f"{self.mote}: {self.program}", group=f"Network {self.network}", main=True
        )
