"""Wait for a file whose other end is another process or an instrument.

This uses `poll`, because `select.select` refuses descriptors from 1,024 on, which a process with
many open files has.
"""

import select


def to_read(descriptor: int, timeout_s: float) -> bool:
    """Wait until there is something to read or the other end is closed; False after the timeout."""
    return _within(descriptor, select.POLLIN, timeout_s)


def to_write(descriptor: int, timeout_s: float) -> bool:
    """Wait until writing is possible or the other end is closed; False after the timeout."""
    return _within(descriptor, select.POLLOUT, timeout_s)


def _within(descriptor: int, event: int, timeout_s: float) -> bool:
    waiting = select.poll()
    waiting.register(descriptor, event)
    return bool(waiting.poll(timeout_s * 1e3))
