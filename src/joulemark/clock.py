"""The time that measurements use: this machine's, or an emulated bench's."""

import time
from typing import Protocol


class Clock(Protocol):
    """Source of timestamps and pauses."""

    def now_s(self) -> float:
        """Return the seconds since an arbitrary moment."""

    def sleep(self, seconds: float) -> None:
        """Pause for this many seconds; return at once if they are not above zero."""


class HostClock:
    """This machine's clock."""

    def now_s(self) -> float:
        """Return the seconds since an arbitrary moment."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Pause."""
        time.sleep(max(seconds, 0.0))


HOST = HostClock()
