"""Secure protocols over UDP, each declared beside the device program that speaks it.

`protocol.toml` in a program's folder names its variants and what each side computes, in order;
`oracle.py` beside it says what each datagram must be. A protocol of a user's own may have none.
docs/protocols.md tells what the keys mean.
"""

import hashlib
import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from typing import Protocol as Protocol_

from pydantic import Field

from joulemark import meaning
from joulemark.catalogue import datafile
from joulemark.catalogue.boards import Board, without_driver
from joulemark.catalogue.near import near
from joulemark.catalogue.networks import Network, made
from joulemark.catalogue.primitives import Library
from joulemark.errors import BuildError, InputError
from joulemark.project import FIRMWARE, sources

if TYPE_CHECKING:
    from joulemark.subjects.handshake.talk import Account, Talk

FILE = "protocol.toml"
_ORACLE = "oracle.py"
CLIENT, SERVER = "client", "server"
_PRIMITIVES = "primitives"
ATTENUATION_DB = 60.0
CLIENT_STARTS_S = 0.05
CLIENT_PPM, SERVER_PPM = 8.0, -12.0
"""Errors of the two crystals, as in the shipped networks of two motes."""


class Windows(datafile.DataModel):
    """What one side computes, in the order in which it raises its marker."""

    handshake: list[str] = Field([])
    """Without an oracle it may be empty: any number, which together are one row."""
    record: list[str] = Field([])
    """For each request with its response."""
    define: dict[str, int] = Field({})
    """Macros of this side's image."""


class On(datafile.DataModel):
    """What differs on a core."""

    define: dict[str, int] = Field({})
    uses: dict[str, str] = Field({})
    """Implementations of primitives, where not the first: as in `implementation.toml`."""
    wiring: dict[str, str] = Field({})
    """Parts behind interfaces, besides the variant's."""


class Variant(datafile.DataModel):
    """A protocol with its algorithms and credentials, as it is named on the command line."""

    title: str
    wiring: dict[str, str] = Field({})
    """Parts behind the program's interfaces. A primitive's folder stands for its first
    implementation that runs on the board."""
    define: dict[str, int] = Field({})
    client: Windows | None = None
    server: Windows | None = None


class ProtocolFile(datafile.DataModel):
    """`protocol.toml`."""

    title: str
    port: int = Field(ge=1, le=65535)
    """UDP port of the server."""
    client: Windows
    server: Windows
    on: dict[str, On] = Field({})
    """By instruction set, or by core."""
    variant: dict[str, Variant] = Field(min_length=1)


