"""The emulation engine (Rust): chips, images and machines.

All times are emulated and independent of the machine that this runs on.
"""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Literal, final

__all__ = [
    "ACTIVITY",
    "DIGEST",
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
    "Phy",
    "PowerInterval",
    "PowerTracks",
    "Profile",
    "SecretUse",
    "Secrets",
    "Sourced",
    "Stop",
    "Transmission",
    "Wiring",
]

ACTIVITY: list[str]
"""What `Machine.take_activity` counts, in order."""
DIGEST: str
"""Digest of what the engine computes: of its sources without comments, layout and tests."""

class EngineError(Exception):
    """Invalid input to the engine: the message says what is wrong, where, and how to mend it."""

class ChipError(EngineError):
    """An invalid chip file; the message names the file and the key."""

class BoardError(EngineError):
    """A board file with invalid devices; the message names the file and the key."""

class ImageError(EngineError):
    """An image that cannot be read or does not fit the chip."""

@final
class Sourced:
    """A physical constant with its source."""

    @property
    def value(self) -> float: ...
    @property
    def source(self) -> str: ...
    @property
    def grade(self) -> Literal["measured", "datasheet", "inferred"]: ...

@final
class MemoryRegion:
    """A region of a chip's memory map."""

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
    """A validated chip file: unknown keys and constants without a source are errors."""

    @staticmethod
    def load(path: str | PathLike[str]) -> Chip:
        """Read a chip file.

        Raises:
            ChipError: the file is invalid.
        """
    @property
    def name(self) -> str: ...
    @property
    def core(self) -> str: ...
    @property
    def cpu(self) -> str:
        """The core's name for compilers (`-mcpu`)."""
    @property
    def fpu(self) -> str:
        """Its floating-point unit's name for compilers (`-mfpu`); empty if it has none."""
    @property
    def series(self) -> str:
        """Name of the series of chips that share its peripherals."""
    @property
    def memories_keep_state(self) -> bool:
        """Whether caches or line buffers make times depend on earlier execution."""
    @property
    def description(self) -> str: ...
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
        """Return the supply current in a power state, in ampere, from the chip's data."""
    @property
    def absent(self) -> list[str]:
        """Parts that are not emulated; touching one is a fault that names it."""
    @property
    def settings(self) -> dict[str, tuple[int, str]]:
        """A machine's settings at start, by name: default and description."""

@final
class Wiring:
    """The devices that a board's file wires to its chip."""

    @staticmethod
    def load(path: str | PathLike[str]) -> Wiring:
        """Read the `[[device]]` tables of a board's file.

        Raises:
            BoardError: one of them is invalid.
        """
    @property
    def devices(self) -> dict[str, str]:
        """Titles of the devices by their names on the board."""
    def quiescent(self, device: str) -> list[str]:
        """Return the states of a device whose current the whole board's stated currents include.

        Raises:
            EngineError: no such device.
        """
    def current_a(self, device: str, state: str) -> Sourced:
        """Return the supply current of a device in a state, in ampere.

        Raises:
            EngineError: no such device or state.
        """

@final
class Image:
    """A program: ELF, Intel HEX, or raw bytes at an address."""

    @staticmethod
    def load(path: str | PathLike[str], raw_address: int | None = None) -> Image:
        """Read an image; its format is detected, unless an address is given, which makes it raw.

        Raises:
            ImageError: the file is unreadable, truncated or of an unknown format.
        """
    @property
    def format(self) -> Literal["elf", "ihex", "uf2", "raw"]: ...
    @property
    def entry(self) -> int | None: ...
    @property
    def symbols(self) -> dict[str, int]: ...
    @property
    def digest(self) -> str:
        """SHA-256 of the loaded addresses and bytes, hexadecimal."""
    def resolve(self, address: str) -> int:
        """Convert a number (decimal, 0x...) or a symbol to an address.

        Raises:
            ImageError: no such symbol; the message suggests similar ones.
        """
    def with_variables(self, values: Mapping[str, int]) -> Image:
        """Return the same image with other initial values of variables, by symbol.

        Raises:
            ImageError: no such variable, it has no initial value, or a value does not fit.
        """

