"""Workers of this machine: images in parallel, records handed over as they are made."""

import contextlib
import ctypes
import itertools
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Lock
from typing import TYPE_CHECKING

from joulemark.campaign.build import Threads
from joulemark.campaign.job import Job
from joulemark.errors import JoulemarkError
from joulemark.interrupts import deferred

if TYPE_CHECKING:
    from joulemark.records.record import PrimitiveRecord

_TOGETHER_S = 0.1
"""Records made within this time are handed over and written together: a transaction takes longer
than many cases do. A kill costs no more than these, and the case that is at work."""


class _Worker:
    """State of a worker process: its end of the pipe to the parent."""

    records: Connection
    lock: Lock


def _start_worker(records: Connection, lock: Lock, parent: int) -> None:
    """Leave Ctrl-C to the parent, and do not outlive it."""
    _Worker.records, _Worker.lock = records, lock
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        pr_set_pdeathsig = 1  # linux/prctl.h
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


def _work(jobs: Sequence[Job]) -> None:
    for records in _measured(jobs):
        # Written when send returns, so a job that is done has nothing on its way.
        with _Worker.lock:
            _Worker.records.send(records)


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
    """Jobs that one worker does: all of a primitive's, whose oracle then answers only once.

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

    def conduct(self, jobs: Sequence[Job]) -> "Iterator[Sequence[PrimitiveRecord]]":
        """Measure jobs in parallel and yield records, all that are there, as they are made.

        When the caller stops early (Ctrl-C, a full disk), the workers are stopped with it.

        Args:
            jobs: one for each image; a primitive's together, those that take longest first.

        Raises:
            JoulemarkError: a worker ended before its time, or something that is no single case's
                fault, such as a missing compiler.
        """
        processes = min(self.count, len(jobs))
        # For one process there is this one: to start another takes longer than most images do.
        return _conduct(jobs, processes) if processes > 1 else _measured(jobs)


def _conduct(jobs: Sequence[Job], processes: int) -> "Iterator[Sequence[PrimitiveRecord]]":
    context = multiprocessing.get_context("spawn")
    reader, writer = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(
        processes, context, _start_worker, (writer, context.Lock(), os.getpid())
    )
    pending: set[Future[None]] = set()
    try:
        with deferred() as strike:
            pending = {pool.submit(_work, group) for group in _groups(jobs, processes)}
            while pending:
                strike()
                if reader.poll(0.05):
                    yield list(_waiting(reader))
                done, pending = wait(pending, timeout=0)
                for future in done:
                    future.result()
            yield list(_waiting(reader))
    except BrokenProcessPool as error:
        raise JoulemarkError(
            "a worker process was killed (out of memory?)",
            None,
            "what was measured is in the store; give the same command again, with fewer --jobs",
        ) from error
    finally:
        if pending:
            for child in multiprocessing.active_children():
                child.kill()
        with contextlib.suppress(OSError):
            pool.shutdown(cancel_futures=True)
        reader.close()
        writer.close()
