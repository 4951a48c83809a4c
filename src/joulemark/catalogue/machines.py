"""Linux machines as data: boards that a person can buy, and the machine that this runs on."""

import platform
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, PrivateAttr, model_validator

from joulemark import meaning
from joulemark.catalogue import datafile
from joulemark.catalogue.boards import Constant, Grade, Source
from joulemark.errors import InputError
from joulemark.project import MACHINES

Architecture = Literal["armv6", "armv7", "armv8", "aarch64", "i686", "x86-64"]
THIS = "this-machine"
"""Name of the machine that this runs on, if no file describes it."""


class Clock(datafile.DataModel):
    """A clock of the core."""

    hz: Annotated[int, Field(gt=0)]
    source: Source
    grade: Grade


class Cache(datafile.DataModel):
    """A cache as seen by one core."""

    level: Annotated[int, Field(ge=1, le=4)]
    holds: Literal["data", "instructions", "both"]
    bytes: Annotated[int, Field(gt=0)]
    line_bytes: Annotated[int, Field(gt=0)]
    ways: Annotated[int, Field(gt=0)]
    source: Source
    grade: Grade

    @model_validator(mode="after")
    def _whole_sets(self) -> Self:
        if self.bytes % (self.line_bytes * self.ways):
            raise ValueError("its bytes are no multiple of a set's")
        return self


class Power(datafile.DataModel):
    """Power that the whole machine draws from its supply in a state."""

    state: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")]
    watt: Annotated[float, Field(gt=0)]
    description: str
    source: Source
    grade: Grade


class Sign(datafile.DataModel):
    """How a machine is recognised: by the text of a file of Linux."""

    file: Annotated[str, Field(pattern=r"^/(proc|sys)/")]
    begins: str = ""
    contains: str = ""

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if bool(self.begins) == bool(self.contains):
            raise ValueError("give either what it begins with or what it contains")
        return self

    def fits(self) -> bool:
        """Return whether this machine has the sign."""
        try:
            text = Path(self.file).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return False
        return text.startswith(self.begins) if self.begins else self.contains in text


class Machine(datafile.DataModel):
    """A machine's file."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")]
    title: str
    core: str
    cores: Annotated[int, Field(ge=1)]
    architectures: Annotated[list[Architecture], Field(min_length=1)]
    """Architectures whose programs it runs, the plainest first."""
    default_clock: str
    documents: dict[str, str]
    """Short names of the documents that sources cite."""
    recognised_by: Sign
    supply_v: Constant
    clock: Annotated[dict[str, Clock], Field(min_length=1)]
    cache: list[Cache] = Field([])
    power: list[Power] = Field([])

    _digest: str = PrivateAttr(default="")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.default_clock not in self.clock:
            raise ValueError(f"default_clock: there is no [clock.{self.default_clock}]")
        return self

    @property
    def digest(self) -> str:
        """Digest of the file's values: see `meaning`."""
        return self._digest

    @property
    def nominal_hz(self) -> int:
        """The clock of its default profile."""
        return self.clock[self.default_clock].hz

    def watt(self, state: str) -> Power | None:
        """Return the power drawn in a state, or None if it is not known."""
        return next((p for p in self.power if p.state == state), None)


def names() -> list[str]:
    """Return the names of all machines that have a file."""
    return sorted(path.stem for path in MACHINES.glob("*.toml"))


@lru_cache
def load_machine(name: str) -> Machine:
    """Read a machine's file.

    Raises:
        InputError: no machine has that name, or its file is invalid.
    """
    path = MACHINES / f"{name}.toml"
    if "/" in name or not path.is_file():
        raise InputError("no such machine", name, f"there are {', '.join(names())}")
    machine = datafile.read(path, Machine)
    if machine.name != name:
        raise InputError(f"is {machine.name!r}", f"{path}, key name", "use the file's name")
    machine._digest = meaning.of_table(path)
    return machine


@lru_cache
def recognised() -> Machine | None:
    """Return the machine that this runs on, or None if no file describes it."""
    return next((m for m in map(load_machine, names()) if m.recognised_by.fits()), None)


def architecture() -> str:
    """Return this machine's architecture as its kernel names it."""
    return platform.machine()
