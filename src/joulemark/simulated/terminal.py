"""A pseudo-terminal for a simulated instrument."""

import os
import threading
import tty

from joulemark import ready

_LOOK_S = 0.05


class Terminal:
    """The instrument's end; a client that opens `port` has the other one.

    Threads block in `read` and `write` until there is something to do or `close` is called. Join
    them before the descriptors are closed: their numbers go to the next file that is opened.
    """

    def __init__(self) -> None:
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)  # kept open, so that a client may come and go
        os.set_blocking(self._master, False)
        self.port = os.ttyname(self._slave)
        self._closed = threading.Event()

    @property
    def closed(self) -> bool:
        """Whether the terminal is closing."""
        return self._closed.is_set()

    def read(self, most: int) -> bytes:
        """Wait for bytes; return none once it is closed."""
        while not self._closed.is_set():
            if ready.to_read(self._master, _LOOK_S):
                return os.read(self._master, most)
        return b""

    def write(self, data: bytes) -> None:
        """Send bytes as fast as they are read; drop them once it is closed."""
        left = memoryview(data)
        while left and not self._closed.is_set():
            if ready.to_write(self._master, _LOOK_S):
                left = left[os.write(self._master, left) :]

    def close(self, *threads: threading.Thread) -> None:
        """Unplug, once these threads have ended."""
        if self._closed.is_set():
            return
        self._closed.set()
        for thread in threads:
            thread.join()
        os.close(self._slave)
        os.close(self._master)
