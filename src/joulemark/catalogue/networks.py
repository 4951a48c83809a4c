"""Networks as data: their motes, the motes' programs, and who hears whom."""

import itertools
import math
from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, PrivateAttr, model_validator

from joulemark import meaning
from joulemark.catalogue import boards, chips, datafile, files
from joulemark.errors import InputError
from joulemark.project import NETWORKS

NAME = r"^[a-z0-9][a-z0-9-]{0,62}$"
_MOTES_MAX = 10_000
_SECONDS_MAX = 10_000_000
_LINKS_MAX = 20_000_000
_RESTART_S = 1e-3
"""Shortest time between restarts: no supply is switched faster, and each starts a new machine."""

Name = Annotated[str, Field(pattern=NAME)]
Decibel = Annotated[float, Field(ge=0, le=300)]
Part = Annotated[float, Field(ge=0, le=1)]
Seconds = Annotated[float, Field(ge=0, le=_SECONDS_MAX)]


class Crystal(datafile.DataModel):
    """The frequency error of a crystal."""

    ppm: Annotated[float, Field(ge=-500, le=500)] = 0.0
    """How much too fast it is when its mote is switched on."""
    drift_ppm_per_hour: Annotated[float, Field(ge=-100, le=100)] = 0.0

    def faster(self, ppm: float) -> "Crystal":
        """Return a crystal that is faster by `ppm` at its start."""
        return self.model_copy(update={"ppm": self.ppm + ppm})


class Typed(datafile.DataModel):
    """Text that is sent to a mote's serial line."""

    at_s: Annotated[Seconds, Field(gt=0)]
    text: Annotated[str, Field(min_length=1)]
    port: str | None = None
    """A serial port of the chip; the port in the board's file if not given."""


class Mote(datafile.DataModel):
    """A board that runs a program, or a group of equal boards."""

    name: Name
    board: str
    program: str | None = None
    """Folder under firmware/ of an application to build."""
    define: dict[Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]*$")], int] = Field({})
    """Macros of the program."""
    wiring: dict[str, str] = Field({})
    """Folders under firmware/ of the parts behind the program's interfaces."""
    without: list[str] = Field([])
    """Folders under firmware/ of parts that are left out."""
    architecture: str | None = None
    """A security architecture that is wired under the program."""
    modules: list[str] = Field([])
    """Its modules that are wired, together with the modules they require."""
    compiler: str = "clang"
    optimisation: Literal["O3", "O2", "Os", "O0"] = "O2"
    clock: str | None = None
    """A clock profile of the board."""
    image: str | None = None
    """An ELF, Intel HEX or UF2 file, relative to the network's file."""
    settings: dict[str, int] = Field({})
    """Settings of the chip at start."""
    symbols: dict[str, int] = Field({})
    """Initial values of an image's variables, by symbol."""
    surroundings: dict[str, float | str] = Field({})
    """What its sensors find, by quantity: a number, an expression of t, or a .csv file."""
    device_number: Annotated[int, Field(ge=0, lt=1 << 48)] | None = None
    """Unique number of the chip, or of its board."""
    input: list[Typed] = Field([])
    """Text that arrives on its serial line."""
    flash: str | None = None
    """Contents of its serial flash from address 0 on: a file, relative to the network's file."""
    start_s: Seconds = 0.0
    """When it is switched on."""
    restart_s: list[Annotated[Seconds, Field(gt=0)]] = Field([])
    """When it is switched off and on again."""
    crystal: Crystal = Crystal()
    """Crystal of its radio and core; a clock without a crystal, such as an MSP430's DCO, has the
    same error."""
    watch_crystal: Crystal | None = None
    """The 32,768 Hz crystal; it has the same error as `crystal` if not given."""
    count: Annotated[int, Field(ge=1, le=_MOTES_MAX)] = 1
    """Number of motes, which are called NAME-1, NAME-2 and so on."""
    numbered: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_.$]*$")] | None = None
    """The macro, or the variable of an image, that is incremented from one mote of the group to
    the next."""
    spread_ppm: Annotated[float, Field(ge=0, le=500)] = 0.0
    """The crystals of a group are spread evenly by this much to either side."""
    spread_watch_ppm: Annotated[float, Field(ge=0, le=500)] = 0.0
    """The same for their watch crystals."""
    spread_start_s: Seconds = 0.0
    """The motes of a group are switched on one after the other within this time."""

    @model_validator(mode="after")
    def _one_image(self) -> Self:
        if (self.program is None) == (self.image is None):
            raise ValueError("it has either a program or an image")
        if self.image is not None and (self.define or self.without):
            raise ValueError("macros and parts are for a program; an image has been compiled")
        if self.symbols and self.image is None:
            raise ValueError(
                "symbols: variables are set in an image; a program has macros (define)"
            )
        if self.architecture is not None and self.image is not None:
            raise ValueError("an architecture is for a program; an image has been compiled")
        if self.modules and self.architecture is None:
            raise ValueError("modules: say in architecture whose")
        if self.spread_watch_ppm and self.watch_crystal is None:
            raise ValueError("spread_watch_ppm: say in watch_crystal around what")
        where, values = ("define", self.define) if self.image is None else ("symbols", self.symbols)
        if self.numbered is not None and self.numbered not in values:
            raise ValueError(f"numbered: say in {where} what {self.numbered} is for the first")
        if any(at <= self.start_s + self.spread_start_s for at in self.restart_s):
            raise ValueError("restart_s: it is not on before start_s and spread_start_s")
        restarts = sorted(self.restart_s)
        if any(later - at < _RESTART_S for at, later in itertools.pairwise(restarts)):
            raise ValueError(f"restart_s: restarts are at least {_RESTART_S:g} s apart")
        if any(typed.at_s <= self.start_s + self.spread_start_s for typed in self.input):
            raise ValueError("input: it is not on before start_s and spread_start_s")
        if "device_number" in self.settings:
            raise ValueError("settings: device_number is a key of the mote itself")
        return self


