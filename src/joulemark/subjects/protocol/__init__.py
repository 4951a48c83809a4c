"""One side of a secure protocol on the air, between two boards of a kind."""

from dataclasses import dataclass
from typing import Any, ClassVar

from joulemark.subjects import About, Subject


@dataclass(frozen=True, kw_only=True)
class ProtocolSubject(Subject):
    """One side: the handshake with its first request and response, and each further exchange."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    protocol: str
    """Name of its variant; of images, the names of both."""
    side: str
    """`client` or `server`."""
    records: int
    """Exchanges after the first."""
    request_bytes: int
    response_bytes: int
    """Data of each."""
    loss_ppm: int
    """Frames that are lost, of a million."""
    seed: int
    """Of the losses."""
    for_ms: int = 0
    """How long images of anybody's run at most; 0 if the project built them for the protocol."""
    port: int = 0
    """UDP port of their server; 0: of the ports that most bytes go between."""

    @property
    def image(self) -> str:
        """Name of the side's own image; empty if the project built it for the protocol."""
        both = self.protocol.split(", ") if self.for_ms else ("", "")
        return both[self.side == "server"]

    def __str__(self) -> str:
        lost = f", {self.loss_ppm / 1e4:g}% lost, seed {self.seed}" if self.loss_ppm else ""
        if self.for_ms:
            port = f", port {self.port}" if self.port else ""
            return f"images {self.protocol}: {self.side}, for {self.for_ms} ms{port}{lost}"
        sizes = f"{self.request_bytes} and {self.response_bytes} B"
        return f"{self.protocol} {self.side}, {self.records} + 1 exchanges of {sizes}{lost}"

    def about(self) -> About:
        """Describe a side by its protocol."""
        return About(title=f"{self.protocol}, {self.side}", group="Secure protocols", main=True)
