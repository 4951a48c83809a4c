"""Options of secure protocols on the air."""

from pydantic import Field

from joulemark.campaign.options import Names, Opt, Options

ALL = "all"
RUNS_WITH_LOSS = 5
"""How often a protocol is run where frames are lost, if nobody says otherwise."""


class ProtocolOptions(Options):
    """Secure protocols between two boards of a kind."""

    protocol: Names = Field(description="Secure protocol; all: those that the board can build.")
    board: Names = Field(("telosb",), description="Board of both sides.")
    compiler: str = Field("", description="Compiler; the board's first if not given.")
    opt: Opt = Field("Os", description="Optimisation: O3, O2, Os or O0.")
    records: int = Field(1, ge=0, le=1000, description="Exchanges after the first.")
    request_size: int = Field(16, ge=0, le=64, description="Bytes of a request's data.")
    response_size: int = Field(16, ge=0, le=64, description="Bytes of a response's data.")
    loss: float = Field(0.0, ge=0, le=1, description="Part of the frames that is lost.")
    runs: int = Field(
        0,
        ge=0,
        le=1000,
        description="Runs with other losses; 0: one, or five where frames are lost.",
    )
    seed: int = Field(0, ge=0, description="Seed of the losses.")

    @property
    def runs_in_all(self) -> int:
        """How often each protocol is run."""
        return self.runs or (RUNS_WITH_LOSS if self.loss else 1)
