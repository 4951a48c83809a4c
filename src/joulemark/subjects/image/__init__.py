"""Somebody's own image, from its reset to a time or to a symbol."""

from dataclasses import dataclass
from typing import Any, ClassVar

from joulemark.subjects import About, Subject


@dataclass(frozen=True, kw_only=True)
class ImageSubject(Subject):
    """A run of an image; its functions are the parts of its record."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    image: str
    """Its name, which stays when its bytes change."""
    for_ms: int = 0
    """How long it runs; 0 if it runs to `stop_at`."""
    stop_at: str = ""
    """The symbol or address before which it stops; empty if it runs for a time."""
    around: str = ""
    """What its sensors find, where that was said."""
    parts: str = ""
    """Digest of the user's rules of its parts: by others it has other parts. Empty without any."""

    def __str__(self) -> str:
        end = f"to {self.stop_at}" if self.stop_at else f"for {self.for_ms} ms"
        around = f", {self.around}" if self.around else ""
        parts = f", parts {self.parts}" if self.parts else ""
        return f"{self.image} {end}{around}{parts}"

    def about(self) -> About:
        """Describe it by its name."""
        return About(title=str(self), group="Images", main=True)
