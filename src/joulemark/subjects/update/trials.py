"""Power failures during an update, and updates that must be refused, on an emulated device."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from joulemark.errors import VerificationError
from joulemark.subjects.update.device import REFUSED, Device, Kit, Release, provisioned, record

_OLDER, _OLD, _NEW = 9_999, 10_000, 10_001
AGAIN = 0.25
"""Share of power failures after which it fails again, during the next start."""


@dataclass(frozen=True)
class Cut:
    """A power failure."""

    cycle: int
    slot: int
    """The image that started afterwards."""


@dataclass
class Trials:
    """A device that has been updated for long, and one more update for it.

    The update overwrites an older image, and its number the first of the counter's pages, so that
    a power failure meets cells in every state.

    Args:
        kit: its bootloader.
        image_bytes: size of both images.
    """

    kit: Kit
    image_bytes: int

    @cached_property
    def old(self) -> Release:
        """The image that runs."""
        return self.kit.release(0, self.image_bytes, _OLD)

    @cached_property
    def new(self) -> Release:
        """The update."""
        return self.kit.release(1, self.image_bytes, _NEW)

    @cached_property
    def _before(self) -> Device:
        older = self.kit.release(1, self.image_bytes, _OLDER)
        flash = provisioned(self.kit, [older, self.old])
        layout = self.kit.bootloader.layout
        places = 2 * layout.counter_page // len(record(_OLD))
        numbers = range(_OLD + 1 - places, _OLD + 1)
        flash[layout.counter] = b"".join(record(number) for number in numbers)
        device = Device(self.kit, flash)
        _require(device.run().started == 0, "the old image does not start")
        return device

    @cached_property
    def cycles(self) -> int:
        """How long an update takes, from the reset to the start of the new image."""
        device = self._asked(self._before)
        _require(device.run(self.new).started == 1, "the update does not start")
        return device.machine.cycles

    def _asked(self, earlier: Device) -> Device:
        return Device(self.kit, self._before.flash, requested=True, earlier=earlier)

    def power_cuts(self, count: int, seed: int = 1) -> Iterator[Cut]:
        """Let the power fail at random cycles of an update, and check what starts afterwards.

        Raises:
            VerificationError: nothing starts, or an image that is not whole.
        """
        drawn = random.Random(seed)
        cycles, earlier = self.cycles, self._before
        for _ in range(count):
            cycle = drawn.randrange(1, cycles)
            device = self._asked(earlier)
            device.run(self.new, cut_cycles=cycle)
            if drawn.random() < AGAIN:
                device = Device(self.kit, device.flash, torn=device.torn, earlier=device)
                device.run(cut_cycles=drawn.randrange(1, cycles))
            after = Device(self.kit, device.flash, torn=device.torn, earlier=device)
            slot = after.run().started
            where = f"power failure at cycle {cycle}"
            if slot is None:
                raise VerificationError("nothing starts any more", where)
            started = (self.old, self.new)[slot]
            found = after.image(slot, len(started.image))
            _require(found == started.image, f"an image starts that is not whole: {where}")
            earlier = after
            yield Cut(cycle, slot)

    def refused(self, release: Release) -> None:
        """Send an update that has to be refused.

        Raises:
            VerificationError: it is accepted, or the old image does not start any more.
        """
        device = self._asked(self._before)
        run = device.run(release)
        _require(run.answers == [REFUSED], f"it is answered by {run.answers}")
        _require(run.started == 0, f"slot {run.started} starts")

    def altered(self, count: int, seed: int = 1) -> Iterator[Release]:
        """Yield updates of which one bit is wrong, in the envelope and in the image by turns.

        Most of an envelope is its signature; the manifest is its end, where every other one is.
        """
        drawn, new = random.Random(seed), self.new
        for number in range(count):
            if number % 2:
                yield replace(new, image=_flipped(drawn, new.image, 0))
                continue
            start = 0 if number % 4 else len(new.envelope) - _MANIFEST_BYTES
            yield replace(new, envelope=_flipped(drawn, new.envelope, start))


_MANIFEST_BYTES = 110


def _flipped(drawn: random.Random, data: bytes, start: int) -> bytes:
    changed = bytearray(data)
    changed[drawn.randrange(start, len(data))] ^= 1 << drawn.randrange(8)
    return bytes(changed)


def _require(condition: bool, what: str) -> None:
    if not condition:
        raise VerificationError(what)
