"""Security architectures: their modules, their wiring, and what is measured."""

import importlib.util
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Annotated, Any, NamedTuple, Protocol

from pydantic import Field, PrivateAttr

from joulemark import meaning
from joulemark.catalogue import datafile
from joulemark.catalogue.near import near
from joulemark.errors import InputError
from joulemark.project import FIRMWARE, sources

FILE = "architecture.toml"
OWN = "modules.toml"
"""File of a folder of the user's with modules that an architecture gets besides its own."""
_ORACLE = "oracle.py"
PartName = Annotated[str, Field(pattern=r"^[a-z0-9-]+(/[a-z0-9-]+)*$")]


class Step(Protocol):
    """An operation of the measuring application, and its expected outputs."""

    @property
    def row(self) -> str:
        """Measured operation; operations with the same row add up."""

    @property
    def operation(self) -> str:
        """Name in the application's part.toml."""

    @property
    def message(self) -> bytes:
        """Inputs."""

    @property
    def output(self) -> bytes:
        """Expected outputs."""


class Seen(NamedTuple):
    """The row to which a frame on the air belongs."""

    row: str
    message: str
    """Which of the row's messages this is: a protocol run needs one of each."""
    is_whole: bool
    """Whether the row causes the whole frame; if not, it adds to a frame that is sent anyway."""


class Listener(Protocol):
    """Hears every frame of a network, with the secrets of all motes."""

    def look(self, sender: int, receiver: int, payload: bytes) -> tuple[bool, str | None]:
        """Return whether a data frame's payload verifies, and the nonce that was reused, if any."""


class Oracle(Protocol):
    """`oracle.py` in an architecture's folder.

    An architecture that is not measured in a network needs only `steps` and `on_air`.
    """

    def steps(self, random: Random, trials: int) -> Iterator[Step]:
        """Yield all operations to execute after a boot, in order, each row `trials` times."""

    def on_air(self) -> Mapping[str, int]:
        """Return the bytes that each row adds to the frames sent."""

    def seen(self, payload: bytes) -> tuple[str, str, bool] | None:
        """Return the fields of `Seen` for a data frame's payload; None if it has no row."""

    def broken(self, lines: Mapping[str, list[str]]) -> str | None:
        """Describe messages wrongly accepted or not served, according to the motes' output."""


class AirMote(datafile.DataModel):
    """A mote of the network in which an architecture is measured."""

    name: str
    program: PartName
    modules: list[str] = Field([])
    """Modules wired between its application and its stack, besides those that the application
    contains."""
    define: dict[Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]*$")], int] = Field({})
    start_s: Annotated[float, Field(ge=0)] = 0.0
    restart_s: list[Annotated[float, Field(gt=0)]] = Field([])


class Attack(datafile.DataModel):
    """The same network with an attacker added."""

    name: str
    """Description for readers."""
    victim: str
    """The mote whose energy is compared."""
    mote: AirMote


class Air(datafile.DataModel):
    """The network in which the frames of all modules are sent."""

    for_s: Annotated[float, Field(gt=0)]
    mote: Annotated[list[AirMote], Field(min_length=1)]
    attacked: dict[Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]*$")], int] = Field({})
    """Macros that override those of all motes while there are attacks."""
    attack: list[Attack] = Field([])


class Module(datafile.DataModel):
    """A part of an architecture that can be left out."""

    name: str
    parts: Annotated[list[PartName], Field(min_length=1)]
    """Folders under firmware/, or interfaces, which stand for the parts behind them."""
    over: list[str] = Field([])
    """Other modules that it requires."""
    keep: list[str] = Field([])
    """Functions that are kept in the image even if nothing calls them."""
    whole: bool = False
    """Everything in `keep` is kept wherever it is wired; otherwise only if it is named itself, or
    called."""
    define: dict[Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]*$")], int] = Field({})
    """Macros of all parts of a program that it is wired into."""


class Own(datafile.DataModel):
    """`modules.toml`: modules of the user's; `oracle.py` beside it says what they must give."""

    architecture: str
    """The architecture that gets them."""
    module: Annotated[list[Module], Field(min_length=1)]


class Wired(NamedTuple):
    """What some modules put into a program."""

    parts: list[str]
    without: list[str]
    """Parts that are left out although the application needs them."""
    keep: list[str]
    define: dict[str, int]


