"""The emulation engine (Rust): chips, images and machines.

All times are emulated; none of them depends on the machine that this runs on.
"""

from os import PathLike
from typing import Literal, final

__all__ = [
    "BoardError",
    "CallPath",
    "Chip",
    "ChipError",
    "EngineError",
    "Fault",
    "Frame",
    "FunctionCost",
    "Image",
    "ImageError",
    "Machine",
    "MarkerEdge",
    "MemoryRegion",
    "PowerInterval",
    "Profile",
    "Sourced",
    "Stop",
    "Wiring",
]

class EngineError(Exception):
    """Bad input to the engine: the message says what, where and how to mend it."""

class ChipError(EngineError):
    """A chip file that is wrong; the message names the file and the key."""

class BoardError(EngineError):
    """A board file whose devices are wrong; the message names the file and the key."""

class ImageError(EngineError):
    """An image that cannot be read, or that is not for this chip."""

@final
class Sourced:
    """A physical constant with where it comes from."""

    @property
    def value(self) -> float: ...
    @property
    def source(self) -> str: ...
    @property
    def grade(self) -> Literal["measured", "datasheet", "inferred"]: ...

@final
class MemoryRegion:
    """One region of a chip's memory map."""

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> Literal["flash", "ram", "rom", "peripheral"]: ...
    @property
    def start(self) -> int: ...
    @property
    def size(self) -> int:
        """Bytes."""

@final
class Chip:
    """A chip file, checked: unknown keys and constants without a source are errors."""

    @staticmethod
    def load(path: str | PathLike[str]) -> Chip:
        """Read a chip file.

        Raises:
            ChipError: the file is wrong.
        """
    @property
    def name(self) -> str: ...
    @property
    def core(self) -> Literal["msp430", "armv7m"]: ...
    @property
    def cpu(self) -> str:
        """The core as compilers call it (`-mcpu`)."""
    @property
    def series(self) -> str:
        """The chips that share its peripherals."""
    @property
    def timing_note(self) -> str:
        """What of its emulated timing was not compared with silicon; empty where all was."""
    @property
    def memories_keep_state(self) -> bool:
        """Whether a cache or line buffers make times depend on what ran before."""
    @property
    def description(self) -> str: ...
    @property
    def digest(self) -> str:
        """SHA-256 of the file, hexadecimal."""
    @property
    def memories(self) -> list[MemoryRegion]: ...
    @property
    def vectors(self) -> dict[str, int]:
        """Interrupt vector names and the addresses of their table entries."""
    @property
    def registers(self) -> dict[str, tuple[int, int]]:
        """Peripheral register names: (address, width in bits)."""
    @property
    def power_states(self) -> list[str]:
        """Names of the power states that a machine reports."""
    def current_a(self, state: str, clock_hz: int, supply_v: float) -> Sourced:
        """Supply current in a power state, in ampere, as the chip's data gives it."""
    @property
    def absent(self) -> list[str]:
        """What the emulation leaves out; touching it is a fault that names it."""
    @property
    def settings(self) -> dict[str, tuple[int, str]]:
        """Settings of a machine at start: default and description."""

@final
class Wiring:
    """The devices that a board's file wires to its chip."""

    @staticmethod
    def load(path: str | PathLike[str]) -> Wiring:
        """Read the `[[device]]` tables of a board's file.

        Raises:
            BoardError: one of them is wrong.
        """
    @property
    def devices(self) -> dict[str, str]:
        """Titles of the devices by their names on the board."""
    def quiescent(self, device: str) -> list[str]:
        """States of a device whose current is in what is stated of the whole board.

        Raises:
            EngineError: no such device.
        """
    def current_a(self, device: str, state: str) -> Sourced:
        """Supply current of a device in a state, in ampere.

        Raises:
            EngineError: no such device or state.
        """

