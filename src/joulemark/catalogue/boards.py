"""Boards that a person can buy, as data."""

from functools import cached_property, lru_cache
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, PrivateAttr, field_validator, model_validator

from joulemark import meaning
from joulemark.catalogue import chips, datafile, files, instruction_sets
from joulemark.catalogue.near import near
from joulemark.errors import InputError
from joulemark.project import BOARDS, MACHINES

if TYPE_CHECKING:
    from joulemark._engine import Wiring

PIN = r"^[A-Z]+[0-9]+(\.[0-9]+)?$"
"""A pin as its chip's documents name it: P1.0, P0.13, DIO5, PA9. The chip knows which exist."""

FLASH_PLACEHOLDERS = frozenset({"elf", "hex", "port"})

Source = Annotated[str, Field(min_length=1)]
Grade = Literal["measured", "datasheet", "inferred"]

MCU = "mcu"
"""The part of a board whose power states are its chip's."""
RADIO = "radio"
"""The part that is the chip's own radio, unless a device has that name."""


class Constant(datafile.DataModel):
    """A physical constant with its source."""

    value: Annotated[float, Field(gt=0)]
    source: Source
    grade: Grade


class Tolerance(datafile.DataModel):
    """Tolerance of a clock, in parts per million."""

    slow_ppm: Annotated[float, Field(ge=0)]
    fast_ppm: Annotated[float, Field(ge=0)]
    source: Source
    grade: Grade

    @property
    def bound(self) -> float:
        """Relative bound on the error of a time that is counted with the clock."""
        return max(self.slow_ppm, self.fast_ppm) * 1e-6


class Clock(datafile.DataModel):
    """A clock profile: the core's frequency, and who runs it so."""

    hz: Annotated[int, Field(gt=0)]
    source: Source
    grade: Grade
    tolerance: Tolerance
    note: str = ""
    """Notes for users of this profile."""
    rated_from_v: Annotated[float, Field(gt=0)] | None = None
    """The supply from which on the chip is rated for this frequency, where the board's is lower."""
    external_resistor: bool = False
    """MSP430x1xx: the DCO uses the board's R_OSC (DCOR = 1)."""
    runs_from: Literal["flash"] | None = None
    """The memory that the program is in, where that is not the board's usual one."""

    def accepts(self, hz: int) -> bool:
        """Return whether a core that runs at `hz` is within this profile's tolerance."""
        off_ppm = (hz - self.hz) * 1_000_000 / self.hz
        return -self.tolerance.slow_ppm <= off_ppm <= self.tolerance.fast_ppm


class Serial(datafile.DataModel):
    """The serial line of the image's protocol."""

    port: Annotated[str, Field(pattern=r"^[a-z]+[0-9]$")]
    baud: Annotated[int, Field(gt=0)]
    tx_pin: str = ""
    """The pin that the chip transmits on, if the chip lets it be chosen."""
    rx_pin: str = ""
    source: Source
    grade: Grade


class Marker(datafile.DataModel):
    """The pin that brackets a measurement."""

    pin: Annotated[str, Field(pattern=PIN)]
    source: Source
    grade: Grade
    note: str = ""


class Flash(datafile.DataModel):
    """How an image is written to the board."""

    command: Annotated[list[str], Field(min_length=1)]
    """Program and arguments; {elf} and {hex} stand for the image's file, {port} for the serial
    port."""
    get: Annotated[str, Field(min_length=1)]
    """How to install the program."""
    source: Source
    grade: Grade
    """`measured` if it was tried on such a board."""
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
    """A supply current of the whole board, as stated by its maker."""

    state: Annotated[str, Field(min_length=1)]
    """Power state of the chip."""
    ampere: Annotated[float, Field(gt=0)]
    uncertainty_a: Annotated[float, Field(gt=0)] | None = None
    """Half width of the 95% interval, if stated."""
    clock_hz: Annotated[int, Field(gt=0)] | None = None
    """The clock, if the maker states it."""
    description: str
    source: Source
    grade: Grade


class Stated(datafile.DataModel):
    """A stated property of a board; statements of several documents stand side by side."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")]
    description: str
    source: Source
    grade: Grade


class Load(Stated):
    """A current that flows while something is on: an LED, a sensor on standby."""

    ampere: Annotated[float, Field(gt=0)]
    uncertainty_a: Annotated[float, Field(gt=0)] | None = None
    """Half width of the 95% interval, if stated."""


class RadioState(Load):
    """A current of the radio."""

    whole_board: bool = False
    """It includes the rest of the board: it replaces the sleep current instead of adding to it."""


class Radio(datafile.DataModel):
    """The radio and its frames."""

    name: str
    bit_rate_hz: Constant
    frame_overhead_bytes: Constant
    """Bytes on air around a payload without security."""
    frame_bytes_max: Constant
    """Maximum of overhead and payload."""
    driver: Annotated[str, Field(pattern=r"^[a-z0-9-]+(/[a-z0-9-]+)*$")] | None = None
    """Folder of its driver under firmware/."""
    slots: bool = True
    """Whether the driver does what time slots need: frames taken while they arrive, and secured
    and acknowledged in time."""
    state: Annotated[list[RadioState], Field(min_length=1)]


class Activity(Stated):
    """An occasional activity of the board, and its cost."""

    kind: Literal["sensing", "radio", "security"]
    time_s: Annotated[float, Field(gt=0)]
    time_uncertainty_s: Annotated[float, Field(gt=0)] | None = None
    energy_j: Annotated[float, Field(gt=0)]
    """Energy of all executions, net of the board's sleep current."""
    energy_uncertainty_j: Annotated[float, Field(gt=0)] | None = None
    """Half width of the 95% interval, if stated."""
    executions: Annotated[int, Field(gt=0)] = 1
    """Number of executions that the time and energy cover."""


