"""The machine that this runs on: its cores, their clock, and whether it is throttled."""

import ctypes
import os
from dataclasses import dataclass
from pathlib import Path

from joulemark.errors import VerificationError

_CPUS = Path("/sys/devices/system/cpu")
_THROTTLED = Path("/sys/devices/platform/soc/soc:firmware/get_throttled")
"""Flags of Raspberry Pi's firmware, as shown by `vcgencmd get_throttled`."""
_NOW = (
    (1 << 0, "the supply's voltage is too low"),
    (1 << 1, "the clock is capped"),
    (1 << 2, "it is throttled"),
    (1 << 3, "it is too hot"),
)
"""Bits of these flags, from the documentation of vcgencmd; higher bits record past events."""
STEADY = 0.03
"""Largest relative difference between two readings of a steady clock."""
BOOSTED = 0.15
"""The same if no file states the clock: a processor's boost comes and goes."""


@dataclass(frozen=True)
class Core:
    """A core to which measured processes are pinned."""

    number: int

    @classmethod
    def quietest(cls) -> "Core":
        """Return the last core that this process may use: interrupts tend to go to the first."""
        return cls(max(os.sched_getaffinity(0)))

    @property
    def governor(self) -> str | None:
        """The clock's governor; None if Linux does not control the clock."""
        try:
            path = _CPUS / f"cpu{self.number}" / "cpufreq" / "scaling_governor"
            return path.read_text(encoding="ascii").strip()
        except OSError:
            return None

    @property
    def advice(self) -> str | None:
        """Advice about the governor if it lets the clock vary; None otherwise."""
        governor = self.governor
        if governor in {None, "performance"}:
            return None
        return (
            f"cpu{self.number}'s governor is {governor}; for a steady clock: echo performance | "
            f"sudo tee {_CPUS}/cpu{self.number}/cpufreq/scaling_governor"
        )

    def pin(self, pid: int) -> None:
        """Restrict a process to this core."""
        os.sched_setaffinity(pid, {self.number})

    def clock_hz(self, meter: Path) -> int:
        """Measure the core's current clock in this process.

        Args:
            meter: a shared object with `clock_hz` (firmware/hal/host/clock.c).
        """
        measure = ctypes.CDLL(str(meter)).clock_hz
        measure.restype = ctypes.c_uint64
        allowed = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {self.number})
        try:
            return int(measure())
        finally:
            os.sched_setaffinity(0, allowed)


MARKER = "JOULEMARK_MARKER"
"""Environment variable that names a program's marker (firmware/hal/host/marker.h)."""


def environment(marker: str | None) -> dict[str, str]:
    """Return this process's environment with a program's marker added."""
    return {**os.environ, MARKER: marker or ""}


def refuse_throttled(throttled: Path = _THROTTLED) -> None:
    """Check that the firmware is not currently throttling the machine.

    Raises:
        VerificationError: it is.
    """
    try:
        flags = int(throttled.read_text(encoding="ascii"), 16)
    except (OSError, ValueError):
        return
    if said := [text for bit, text in _NOW if flags & bit]:
        mend = "give it a better supply or cable, or let it cool"
        raise VerificationError(f"not measured: {', '.join(said)}", str(throttled), mend)


def check_clock(before_hz: int, after_hz: int, nominal_hz: int | None) -> None:
    """Check that the clock was steady during a run, and not below that of the machine's file.

    Args:
        before_hz: clock measured before the run.
        after_hz: clock measured after the run.
        nominal_hz: clock in the machine's file; None if there is no file.

    Raises:
        VerificationError: the clock changed, or is lower than it should be.
    """
    mend = "set the governor to performance, stop what else runs, and mind supply and heat"
    steady = BOOSTED if nominal_hz is None else STEADY
    if abs(after_hz - before_hz) > steady * before_hz:
        what = f"the clock went from {before_hz / 1e6:.0f} to {after_hz / 1e6:.0f} MHz"
        raise VerificationError(f"not measured: {what}", "clock", mend)
    slowest = min(before_hz, after_hz)
    if nominal_hz is not None and slowest < (1 - STEADY) * nominal_hz:
        what = f"it runs at {slowest / 1e6:.0f} MHz instead of {nominal_hz / 1e6:.0f}"
        raise VerificationError(f"not measured: {what}", "clock", mend)
