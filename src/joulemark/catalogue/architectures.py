"""Security architectures: their modules, how they are wired, and what is measured of them."""

import hashlib
import importlib.util
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Annotated, NamedTuple, Protocol

from pydantic import Field, PrivateAttr

from joulemark.catalogue import datafile
from joulemark.catalogue.near import near
from joulemark.errors import InputError
from joulemark.project import FIRMWARE

FILE = "architecture.toml"
_ORACLE = "oracle.py"
PartName = Annotated[str, Field(pattern=r"^[a-z0-9-]+(/[a-z0-9-]+)*$")]


class Step(Protocol):
    """An operation of the measuring application, and what it must give."""

    @property
    def row(self) -> str:
        """Measured operation; several operations with one row add up."""

    @property
    def operation(self) -> str:
        """As the application's part.toml names it."""

    @property
    def message(self) -> bytes:
        """Inputs."""

    @property
    def output(self) -> bytes:
        """Expected outputs."""


class Seen(NamedTuple):
    """Row that a frame on the air belongs to."""

    row: str
    message: str
    """Which one of the row's: a protocol takes one of each."""
    is_whole: bool
    """The row adds the frame; else it adds to one that would be there without it."""


class Listener(Protocol):
    """Hears every frame of a network, with the secrets of all motes."""

    def look(self, sender: int, receiver: int, payload: bytes) -> tuple[bool, str | None]:
        """Whether a data frame's payload verifies, and which nonce has come twice, if one has."""


class Oracle(Protocol):
    """`oracle.py` in an architecture's folder; who is priced in no network needs no more of it."""

    def steps(self, random: Random, trials: int) -> Iterator[Step]:
        """Everything that is told after a boot, in order; each row comes `trials` times."""

    def on_air(self) -> Mapping[str, int]:
        """Bytes that each row adds to what is sent."""

    def seen(self, payload: bytes) -> tuple[str, str, bool] | None:
        """Row that a data frame's payload belongs to, as in `Seen`; None: of no row."""

    def broken(self, lines: Mapping[str, list[str]]) -> str | None:
        """Messages wrongly accepted, or not served, according to each mote's output."""


class AirMote(datafile.DataModel):
    """A mote of the network in which an architecture is seen."""

    name: str
    program: PartName
    modules: list[str] = Field([])
    """Wired between its application and its stack; an application may have modules in it."""
    define: dict[Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]*$")], int] = Field({})
    start_s: Annotated[float, Field(ge=0)] = 0.0
    restart_s: list[Annotated[float, Field(gt=0)]] = Field([])


class Attack(datafile.DataModel):
    """The same network with one mote more."""

    name: str
    """Description for people."""
    victim: str
    """The mote whose energy is looked at."""
    mote: AirMote


class Air(datafile.DataModel):
    """The network in which all is sent that modules send."""

    for_s: Annotated[float, Field(gt=0)]
    mote: Annotated[list[AirMote], Field(min_length=1)]
    attacked: dict[Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]*$")], int] = Field({})
    """Macros of all of its motes while there are attacks, over theirs."""
    attack: list[Attack] = Field([])


class Module(datafile.DataModel):
    """A part of an architecture that can be left out."""

    name: str
    parts: Annotated[list[PartName], Field(min_length=1)]
    """Folders under firmware/, or interfaces, for which the parts behind them stand."""
    over: list[str] = Field([])
    """Other modules, without which it cannot be."""
    keep: list[str] = Field([])
    """Functions that are in the image though nobody there calls them."""
    whole: bool = False
    """All that it keeps is there wherever it is wired; of others, what is called."""
    define: dict[Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]*$")], int] = Field({})
    """Macros of all parts where it is wired."""


class Wired(NamedTuple):
    """What goes into a program with some modules."""

    parts: list[str]
    without: list[str]
    """Parts that are left out though the application needs them."""
    keep: list[str]
    define: dict[str, int]


