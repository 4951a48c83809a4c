"""The processor's counters of a process's cycles and instructions (Linux's perf_event)."""

import ctypes
import os
from dataclasses import dataclass
from pathlib import Path

from joulemark.errors import LinkError


class _Files(ctypes.Structure):
    _fields_ = [("cycles", ctypes.c_int), ("instructions", ctypes.c_int)]


@dataclass(frozen=True)
class Counted:
    """Counts of a window in user mode."""

    cycles: int
    instructions: int


class Counters:
    """Counters of one process.

    Args:
        watch: a shared object with firmware/hal/host/counters.c.
        process: the process ID.
    """

    def __init__(self, watch: Path, process: int) -> None:
        self._library = ctypes.CDLL(str(watch))
        self._files = _Files()
        error = self._library.counters_open(ctypes.byref(self._files), process)
        self.why_not = os.strerror(error) if error else ""
        """Linux's reason if they do not work; empty if they do."""

    def start(self) -> None:
        """Start counting."""
        if not self.why_not:
            self._library.counters_start(ctypes.byref(self._files))

    def stop(self) -> Counted | None:
        """Return the counts since `start`; None if the counters do not work.

        Raises:
            LinkError: the counters were opened but cannot be read.
        """
        if self.why_not:
            return None
        cycles, instructions = ctypes.c_uint64(), ctypes.c_uint64()
        error = self._library.counters_stop(
            ctypes.byref(self._files), ctypes.byref(cycles), ctypes.byref(instructions)
        )
        if error:
            raise LinkError(f"counters cannot be read: {os.strerror(error)}", "perf_event")
        return Counted(cycles.value, instructions.value)