class Accelerator(Stated):
    """Hardware that computes primitives; implementations state whether they use it."""

    primitives: Annotated[list[str], Field(min_length=1)]
    """Globs of the primitives that it could compute, or most of them."""
    current_known: bool = True
    """Whether energies have its own current in them; no document may state it."""


class Board(datafile.DataModel):
    """A board file."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")]
    title: str
    chip: str
    documents: dict[str, str]
    """Short names of the documents that sources cite."""
    supply_v: Constant
    crystal_hz: Constant
    """The watch crystal against which other clocks are counted."""
    default_clock: str
    clock: Annotated[dict[str, Clock], Field(min_length=1)]
    serial: Serial
    marker: Marker
    flash: Flash | None = None
    idle_state: str
    """Power state of the chip while the board has nothing to do."""
    current: list[StatedCurrent] = Field([])
    load: list[Load] = Field([])
    device: list[dict[str, Any]] = Field([])
    """Devices wired to the chip; the engine reads and checks them: see `wiring`."""
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
        """Digest of the file's values: see `meaning`."""
        return self._digest

    def __getstate__(self) -> dict[Any, Any]:
        # The engine's wiring cannot be pickled; another process reads its own.
        state = super().__getstate__()
        kept = {name: value for name, value in state["__dict__"].items() if name != "wiring"}
        return {**state, "__dict__": kept}

    @cached_property
    def wiring(self) -> "Wiring":
        """The devices wired to its chip.

        Raises:
            InputError: a device is invalid; the error names the file and the key.
        """
        from joulemark._engine import BoardError, Wiring

        try:
            return Wiring.load(self._path)
        except BoardError as error:
            raise InputError(str(error)) from error

    @cached_property
    def core(self) -> str:
        """The core of its chip, which is the family of its firmware."""
        return chips.load_chip(self.chip).core

    @cached_property
    def instruction_set(self) -> str:
        """Instruction set of its core, as implementations name it in their `cores`."""
        return instruction_sets.of_chip(self.core, chips.load_chip(self.chip).cpu)

    @property
    def compiler(self) -> str:
        """The compiler for its core that every machine has."""
        return instruction_sets.compilers(self.core).default

    @property
    def accelerators(self) -> frozenset[str]:
        """Names of its accelerators."""
        return frozenset(engine.name for engine in self.accelerator)

    def keeps_state(self, clock: str | None) -> bool:
        """Return whether, at a clock profile, memories make times depend on earlier execution."""
        is_cached = self.clock_profile(clock).runs_from is not None
        return is_cached or chips.load_chip(self.chip).memories_keep_state

    def clock_profile(self, name: str | None) -> Clock:
        """Return a clock profile; the default one if no name is given.

        Raises:
            InputError: the board has no clock profile of that name.
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
        InputError: no board has that name, or its file is invalid.
    """
    return read_board(path_of(name))


def without_driver(name: str) -> InputError:
    """Return the error of a program that sends, for a board that cannot."""
    able = (board for board in map(load_board, names()) if board.radio and board.radio.driver)
    mend = f"there are drivers for {', '.join(board.name for board in able)}"
    return InputError("its radio has no driver here, or it has none", name, mend)


def path_of(name: str) -> Path:
    """Return the path of a board's file.

    Raises:
        InputError: no board has that name.
    """
    if "/" not in name and (MACHINES / f"{name}.toml").is_file():
        what = "runs Linux and is not emulated"
        raise InputError(what, name, f"`joulemark estimate {name}` estimates it")
    return files.path_of(BOARDS, name, "board")


@lru_cache
def read_board(path: Path) -> Board:
    """Read a board file.

    Raises:
        InputError: the file is invalid; the error names it and the key.
    """
    board = datafile.read(path, Board)
    if board.name != path.stem:
        raise InputError(f"is {board.name!r}", f"{path}, key name", "use the file's name")
    if board.chip not in chips.names():
        mend = near(board.chip, chips.names())
        raise InputError(f"no chip {board.chip}", f"{path}, key chip", mend)
    board._path = path
    board._digest = meaning.of_table(path)
    return board
