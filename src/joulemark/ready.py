"""Waiting for a file that another process or an instrument is at the other end of.

Not by `select.select`, which refuses descriptors of 1,024 and more: a process that has many files
open has such ones.
"""

import select


def to_read(descriptor: int, timeout_s: float) -> bool:
    """Wait until there is something to read, or that the other end is gone."""
    return _within(descriptor, select.POLLIN, timeout_s)


def to_write(descriptor: int, timeout_s: float) -> bool:
    """Wait until something can be written, or that the other end is gone."""
    return _within(descriptor, select.POLLOUT, timeout_s)


def _within(descriptor: int, event: int, timeout_s: float) -> bool:
    waiting = select.poll()
    waiting.register(descriptor, event)
    return bool(waiting.poll(timeout_s * 1e3))
