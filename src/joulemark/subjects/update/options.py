"""Options of updates: boards, signatures and the image's size."""

import re
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from joulemark.campaign.options import Names, Opt, Options, as_list

_UNITS = {"": 1, "K": 1024, "M": 1024 * 1024}
LEAST_BYTES, MOST_BYTES = 256, 16 * 1024 * 1024


def _bytes(size: str) -> int:
    """Return the bytes of a size such as 64K."""
    match = re.fullmatch(r"(\d{1,9})([KM]?)", size.upper())
    if match is None:
        raise ValueError(f"{size!r} is no size: give bytes, or a number with K or M, such as 64K")
    return int(match[1]) * _UNITS[match[2]]


def _size(size: str) -> str:
    found = _bytes(size)
    if not LEAST_BYTES <= found <= MOST_BYTES:
        raise ValueError(f"{size} is not from {LEAST_BYTES} bytes to {MOST_BYTES // 2**20}M")
    return size


class UpdateOptions(Options):
    """A firmware update."""

    board: Names = Field(description="Board that is updated; repeatable.")
    image: Annotated[str, AfterValidator(_size)] = Field(
        "64K", description="Size of the image: bytes, or a number with K or M."
    )
    signature: Annotated[tuple[str, ...], BeforeValidator(as_list)] = Field(
        (), description="Signature; repeatable. All are compared if none is given."
    )
    implementation: str = Field(
        "",
        description="Implementation that verifies; if not given, what saves memory on a board with "
        "less than 16 KB of RAM, else the fastest.",
    )
    compiler: str = Field("clang", description="Compiler: clang, gcc or the name of a clang.")
    opt: Opt = Field("Os", description="Optimisation: O3, O2, Os or O0.")
    frame_header: int = Field(
        0, ge=0, le=100, description="Bytes of each radio frame for layers above the MAC."
    )

    @property
    def image_bytes(self) -> int:
        """The image's size."""
        return _bytes(self.image)