@final
class Image:
    """A program: ELF, Intel HEX, or raw bytes at an address."""

    @staticmethod
    def load(path: str | PathLike[str], raw_address: int | None = None) -> Image:
        """Read an image; the format is told from its contents, raw where an address is given.

        Raises:
            ImageError: unreadable, truncated or of no known format.
        """
    @property
    def format(self) -> Literal["elf", "ihex", "raw"]: ...
    @property
    def entry(self) -> int | None: ...
    @property
    def symbols(self) -> dict[str, int]: ...
    @property
    def digest(self) -> str:
        """SHA-256 of what is loaded (addresses and bytes), hexadecimal."""
    def resolve(self, address: str) -> int:
        """A number (decimal, 0x...) or a symbol, as an address.

        Raises:
            ImageError: no such symbol; the message offers near ones.
        """

@final
class Frame:
    """One call on the stack of the emulated program."""

    @property
    def address(self) -> int: ...
    @property
    def symbol(self) -> str: ...
    @property
    def offset(self) -> int: ...

@final
class Fault:
    """Something that silicon would have done silently and wrongly."""

    @property
    def kind(self) -> str:
        """Such as "unmapped", "misaligned", "flash-write", "watchdog", "absent"."""
    @property
    def message(self) -> str: ...
    @property
    def address(self) -> int | None:
        """The address that was touched, where there is one."""
    @property
    def call_stack(self) -> list[Frame]:
        """Innermost first; the first frame is where the fault happened."""

@final
class Stop:
    """Why a run ended."""

    @property
    def reason(self) -> Literal["address", "marker", "serial", "cycles", "time", "fault", "asleep"]:
        """What ended the run.

        "asleep": the core sleeps and nothing is due that could wake it.
        "serial": a byte that the caller waits for was sent by the program.
        """
    @property
    def address(self) -> int: ...
    @property
    def fault(self) -> Fault | None:
        """Why, or what led to the handler in which the program was when its cycles were spent."""

@final
class MarkerEdge:
    """A change of the marker pin."""

    @property
    def rising(self) -> bool: ...
    @property
    def cycles(self) -> int: ...
    @property
    def instructions(self) -> int: ...
    @property
    def time_ps(self) -> int: ...

@final
class PowerInterval:
    """A stretch of time in one power state at one clock."""

    @property
    def state(self) -> str: ...
    @property
    def clock_hz(self) -> int:
        """The core's clock, whether it is stopped in this state or not; 0 for a device."""
    @property
    def start_ps(self) -> int: ...
    @property
    def end_ps(self) -> int: ...

@final
class FunctionCost:
    """What one function of the program cost."""

    @property
    def name(self) -> str: ...
    @property
    def address(self) -> int: ...
    @property
    def calls(self) -> int: ...
    @property
    def self_cycles(self) -> int: ...
    @property
    def total_cycles(self) -> int:
        """With everything that it called; recursion is counted once."""
    @property
    def self_instructions(self) -> int: ...
    @property
    def stack_bytes(self) -> int:
        """The most stack that it and everything it called took, from its entry."""

@final
class CallPath:
    """One path of calls and the cycles spent at its end: a line of a flame graph."""

    @property
    def path(self) -> list[str]: ...
    @property
    def self_cycles(self) -> int: ...

@final
class Profile:
    """Cycles and instructions by function, and the call graph."""

    @property
    def functions(self) -> list[FunctionCost]: ...
    @property
    def paths(self) -> list[CallPath]: ...