@final
class Frame:
    """A call on the stack of the emulated program."""

    @property
    def address(self) -> int: ...
    @property
    def symbol(self) -> str: ...
    @property
    def offset(self) -> int: ...

@final
class Fault:
    """Something that silicon would do silently and wrongly."""

    @property
    def kind(self) -> str:
        """For example "unmapped", "misaligned", "flash-write", "watchdog", "reset", "absent"."""
    @property
    def message(self) -> str: ...
    @property
    def address(self) -> int | None:
        """The address that was accessed, if there is one."""
    @property
    def call_stack(self) -> list[Frame]:
        """Frames, innermost first; the first is where the fault happened."""

@final
class Stop:
    """Why a run ended."""

    @property
    def reason(self) -> Literal["address", "marker", "serial", "cycles", "time", "fault", "asleep"]:
        """What ended the run.

        "asleep": the core sleeps and no pending event could wake it.
        "serial": the program sent the byte that the caller waits for.
        """
    @property
    def address(self) -> int: ...
    @property
    def fault(self) -> Fault | None:
        """The fault that ended the run, or that led to the handler in which its cycles ran out."""

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
    """An interval in one power state at one clock."""

    @property
    def state(self) -> str: ...
    @property
    def clock_hz(self) -> int:
        """The core's clock, even if it is stopped in this state; 0 for a device."""
    @property
    def start_ps(self) -> int: ...
    @property
    def end_ps(self) -> int: ...

@final
class FunctionCost:
    """Cost of one function of the program."""

    @property
    def name(self) -> str: ...
    @property
    def address(self) -> int: ...
    @property
    def end(self) -> int:
        """The address behind its last byte; 0 for code without a symbol."""
    @property
    def calls(self) -> int: ...
    @property
    def self_cycles(self) -> int: ...
    @property
    def total_cycles(self) -> int:
        """Cycles including callees; recursion is counted once."""
    @property
    def self_instructions(self) -> int: ...
    @property
    def stack_bytes(self) -> int:
        """Maximum stack used by it and its callees, measured from its entry."""

@final
class CallPath:
    """A path of calls and the cycles spent in its last function: a line of a flame graph."""

    @property
    def path(self) -> list[str]: ...
    @property
    def self_cycles(self) -> int: ...

@final
class Profile:
    """Cycles and instructions by function, and by path of calls."""

    @property
    def functions(self) -> list[FunctionCost]: ...
    @property
    def paths(self) -> list[CallPath]: ...

@final
class Followed:
    """Execution over time: costs by instruction address, and calls in chronological order."""

    @property
    def places(self) -> list[tuple[int, bool, int, int, int, int]]:
        """Address, whether the core slept there, index into `states`; cycles, instructions, ps."""
    @property
    def turns(self) -> list[tuple[int, int, bool, int]]:
        """Start in ps, index into `paths`, whether the core slept, index into `states`.

        Each lasts until the next one starts, the last until `end_ps`.
        """
    @property
    def end_ps(self) -> int: ...
    @property
    def paths(self) -> list[list[str]]:
        """Paths of calls, outermost first."""
    @property
    def states(self) -> list[list[tuple[str, str, int]]]:
        """Combinations of power states: for every part its name, state, and clock in Hz or 0."""
    @property
    def stack_pointers(self) -> list[int]:
        """Values that stack pointers had between instructions, ascending.

        The lowest within a thread's stack says how much of it was used.
        """

@final
class SecretUse:
    """An instruction that uses a secret to decide something."""

    @property
    def address(self) -> int: ...
    @property
    def decided_at(self) -> int:
        """The instruction that set the flags which decide; otherwise the same."""
    @property
    def decides(self) -> str:
        """`branch`, `condition`, `select`, `target`, `address`, `time`, `pointer`, `exception`."""
    @property
    def times(self) -> int: ...
    @property
    def parts(self) -> list[tuple[str, int, int]]:
        """Secret bytes that its operand can come from: name, first and last byte's number."""
    @property
    def extra_cycles(self) -> int | None:
        """Cycles between its longest and its shortest time; None if later instructions decide."""
    @property
    def span(self) -> tuple[int, int]:
        """For an address, the lowest and the highest that it can be."""
    @property
    def call_stack(self) -> list[Frame]:
        """At the first time, innermost first; the first frame is the instruction itself."""

