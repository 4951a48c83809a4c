"""The time that measuring goes by: this machine's, or an emulated bench's."""

import time
from typing import Protocol


class Clock(Protocol):
    """Source of pauses and time stamps."""

    def now_s(self) -> float:
        """Seconds since some moment."""

    def sleep(self, seconds: float) -> None:
        """Come back when so many seconds have passed; at once where they are not above zero."""


class HostClock:
    """This machine's clock."""

    def now_s(self) -> float:
        """Seconds since this machine started."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(max(seconds, 0.0))


HOST = HostClock()
