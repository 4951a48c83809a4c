"""Work given to processes of this machine: its results, and how the processes end."""

import multiprocessing
import os
import signal
import time
from functools import partial

import pytest

from joulemark.errors import JoulemarkError
from joulemark.measure.pool import in_processes


@pytest.mark.parametrize("count", [1, 2, 5])
def test_each_result_comes_with_what_it_is_of(count: int) -> None:
    assert dict(in_processes(int, ["3", "20", "1"], count)) == {"3": 3, "20": 20, "1": 1}
    assert not multiprocessing.active_children()


def test_one_process_is_this_one() -> None:
    assert [pid for _, pid in in_processes(_process, [0, 1], 1)] == [os.getpid()] * 2
    assert list(in_processes(_process, [], 2)) == []


def _process(_: int) -> int:
    return os.getpid()


def test_what_is_raised_there_is_raised_here() -> None:
    with pytest.raises(ValueError, match="'x'"):
        list(in_processes(int, ["3", "x", "1"], 2))
    assert not multiprocessing.active_children()


def test_a_process_that_is_killed_is_named() -> None:
    with pytest.raises(JoulemarkError, match=r"killed .* fewer --jobs"):
        list(in_processes(os._exit, [9, 9], 2))


def test_nothing_goes_on_when_the_caller_stops() -> None:
    began = time.monotonic()
    results = in_processes(time.sleep, [0, 600, 600], 2)
    assert next(results) == (0, None)
    results.close()  # type: ignore[attr-defined]
    assert not multiprocessing.active_children()
    assert time.monotonic() - began < 60


def test_ctrl_c_stops_them() -> None:
    """Ctrl-C while waiting for results."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        signal.alarm(3)
        with pytest.raises(KeyboardInterrupt):
            list(in_processes(time.sleep, [600, 600], 2))
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, before)
    assert not multiprocessing.active_children()


def test_functions_with_arguments_can_be_given() -> None:
    assert sorted(in_processes(partial(pow, 2), [3, 5], 2)) == [(3, 8), (5, 32)]