class Recording(datafile.DataModel):
    """A capture whose frames are replayed."""

    name: Name
    file: str
    """A pcap or pcapng file, relative to the network's file."""
    at_s: Annotated[Seconds, Field(gt=0)]
    """When its first frame begins."""
    power_dbm: float = 0.0
    channel: Annotated[int, Field(ge=11, le=26)] | None = None
    """Channel of frames for which the capture does not record it."""


class Link(datafile.DataModel):
    """A link between two motes, in one direction or both."""

    between: Annotated[list[Name], Field(min_length=2, max_length=2)] | None = None
    """The two ends of a link in both directions."""
    sender: Name | None = Field(None, alias="from")
    receiver: Name | None = Field(None, alias="to")
    attenuation_db: Decibel
    loss: Part = 0.0
    """Fraction of the frames that is lost at random."""

    @model_validator(mode="after")
    def _ends(self) -> Self:
        if (self.between is None) == (self.sender is None and self.receiver is None):
            raise ValueError('it has either between = ["A", "B"], or from and to')
        if (self.sender is None) != (self.receiver is None):
            raise ValueError("it needs both from and to")
        if len(set(self.ends[0])) == 1 and self.between is None:
            raise ValueError(f"{self.sender} does not hear itself")
        return self

    @property
    def ends(self) -> list[tuple[str, str]]:
        """Pairs of sender and receiver."""
        if self.between is not None:
            a, b = self.between
            return [(a, b), (b, a)]
        return [(str(self.sender), str(self.receiver))]


class Everyone(datafile.DataModel):
    """Links between all motes that no link names."""

    attenuation_db: Decibel
    loss: Part = 0.0


class Key(datafile.DataModel):
    """A key that protects frames."""

    hex: Annotated[str, Field(pattern=r"^[0-9a-fA-F]{32}$")]
    index: Annotated[int, Field(ge=0, le=255)]
    """The key index in the auxiliary security header."""
    note: str = ""


_Hex = Annotated[str, Field(pattern=r"^([0-9a-fA-F]{2})*$")]
_Identifier = Annotated[str, Field(pattern=r"^([0-9a-fA-F]{2}){0,7}$")]


