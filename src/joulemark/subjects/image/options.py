"""Options of images: a file, the boards that it runs on, and its end."""

from typing import Self

from pydantic import Field, model_validator

from joulemark.campaign.options import POSITIONAL, Beside, Names, Options

MOST_CYCLES = 4_000_000_000


class ImageOptions(Options):
    """An image to run."""

    path: Beside = Field(description="ELF or Intel HEX file.", json_schema_extra=POSITIONAL)
    name: str = Field("", description="Name in results; the file's if not given.")
    board: Names = Field(description="Board that it runs on; repeatable.")
    for_ms: int = Field(0, ge=0, le=86_400_000, description="Run for this time.")
    stop_at: str = Field("", description="Or stop before the instruction at this symbol.")
    max_cycles: int = Field(
        MOST_CYCLES, ge=1, description="With a symbol: fail after this many cycles."
    )

    @model_validator(mode="after")
    def _one_end(self) -> Self:
        if bool(self.for_ms) == bool(self.stop_at):
            raise ValueError("one of for_ms and stop_at says when it ends: give one")
        return self