@final
class Machine:
    """An emulated chip and its board. There are no globals: make many, in any thread."""

    def __new__(
        cls,
        chip: Chip,
        image: Image,
        *,
        wiring: Wiring | None = None,
        entry: int | None = None,
        marker: str | None = None,
        profile: bool = False,
        trace: bool = False,
        secrets_trace: bool = False,
        settings: dict[str, int] | None = None,
    ) -> Machine:
        """Load an image and reset.

        Args:
            chip: what to emulate.
            image: what to run.
            wiring: devices around the chip; without it the chip is bare.
            entry: start here instead of at the reset vector, as a debugger that places the
                program counter does: the stack pointer is at the end of RAM and the watchdog is
                held. An image without a reset vector starts so at its own entry.
            marker: pin that brackets measurements, such as "P2.3".
            profile: count cycles per function.
            trace: keep pin and power-state changes for `write_vcd` and `power_tracks`.
            secrets_trace: keep a digest of every address fetched, read and written; where there
                is a marker, between its rising and its falling edge.
            settings: named chip settings at start, as the chip file lists them.

        Raises:
            ImageError: the image is for another core or does not fit the chip's memory.
            BoardError: a device is wired to what the chip does not have.
        """
    def run(
        self,
        *,
        until: int | None = None,
        until_marker: bool = False,
        until_serial: int | None = None,
        until_asleep: bool = False,
        until_ps: int | None = None,
        max_cycles: int | None = None,
    ) -> Stop:
        """Run until a condition holds.

        A core that sleeps with nothing due sleeps on to the limit in time or cycles; where there is
        none, that sleep ends the run.

        Args:
            until: stop before executing the instruction at this address.
            until_marker: stop after the next change of the marker pin.
            until_serial: stop when the program has sent this byte on its serial port.
            until_asleep: stop when the core sleeps and nothing is due that could wake it.
            until_ps: stop at the first instruction that is not before this time since the start.
            max_cycles: stop when this many more cycles are spent.

        Raises:
            EngineError: a condition that this machine cannot watch.
        """
    @property
    def cycles(self) -> int:
        """Cycles of the core's clock, with those that passed while the core slept."""
    @property
    def sleep_cycles(self) -> int:
        """The part of `cycles` that the core slept through."""
    @property
    def instructions(self) -> int: ...
    @property
    def time_ps(self) -> int:
        """Time since the start."""
    @property
    def next_event_ps(self) -> int | None:
        """When the machine does something by itself: now, where its core runs.

        None where the core sleeps and nothing is due that could wake it.
        """
    @property
    def clock_hz(self) -> int:
        """The core clock now."""
    @property
    def registers(self) -> dict[str, int]: ...
    def set_register(self, name: str, value: int) -> None: ...
    def read_memory(self, address: int, length: int) -> bytes:
        """Read without side effects and without time.

        Raises:
            EngineError: the range is not memory.
        """
    def write_memory(self, address: int, data: bytes) -> None: ...
    @property
    def serial_ports(self) -> list[str]: ...
    def serial_write(self, port: str, data: bytes) -> None:
        """Queue bytes on the line into the chip.

        They wait until the program has switched its receiver on, then arrive at the line's speed.
        """
    def serial_read(self, port: str) -> bytes:
        """All bytes that the program has sent since the last call."""
    def serial_read_timed(self, port: str) -> list[tuple[int, int]]:
        """As `serial_read`, each byte with the time in ps at which its stop bit ended."""
    def set_pin(self, pin: str, high: bool) -> None:
        """Drive an input pin, such as "P1.0"."""
    @property
    def marker_edges(self) -> list[MarkerEdge]: ...
    def clear_observations(self) -> None:
        """Forget marker edges, profile, intervals and high-water marks; the machine goes on."""
    @property
    def stack_bytes(self) -> int:
        """Stack high-water mark since the last `clear_observations`, from where SP was then."""
    @property
    def power_tracks(self) -> dict[str, list[PowerInterval]]:
        """Power states since the last clear by part: "mcu" is the chip, others are devices.

        Empty without `trace`.
        """
    @property
    def profile(self) -> Profile:
        """Since the last clear.

        Raises:
            EngineError: the machine was made without `profile`.
        """
    @property
    def secrets_digest(self) -> str:
        """Digest of the addresses that `secrets_trace` watches, since it began or the last clear.

        Raises:
            EngineError: the machine was made without `secrets_trace`.
        """
    def write_vcd(self, path: str | PathLike[str]) -> None: ...
