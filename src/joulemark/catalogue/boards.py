"""Boards: what a person can buy, as data."""

import hashlib
from functools import cached_property, lru_cache
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, PrivateAttr, field_validator, model_validator

from joulemark.catalogue import chips, datafile, files
from joulemark.catalogue.near import near
from joulemark.errors import InputError
from joulemark.project import BOARDS, MACHINES

_ARMV7EM = frozenset({"cortex-m4"})
"""Cores with the DSP extension (ARMv7-M Architecture Reference Manual, DDI 0403, A1.3)."""

if TYPE_CHECKING:
    from joulemark._engine import Wiring

PIN = r"^(P[1-8]\.[0-7]|P[01]\.[0-3][0-9]|DIO[0-9]{1,2}|P[A-E][0-9]{1,2})$"
"""Of an MSP430, of a CC26x0, and of chips with lettered ports."""

FLASH_PLACEHOLDERS = frozenset({"elf", "hex", "port"})

Source = Annotated[str, Field(min_length=1)]
Grade = Literal["measured", "datasheet", "inferred"]

MCU = "mcu"
"""The part of a board whose power states are those of its chip."""
RADIO = "radio"
"""The part that is a radio within the chip, where there is one and no device is called so."""


class Constant(datafile.DataModel):
    """A physical constant with where it comes from."""

    value: Annotated[float, Field(gt=0)]
    source: Source
    grade: Grade


class Tolerance(datafile.DataModel):
    """How far off a clock may be, in millionths."""

    slow_ppm: Annotated[float, Field(ge=0)]
    fast_ppm: Annotated[float, Field(ge=0)]
    source: Source
    grade: Grade

    @property
    def bound(self) -> float:
        """Relative bound on a time that is counted with the clock."""
        return max(self.slow_ppm, self.fast_ppm) * 1e-6


class Clock(datafile.DataModel):
    """A clock profile: how fast the core runs, and who runs it so."""

    hz: Annotated[int, Field(gt=0)]
    source: Source
    grade: Grade
    tolerance: Tolerance
    note: str = ""
    """Notes for users of this profile."""
    external_resistor: bool = False
    """MSP430x1xx: the DCO runs on the board's R_OSC (DCOR = 1)."""

    def accepts(self, hz: int) -> bool:
        """Tell whether a core that runs at `hz` runs at this profile, as near as it can be set."""
        off_ppm = (hz - self.hz) * 1_000_000 / self.hz
        return -self.tolerance.slow_ppm <= off_ppm <= self.tolerance.fast_ppm


class Serial(datafile.DataModel):
    """The serial line that the image speaks on."""

    port: Annotated[str, Field(pattern=r"^[a-z]+[0-9]$")]
    baud: Annotated[int, Field(gt=0)]
    tx_pin: str = ""
    """Where the chip lets it be chosen: the pin that the chip sends on."""
    rx_pin: str = ""
    source: Source
    grade: Grade


class Marker(datafile.DataModel):
    """The pin that brackets what is measured."""

    pin: Annotated[str, Field(pattern=PIN)]
    source: Source
    grade: Grade
    note: str = ""


class Flash(datafile.DataModel):
    """How an image is written to the board."""

    command: Annotated[list[str], Field(min_length=1)]
    """Program and arguments; {elf} and {hex} stand for the image's file, {port} for the port."""
    get: Annotated[str, Field(min_length=1)]
    """How to install the program."""
    source: Source
    grade: Grade
    """`measured` where it was tried on such a board."""
    note: str = ""

    @field_validator("command")
    @classmethod
    def _known_placeholders(cls, command: list[str]) -> list[str]:
        for argument in command:
            try:
                fields = [f for f in Formatter().parse(argument) if f[1] is not None]
            except ValueError as error:
                raise ValueError(f"{argument!r}: {error}") from error
            if any(specification or conversion for _, _, specification, conversion in fields):
                raise ValueError(f"{argument!r}: a placeholder is a name in braces and no more")
            names = {str(name) for _, name, _, _ in fields}
            if unknown := names - FLASH_PLACEHOLDERS:
                there = ", ".join(f"{{{name}}}" for name in sorted(FLASH_PLACEHOLDERS))
                raise ValueError(
                    f"{argument!r}: no such placeholder: {', '.join(sorted(unknown))}; "
                    f"there are {there}"
                )
        return command


class StatedCurrent(datafile.DataModel):
    """A supply current of the whole board, as its maker states it."""

    state: Annotated[str, Field(min_length=1)]
    """Power state of the chip."""
    ampere: Annotated[float, Field(gt=0)]
    uncertainty_a: Annotated[float, Field(gt=0)] | None = None
    """Half width of the 95% interval, where it is stated."""
    clock_hz: Annotated[int, Field(gt=0)] | None = None
    """Where the maker says at which clock."""
    description: str
    source: Source
    grade: Grade


