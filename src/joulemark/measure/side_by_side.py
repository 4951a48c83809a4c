"""Runs work that spends its time in other processes, such as compilers, in threads of this one."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TypeVar

from joulemark.interrupts import LOOK_S, deferred

T = TypeVar("T")


def side_by_side(work: Iterable[Callable[[], T]]) -> Iterator[T]:
    """Yield the results of all work as they come, with one thread per core of this machine.

    When the caller stops, work that has begun is completed and no more is begun.

    Args:
        work: consumed in the caller's thread.
    """
    cores = len(os.sched_getaffinity(0))
    pending: set[Future[T]] = set()
    with deferred() as strike, ThreadPoolExecutor(cores) as pool:
        try:
            for one in work:
                pending.add(pool.submit(one))
                strike()
                done, pending = wait(pending, 0)
                yield from (future.result() for future in done)
            while pending:
                done, pending = wait(pending, LOOK_S, FIRST_COMPLETED)
                strike()
                yield from (future.result() for future in done)
        finally:
            for future in pending:
                future.cancel()
