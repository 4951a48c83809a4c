"""Ctrl-C at moments when it can do no harm."""

import contextlib
import signal
import threading
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import TypeVar

T = TypeVar("T")

LOOK_S = 0.05
"""Between two looks whether Ctrl-C was pressed."""


@contextlib.contextmanager
def deferred() -> Iterator[Callable[[], None]]:
    """Keep Ctrl-C back until it is asked for, or until the end of the block.

    Raised inside `concurrent.futures` it can leave a future's lock held for good: who then cancels
    that future, as the shutdown of its pool does, waits for ever.

    Yields:
        What raises the `KeyboardInterrupt` that was kept back, if any.
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
    """Futures in the order in which they end, as in `concurrent.futures`; Ctrl-C between them."""
    pending = set(futures)
    with deferred() as strike:
        while pending:
            done, pending = wait(pending, LOOK_S, FIRST_COMPLETED)
            strike()
            yield from done