@final
class Secrets:
    """What secrets decided."""

    @property
    def uses(self) -> list[SecretUse]:
        """In order of addresses."""
    @property
    def reached(self) -> int:
        """Number of different instructions executed."""
    @property
    def one_way(self) -> list[tuple[int, bool]]:
        """Conditional branches that always went the same way, and whether they were taken."""
    @property
    def devices(self) -> list[tuple[int, list[tuple[str, int, int]]]]:
        """Device registers that secrets were written to, or that a device fetched them by."""
    @property
    def lost(self) -> list[int]:
        """Stores to secret addresses so far apart that not all they may change is marked."""

@final
class Machine:
    """An emulated chip and its board. There are no globals: create many, in any thread."""

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
        surroundings: Mapping[str, Sequence[tuple[int, int]]] | None = None,
    ) -> Machine:
        """Load an image and reset.

        Args:
            chip: the chip to emulate.
            image: the image to run.
            wiring: devices wired to the chip; without it the chip is bare.
            entry: start here instead of at the reset vector, like a debugger that sets the program
                counter: the stack pointer is at the end of RAM and the watchdog is held. An image
                without a reset vector starts at its entry in the same way.
            marker: pin that brackets measurements, such as "P2.3".
            profile: count cycles per function.
            trace: keep pin and power-state changes for `write_vcd` and `power_tracks`.
            secrets_trace: keep a digest of every address fetched, read and written; with a marker,
                only between its rising and its falling edge.
            follow: keep the cost of each instruction, and calls in chronological order, for
                `followed`; this implies a profile and a trace. Slower.
            resets: how often a watchdog or the program may reset the chip; the next is a fault.
            settings: named chip settings at start, as listed in the chip file.
            surroundings: what sensors find, by quantity (such as "temperature_c"): times in
                picoseconds and values in millionths, with straight lines between them.

        Raises:
            ImageError: the image is for another core or does not fit the chip's memory.
            BoardError: a device is wired to something that the chip does not have.
        """
    def learn_from(self, earlier: Machine) -> None:
        """Take over the code timing that a machine of the same chip and image has learned.

        No result depends on it, but first executions are emulated faster.

        Args:
            earlier: the machine to take it from, which must learn it anew if it runs on.
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

        A core that sleeps with no pending event sleeps until the limit in time or cycles; if there
        is no limit, the run ends.

        Args:
            until: stop before executing the instruction at this address.
            until_marker: stop after the next change of the marker pin.
            until_serial: stop when the program has sent this byte on its serial port.
            until_asleep: stop when the core sleeps and no pending event could wake it.
            until_ps: stop at the first instruction at or after this time since the start.
            max_cycles: stop when this many more cycles are spent.

        Raises:
            EngineError: this machine cannot watch such a condition.
        """
    def watch(self, addresses: Sequence[int]) -> None:
        """Make every run stop before the instructions at these addresses, until others are given.

        Raises:
            EngineError: an address is beyond the address space.
        """
    def serve_gdb(
        self,
        host: str,
        port: int,
        energy: Callable[[dict[str, list[PowerInterval]], int], str] | None = None,
    ) -> None:
        """Serve one debugger over GDB's remote serial protocol until it disconnects.

        It can use registers, memory, single steps, breakpoints, and watchpoints for reads and for
        writes that change a value. It can ask with `monitor`, and go back: the machine is then run
        again from its start. Its actions cost no emulated time.

        Args:
            host: the address to listen at.
            port: the port to listen at.
            energy: says what was drawn, of power states by part until a time in ps.

        Raises:
            EngineError: the port is not available, or the debugger broke the protocol.
        """
    @property
    def cycles(self) -> int:
        """Cycles of the core's clock, including those that passed while the core slept."""
    @property
    def sleep_cycles(self) -> int:
        """The part of `cycles` in which the core slept."""
    @property
    def instructions(self) -> int: ...
    @property
    def resets(self) -> int:
        """Number of resets since the start."""
    @property
    def time_ps(self) -> int:
        """Time since the start."""
    @property
    def next_event_ps(self) -> int | None:
        """Time of the machine's next activity of its own: now, if its core runs.

        None if the core sleeps and no pending event could wake it.
        """
    @property
    def clock_hz(self) -> int:
        """Current frequency of the core clock."""
    @property
    def registers(self) -> dict[str, int]: ...
    def set_register(self, name: str, value: int) -> None: ...
    def read_memory(self, address: int, length: int) -> bytes:
        """Read memory without side effects and without taking time.

        Raises:
            EngineError: the range is not memory.
        """
    def write_memory(self, address: int, data: bytes) -> None: ...
    @property
    def serial_ports(self) -> list[str]: ...
    def torn_flash(self) -> list[int]:
        """Return the addresses of double words of flash whose error correction reports an error.

        They are what a loss of power at this moment leaves half erased or half programmed, in a
        chip whose flash has error correction.
        """

    def tear_flash(self, addresses: Sequence[int]) -> None:
        """Let double words of flash be read with such an error until they are written."""

    def read_serial_flash(self, device: str) -> bytes:
        """Return what a loss of power at this moment leaves in a board's serial flash."""

    def load_serial_flash(self, device: str, data: bytes) -> None:
        """Load a board's serial flash from its address 0 on, in no emulated time."""

    def serial_write(self, port: str, data: bytes) -> None:
        """Queue bytes on the line into the chip.

        They wait until the program enables its receiver, then arrive at the line's speed.
        """
    def serial_read(self, port: str) -> bytes:
        """Return the bytes that the program has sent since the last call."""
    def serial_read_timed(self, port: str) -> list[tuple[int, int]]:
        """Like `serial_read`, but with the time in ps at which each byte's stop bit ended."""
    def set_pin(self, pin: str, high: bool) -> None:
        """Drive an input pin, such as "P1.0"."""
    @property
    def marker_edges(self) -> list[MarkerEdge]: ...
    def forget_memory(self) -> None:
        """Empty caches and line buffers, if any, to their state before execution."""
    def clear_observations(self) -> None:
        """Discard marker edges, profile, intervals and high-water marks; the machine runs on."""
    @property
    def stack_bytes(self) -> int:
        """Stack high-water mark since the last `clear_observations`, relative to SP then."""
    @property
    def power_tracks(self) -> dict[str, list[PowerInterval]]:
        """Power states by part since the last `clear_observations`: "mcu" is the chip.

        Other parts are devices. Empty without `trace`.
        """
    @property
    def profile(self) -> Profile:
        """Profile since the last `clear_observations`.

        Raises:
            EngineError: the machine was created without `profile`.
        """
    @property
    def followed(self) -> Followed:
        """Execution over time since the last `clear_observations`.

        Raises:
            EngineError: the machine was created without `follow`.
        """
    @property
    def secrets_digest(self) -> str:
        """Digest of the addresses that `secrets_trace` watches, since the start or the last clear.

        Raises:
            EngineError: the machine was created without `secrets_trace`.
        """
    def count_activity(self, on: bool) -> None:
        """From now on count what toggles in the core, cycle by cycle, or stop.

        With a marker, only what is between its edges counts.
        """
    def take_activity(self) -> list[bytes]:
        """Take what was counted since the last call.

        Returns:
            A byte for each of `ACTIVITY` for each cycle; then 32-bit words, little end first: for
            each cycle the address of the instruction that begins to execute, or 0, and that of the
            one whose data are on the memory bus, or 0.
        """
    @property
    def follows_secrets(self) -> bool:
        """Whether this machine's core can follow secrets."""
    def follow_secrets(
        self,
        secrets: list[tuple[str, int, int]],
        public_code: list[tuple[int, int]] | None = None,
    ) -> None:
        """From now on follow secrets through registers and memory, and no others.

        What they decide is found between the marker's edges, or without a marker from now on. What
        was found of the same secrets before is kept.

        Args:
            secrets: name, address and number of bytes of each; at most 64.
            public_code: first addresses of code, and those behind it. What its instructions decide
                may be known: it is found all the same, and what it says of the registers that they
                compare is no secret.

        Raises:
            EngineError: the core cannot, there are more, or one is outside memory.
        """
    def forget_secrets(self) -> None:
        """Follow no secrets any more, and forget what was found."""
    def declare_public(self, address: int, length: int) -> None:
        """Take bytes for public from now on, whatever they were derived from.

        Raises:
            EngineError: they are outside memory.
        """
    @property
    def secrets(self) -> Secrets:
        """What the followed secrets decided so far.

        Raises:
            EngineError: none are followed.
        """
    def write_vcd(self, path: str | PathLike[str]) -> None: ...

