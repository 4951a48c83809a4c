"""Run an image on an emulated chip: its serial line, and what happens between marker edges."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from joulemark.catalogue.kinds import BUDGET_CYCLES
from joulemark.errors import BudgetError, FaultError, LinkError
from joulemark.meters.power import Occupancy, occupancy

if TYPE_CHECKING:
    from joulemark._engine import (
        Chip,
        Followed,
        Image,
        Machine,
        MarkerEdge,
        Profile,
        Secrets,
        Wiring,
    )

NAME = "emulator"
UNIT = "emulated"

_QUIET_PER_S = 500
"""Reciprocal of two milliseconds of silence: at 9600 baud a byte takes one millisecond."""


@dataclass(frozen=True)
class Window:
    """Measurements between a rising and a falling marker edge."""

    cycles: int
    instructions: int
    stack_bytes: int
    times: Occupancy
    addresses: str
    """Digest of all addresses fetched, read and written."""
    profile: "Profile | None" = None
    """Cycles by function, if requested."""
    followed: "Followed | None" = None
    """Cost of each instruction, if requested."""


class EmulatedBoard:
    """An image that runs on an emulated chip.

    Args:
        chip: the chip to emulate.
        image: the image to run.
        wiring: devices wired to the chip.
        marker: pin that brackets measurements.
        port: serial port of the image's protocol.
        profile: count cycles per function.
        follow: keep the cost of each instruction.
        cold: begin each window with empty caches and line buffers.
        budget_cycles: cycles that an answer may take.
        earlier: a board that ran the same image and is no longer used; it speeds up emulation.
        met: what to do before the instruction at each of these addresses; it takes no time.
    """

    def __init__(
        self,
        chip: "Chip",
        image: "Image",
        *,
        wiring: "Wiring | None" = None,
        marker: str,
        port: str,
        profile: bool = False,
        follow: bool = False,
        cold: bool = False,
        budget_cycles: int = BUDGET_CYCLES,
        earlier: "EmulatedBoard | None" = None,
        met: "Mapping[int, Callable[[Machine], None]] | None" = None,
    ) -> None:
        from joulemark import _engine

        self._machine: Machine = _engine.Machine(
            chip,
            image,
            wiring=wiring,
            marker=marker,
            trace=True,
            secrets_trace=True,
            profile=profile,
            follow=follow,
        )
        self._image = image
        if earlier is not None:
            self._machine.learn_from(earlier._machine)
        self._met = dict(met or {})
        self._machine.watch(list(self._met))
        self._port = port
        self._profile, self._follow = profile, follow
        self._cold = cold
        self.opening: Callable[[Machine], None] | None = None
        """What to do as a window begins, in no time."""
        self.budget_cycles = budget_cycles
        self._windows: list[Window] = []

    @property
    def clock_hz(self) -> int:
        """Current frequency of the core's clock."""
        return self._machine.clock_hz

    def send(self, data: bytes) -> None:
        """Send bytes to the chip's serial port."""
        self._machine.serial_write(self._port, data)

    def receive(self) -> bytes:
        """Run until the program has sent a zero byte; return everything that it sent.

        Raises:
            FaultError: the program faulted.
            BudgetError: the program is stuck.
            LinkError: the program sleeps without having sent a zero byte.
        """
        machine = self._machine
        rising: MarkerEdge | None = None
        end = machine.cycles + self.budget_cycles
        while True:
            stop = machine.run(
                until_marker=True,
                until_serial=0,
                until_asleep=True,
                max_cycles=max(end - machine.cycles, 1),
            )
            if stop.reason == "serial":
                return machine.serial_read(self._port)
            if stop.reason == "address":
                self._met[stop.address](machine)
            elif stop.reason == "marker":
                edge = machine.marker_edges[-1]
                if edge.rising:
                    machine.clear_observations()
                    if self._cold:
                        machine.forget_memory()
                    if self.opening is not None:
                        self.opening(machine)
                    rising = edge
                elif rising is not None:
                    self._windows.append(self._window(rising, edge))
                    rising = None
            elif stop.fault is not None:
                calls = " < ".join(f"{f.symbol}+{f.offset:#x}" for f in stop.fault.call_stack)
                raise FaultError(f"{stop.fault.kind}: {stop.fault.message} ({calls})")
            elif stop.reason == "asleep":
                raise LinkError(f"the image does not answer; it sleeps at {stop.address:#06x}")
            else:
                raise BudgetError(
                    f"the image is stuck at {stop.address:#06x}: {self.budget_cycles:,} cycles "
                    f"without an answer ({_function_at(self._image, stop.address)})"
                )

    def count_activity(self) -> None:
        """Count what toggles in the core in windows from here on."""
        self._machine.count_activity(True)

    def take_activity(self) -> "list[bytes]":
        """Take what was counted since the last call; see `Machine.take_activity`."""
        return self._machine.take_activity()

    @property
    def follows_secrets(self) -> bool:
        """Whether the chip's core can follow secrets."""
        return self._machine.follows_secrets

    def follow(
        self, secrets: "list[tuple[str, int, int]]", public_code: "list[tuple[int, int]]"
    ) -> None:
        """Follow secrets from here on: name, address and number of bytes of each.

        What `public_code`, which are ranges of addresses, decides may be known.

        Raises:
            EngineError: they are outside memory, or too many.
        """
        self._machine.follow_secrets(secrets, public_code)

    @property
    def secrets(self) -> "Secrets":
        """What the followed secrets decided in windows so far."""
        return self._machine.secrets

    def read_memory(self, address: int, length: int) -> bytes:
        """Read the chip's memory, in no time."""
        return self._machine.read_memory(address, length)

    def settle(self) -> None:
        """Run until the program has sent nothing for a few milliseconds."""
        while True:
            self._machine.run(max_cycles=self._machine.clock_hz // _QUIET_PER_S)
            if not self._machine.serial_read(self._port):
                return

    def _window(self, rising: "MarkerEdge", falling: "MarkerEdge") -> Window:
        machine = self._machine
        return Window(
            cycles=falling.cycles - rising.cycles,
            instructions=falling.instructions - rising.instructions,
            stack_bytes=machine.stack_bytes,
            times=occupancy(machine.power_tracks, rising.time_ps, falling.time_ps),
            addresses=machine.secrets_digest,
            profile=machine.profile if self._profile else None,
            followed=machine.followed if self._follow else None,
        )

    def take_window(self) -> Window:
        """Return the last window since the previous call; a repeated command makes several.

        Raises:
            LinkError: there was no window.
        """
        windows, self._windows = self._windows, []
        if not windows:
            raise LinkError("the image answered, and its marker pin did not move")
        return windows[-1]


def _function_at(image: "Image", address: int) -> str:
    """Return the symbol before an address, with the distance from it."""
    at, name = max((at, name) for name, at in image.symbols.items() if at <= address)
    return f"{name}+{address - at:#x}"
