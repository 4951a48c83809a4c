"""The machine that this runs on: its cores, what sets their clock, and whether it is throttled."""

import ctypes
import os
from dataclasses import dataclass
from pathlib import Path

from joulemark.errors import VerificationError

_CPUS = Path("/sys/devices/system/cpu")
_THROTTLED = Path("/sys/devices/platform/soc/soc:firmware/get_throttled")
"""Raspberry Pi's firmware, as `vcgencmd get_throttled` shows it."""
_NOW = (
    (1 << 0, "the supply's voltage is too low"),
    (1 << 1, "the clock is capped"),
    (1 << 2, "it is throttled"),
    (1 << 3, "it is too hot"),
)
"""Bits of that, as the documentation of vcgencmd has them; higher ones tell of the past."""
STEADY = 0.03
"""How far apart two readings of a clock may be, as a fraction, that is called one clock."""
BOOSTED = 0.15
"""The same where no file says what the clock is: what a processor boosts to comes and goes."""


@dataclass(frozen=True)
class Core:
    """One core, to which what is measured is pinned."""

    number: int

    @classmethod
    def quietest(cls) -> "Core":
        """The last that this process may use: interrupts tend to go to the first."""
        return cls(max(os.sched_getaffinity(0)))

    @property
    def governor(self) -> str | None:
        """The clock's governor; None where Linux does not set the clock."""
        try:
            path = _CPUS / f"cpu{self.number}" / "cpufreq" / "scaling_governor"
            return path.read_text(encoding="ascii").strip()
        except OSError:
            return None

    @property
    def advice(self) -> str | None:
        """Advice about the governor, where it lets the clock vary."""
        governor = self.governor
        if governor in {None, "performance"}:
            return None
        return (
            f"cpu{self.number}'s governor is {governor}; for a steady clock: echo performance | "
            f"sudo tee {_CPUS}/cpu{self.number}/cpufreq/scaling_governor"
        )

    def pin(self, pid: int) -> None:
        """Let a process run on this core alone."""
        os.sched_setaffinity(pid, {self.number})

    def clock_hz(self, meter: Path) -> int:
        """The clock that it runs at now, measured by this process.

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
"""Environment variable by which a program is told of its marker (firmware/hal/host/marker.h)."""


def environment(marker: str | None) -> dict[str, str]:
    """Environment of a program beyond this process's own."""
    return {**os.environ, MARKER: marker or ""}


def refuse_throttled(throttled: Path = _THROTTLED) -> None:
    """Refuse to measure where the firmware says that it holds the machine back.

    Raises:
        VerificationError: it does, now.
    """
    try:
        flags = int(throttled.read_text(encoding="ascii"), 16)
    except (OSError, ValueError):
        return
    if said := [text for bit, text in _NOW if flags & bit]:
        mend = "give it a better supply or cable, or let it cool"
        raise VerificationError(f"not measured: {', '.join(said)}", str(throttled), mend)


def check_clock(before_hz: int, after_hz: int, nominal_hz: int | None) -> None:
    """Refuse a run whose clock was not one clock, or not that of the machine's file.

    Args:
        before_hz: measured before the run.
        after_hz: measured after it.
        nominal_hz: of the machine's file; None where there is none.

    Raises:
        VerificationError: the clock moved, or the machine runs slower than it should.
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
