"""An emulated device that is updated over its serial line, and that may lose its power."""

import hashlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NoReturn

from joulemark._engine import Machine, Stop
from joulemark.catalogue import chips
from joulemark.catalogue.boards import Board
from joulemark.errors import BudgetError, FaultError, UnsatisfiedError, VerificationError
from joulemark.subjects.update.layout import OUTSIDE, SLOTS, Bootloader, serial_flash
from joulemark.subjects.update.manifest import VENDOR, Manifest, device_class, envelope
from joulemark.subjects.update.signatures import Signature

REQUESTED = 0x4A6D7570
"""What an application writes to ask for an update (firmware/update/bootloader/main.c)."""
READY, ACCEPTED, REFUSED = b"r", b"y", b"n"
BLOCK_BYTES = 256
BUDGET_CYCLES = 20_000_000_000
_ENTRY_OFFSET = 0x40
_FOREVER = {"armv7m": (0xE7FE).to_bytes(2, "little"), "msp430": (0x3FFF).to_bytes(2, "little")}
"""A branch to itself, by core."""
_LONGEST_INSTRUCTION = 20
"""More cycles than any of the MSP430's takes, but a change of flash."""

STAGES = {
    "update_receive": "receive",
    "update_check_manifest": "verify",
    "update_hash": "hash",
    "update_erase": "erase",
    "update_write": "write",
    "update_read": "read",
    "update_install": "install",
}
"""What functions of the bootloader do; the last two where slots are apart from the chip."""


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
        return self.bootloader.layout.runs(slot) + _ENTRY_OFFSET

    def image(self, slot: int, size: int, version: int) -> bytes:
        """Return an image that waits for ever: vectors, an instruction, and arbitrary bytes."""
        forever = _FOREVER[self.chip.core]
        # Its slot comes before its first instruction, to tell images apart that run at one place.
        head = self._vectors(slot).ljust(_ENTRY_OFFSET - 1, b"\xff") + bytes([slot])
        seed = f"{version} {slot}".encode()
        return head + forever + hashlib.shake_256(seed).digest(size - _ENTRY_OFFSET - len(forever))

    def _vectors(self, slot: int) -> bytes:
        if self.chip.core == "msp430":
            return self.entry(slot).to_bytes(2, "little")
        ram = max((m for m in self.chip.memories if m.kind == "ram"), key=lambda m: m.size)
        numbers = (ram.start + ram.size, self.entry(slot) | 1)
        return b"".join(number.to_bytes(4, "little") for number in numbers)

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
        torn: addresses of what is half written in it, which the chip reports when it is read.
        requested: whether the application asked for an update before the reset.
        earlier: a device with the same bootloader that runs no further; it speeds up emulation.
        measured: whether to keep power states and stages.
    """

    def __init__(
        self,
        kit: Kit,
        flash: Mapping[int, bytes],
        *,
        torn: Sequence[int] = (),
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
        self._outside = serial_flash(kit.board)
        for address, data in flash.items():
            if address < OUTSIDE:
                self.machine.write_memory(address, data)
        self.machine.tear_flash(torn)
        if self._outside is not None:
            self.machine.load_serial_flash(self._outside, _contents(flash))
        word = (REQUESTED if requested else 0).to_bytes(4, "little")
        self.machine.write_memory(self._symbols["update_request"], word)
        entries = [kit.entry(slot) for slot in range(SLOTS)]
        self._stage_of = {
            self._symbols[name] & ~1: stage
            for name, stage in STAGES.items()
            if measured and name in self._symbols
        }
        self._watched = [*entries, *self._stage_of]
        # The MSP430 stands still while its own flash changes, which the engine does at once.
        names = ("flash_erase", "flash_write") if kit.chip.core == "msp430" else ()
        self._changes = [self._symbols[name] for name in names]
        self._before: dict[int, bytes] = {}
        self._torn: dict[int, bytes] = {}
        self.machine.watch(self._watched)

    @property
    def flash(self) -> dict[int, bytes]:
        """What is in flash beside the bootloader, such as after a loss of power."""
        return {
            address: self._read(address, length)
            for address, length in self._kit.bootloader.layout.kept
        } | self._torn

    @property
    def torn(self) -> list[int]:
        """Addresses of what is half written in it, if the chip reports that."""
        return self.machine.torn_flash()

    def _inside(self) -> dict[int, bytes]:
        kept = self._kit.bootloader.layout.kept
        return {at: self._read(at, length) for at, length in kept if at < OUTSIDE}

    def _tear(self, is_erasing: bool, drawn: int) -> None:
        """Undo a part of the change of the chip's flash in which the power failed."""
        for at, now in self._inside().items():
            before = self._before[at]
            changed = [i for i in range(len(now)) if now[i] != before[i]]
            # Words that were written earlier are there.
            mixed, some = bytearray(now), changed if is_erasing else changed[-2:]
            bits = random.Random(drawn).randbytes(len(some))
            for i, mask in zip(some, bits, strict=True):
                mixed[i] = before[i] & mask | now[i] & ~mask
            self._torn[at] = bytes(mixed)

    def _read(self, address: int, length: int) -> bytes:
        if address < OUTSIDE or self._outside is None:
            return self.machine.read_memory(address, length)
        return self.machine.read_serial_flash(self._outside)[address - OUTSIDE :][:length]

    def image(self, slot: int, size: int) -> bytes:
        """Return what runs as a slot's image."""
        return self._read(self._kit.bootloader.layout.runs(slot), size)

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
        if cut_cycles is not None:
            machine.watch([*self._watched, *self._changes])
        last = 0
        while True:
            left = limit - machine.cycles
            if left <= 0:
                if cut_cycles is None:
                    raise BudgetError("the bootloader does not come to an end", str(release))
                if self._changes and -left > _LONGEST_INSTRUCTION:
                    self._tear(last == self._symbols["flash_erase"], cut_cycles)
                return seen
            stop = machine.run(until_asleep=True, max_cycles=left)
            if stop.reason == "address" and stop.address in self._changes:
                self._before, last = self._inside(), stop.address
                continue
            if self._attend(stop, seen, blocks):
                return seen

    def _attend(self, stop: Stop, seen: Run, blocks: list[bytes]) -> bool:
        """Act on why the machine stopped; return whether that was the end."""
        if stop.reason == "fault":
            self._refuse(stop)
        if stop.reason == "address":
            if stop.address == self._kit.entry(0) and self._outside is not None:
                seen.started = self._read(stop.address - 1, 1)[0]
            else:
                entries = [self._kit.entry(slot) for slot in range(SLOTS)]
                seen.started = entries.index(stop.address) if stop.address in entries else None
            if seen.started is not None:
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

    def _return_address(self) -> int:
        """Return where a function that was just called returns to."""
        registers = self.machine.registers
        if "lr" in registers:
            return registers["lr"] & ~1
        return int.from_bytes(self.machine.read_memory(registers["sp"], 2), "little")

    def _stage(self, address: int, seen: Run, blocks: list[bytes]) -> None:
        """Run a stage to its end."""
        machine = self.machine
        start_ps = machine.time_ps
        back = self._return_address()
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


def _contents(flash: Mapping[int, bytes]) -> bytes:
    """Return a serial flash's contents."""
    outside = {address - OUTSIDE: data for address, data in flash.items() if address >= OUTSIDE}
    contents = bytearray(b"\xff" * max((at + len(d) for at, d in outside.items()), default=0))
    for at, data in outside.items():
        contents[at : at + len(data)] = data
    return bytes(contents)


def record(number: int) -> bytes:
    """Return how the counter keeps a number (firmware/update/bootloader/counter.c)."""
    return number.to_bytes(4, "little") + (number ^ 0xFFFFFFFF).to_bytes(4, "little")


def provisioned(kit: Kit, releases: Sequence[Release]) -> dict[int, bytes]:
    """Return the flash of a device with an identity and images as it leaves the factory."""
    layout = kit.bootloader.layout
    # What is kept is blank, not unknown.
    flash = {} if layout.run is None else {at: b"\xff" * size for at, size in layout.kept}
    flash[layout.identity] = kit.identity + flash.get(layout.identity, b"")[len(kit.identity) :]
    for release in releases:
        flash[layout.manifest(release.slot)] = release.envelope
        flash[layout.image(release.slot)] = release.image
    return flash
