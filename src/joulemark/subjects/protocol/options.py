"""Options of secure protocols on the air."""

from typing import Annotated

from pydantic import AfterValidator, Field

from joulemark.campaign.options import Names, Opt, Options
from joulemark.catalogue.boards import load_board, without_driver
from joulemark.catalogue.near import near
from joulemark.catalogue.protocols import protocols
from joulemark.errors import InputError

ALL = "all"
RUNS_WITH_LOSS = 5
"""How often a protocol is run where frames are lost, if nobody says otherwise."""


def _protocols(names: tuple[str, ...]) -> tuple[str, ...]:
    known = {*protocols(), ALL}
    wrong = [f"no protocol {name!r}; {near(name, known)}" for name in names if name not in known]
    if wrong:
        raise ValueError("; ".join(wrong))
    return names


def _boards(names: tuple[str, ...]) -> tuple[str, ...]:
    wrong = []
    for name in names:
        try:
            board = load_board(name)
        except InputError as error:
            wrong.append(str(error))
            continue
        if board.radio is None or board.radio.driver is None:
            wrong.append(str(without_driver(name)))
    if wrong:
        raise ValueError("; ".join(wrong))
    return names


class ProtocolOptions(Options):
    """Secure protocols between two boards of a kind."""

    protocol: Annotated[Names, AfterValidator(_protocols)] = Field(
        description="Secure protocol; all: those that the board can build."
    )
    board: Annotated[Names, AfterValidator(_boards)] = Field(
        ("telosb",), description="Board of both sides."
    )
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