class OscoreContext(datafile.DataModel):
    """A security context of OSCORE (RFC 8613) with AES-CCM-16-64-128 and HKDF-SHA-256."""

    secret: Annotated[str, Field(pattern=r"^[0-9a-fA-F]{32}$")]
    salt: _Hex = ""
    ids: Annotated[list[_Identifier], Field(min_length=2, max_length=2)]
    """Sender identifiers of both sides."""
    id_context: _Hex | None = None
    note: str = ""

    @model_validator(mode="after")
    def _two(self) -> Self:
        if self.ids[0].lower() == self.ids[1].lower():
            raise ValueError("ids: both sides have one identifier, so they would share nonces")
        return self


class KeyFile(datafile.DataModel):
    """A file of keys."""

    key: list[Key] = Field([])
    oscore: list[OscoreContext] = Field([])
    addresses: dict[str, Annotated[str, Field(pattern=r"^[0-9a-fA-F]{16}$")]] = Field({})
    """Extended addresses for nonces, in hexadecimal digits: by short address as PAN:SHORT, and by
    mote name for frames without a source address."""

    @model_validator(mode="after")
    def _one_each(self) -> Self:
        times = Counter(key.index for key in self.key)
        twice = [str(index) for index in times if times[index] > 1]
        if twice:
            raise ValueError(f"several keys have index {', '.join(twice)}")
        if not self.key and not self.oscore:
            raise ValueError("it has neither [[key]] nor [[oscore]]")
        return self


class Slots(datafile.DataModel):
    """Time slots, for captures and for nonces."""

    length_us: Annotated[int, Field(gt=0)]
    tx_offset_us: Annotated[int, Field(ge=0)]
    """Time from the start of a slot to the end of a frame's start-of-frame delimiter."""

    @model_validator(mode="after")
    def _within(self) -> Self:
        if self.tx_offset_us >= self.length_us:
            raise ValueError("tx_offset_us is within length_us")
        return self


class Policy(datafile.DataModel):
    """Security policy for frames."""

    level: Annotated[int, Field(ge=0, le=7)]
    """Minimum security level of data and command frames."""
    beacon_level: Annotated[int, Field(ge=0, le=7)] = 0
    acknowledgment_level: Annotated[int, Field(ge=0, le=7)] = 0


class Network(datafile.DataModel):
    """A network's file."""

    title: str
    seed: Annotated[int, Field(ge=0, lt=1 << 64)] = 0
    """Seed for losses and bit errors."""
    duration_s: Annotated[float, Field(gt=0, le=_SECONDS_MAX)] = 10.0
    """How long it runs if nobody says otherwise: until what it shows has happened."""
    mote: Annotated[list[Mote], Field(min_length=1)]
    recording: list[Recording] = Field([])
    link: list[Link] = Field([])
    everyone: Everyone | None = None
    slots: Slots | None = None
    keys: str | None = None
    """A file of keys, relative to this one."""
    policy: Policy | None = None

    _path: Path = PrivateAttr()
    _digest: str = PrivateAttr(default="")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        names = [*(name for mote in self.mote for name in _names(mote))]
        names += [recording.name for recording in self.recording]
        twice = [name for name, times in Counter(names).items() if times > 1]
        if twice:
            raise ValueError(f"several are called {', '.join(sorted(twice)[:20])}")
        known = {*names, *(mote.name for mote in self.mote)}
        for link in self.link:
            for end in link.ends[0]:
                if end not in known:
                    raise ValueError(f"link: there is no {end}; there are {', '.join(names[:20])}")
        size = {mote.name: mote.count for mote in self.mote}
        links = [size.get(a, 1) * size.get(b, 1) for link in self.link for a, b in link.ends]
        links += [len(names) ** 2] if self.everyone is not None else []
        if sum(links) > _LINKS_MAX:
            what = f"{sum(links):,} links are more than the {_LINKS_MAX:,} that are supported"
            raise ValueError(f"{what}: link those that hear each other")
        return self

    @property
    def path(self) -> Path:
        """Path of its file."""
        return self._path

    @property
    def digest(self) -> str:
        """Digest of the values of its file and of the files of its boards and chips."""
        used = [boards.load_board(name) for name in sorted({mote.board for mote in self.mote})]
        of_boards = [(board.digest, chips.digest(board.chip)) for board in used]
        return meaning.of_values(self._digest, of_boards)

    @property
    def key_file(self) -> KeyFile | None:
        """The keys that protect its frames.

        Raises:
            InputError: the file is invalid.
        """
        return None if self.keys is None else datafile.read(self._path.parent / self.keys, KeyFile)

    def architectures(self) -> list[str]:
        """Return the security architectures that motes are wired with."""
        return sorted({mote.architecture for mote in self.mote if mote.architecture is not None})

    def seats(self) -> list[tuple[str, Mote]]:
        """Return every mote with its name; groups are expanded."""
        seats = []
        for group in self.mote:
            for number, name in enumerate(_names(group)):
                seats.append((name, _one_of(group, number, name)))
        return seats

    def links(self) -> dict[tuple[str, str], tuple[float, float]]:
        """Return attenuation in dB and loss, by sender and receiver."""
        motes = [name for name, _ in self.seats()]
        senders = [*motes, *(recording.name for recording in self.recording)]
        found: dict[tuple[str, str], tuple[float, float]] = {}
        if self.everyone is not None:
            all_alike = (self.everyone.attenuation_db, self.everyone.loss)
            found = {(a, b): all_alike for a in senders for b in motes if a != b}
        members = {group.name: _names(group) for group in self.mote}
        for link in self.link:
            for sender, receiver in link.ends:
                for a in members.get(sender, [sender]):
                    for b in members.get(receiver, [receiver]):
                        if a != b:
                            found[a, b] = (link.attenuation_db, link.loss)
        return found


