"""Options of networks."""

from pydantic import Field

from joulemark.campaign.options import Beside, Options


class NetworkOptions(Options):
    """A network, for a time."""

    network: Beside = Field(description="A file, or the name of a shipped network.")
    for_ms: int = Field(10_000, ge=1, le=86_400_000, description="How long it runs.")