@final
class Hearing:
    """A transmission as a mote received it."""

    @property
    def mote(self) -> int: ...
    @property
    def power_dbm(self) -> float:
        """Received power."""
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
            "other-phy",
            "other-sync",
            "late",
            "busy",
            "weak",
            "collided",
            "lost",
        ]
        | None
    ):
        """What became of the transmission; None if not known yet.

        "corrupted": received with wrong symbols. "abandoned": the receiver stopped in the middle.
        "deaf": the receiver was off or sending. "other-phy": it receives another PHY.
        "other-sync": it looks for another synchronisation word. "late": it was on too late for the
        delimiter. "busy": it was receiving another frame. "collided": other transmissions drowned
        the preamble. "lost": the link lost it.
        """

@final
class Phy:
    """How a radio puts bytes on the air.

    Args:
        name: "oqpsk-2450" is that of IEEE 802.15.4 at 2.4 GHz, "gfsk-1m" that of Bluetooth LE.

    Raises:
        EngineError: there is no such PHY.
    """

    def __new__(cls, name: str) -> Phy: ...
    @staticmethod
    def names() -> list[str]:
        """Return the names of all PHYs."""
    @property
    def name(self) -> str: ...
    @property
    def byte_ps(self) -> int:
        """Duration of a byte."""
    @property
    def synchronisation_ps(self) -> int:
        """Duration of preamble and synchronisation word."""
    @property
    def overhead_bytes(self) -> int:
        """Bytes on the air besides the frame."""
    @property
    def check_bytes(self) -> int:
        """Length of a frame's check sequence."""
    @property
    def frame_bytes_max(self) -> int:
        """Length of the longest frame, including its check sequence."""
    def check_sequence(self, frame: bytes) -> bytes:
        """Compute a frame's check sequence, as it is sent."""
    def channel(self, frequency_mhz: int) -> int | None:
        """Return the channel with this centre frequency; None between channels."""
    def frequency_mhz(self, channel: int) -> int | None:
        """Return a channel's centre frequency; None if there is no such channel."""

