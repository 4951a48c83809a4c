"""Options of secure protocols on the air."""

from pathlib import Path
from typing import Annotated, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from joulemark.campaign.options import Beside, Names, Opt, Options, as_list
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


def _two(files: tuple[Path, ...]) -> tuple[Path, ...]:
    if len(files) not in (0, 2):
        raise ValueError("it takes two: the client's file and the server's, which may be the same")
    return files


class ProtocolOptions(Options):
    """Secure protocols between two boards of a kind."""

    protocol: Annotated[tuple[str, ...], BeforeValidator(as_list), AfterValidator(_protocols)] = (
        Field((), description="Secure protocol; all: those that the board can build.")
    )
    image: Annotated[tuple[Beside, ...], BeforeValidator(as_list), AfterValidator(_two)] = Field(
        (), description="ELF files of a client and a server, beside protocols or alone."
    )
    for_ms: int = Field(10_000, ge=1, le=86_400_000, description="How long images run at most.")
    port: int = Field(
        0, ge=0, le=65535, description="UDP port of images' server; 0: that of most bytes."
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

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.image and not self.protocol:
            raise ValueError("protocol, or image, says what is spoken")
        return self