class Architecture(datafile.DataModel):
    """`architecture.toml`."""

    title: str
    application: PartName
    """The protected application, which knows nothing of it."""
    measured_by: PartName | None = None
    """The application that executes the modules' operations one at a time, if there is one."""
    unmeasured: list[PartName] = Field([])
    """Parts behind interfaces with which that application cannot be."""
    air: Air | None = None
    without: list[PartName] = Field([])
    """Parts that the application has only where a module brings them."""
    wiring: dict[str, dict[str, PartName]]
    """By core: the parts behind interfaces."""
    module: Annotated[list[Module], Field(min_length=1)]

    _folder: Path = PrivateAttr()

    @property
    def name(self) -> str:
        """Name of its folder."""
        return self._folder.name

    @property
    def file(self) -> Path:
        """Its file."""
        return self._folder / FILE

    def wiring_of(self, core: str) -> Mapping[str, str]:
        """The parts behind interfaces on a core.

        Raises:
            InputError: it cannot be wired for such a core.
        """
        if core not in self.wiring:
            mend = f"add [wiring.{core}], or choose a board with {' or '.join(self.wiring)}"
            raise InputError(f"is not wired for {core}", str(self._folder / FILE), mend)
        return self.wiring[core]

    def wired(self, behind: Mapping[str, str], *names: str, whole: bool = True) -> Wired:
        """What modules and those that they are over put into a program.

        Args:
            behind: the parts behind interfaces.
            names: of the modules.
            whole: keep what all of them keep, not only these and what is `whole` itself.

        Raises:
            InputError: it has no such module.
        """
        modules = {m.name: m for m in self.module}
        found: dict[str, Module] = {}
        waiting = list(names)
        while waiting:
            name = waiting.pop(0)
            if name not in modules:
                raise InputError("no such module", name, near(name, modules))
            module = modules[name]
            if module.name not in found:
                found[module.name] = module
                waiting += module.over
        chosen = [m for m in self.module if m.name in found]
        parts = dict.fromkeys(behind.get(part, part) for m in chosen for part in m.parts)
        return Wired(
            list(parts),
            [part for part in self.without if part not in parts],
            sorted({k for m in chosen if whole or m.whole or m.name in names for k in m.keep}),
            {k: v for m in chosen for k, v in m.define.items()},
        )

    @cached_property
    def digest(self) -> str:
        """SHA-256 of its file and of its oracle, hexadecimal."""
        digest = hashlib.sha256(self.file.read_bytes())
        if self.has_oracle:
            digest.update((self._folder / _ORACLE).read_bytes())
        return digest.hexdigest()

    @property
    def has_oracle(self) -> bool:
        """Whether its folder says what its messages must be."""
        return (self._folder / _ORACLE).is_file()

    def listener(self) -> Listener | None:
        """What hears its frames: the oracle's `Listener`, where it has one."""
        made: Listener | None = None
        if self.has_oracle and hasattr(self.oracle, "Listener"):
            made = self.oracle.Listener()
        return made

    @cached_property
    def oracle(self) -> Oracle:
        """Expected messages.

        Raises:
            InputError: its folder has no oracle.py.
        """
        path = self._folder / _ORACLE
        if not path.is_file():
            raise InputError("there is no oracle", str(path), "nothing is measured unverified")
        spec = importlib.util.spec_from_file_location(f"oracle_of_{self.name}", path)
        assert spec is not None  # noqa: S101
        assert spec.loader is not None  # noqa: S101
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        oracle: Oracle = module
        return oracle


def names(firmware: Path = FIRMWARE) -> list[str]:
    """Names of all architectures: folders of firmware."""
    return sorted(path.parent.name for path in firmware.glob(f"*/{FILE}"))


def load_architecture(name: str, firmware: Path = FIRMWARE) -> Architecture:
    """Read an architecture's file.

    Raises:
        InputError: there is none of that name, or its file is wrong.
    """
    known = names(firmware)
    if name not in known:
        raise InputError("no such architecture", name, near(name, known))
    path = firmware / name / FILE
    found = datafile.read(path, Architecture)
    found._folder = path.parent
    modules = {m.name for m in found.module}
    for module in found.module:
        for other in module.over:
            if other not in modules:
                where = f"{path}, key module.{module.name}.over"
                raise InputError(f"there is no module {other}", where, near(other, sorted(modules)))
    return found
