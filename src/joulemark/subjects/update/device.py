"""An emulated device that is updated over its serial line, and that may lose its power."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NoReturn

from joulemark._engine import Machine, Stop
from joulemark.catalogue import chips
from joulemark.catalogue.boards import Board
from joulemark.errors import BudgetError, FaultError, UnsatisfiedError, VerificationError
from joulemark.subjects.update.layout import SLOTS, Bootloader
from joulemark.subjects.update.manifest import VENDOR, Manifest, device_class, envelope
from joulemark.subjects.update.signatures import Signature

REQUESTED = 0x4A6D7570
"""What an application writes to ask for an update (firmware/update/bootloader/main.c)."""
READY, ACCEPTED, REFUSED = b"r", b"y", b"n"
BLOCK_BYTES = 256
BUDGET_CYCLES = 20_000_000_000
_ENTRY_OFFSET = 0x40
_FOREVER = (0xE7FE).to_bytes(2, "little")
"""B to itself."""

STAGES = {
    "update_receive": "receive",
    "update_check_manifest": "verify",
    "update_hash": "hash",
    "update_erase": "erase",
    "update_write": "write",
}
"""What functions of the bootloader do."""


@dataclass(frozen=True)
class Release:
    """A signed image for a slot."""

    slot: int
    sequence: int
    envelope: bytes
    image: bytes


@dataclass(frozen=True)
class Interval:
    """A stage's execution."""

    stage: str
    start_ps: int
    end_ps: int


@dataclass
class Run:
    """What a device did from its reset to the start of an image."""

    started: int | None = None
    """Slot of the image that it started; None if it waits for an update."""
    answers: list[bytes] = field(default_factory=list)
    """ACCEPTED or REFUSED, after each update."""
    intervals: list[Interval] = field(default_factory=list)
    answered_ps: int | None = None
    """Time of the first answer."""


class Kit:
    """A bootloader on a board, and what makes images for it.

    Args:
        board: the board.
        signature: the signature.
        bootloader: the bootloader.
    """

    def __init__(self, board: Board, signature: Signature, bootloader: Bootloader) -> None:
        self.board, self.signature, self.bootloader = board, signature, bootloader
        self.chip = chips.load_chip(board.chip)

    def __str__(self) -> str:
        return f"verifying {self.signature.name} on {self.board.name}"

    @cached_property
    def identity(self) -> bytes:
        """What is written to a device once."""
        names = VENDOR.bytes + device_class(self.board.name).bytes
        return names + self.signature.public_keys

    def entry(self, slot: int) -> int:
        """Return the address where an image in a slot starts."""
        return self.bootloader.layout.image(slot) + _ENTRY_OFFSET

    def image(self, slot: int, size: int, version: int) -> bytes:
        """Return an image that waits for ever: vectors, an instruction, and arbitrary bytes."""
        ram = max((m for m in self.chip.memories if m.kind == "ram"), key=lambda m: m.size)
        vectors = [ram.start + ram.size, self.entry(slot) | 1]
        head = b"".join(number.to_bytes(4, "little") for number in vectors)
        seed = f"{version} {slot}".encode()
        body = hashlib.shake_256(seed).digest(size - _ENTRY_OFFSET - len(_FOREVER))
        return head.ljust(_ENTRY_OFFSET, b"\xff") + _FOREVER + body

    def release(self, slot: int, size: int, sequence: int) -> Release:
        """Return a signed image."""
        image = self.image(slot, size, sequence)
        manifest = Manifest(board=self.board.name, slot=slot, sequence=sequence, image=image)
        number = sequence % 8
        return Release(slot, sequence, envelope(manifest, self.signature, number), image)


