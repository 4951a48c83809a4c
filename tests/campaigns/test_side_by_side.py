"""Work in threads: all of it, in parallel, and no more once someone stops."""

import os
import threading
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from joulemark.errors import LinkError
from joulemark.measure.side_by_side import side_by_side

CORES = len(os.sched_getaffinity(0))


def test_as_many_as_there_are_cores_run_at_once() -> None:
    together = threading.Barrier(CORES, timeout=30)
    assert len(list(side_by_side(together.wait for _ in range(3 * CORES)))) == 3 * CORES


def test_work_is_taken_in_the_callers_thread_and_results_come_before_its_end() -> None:
    here, seen = threading.get_ident(), threading.Event()

    def work() -> Iterator[Callable[[], int]]:
        yield lambda: 1
        while not seen.wait(0.01):
            assert threading.get_ident() == here
            yield lambda: 2
        yield lambda: 3

    results = side_by_side(work())
    first = next(results)
    seen.set()
    assert first in (1, 2)
    assert 3 in list(results)


@pytest.mark.parametrize("ended_by", ["an error", "the caller"])
def test_nothing_else_is_begun_when_it_ends_early(ended_by: str) -> None:
    begun: list[int] = []
    gate = threading.Event()

    def one(number: int) -> int:
        begun.append(number)
        if number > 0:
            gate.wait(30)
        elif ended_by == "an error":
            raise LinkError("no answer", "qemu")
        return number

    results = side_by_side([partial(one, number) for number in range(50)])
    if ended_by == "an error":
        threading.Timer(0.2, gate.set).start()
        with pytest.raises(LinkError, match="no answer"):
            list(results)
    else:
        assert next(results) == 0
        threading.Timer(0.2, gate.set).start()
        results.close()  # type: ignore[attr-defined]
    assert len(begun) <= 2 * CORES + 1