def _names(mote: Mote) -> list[str]:
    if mote.count == 1:
        return [mote.name]
    return [f"{mote.name}-{number + 1}" for number in range(mote.count)]


def _one_of(mote: Mote, number: int, name: str) -> Mote:
    if mote.count == 1:
        return mote
    place = number / (mote.count - 1)
    define, symbols = dict(mote.define), dict(mote.symbols)
    if mote.numbered is not None:
        values = define if mote.numbered in define else symbols
        values[mote.numbered] += number
    crystal = mote.crystal.faster(mote.spread_ppm * (2 * place - 1))
    watch = mote.watch_crystal
    if watch is not None:
        watch = watch.faster(mote.spread_watch_ppm * (2 * place - 1))
    start_s = mote.start_s + mote.spread_start_s * place
    update = {
        "name": name,
        "define": define,
        "symbols": symbols,
        "crystal": crystal,
        "watch_crystal": watch,
    }
    update |= {"start_s": start_s, "count": 1}
    if mote.device_number is not None:
        update["device_number"] = mote.device_number + number
    return mote.model_copy(update=update)


def names() -> list[str]:
    """Return the names of all networks, the user's included."""
    return [name for name in files.names(NETWORKS) if not name.endswith(".keys")]


def read_network(path: Path) -> Network:
    """Read a network's file.

    Raises:
        InputError: the file is invalid; the error names it and the key.
    """
    network = datafile.read(path, Network)
    network._path = path
    network._digest = meaning.of_table(path)
    return network


def made(values: dict[str, Any], path: Path) -> Network:
    """Return a network that has no file of its own.

    Args:
        values: what its file would say.
        path: the file that it is made of, for messages.
    """
    network = Network.model_validate(values)
    network._path = path
    network._digest = meaning.of_values(values)
    return network


def picoseconds(seconds: float) -> int:
    """Convert seconds to picoseconds, the engine's unit of time."""
    return round(math.fsum([seconds]) * 1e12)


def seconds(text: str, what: str) -> float:
    """Parse a duration as users write it: 500ms, 60s, 5m, 1h; a number alone is seconds.

    Raises:
        InputError: the text is not a duration.
    """
    units = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
    number = text.rstrip("hmsu")
    unit = text[len(number) :] or "s"
    mend = "write 500ms, 60s, 5m or 1h; a number alone is seconds"
    try:
        value = float(number) * units[unit]
    except (ValueError, KeyError):
        raise InputError(f"{text!r} is not a time", what, mend) from None
    if not 0 < value <= _SECONDS_MAX:
        raise InputError(f"{text!r} is not from 1us to 10000000s", what, mend)
    return value