class Device:
    """A device, from power-on.

    Args:
        kit: its bootloader.
        flash: what is in flash beside the bootloader, by address.
        requested: whether the application asked for an update before the reset.
        earlier: a device with the same bootloader that runs no further; it speeds up emulation.
        measured: whether to keep power states and stages.
    """

    def __init__(
        self,
        kit: Kit,
        flash: Mapping[int, bytes],
        *,
        requested: bool = False,
        earlier: "Device | None" = None,
        measured: bool = False,
    ) -> None:
        self._kit, self._measured = kit, measured
        self._symbols = kit.bootloader.image.symbols
        self.machine = Machine(
            kit.chip, kit.bootloader.image, wiring=kit.board.wiring, trace=measured, resets=1
        )
        if earlier is not None:
            self.machine.learn_from(earlier.machine)
        for address, data in flash.items():
            self.machine.write_memory(address, data)
        if requested:
            word = REQUESTED.to_bytes(4, "little")
            self.machine.write_memory(self._symbols["update_request"], word)
        entries = [kit.entry(slot) for slot in range(SLOTS)]
        stages = [self._symbols[name] & ~1 for name in STAGES] if measured else []
        self._stage_of = dict(zip(stages, STAGES.values(), strict=False))
        self._watched = [*entries, *stages]
        self.machine.watch(self._watched)

    @property
    def flash(self) -> dict[int, bytes]:
        """What is in flash beside the bootloader, such as after a loss of power."""
        layout = self._kit.bootloader.layout
        length = layout.end - layout.identity
        return {layout.identity: self.machine.read_memory(layout.identity, length)}

    def run(self, release: Release | None = None, *, cut_cycles: int | None = None) -> Run:
        """Run until an image starts, or the device waits for an update that there is not.

        Args:
            release: what is sent when the device asks for it.
            cut_cycles: stop at this cycle, as if the power failed; the device runs no further.

        Raises:
            BudgetError: it does neither.
            FaultError: it faulted.
            VerificationError: it asks for more than there is.
        """
        seen = Run()
        machine = self.machine
        blocks = [] if release is None else _blocks(release)
        limit = BUDGET_CYCLES if cut_cycles is None else cut_cycles
        while True:
            left = limit - machine.cycles
            if left <= 0:
                if cut_cycles is None:
                    raise BudgetError("the bootloader does not come to an end", str(release))
                return seen
            stop = machine.run(until_asleep=True, max_cycles=left)
            if self._attend(stop, seen, blocks):
                return seen

    def _attend(self, stop: Stop, seen: Run, blocks: list[bytes]) -> bool:
        """Act on why the machine stopped; return whether that was the end."""
        if stop.reason == "fault":
            self._refuse(stop)
        if stop.reason == "address":
            for slot in range(SLOTS):
                if stop.address == self._kit.entry(slot):
                    seen.started = slot
                    self._hear(seen)
                    return True
            self._stage(stop.address, seen, blocks)
        elif stop.reason == "asleep":
            return not self._feed(seen, blocks)
        return False

    def _refuse(self, stop: Stop) -> NoReturn:
        fault = stop.fault
        what = fault.message if fault else "it faulted"
        limit = self._symbols["stack_limit"]
        if fault is not None and fault.address is not None and "stack" in what:
            # It would have grown further.
            short = limit - fault.address
            raise UnsatisfiedError(f"RAM is short by {short:,} bytes or more", str(self._kit))
        calls = " < ".join(f.symbol for f in fault.call_stack) if fault else ""
        raise FaultError(f"the bootloader faulted: {what} ({calls})")

    def _hear(self, seen: Run) -> int:
        """Take what the device said; return how many blocks it asks for."""
        said = self.machine.serial_read(self._kit.board.serial.port)
        for byte in said:
            if bytes([byte]) in (ACCEPTED, REFUSED):
                seen.answers.append(bytes([byte]))
                seen.answered_ps = seen.answered_ps or self.machine.time_ps
        # After a refusal it asks for another update.
        return said.rpartition(REFUSED)[2].rpartition(ACCEPTED)[2].count(READY)

    def _feed(self, seen: Run, blocks: list[bytes]) -> bool:
        """Send the block that the device waits for; false if there is none."""
        asked = self._hear(seen)
        if seen.answers or not blocks:
            return False
        if asked != 1:
            raise VerificationError(f"the bootloader asks for {asked} blocks at once")
        self.machine.serial_write(self._kit.board.serial.port, blocks.pop(0))
        return True

    def _stage(self, address: int, seen: Run, blocks: list[bytes]) -> None:
        """Run a stage to its end."""
        machine = self.machine
        start_ps = machine.time_ps
        back = machine.registers["lr"] & ~1
        machine.watch([back])
        while True:
            stop = machine.run(until_asleep=True, max_cycles=BUDGET_CYCLES)
            if stop.reason == "address":
                break
            if stop.reason == "fault":
                self._refuse(stop)
            if stop.reason != "asleep" or not self._feed(seen, blocks):
                raise VerificationError(f"{self._stage_of[address]} does not end: {stop.reason}")
        machine.watch(self._watched)
        seen.intervals.append(Interval(self._stage_of[address], start_ps, machine.time_ps))


def _blocks(release: Release) -> list[bytes]:
    """Return what is sent each time the device asks."""
    blocks = [len(release.envelope).to_bytes(4, "little")]
    for data in (release.envelope, release.image):
        blocks += [data[i : i + BLOCK_BYTES] for i in range(0, len(data), BLOCK_BYTES)]
    return blocks


def provisioned(kit: Kit, releases: Sequence[Release]) -> dict[int, bytes]:
    """Return the flash of a device with an identity and images as it leaves the factory."""
    layout = kit.bootloader.layout
    flash = {layout.identity: kit.identity}
    for release in releases:
        flash[layout.manifest(release.slot)] = release.envelope
        flash[layout.image(release.slot)] = release.image
    return flash
