"""Options of primitives: which cases to measure."""

from typing import Annotated

from pydantic import Field

from joulemark.campaign.options import EMULATOR, Bytes, Names, Options

DEFAULT_SIZES = (1, 8, 16, 24, 48, 64, 96, 128, 512)


class PrimitiveOptions(Options):
    """The cases to measure. Each field is one name or number, or a list of them.

    Names of primitives, implementations and operations may be globs.
    """

    runners = (EMULATOR, "serial", "local")

    board: Names = ("telosb", "sensortag-cc2650", "openmote-cc2538")
    clock: Names = ()
    """Clock profiles; the board's default one if empty."""
    kind: Names = ()
    """Kinds of primitives; all if empty."""
    primitive: Names = ()
    """Primitives; all if empty, compositions only over their default partners."""
    implementation: Names = ()
    """Implementations. If empty: all if kinds or primitives are named, otherwise those of
    `Library.implementations_by_default`."""
    operation: Names = ("*",)
    size: Bytes | None = None
    """Message sizes; sizes that a primitive or an image cannot take are left out. If not given,
    those of the kind's file, or DEFAULT_SIZES."""
    ad_size: Bytes = (0, 16)
    """Sizes of associated data, for AEADs."""
    compiler: Names = ()
    """Compilers; the default of each board's core if empty."""
    opt: Names = ("O3",)
    placements: Annotated[int, Field(strict=True, ge=1, le=16)] = 1
    """Places in flash, 4 bytes apart, at which the code begins: on chips with line buffers or a
    cache, whose time depends on addresses, `compare` tells layout from work by them."""
    repetitions: Annotated[int, Field(strict=True, ge=1, le=2**32 - 1)] = 1
    trials: Annotated[int, Field(strict=True, ge=1, le=100_000)] | None = None
    """Executions of each case, each with its own random keys and messages. If not given, the plan
    chooses a number for each case."""
    seed: Annotated[int, Field(strict=True, ge=0, lt=2**53)] | None = None
    """Seed of the random inputs; drawn anew if not given."""