@dataclass(frozen=True)
class Protocol:
    """A variant of a protocol."""

    name: str
    folder: Path
    file: ProtocolFile

    @property
    def variant(self) -> Variant:
        """Its entry."""
        return self.file.variant[self.name]

    @property
    def program(self) -> str:
        """The folder of its program, under firmware/ or a folder of the user's."""
        home = next(each for each in (FIRMWARE, *sources()) if self.folder.is_relative_to(each))
        return self.folder.relative_to(home).as_posix()

    @property
    def has_oracle(self) -> bool:
        """Whether an independent implementation says what its datagrams must be.

        A shipped one has it: nothing of the project's own is measured unverified.
        """
        return self.folder.is_relative_to(FIRMWARE) or (self.folder / _ORACLE).is_file()

    def windows(self, side: str) -> Windows:
        """Return what a side computes."""
        own = self.variant.client if side == CLIENT else self.variant.server
        return own or (self.file.client if side == CLIENT else self.file.server)

    def read(self, talk: "Talk") -> "list[Account]":
        """Check each datagram against the oracle, and return what its bytes are for.

        Raises:
            VerificationError: a datagram is not what an independent implementation says.
        """
        return _oracle(self.folder / _ORACLE).read(talk)

    def keys(self, talk: "Talk") -> "Mapping[str, Sequence[str]]":
        """Return the lines of the files with which others decrypt a talk, by their suffix.

        Raises:
            VerificationError: a datagram is not what an independent implementation says.
        """
        return _oracle(self.folder / _ORACLE).keys(talk)

    def _on(self, board: Board) -> On:
        on = self.file.on
        return on.get(board.instruction_set) or on.get(board.core) or On()

    def wiring(self, board: Board) -> dict[str, str]:
        """Return the parts behind the program's interfaces on a board.

        Raises:
            BuildError: a primitive has no implementation for the board.
        """
        on = self._on(board)
        wired = {**self.variant.wiring, **on.wiring}
        return {name: _way(part, board, on.uses) for name, part in wired.items()}

    def pair(self, board: Board, conditions: "Pair") -> Network:
        """Return a network of a client and a server on two boards of a kind.

        Raises:
            BuildError: a primitive has no implementation for the board.
            InputError: the board has no radio that a program here drives.
        """
        if board.radio is None or board.radio.driver is None:
            raise without_driver(board.name)
        on = self._on(board)
        shared = {
            **self.variant.define,
            **on.define,
            "LEDGER_RECORDS": conditions.records,
            "LEDGER_REQUEST_BYTES": conditions.request_bytes,
            "LEDGER_RESPONSE_BYTES": conditions.response_bytes,
        }
        mote = {
            "board": board.name,
            "program": self.program,
            "compiler": conditions.compiler or board.compiler,
            "optimisation": conditions.optimisation,
            "wiring": self.wiring(board),
        }
        client = {**shared, **self.windows(CLIENT).define, "LEDGER_MOTE": 1, "LEDGER_PEER": 2}
        server = {**shared, **self.windows(SERVER).define, "LEDGER_MOTE": 2, "LEDGER_PEER": 0}
        values: dict[str, Any] = {
            "title": f"{self.variant.title}, two of {board.name}",
            "seed": spread(conditions.seed),
            "everyone": {"attenuation_db": ATTENUATION_DB, "loss": conditions.loss},
            "mote": [
                {
                    **mote,
                    "name": CLIENT,
                    "define": client,
                    "start_s": CLIENT_STARTS_S,
                    "crystal": {"ppm": CLIENT_PPM},
                },
                {**mote, "name": SERVER, "define": server, "crystal": {"ppm": SERVER_PPM}},
            ],
        }
        return made(values, self.folder / FILE)

    @property
    def digest(self) -> str:
        """Digest of its file's values and its oracle's syntax tree."""
        return _digest(self.folder)


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Conditions of two boards that speak."""

    records: int = 1
    request_bytes: int = 16
    response_bytes: int = 16
    loss: float = 0.0
    """Fraction of the frames that is lost, acknowledgements included."""
    seed: int = 0
    compiler: str = ""
    optimisation: str = "Os"


def spread(seed: int) -> int:
    """Return a seed of 64 bits: the losses of neighbouring small ones would be alike."""
    return int.from_bytes(hashlib.sha256(str(seed).encode()).digest()[:8])


def _way(part: str, board: Board, uses: Mapping[str, str]) -> str:
    place = part.split("/")
    if place[0] != _PRIMITIVES:
        return part
    used = "/".join(place[3:]) or uses.get("/".join(place[1:]))
    ways: list[str] = []
    library = Library.load()
    for algorithm in library.algorithms.values():
        primitive = algorithm.primitive
        if [primitive.kind, primitive.name] == place[1:3] and algorithm.is_default:
            # The folder's name alone: an implementation's has those that it is built over, too.
            ways = [
                way.parts[0].name
                for way in library.implementations(algorithm)
                if way.runs_on(board.instruction_set)
            ]
            if used in ways or (ways and used is None):
                return "/".join([*place[:3], used or ways[0]])
    if used is None or not ways:
        raise BuildError(f"no implementation of {place[2]} runs on it", f"--board {board.name}")
    what = f"{place[2]}'s implementation {used} does not run on it"
    raise BuildError(what, f"--board {board.name}", f"there are {', '.join(ways)}")


@lru_cache
def _digest(folder: Path) -> str:
    path = folder / _ORACLE
    oracle = meaning.of_module(path) if path.is_file() else ""
    return meaning.of_values(meaning.of_table(folder / FILE), oracle)


class _Oracle(Protocol_):
    """The functions of an oracle's module."""

    @staticmethod
    def read(talk: "Talk") -> "list[Account]":
        """Check each datagram, and return what its bytes are for."""

    @staticmethod
    def keys(talk: "Talk") -> "Mapping[str, Sequence[str]]":
        """Return the keys of a talk as others read them."""


@lru_cache
def _oracle(path: Path) -> _Oracle:
    name = "joulemark_protocol_" + path.parent.name.replace("-", "_")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None  # noqa: S101
    assert spec.loader is not None  # noqa: S101
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except FileNotFoundError as error:
        mend = "nothing is measured unverified"
        raise InputError("is missing", str(path), mend) from error
    for name in ("read", "keys"):
        if not hasattr(module, name):
            raise InputError(f"has no function {name}", str(path))
    oracle: _Oracle = module  # type: ignore[assignment]
    return oracle


def protocols() -> Mapping[str, Protocol]:
    """Return the variants of all protocols, the user's included, by name.

    Raises:
        InputError: a file is invalid, or two variants have one name.
    """
    return _known(sources())


@lru_cache
def _known(own: tuple[Path, ...]) -> Mapping[str, Protocol]:
    known: dict[str, Protocol] = {}
    found = [*FIRMWARE.rglob(FILE), *(path for home in own for path in home.rglob(FILE))]
    for path in sorted(dict.fromkeys(found)):
        file = datafile.read(path, ProtocolFile)
        for name in file.variant:
            if name in known:
                mend = f"another is in {known[name].folder}"
                raise InputError(f"the name {name!r} is taken", f"{path}, key variant", mend)
            known[name] = Protocol(name, path.parent, file)
    return known


def protocol(name: str) -> Protocol:
    """Return a variant.

    Raises:
        InputError: there is none of this name.
    """
    known = protocols()
    if name not in known:
        raise InputError(f"no protocol {name!r}", "--protocol", near(name, known))
    return known[name]
