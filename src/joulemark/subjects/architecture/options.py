"""Options of security architectures: the tables to make, and how."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from joulemark.campaign.options import POSITIONAL, Names, Opt, Options, as_list
from joulemark.subjects.architecture import ASPECTS, Aspect


class ArchitectureOptions(Options):
    """An architecture on boards."""

    architecture: Names = Field(
        description="Architecture; `list` shows them all.", json_schema_extra=POSITIONAL
    )
    board: Names = Field(("telosb",), description="Board; repeatable; the TelosB if not given.")
    clock: str = Field("", description="Clock profile; the board's first if not given.")
    compiler: str = Field("clang", description="Compiler.")
    opt: Opt = Field("Os", description="Optimisation: O3, O2, Os or O0.")
    only: Annotated[tuple[Aspect, ...], BeforeValidator(as_list)] = Field(
        ASPECTS[:-1], description="Tables to make; repeatable; all but attacks if not given."
    )
    wire: Annotated[tuple[str, ...], BeforeValidator(as_list)] = Field(
        (), description="Wire another part behind an interface, INTERFACE=PART; repeatable."
    )
    repetitions: int = Field(
        10, ge=1, le=100, description="Repetitions that intervals are taken over."
    )
    executions: int = Field(20, ge=1, le=100, description="Executions in each repetition.")
    seed: int = Field(1, ge=0, description="Seed for keys, nonces and payloads.")