class Stated(datafile.DataModel):
    """Something stated of a board; what several documents state stands side by side."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")]
    description: str
    source: Source
    grade: Grade


class Load(Stated):
    """A current that flows while something is on: a light, a sensor on standby."""

    ampere: Annotated[float, Field(gt=0)]
    uncertainty_a: Annotated[float, Field(gt=0)] | None = None
    """Half width of the 95% interval, where it is stated."""


class RadioState(Load):
    """A current of the radio."""

    whole_board: bool = False
    """The rest of the board is in it: it replaces the sleep current, and does not add to it."""


class Radio(datafile.DataModel):
    """The radio and its frames."""

    name: str
    bit_rate_hz: Constant
    frame_overhead_bytes: Constant
    """Overhead on air around a payload without security."""
    frame_bytes_max: Constant
    """Overhead and payload at most."""
    driver: Annotated[str, Field(pattern=r"^[a-z0-9-]+(/[a-z0-9-]+)*$")] | None = None
    """Folder of its driver under firmware/."""
    state: Annotated[list[RadioState], Field(min_length=1)]


class Activity(Stated):
    """Something that the board does now and then, at what cost."""

    kind: Literal["sensing", "radio", "security"]
    time_s: Annotated[float, Field(gt=0)]
    time_uncertainty_s: Annotated[float, Field(gt=0)] | None = None
    energy_j: Annotated[float, Field(gt=0)]
    """Net of what the board draws asleep; of all executions."""
    energy_uncertainty_j: Annotated[float, Field(gt=0)] | None = None
    """Half width of the 95% interval, where it is stated."""
    executions: Annotated[int, Field(gt=0)] = 1
    """How many executions time and energy are of."""


class Accelerator(Stated):
    """Hardware that computes primitives; implementations say whether they use it."""

    primitives: Annotated[list[str], Field(min_length=1)]
    """Globs of the primitives that it would do, or do most of."""


class Board(datafile.DataModel):
    """A board file."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")]
    title: str
    chip: str
    documents: dict[str, str]
    """Short names of the documents that sources cite."""
    supply_v: Constant
    crystal_hz: Constant
    """The watch crystal that other clocks are counted against."""
    default_clock: str
    clock: Annotated[dict[str, Clock], Field(min_length=1)]
    serial: Serial
    marker: Marker
    flash: Flash | None = None
    idle_state: str
    """Power state of the chip in which the board waits for something to do."""
    current: list[StatedCurrent] = Field([])
    load: list[Load] = Field([])
    device: list[dict[str, Any]] = Field([])
    """Devices wired to the chip, which the engine reads and checks: see `wiring`."""
    radio: Radio | None = None
    activity: list[Activity] = Field([])
    accelerator: list[Accelerator] = Field([])

    _digest: str = PrivateAttr(default="")
    _path: Path = PrivateAttr()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.default_clock not in self.clock:
            raise ValueError(f"default_clock: there is no [clock.{self.default_clock}]")
        return self

    @property
    def digest(self) -> str:
        """SHA-256 of the file, hexadecimal."""
        return self._digest

    def __getstate__(self) -> dict[Any, Any]:
        # The engine's wiring cannot go to another process, which makes its own.
        state = super().__getstate__()
        kept = {name: value for name, value in state["__dict__"].items() if name != "wiring"}
        return {**state, "__dict__": kept}

    @cached_property
    def wiring(self) -> "Wiring":
        """The devices around its chip.

        Raises:
            InputError: one of them is wrong; names the file and the key.
        """
        from joulemark._engine import BoardError, Wiring

        try:
            return Wiring.load(self._path)
        except BoardError as error:
            raise InputError(str(error)) from error

    @cached_property
    def core(self) -> str:
        """The core of its chip: the family of its firmware."""
        return chips.load_chip(self.chip).core

    @cached_property
    def instruction_set(self) -> str:
        """What its core executes, as implementations name it in their `cores`."""
        return "armv7em" if chips.load_chip(self.chip).cpu in _ARMV7EM else self.core

    @property
    def accelerators(self) -> frozenset[str]:
        """Names of the hardware that computes primitives."""
        return frozenset(engine.name for engine in self.accelerator)

    def clock_profile(self, name: str | None) -> Clock:
        """Find a clock profile; the default one if no name is given.

        Raises:
            InputError: there is none of that name.
        """
        name = name or self.default_clock
        if name not in self.clock:
            mend = f"it has {', '.join(self.clock)}"
            raise InputError(f"board {self.name} has no clock {name}", mend=mend)
        return self.clock[name]


def names() -> list[str]:
    """Return the names of all boards."""
    return files.names(BOARDS)


def load_board(name: str) -> Board:
    """Read a board's file.

    Raises:
        InputError: there is none of that name, or it is wrong.
    """
    return read_board(path_of(name))


def path_of(name: str) -> Path:
    """A board's file.

    Raises:
        InputError: there is none of that name.
    """
    if "/" not in name and (MACHINES / f"{name}.toml").is_file():
        what = "runs Linux and is not emulated"
        raise InputError(what, name, f"`joulemark estimate {name}` estimates it")
    return files.path_of(BOARDS, name, "board")


@lru_cache
def read_board(path: Path) -> Board:
    """Read a board file.

    Raises:
        InputError: it is wrong; names the file and the key.
    """
    board = datafile.read(path, Board)
    if board.name != path.stem:
        raise InputError(f"is {board.name!r}", f"{path}, key name", "use the file's name")
    if board.chip not in chips.names():
        mend = near(board.chip, chips.names())
        raise InputError(f"no chip {board.chip}", f"{path}, key chip", mend)
    board._path = path
    board._digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return board
