"""Options of security architectures: the tables to make, and how."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from joulemark.campaign.options import Names, Opt, Options, as_list
from joulemark.subjects.architecture import ASPECTS, Aspect


class ArchitectureOptions(Options):
    """An architecture on boards."""

    architecture: Names = Field(description="Architecture.")
    board: Names = Field(("telosb",), description="Board; repeatable.")
    clock: str = Field("", description="Clock profile; the board's first if not given.")
    compiler: str = Field("clang", description="Compiler.")
    opt: Opt = Field("Os", description="Optimisation: O3, O2, Os or O0.")
    aspect: Annotated[tuple[Aspect, ...], BeforeValidator(as_list)] = Field(
        ASPECTS[:-1], description="Tables to make; all but attacks if not given."
    )
    wire: tuple[str, ...] = Field((), description="INTERFACE=PART: another part behind it.")
    repetitions: int = Field(10, ge=1, le=100)
    executions: int = Field(20, ge=1, le=100)
    seed: int = Field(1, ge=0)
