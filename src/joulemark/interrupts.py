"""Defer Ctrl-C to moments when it can do no harm."""

import contextlib
import signal
import threading
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import TypeVar

T = TypeVar("T")

LOOK_S = 0.05
"""Interval at which Ctrl-C is checked for."""


@contextlib.contextmanager
def deferred() -> Iterator[Callable[[], None]]:
    """Hold Ctrl-C back until it is asked for, or until the end of the block.

    A `KeyboardInterrupt` inside `concurrent.futures` can leave a future's lock held for good;
    cancelling that future, as the shutdown of its pool does, then waits for ever.

    Yields:
        A function that raises the `KeyboardInterrupt` that was held back, if any.
    """
    came = False

    def keep(_number: int, _frame: object) -> None:
        nonlocal came
        came = True

    def strike() -> None:
        nonlocal came
        if came:
            came = False
            raise KeyboardInterrupt

    here = threading.current_thread() is threading.main_thread()
    if not here or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield strike
        return
    signal.signal(signal.SIGINT, keep)
    try:
        yield strike
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    strike()


def as_completed(futures: Collection[Future[T]]) -> Iterator[Future[T]]:
    """Yield futures as they complete, like `concurrent.futures`; Ctrl-C is raised between them."""
    pending = set(futures)
    with deferred() as strike:
        while pending:
            done, pending = wait(pending, LOOK_S, FIRST_COMPLETED)
            strike()
            yield from done