class Architecture(datafile.DataModel):
    """`architecture.toml`."""

    title: str
    application: PartName
    """The protected application, which is unaware of the architecture."""
    measured_by: PartName | None = None
    """The application that executes the modules' operations one at a time, if there is one."""
    unmeasured: list[PartName] = Field([])
    """Parts behind interfaces that the measuring application cannot be combined with."""
    air: Air | None = None
    without: list[PartName] = Field([])
    """Parts that are in the application only if a module brings them."""
    wiring: dict[str, dict[str, PartName]]
    """The parts behind interfaces, by core."""
    module: Annotated[list[Module], Field(min_length=1)]

    _folder: Path = PrivateAttr()
    _own: list[Path] = PrivateAttr(default_factory=list)
    """Folders of the user's with modules of its."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Let another process read the file: an oracle that was imported cannot be sent."""
        return load_architecture, (self.name, self._folder.parent)

    @property
    def name(self) -> str:
        """Name of its folder."""
        return self._folder.name

    @property
    def file(self) -> Path:
        """Path of its file."""
        return self._folder / FILE

    def wiring_of(self, core: str) -> Mapping[str, str]:
        """Return the parts behind interfaces on a core.

        Raises:
            InputError: it has no wiring for that core.
        """
        if core not in self.wiring:
            mend = f"add [wiring.{core}], or choose a board with {' or '.join(self.wiring)}"
            raise InputError(f"is not wired for {core}", str(self._folder / FILE), mend)
        return self.wiring[core]

    def wired(self, behind: Mapping[str, str], *names: str, whole: bool = True) -> Wired:
        """Return what modules, and the modules that they require, put into a program.

        Args:
            behind: the parts behind interfaces.
            names: names of the modules.
            whole: apply `keep` of all modules, not only of the named ones and of those with
                `whole`.

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
        """Digest of its file's values and its oracle's syntax tree: see `meaning`."""
        oracle = meaning.of_module(self._folder / _ORACLE) if self.has_oracle else ""
        own = [meaning.of_table(folder / OWN) for folder in self._own]
        own += [meaning.of_module(path) for path in self._own_oracles]
        return meaning.of_values(meaning.of_table(self.file), oracle, *own)

    @property
    def _own_oracles(self) -> list[Path]:
        return [path for folder in self._own if (path := folder / _ORACLE).is_file()]

    @property
    def has_oracle(self) -> bool:
        """Whether its folder has an oracle for its messages."""
        return (self._folder / _ORACLE).is_file()

    def listener(self) -> Listener | None:
        """Make the oracle's `Listener`; None if it has none."""
        made: Listener | None = None
        if self.has_oracle and hasattr(self.oracle, "Listener"):
            made = self.oracle.Listener()
        return made

    @cached_property
    def oracle(self) -> Oracle:
        """Oracle of its messages.

        Raises:
            InputError: its folder has no oracle.py.
        """
        path = self._folder / _ORACLE
        if not path.is_file():
            raise InputError("there is no oracle", str(path), "nothing is measured unverified")
        oracle: Oracle = _imported(f"oracle_of_{self.name}", path)
        for own in self._own_oracles:
            if not hasattr(oracle, "add"):
                raise InputError(f"{self.name} takes no oracle of others", str(own), "remove it")
            oracle.add(_imported(f"oracle_of_{own.parent.name.replace('-', '_')}", own), str(own))
        return oracle


def _imported(name: str, path: Path) -> Any:
    """Return the module of a Python file."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None  # noqa: S101
    assert spec.loader is not None  # noqa: S101
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def names(firmware: Path = FIRMWARE) -> list[str]:
    """Return the names of all architectures: folders under firmware/."""
    return sorted(path.parent.name for path in firmware.glob(f"*/{FILE}"))


def load_architecture(name: str, firmware: Path = FIRMWARE) -> Architecture:
    """Read an architecture's file.

    Raises:
        InputError: no architecture has that name, or its file is invalid.
    """
    known = names(firmware)
    if name not in known:
        raise InputError("no such architecture", name, near(name, known))
    path = firmware / name / FILE
    found = datafile.read(path, Architecture)
    found._folder = path.parent
    if firmware == FIRMWARE:
        for own in sorted(own for place in sources() for own in place.glob(f"*/{OWN}")):
            _add(found, own, known)
    modules = {m.name for m in found.module}
    for module in found.module:
        for other in module.over:
            if other not in modules:
                where = f"{path}, key module.{module.name}.over"
                raise InputError(f"there is no module {other}", where, near(other, sorted(modules)))
    return found


def _add(architecture: Architecture, own: Path, known: list[str]) -> None:
    """Add the modules of a folder of the user's, if they are for this architecture."""
    file = datafile.read(own, Own)
    if file.architecture not in known:
        mend = near(file.architecture, known)
        raise InputError(f"no such architecture: {file.architecture}", f"{own}, architecture", mend)
    if file.architecture != architecture.name:
        return
    there = {module.name for module in architecture.module}
    for module in file.module:
        if module.name in there:
            what = f"{architecture.name} has a module {module.name} already"
            raise InputError(what, f"{own}, module", "give it another name")
    architecture.module.extend(file.module)
    architecture._own.append(own.parent)
