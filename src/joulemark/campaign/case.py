"""A case: one point of a campaign."""

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True, kw_only=True)
class Build:
    """What decides an image: all cases of one build run on the same image."""

    board: str
    clock: str
    kind: str
    primitive: str
    implementation: str
    compiler: str
    optimisation: str


@dataclass(frozen=True, kw_only=True)
class Case:
    """One point: a build, an operation of its primitive, and sizes."""

    build: Build
    operation: str
    message_bytes: int = 0
    ad_bytes: int = 0
    tag_bytes: int = 0
    repetitions: int = 1

    def __str__(self) -> str:
        b = self.build
        return (
            f"{b.primitive}/{b.implementation} {self.operation} {self.message_bytes} B "
            f"on {b.board} ({b.clock}, {b.compiler} -{b.optimisation})"
        )

    @cached_property
    def canonical(self) -> str:
        """The case as JSON, the same for equal cases everywhere and always."""
        values = {**vars(self.build), **vars(self)}
        del values["build"]
        return json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=True)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the canonical form, hexadecimal."""
        return hashlib.sha256(self.canonical.encode()).hexdigest()
