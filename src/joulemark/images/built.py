"""A built image."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path


@dataclass(frozen=True)
class BuiltImage:
    """An image, and how it was built."""

    path: Path
    """ELF file."""
    build_id: str
    description: Mapping[str, str] = field(hash=False)
    compiler: str
    """The compiler's version as it reports it."""
    flags: str
    cached: bool = field(compare=False)
    """Whether everything came from the cache."""
    stand_in: Path | None = None
    """The same image with a primitive that does nothing; None for programs for this machine and
    programs without a measured primitive."""

    @cached_property
    def commands(self) -> Sequence[Sequence[str]]:
        """The commands that built it: compilers run in the project's root, then the linker."""
        text = (self.path.parent / "commands.json").read_text()
        commands: list[list[str]] = json.loads(text)
        return commands