@final
class Transmission:
    """A transmission, in the network's time."""

    @property
    def mote(self) -> int: ...
    @property
    def number(self) -> int:
        """Index among the mote's transmissions, from 0."""
    @property
    def phy(self) -> Phy:
        """How its bytes were on the air."""
    @property
    def begin_ps(self) -> int:
        """Start of its preamble."""
    @property
    def delimiter_ps(self) -> int:
        """End of its start-of-frame delimiter."""
    @property
    def end_ps(self) -> int: ...
    @property
    def frequency_mhz(self) -> int: ...
    @property
    def power_dbm(self) -> float: ...
    @property
    def sync(self) -> int:
        """Its synchronisation word, such as a connection's access address; 0 for the PHY's own."""
    @property
    def frame(self) -> bytes:
        """Its bytes without those of the PHY, including the check sequence."""
    @property
    def is_cut(self) -> bool:
        """Whether it was stopped before its end."""
    @property
    def hearings(self) -> list[Hearing]: ...

@final
class PowerTracks:
    """Power states by part, of each mote: a dict[str, list[PowerInterval]], made when asked for."""

    def __len__(self) -> int: ...
    def __getitem__(self, mote: int, /) -> dict[str, list[PowerInterval]]: ...

@final
class Network:
    """Machines that hear each other, run by several threads.

    Results depend neither on the number of threads nor on how far machines run ahead of each other.
    """

    def __new__(
        cls, *, seed: int = 0, threads: int = 1, look_ahead_part: int | None = None
    ) -> Network:
        """Create an empty network.

        Args:
            seed: seed of losses and bit errors.
            threads: number of threads that run machines.
            look_ahead_part: for tests: machines run ahead of each other by this part of what their
                radios allow, and do not rest.
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
        surroundings: Mapping[str, Sequence[tuple[int, int]]] | None = None,
    ) -> int:
        """Add a machine and return its number, from 0.

        Every chip is a different one: unless given, `device_number`, `random_seed` and `trng_seed`
        are the default plus the number of motes before it.

        Args:
            chip: as for a `Machine`.
            image: as for a `Machine`.
            wiring: as for a `Machine`.
            start_ps: when it is switched on.
            ppb: how much too fast its main crystal is at its start, in parts per 10^9; a clock
                without a crystal has the same error.
            drift_ppb_per_hour: how much that grows per hour.
            watch: the same two values for its watch crystal; those of the main one if not given.
            trace: keep power states.
            marker: as for a `Machine`.
            profile: as for a `Machine`.
            settings: as for a `Machine`.
            flash: the contents of the board's serial flash, from address 0 on.
            device_number: unique number of the chip, or of its board if the chip has none.
            surroundings: as for a `Machine`; its time begins when it is switched on.

        Raises:
            ImageError: as for a `Machine`.
            BoardError: as for a `Machine`.
            EngineError: the board has no serial flash, or neither it nor the chip has a number.
        """
    def add_recording(self) -> int:
        """Add a sender whose frames are injected, and return its number."""
    def link(self, sender: int, receiver: int, *, attenuation_db: float, loss: float = 0.0) -> None:
        """Let a receiver hear a sender; `loss` is the fraction of frames that is lost."""
    def inject(
        self,
        sender: int,
        phy: Phy,
        begin_ps: int,
        frequency_mhz: int,
        power_dbm: float,
        frame: bytes,
    ) -> None:
        """Schedule a frame, including its check sequence, at least a millisecond in advance.

        Raises:
            EngineError: the frame has a wrong length or is too soon.
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
        surroundings: Mapping[str, Sequence[tuple[int, int]]] | None = None,
    ) -> None:
        """Switch a mote off and on now: a new machine takes its place."""
    def run(self, until_ps: int) -> None:
        """Run all machines up to a time of the network; a machine that faults stops there."""
    @property
    def time_ps(self) -> int: ...
    @property
    def late(self) -> int:
        """Arrivals announced too late, because a core was held longer than the look-ahead."""
    @property
    def digest(self) -> str:
        """SHA-256 of all transmissions taken so far and their outcomes."""
    def take_transmissions(self, *, all: bool = False) -> list[Transmission]:
        """Take finished transmissions, in the order in which they began.

        Stop before the first whose outcome is not known at every mote, unless `all` is given.
        """
    def cycles(self, mote: int) -> int: ...
    def sleep_cycles(self, mote: int) -> int: ...
    def instructions(self, mote: int) -> int: ...
    def resets(self, mote: int) -> int:
        """Return how often its watchdog or program reset the chip since power-on."""
    def fault(self, mote: int) -> Stop | None:
        """Return why a mote cannot run on; None if it can."""
    def has_radio(self, mote: int) -> bool: ...
    def read_memory(self, mote: int, address: int, length: int) -> bytes: ...
    def serial_ports(self, mote: int) -> list[str]: ...
    def serial_write(self, mote: int, port: str, data: bytes) -> None: ...
    def serial_read_timed(self, mote: int, port: str) -> list[tuple[int, int]]:
        """Return the bytes that it has sent since the last call, each with its time in ps."""
    def serial_take(self) -> list[tuple[int, str, list[tuple[int, int]]]]:
        """Return the same for each mote and port that has sent something."""
    def marker_edges(self, mote: int) -> list[MarkerEdge]:
        """Return all changes of a mote's marker pin so far, in the network's time."""
    def profile(self, mote: int) -> Profile | None:
        """Return a mote's profile; None if none is kept."""
    def take_power_tracks(self, mote: int) -> dict[str, list[PowerInterval]]:
        """Take the power states of each part since the last call, in the network's time."""
    def take_all_power_tracks(self) -> PowerTracks:
        """Take those of all motes, and add their times to `occupancy`."""
    def occupancy(self, mote: int) -> dict[tuple[str, str, int], int]:
        """Return a mote's time in ps by part, power state and clock, as far as it was taken."""
    def faulted(self) -> list[int]:
        """Return the motes that cannot run on."""
