"""A mote in a network, for a certain time."""

from dataclasses import dataclass
from typing import Any, ClassVar

from joulemark.subjects import About, Subject


@dataclass(frozen=True, kw_only=True)
class NetworkSubject(Subject):
    """One mote of a network that runs for `duration_ms`."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    network: str
    """Name of the network's file without its extension."""
    mote: str
    program: str
    """An application's folder, or an image's file."""
    duration_ms: int

    def __str__(self) -> str:
        return f"{self.network} {self.mote} for {self.duration_ms / 1000:g} s"

    def about(self) -> About:
        """Describe a mote by its network and program."""
        return About(
            title=f"{self.mote}: {self.program}", group=f"Network {self.network}", main=True
        )
