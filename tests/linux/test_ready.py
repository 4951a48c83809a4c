"""Waiting for another process's output."""

import contextlib
import fcntl
import os
import resource

import pytest

from joulemark import ready

BEYOND_SELECT = 1100
"""`select.select` accepts only descriptors below 1,024."""


@pytest.fixture
def pipe() -> tuple[int, int]:
    """A pipe of a process with many open files: its reading and its writing end."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft <= BEYOND_SELECT + 1:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    low = os.pipe()
    ends = tuple(fcntl.fcntl(end, fcntl.F_DUPFD, BEYOND_SELECT) for end in low)
    for end in low:
        os.close(end)
    return ends[0], ends[1]


def test_descriptors_of_any_number_are_waited_for(pipe: tuple[int, int]) -> None:
    reads, writes = pipe
    assert not ready.to_read(reads, 0)
    assert ready.to_write(writes, 0)
    os.write(writes, b"x")
    assert ready.to_read(reads, 1)
    assert os.read(reads, 1) == b"x"
    os.close(writes)
    assert ready.to_read(reads, 1)  # its end
    os.close(reads)


def test_a_full_pipe_is_not_ready_until_its_reader_has_gone(pipe: tuple[int, int]) -> None:
    reads, writes = pipe
    os.set_blocking(writes, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writes, bytes(4096))
    assert not ready.to_write(writes, 0.01)
    os.close(reads)
    assert ready.to_write(writes, 1)
    os.close(writes)
