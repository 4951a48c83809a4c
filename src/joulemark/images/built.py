"""An image that was made."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path


@dataclass(frozen=True)
class BuiltImage:
    """An image, and what went into it."""

    path: Path
    """ELF file."""
    build_id: str
    description: Mapping[str, str] = field(hash=False)
    compiler: str
    """The compiler's own words for its version."""
    flags: str
    cached: bool = field(compare=False)
    """Nothing had to be made."""
    stand_in: Path | None = None
    """The same image around a primitive that does nothing; None on this machine, and of a program
    that is around none."""

    @cached_property
    def commands(self) -> Sequence[Sequence[str]]:
        """The commands that made it, to be run in the project's root."""
        text = (self.path.parent / "commands.json").read_text()
        commands: list[list[str]] = json.loads(text)
        return commands
