"""Options of images: a file, the boards that it runs on, and its end."""

from pathlib import Path
from typing import Annotated, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    model_validator,
)

from joulemark.campaign.options import POSITIONAL, Beside, Names, Options, as_list
from joulemark.catalogue.networks import seconds
from joulemark.errors import InputError

MOST_CYCLES = 4_000_000_000
_MOST_MS = 86_400_000


def _duration(text: str) -> str:
    """Check a duration, which may be left out."""
    try:
        if text and not 1 <= round(seconds(text, "for") * 1e3) <= _MOST_MS:
            raise ValueError("must be from 1ms to 24h")
    except InputError as error:
        raise ValueError(f"{error.what}: {error.mend}") from error
    return text


def _texts(given: object) -> object:
    """Take a table of names and values, as networks have it, for what the command line takes."""
    if isinstance(given, dict):
        return tuple(f"{name}={value}" for name, value in given.items())
    return as_list(given)


def _beside(texts: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
    """A file of a campaign is relative to the campaign's folder."""
    folder = info.context or Path()
    parts = [text.partition("=") for text in texts]
    return tuple(
        f"{name}={folder / value}" if value.endswith(".csv") else name + equals + value
        for name, equals, value in parts
    )


class ImageOptions(Options):
    """An image to run."""

    model_config = ConfigDict(populate_by_name=True)

    path: Beside = Field(description="ELF, Intel HEX or UF2 file.", json_schema_extra=POSITIONAL)
    name: str = Field("", description="Name in results; the file's if not given.")
    board: Names = Field(description="Board that it runs on; repeatable.")
    for_: Annotated[str, AfterValidator(_duration)] = Field(
        "", alias="for", description="Run for this time: 500ms, 10s, 1h."
    )
    stop_at: str = Field("", description="Or stop before the instruction at this symbol.")
    around: Annotated[tuple[str, ...], BeforeValidator(_texts), AfterValidator(_beside)] = Field(
        (),
        description="What sensors find: NAME=VALUE, such as temperature_c=30; a number, an"
        " expression of t in seconds, or a .csv file of times and values; repeatable.",
    )
    parts: Beside | None = Field(
        None, description="Rules that say what belongs to which part, before the built-in ones."
    )
    max_cycles: int = Field(
        MOST_CYCLES, ge=1, description="With a symbol: fail after this many cycles."
    )

    @property
    def run_ms(self) -> int:
        """How long it runs; 0 if it runs to a symbol."""
        return round(seconds(self.for_, "for") * 1e3) if self.for_ else 0

    @model_validator(mode="after")
    def _one_end(self) -> Self:
        if bool(self.for_) == bool(self.stop_at):
            raise ValueError("for (--for) or stop_at (--stop-at) says when it ends: give one")
        return self
