"""A firmware update, from its first byte to its start by a bootloader."""

from dataclasses import dataclass
from typing import Any, ClassVar

from joulemark.subjects import About, Subject


@dataclass(frozen=True, kw_only=True)
class UpdateSubject(Subject):
    """An update of a size with a signature; its stages are the parts of its record."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    signature: str
    """The signature's name (`signatures.py`)."""
    implementation: str
    """The implementation that verifies it."""
    image_bytes: int
    frame_header_bytes: int = 0
    """Bytes of each radio frame that layers above the MAC take."""

    def __str__(self) -> str:
        return f"update of {self.image_bytes} bytes, {self.signature}/{self.implementation}"

    def about(self) -> About:
        """Describe it by its signature and size."""
        title = f"{self.signature}, {self.image_bytes:,} bytes"
        return About(title=title, group="Firmware updates", main=True)
