"""Worker processes on this machine; results are handed over as they are made."""

import contextlib
import ctypes
import itertools
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Lock
from typing import TYPE_CHECKING, TypeVar

from joulemark.campaign.build import Threads
from joulemark.campaign.job import Job
from joulemark.errors import JoulemarkError
from joulemark.interrupts import as_completed, deferred

if TYPE_CHECKING:
    from joulemark.records.record import PrimitiveRecord

A = TypeVar("A")
T = TypeVar("T")

_TOGETHER_S = 0.1
"""Records made within this time are handed over and written together, because a transaction takes
longer than many cases. A kill loses only these, and the case at work."""


def _start_worker(parent: int) -> None:
    """Leave Ctrl-C to the parent, and do not outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        pr_set_pdeathsig = 1  # linux/prctl.h
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


@contextlib.contextmanager
def _workers(
    count: int, start: Callable[..., None] = _start_worker, given: tuple[object, ...] = ()
) -> Iterator[ProcessPoolExecutor]:
    """Yield a pool whose processes are killed if the block is left early."""
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(count, context, start, (os.getpid(), *given))
    try:
        yield pool
    except BaseException as error:
        for child in multiprocessing.active_children():
            child.kill()
        if isinstance(error, BrokenProcessPool):
            raise JoulemarkError(
                "a worker process was killed (out of memory?)",
                None,
                "what was measured is in the store; give the same command again, with fewer --jobs",
            ) from error
        raise
    finally:
        with contextlib.suppress(OSError):
            pool.shutdown(cancel_futures=True)


def in_processes(work: Callable[[A], T], of: Sequence[A], count: int) -> Iterator[tuple[A, T]]:
    """Yield each item with its result as it is ready: for work that Python's GIL would serialise.

    When the caller stops early (Ctrl-C, a full disk), the processes are stopped too.

    Args:
        work: a function of a module, importable by a new process; its exceptions are raised here.
        of: the items, one call each; the longest first.
        count: number of processes; 1 means this process itself.

    Raises:
        JoulemarkError: a process ended prematurely.
    """
    count = min(count, len(of))
    if count <= 1:
        yield from ((one, work(one)) for one in of)
        return
    with _workers(count) as pool:
        futures = {pool.submit(work, one): one for one in of}
        for future in as_completed(futures):
            yield futures[future], future.result()


class _Sender:
    """State of a worker process that measures jobs: its end of the pipe to the parent."""

    records: Connection
    lock: Lock


def _start_sender(parent: int, records: Connection, lock: Lock) -> None:
    _start_worker(parent)
    _Sender.records, _Sender.lock = records, lock


def _work(jobs: Sequence[Job]) -> None:
    for records in _measured(jobs):
        # `send` returns once all is written, so a finished job has nothing in flight.
        with _Sender.lock:
            _Sender.records.send(records)


def _measured(jobs: Iterable[Job]) -> "Iterator[Sequence[PrimitiveRecord]]":
    from joulemark.measure.emulated import emulate

    records: list[PrimitiveRecord] = []
    since = time.monotonic()
    for record in itertools.chain.from_iterable(map(emulate, jobs)):
        records.append(record)
        if time.monotonic() - since >= _TOGETHER_S:
            yield records
            records = []
            since = time.monotonic()
    if records:
        yield records


def _groups(jobs: Sequence[Job], processes: int) -> list[list[Job]]:
    """Group jobs for one worker each: all of a primitive's, whose oracle then answers only once.

    Where there are few primitives, each job is on its own, so that no worker idles.
    """
    groups = [list(g) for _, g in itertools.groupby(jobs, lambda job: job.firmware.primitive)]
    return groups if len(groups) >= 4 * processes else [[job] for job in jobs]


def _waiting(reader: Connection) -> "Iterator[PrimitiveRecord]":
    while reader.poll():
        yield from reader.recv()


class Processes(Threads):
    """Builds and measures in processes of this machine.

    Args:
        count: how many at a time.
    """

    def each(self, work: Callable[[A], T], of: Sequence[A]) -> Iterator[tuple[A, T]]:
        """Work in parallel, as `Workers` says."""
        return in_processes(work, of, self.count)

    def conduct(self, jobs: Sequence[Job]) -> "Iterator[Sequence[PrimitiveRecord]]":
        """Measure jobs in parallel, and yield records in batches as they are made.

        When the caller stops early (Ctrl-C, a full disk), the workers are stopped too.

        Args:
            jobs: one for each image; those of a primitive together, the longest first.

        Raises:
            JoulemarkError: a worker ended prematurely, or a failure that is not a single case's,
                such as a missing compiler.
        """
        processes = min(self.count, len(jobs))
        # A single process is this one: starting another takes longer than most images do.
        return _conduct(jobs, processes) if processes > 1 else _measured(jobs)


def _conduct(jobs: Sequence[Job], processes: int) -> "Iterator[Sequence[PrimitiveRecord]]":
    context = multiprocessing.get_context("spawn")
    reader, writer = context.Pipe(duplex=False)
    with (
        reader,
        writer,
        _workers(processes, _start_sender, (writer, context.Lock())) as pool,
        deferred() as strike,
    ):
        pending: set[Future[None]] = {pool.submit(_work, g) for g in _groups(jobs, processes)}
        while pending:
            strike()
            if reader.poll(0.05):
                yield list(_waiting(reader))
            done, pending = wait(pending, timeout=0)
            for future in done:
                future.result()
        yield list(_waiting(reader))
