"""Options of handshakes: on boards without a radio, or in a network over the air."""

from pydantic import Field

from joulemark.campaign.options import Beside, Names, Opt, Options


class HandshakeOptions(Options):
    """A handshake."""

    primitive: str = Field("edhoc-3-2-aes-128", description="Handshake to price.")
    board: Names = Field(("telosb",), description="Board of both sides.")
    implementation: str = Field("", description="Implementation; the board's first if not given.")
    compiler: str = Field("", description="Compiler; the board's first if not given.")
    opt: Opt = Field("Os", description="Optimisation: O3, O2, Os or O0.")
    optional: bool = Field(
        default=False, description="With the flights that the conversation may leave out."
    )
    ad_size: int = Field(0, ge=0, description="External data that each message carries.")
    network: Beside | None = Field(
        None, description="Over the air instead: a file, or the name of a shipped network."
    )
