"""The emulation engine (Rust): chips, images and machines.

All times are emulated; none of them depends on the machine that this runs on.
"""

from collections.abc import Sequence
from os import PathLike
from typing import Literal, final

__all__ = [
    "BoardError",
    "CallPath",
    "Chip",
    "ChipError",
    "EngineError",
    "Fault",
    "Followed",
    "Frame",
    "FunctionCost",
    "Hearing",
    "Image",
    "ImageError",
    "Machine",
    "MarkerEdge",
    "MemoryRegion",
    "Network",
    "PowerInterval",
    "Profile",
    "Sourced",
    "Stop",
    "Transmission",
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
    def fpu(self) -> str:
        """Its floating-point unit as compilers call it (`-mfpu`); empty where there is none."""
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
        """Such as "unmapped", "misaligned", "flash-write", "watchdog", "reset", "absent"."""
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
class Followed:
    """What ran when: instructions by address, and calls in the order of time."""

    @property
    def places(self) -> list[tuple[int, bool, int, int, int, int]]:
        """Address, whether the core slept there, index into `states`; cycles, instructions, ps."""
    @property
    def turns(self) -> list[tuple[int, int, bool, int]]:
        """Start in ps, index into `paths`, whether the core slept, index into `states`.

        Each lasts until the next one, the last until `end_ps`.
        """
    @property
    def end_ps(self) -> int: ...
    @property
    def paths(self) -> list[list[str]]:
        """Calls, outermost first."""
    @property
    def states(self) -> list[list[tuple[str, str, int]]]:
        """Power states that all parts were in at once: part, state, clock in Hz or 0."""

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
        follow: bool = False,
        resets: int = 0,
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
            follow: keep what each instruction cost, and calls in the order of time, for
                `followed`; with it a profile and a trace are kept. Slower.
            resets: how often a watchdog or the program may reset the chip; the next is a fault.
            settings: named chip settings at start, as the chip file lists them.

        Raises:
            ImageError: the image is for another core or does not fit the chip's memory.
            BoardError: a device is wired to what the chip does not have.
        """
    def learn_from(self, earlier: Machine) -> None:
        """Take over what a machine of the same chip and image found out of how long code takes.

        No result depends on it; first executions are emulated sooner.

        Args:
            earlier: has to find it out anew if it goes on.
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
    def watch(self, addresses: Sequence[int]) -> None:
        """Let every run stop before the instructions at these addresses, until others are given.

        Raises:
            EngineError: an address is beyond the address space.
        """
    def serve_gdb(self, host: str, port: int) -> None:
        """Let one debugger at the machine by GDB's remote protocol, until it goes.

        Registers, memory, steps, breakpoints and watchpoints for writes that change something. What
        a debugger does costs no emulated time.

        Raises:
            EngineError: the port cannot be had, or the debugger broke the protocol.
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
    def resets(self) -> int:
        """How often the chip was reset since the start."""
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
    def forget_memory(self) -> None:
        """Empty caches and line buffers, where there are any, as they are before anything ran."""
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
    def followed(self) -> Followed:
        """Since the last clear.

        Raises:
            EngineError: the machine was made without `follow`.
        """
    @property
    def secrets_digest(self) -> str:
        """Digest of the addresses that `secrets_trace` watches, since it began or the last clear.

        Raises:
            EngineError: the machine was made without `secrets_trace`.
        """
    def write_vcd(self, path: str | PathLike[str]) -> None: ...

@final
class Hearing:
    """What a transmission was at a mote."""

    @property
    def mote(self) -> int: ...
    @property
    def power_dbm(self) -> float:
        """That arrived."""
    @property
    def outcome(
        self,
    ) -> (
        Literal[
            "received",
            "corrupted",
            "abandoned",
            "deaf",
            "other-channel",
            "late",
            "busy",
            "weak",
            "collided",
            "lost",
        ]
        | None
    ):
        """What became of it; None where it is not known.

        "corrupted": received with wrong symbols. "abandoned": the receiver left in the middle.
        "deaf": off, or sending. "late": on too late for the delimiter. "busy": in the middle of
        another frame. "collided": other transmissions drowned the preamble. "lost": by the link.
        """

@final
class Transmission:
    """A transmission, in the network's time."""

    @property
    def mote(self) -> int: ...
    @property
    def number(self) -> int:
        """Among those of the mote, from 0 on."""
    @property
    def begin_ps(self) -> int:
        """Of its preamble."""
    @property
    def delimiter_ps(self) -> int:
        """The end of its start-of-frame delimiter."""
    @property
    def end_ps(self) -> int: ...
    @property
    def frequency_mhz(self) -> int: ...
    @property
    def power_dbm(self) -> float: ...
    @property
    def frame(self) -> bytes:
        """After the length byte, with its check sequence."""
    @property
    def is_cut(self) -> bool:
        """It was stopped before its end."""
    @property
    def hearings(self) -> list[Hearing]: ...

@final
class Network:
    """Machines that hear each other, on all cores.

    Results depend neither on the number of threads nor on how far machines run ahead of each other.
    """

    def __new__(
        cls, *, seed: int = 0, threads: int = 1, look_ahead_part: int | None = None
    ) -> Network:
        """Nobody, yet.

        Args:
            seed: what losses and bit errors are drawn from.
            threads: that machines run on.
            look_ahead_part: machines run ahead of each other by this part of what their radios
                allow, and do not rest: for tests.
        """
    def add(
        self,
        chip: Chip,
        image: Image,
        *,
        wiring: Wiring | None = None,
        start_ps: int = 0,
        ppb: int = 0,
        drift_ppb_per_hour: int = 0,
        watch: tuple[int, int] | None = None,
        trace: bool = False,
        marker: str | None = None,
        profile: bool = False,
        settings: dict[str, int] | None = None,
        flash: bytes | None = None,
        device_number: int | None = None,
    ) -> int:
        """Seat a machine; its number, from 0 on.

        Each chip is another one: where they are not asked for, `device_number`, `random_seed` and
        `trng_seed` are as many more than the default as motes are before it.

        Args:
            chip: as for a `Machine`.
            image: as for a `Machine`.
            wiring: as for a `Machine`.
            start_ps: when it is switched on.
            ppb: by how many parts in 10^9 its main crystal is too fast at its start; a clock
                without a crystal goes with it.
            drift_ppb_per_hour: by how much that grows in an hour.
            watch: the same two of its watch crystal; as the main one if not given.
            trace: keep power states.
            marker: as for a `Machine`.
            profile: as for a `Machine`.
            settings: as for a `Machine`.
            flash: the contents of the board's serial flash, from address 0 on.
            device_number: what tells the chip from others, or its board where that has a number.

        Raises:
            ImageError: as for a `Machine`.
            BoardError: as for a `Machine`.
            EngineError: the board has no serial flash, or neither it nor the chip a number.
        """
    def add_recording(self) -> int:
        """Seat a sender whose frames are given; its number."""
    def link(self, sender: int, receiver: int, *, attenuation_db: float, loss: float = 0.0) -> None:
        """Let what one sends arrive at another; `loss` is the part of the frames that does not."""
    def inject(
        self, sender: int, begin_ps: int, frequency_mhz: int, power_dbm: float, frame: bytes
    ) -> None:
        """Put a frame on the air, with its check sequence; a millisecond ahead at least.

        Raises:
            EngineError: it is too long or too soon.
        """
    def restart(
        self,
        mote: int,
        chip: Chip,
        image: Image,
        *,
        wiring: Wiring | None = None,
        trace: bool = False,
        settings: dict[str, int] | None = None,
        device_number: int | None = None,
    ) -> None:
        """Switch a mote off and on now: another machine takes its seat."""
    def run(self, until_ps: int) -> None:
        """Run all to a time of the network; who faults stays where it is."""
    @property
    def time_ps(self) -> int: ...
    @property
    def late(self) -> int:
        """Arrivals that were told too late, because a core was held longer than the look-ahead."""
    @property
    def digest(self) -> str:
        """SHA-256 of all transmissions that were taken and of what became of them."""
    def take_transmissions(self, *, all: bool = False) -> list[Transmission]:
        """Transmissions that are over, in the order of their begins.

        Up to the first whose fate is not known everywhere; with `all`, the others too.
        """
    def cycles(self, mote: int) -> int: ...
    def sleep_cycles(self, mote: int) -> int: ...
    def instructions(self, mote: int) -> int: ...
    def resets(self, mote: int) -> int:
        """How often its chip was reset by a watchdog or by its program, since it was on."""
    def fault(self, mote: int) -> Stop | None:
        """Why it cannot go on."""
    def has_radio(self, mote: int) -> bool: ...
    def read_memory(self, mote: int, address: int, length: int) -> bytes: ...
    def serial_ports(self, mote: int) -> list[str]: ...
    def serial_write(self, mote: int, port: str, data: bytes) -> None: ...
    def serial_read_timed(self, mote: int, port: str) -> list[tuple[int, int]]:
        """Bytes that it has sent since the last call, each with its time in picoseconds."""
    def marker_edges(self, mote: int) -> list[MarkerEdge]:
        """Changes of a mote's marker pin so far, in the network's time."""
    def profile(self, mote: int) -> Profile | None:
        """What a mote spent its cycles on; None where no profile is kept."""
    def take_power_tracks(self, mote: int) -> dict[str, list[PowerInterval]]:
        """Power states of each part since the last call, in the network's time."""
