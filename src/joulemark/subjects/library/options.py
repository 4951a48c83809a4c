"""Options of libraries: which rows to measure, or to estimate for another machine."""

from typing import Annotated

from pydantic import Field

from joulemark.campaign.options import Bytes, Names, Options


class LibraryOptions(Options):
    """The rows to measure. Names may be globs."""

    runners = ("local",)
    has_windows = True

    library: Names
    """Libraries, to measure on the machine that this runs on."""
    algorithm: Names = ()
    """Algorithms of the libraries; all if empty."""
    operation: Names = ("*",)
    size: Bytes | None = None
    """Sizes of one call; sizes that an algorithm cannot take are left out."""
    repetitions: Annotated[int, Field(strict=True, ge=1, le=2**32 - 1)] = 1
    trials: Annotated[int, Field(strict=True, ge=1, le=100_000)] | None = None
    seed: Annotated[int, Field(strict=True, ge=0, lt=2**53)] | None = None
    """Seed of the inputs; drawn anew if not given."""
