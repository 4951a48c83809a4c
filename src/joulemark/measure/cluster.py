"""Measures on a cluster: Dask carries jobs to the workers and brings records back.

Records go to the conductor, which alone writes them. A worker that dies loses only the part of a
job that it was working on, and another worker measures that part again. Workers need nothing but
the same version of Joulemark and their compilers; what they build is compared with the plan.
"""

import functools
import importlib
import math
import os
import pickle
import queue
import re
import secrets
import signal
import socket
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from joulemark import meaning, project
from joulemark.campaign.build import Made, image_of
from joulemark.campaign.job import Firmware, Job
from joulemark.campaign.versions import engine_digest
from joulemark.closes import Closes
from joulemark.errors import InputError, JoulemarkError, LinkError, ToolError
from joulemark.images import BuiltImage, Sources
from joulemark.measure.pool import Processes

if TYPE_CHECKING:
    from joulemark.measure.bench import Workers
    from joulemark.records.record import PrimitiveRecord

A = TypeVar("A")
T = TypeVar("T")

AT_ONCE = 64
"""Cases given to a worker at a time, and so the most that it can lose."""
_AHEAD = 3
"""Parts queued for each worker thread, so that it never waits."""
_ANSWER_S = 20
"""How long to wait for a scheduler's answer."""
_PATIENCE_S = 60.0
"""How long a campaign waits while there are no workers at all."""
_LOOK_S = 2.0
_LOCAL = re.compile(r"local(?::([1-9][0-9]{0,3}))?")
_REMOTE = re.compile(r"(?:tcp|tls|ws|wss|ucx)://\S+:\d+")


def workers_of(
    cluster: str | None, processes: int | None = None
) -> "AbstractContextManager[Workers]":
    """Return workers for a campaign, to be closed after it.

    Args:
        cluster: `local:N` or a scheduler's address; None for processes of this machine.
        processes: the number of such processes; one per core if not given.

    Raises:
        InputError: this is not an address, or `processes` is given as well.
        LinkError: no scheduler answers there, or it has no workers.
        ToolError: Dask is not installed.
    """
    if cluster is None:
        return nullcontext(Processes(processes or len(os.sched_getaffinity(0))))
    if processes is not None:
        raise InputError("the cluster says how many", "--jobs", "give --cluster local:N")
    return Cluster(cluster)


@dataclass(frozen=True)
class Conductor:
    """The conductor of a campaign, as its workers know it."""

    token: str
    """Unique to a campaign: what a worker cached during an earlier one may be out of date."""
    engine: str
    tree: str
    sources: tuple[Path, ...]


def _tree() -> str:
    """Return the digest of everything that decides a result, except engine and compilers."""
    package = Path(__file__).parents[1]
    rooms = sorted(p for p in package.iterdir() if p.is_dir() and p.name != "data")
    return meaning.of_folders(*rooms, project.CHIPS, project.BOARDS, project.FIRMWARE)


class Cluster(Closes):
    """Builds and measures on Dask's workers.

    Args:
        address: `local`, `local:N` for N processes of this machine, or a scheduler's address.

    Raises:
        InputError: this is not an address.
        LinkError: no scheduler answers there, or it has no workers.
        ToolError: Dask is not installed.
    """

    def __init__(self, address: str) -> None:
        local = _LOCAL.fullmatch(address)
        if not (local or _REMOTE.fullmatch(address)):
            mend = "write local:2, or a scheduler's address such as tcp://10.0.0.1:8786"
            raise InputError("names no cluster", f"--cluster {address}", mend)
        try:
            distributed: Any = importlib.import_module("distributed")
        except ImportError as error:
            mend = "pip install 'joulemark[dask]'"
            raise ToolError("Dask is not installed", "distributed", mend) from error
        self.address = address
        self._own: Any = None
        if local:
            self._own = distributed.LocalCluster(
                n_workers=int(local[1] or len(os.sched_getaffinity(0))),
                threads_per_worker=1,
                dashboard_address=":0",
                silence_logs="CRITICAL",
                preload=[__name__],
            )
        try:
            self._client: Any = distributed.Client(self._own or address, timeout=_ANSWER_S)
            self._client.wait_for_workers(1, timeout=_ANSWER_S)
        except (OSError, TimeoutError) as error:
            mend = "start `dask scheduler` there, and `dask worker ADDRESS` on each machine"
            what = f"no scheduler with workers answers within {_ANSWER_S} s"
            raise LinkError(what, address, mend) from error
        self._told = Conductor(
            secrets.token_hex(8), engine_digest(), _tree(), tuple(project.sources())
        )

    def close(self) -> None:
        """Leave the cluster; end it if it is local."""
        self._client.close()
        if self._own is not None:
            self._own.close()

    def needs(self, wanted: Collection[Firmware]) -> tuple[()]:
        """Return nothing: the workers build, so this machine needs no tools."""
        return ()

    def build(
        self, wanted: Collection[Firmware], built: Callable[[], None]
    ) -> dict[Firmware, Made]:
        """Have the workers build images, as `Builder` says."""
        found: dict[Firmware, Made] = {}
        for firmware, image in self._answers(_build, ((f, f) for f in wanted)):
            found[firmware] = image
            built()
        return found

    def conduct(self, jobs: Sequence[Job]) -> "Iterator[Sequence[PrimitiveRecord]]":
        """Have the workers measure, as `Workers` says; yield the records of each part of a job."""
        for _, records in self._answers(_measure, ((None, part) for part in _parts(jobs))):
            yield records

    def each(self, work: Callable[[A], T], of: Sequence[A]) -> Iterator[tuple[A, T]]:
        """Have the workers do some work, as `Workers` says."""
        return self._answers(_done, ((one, pickle.dumps((work, one))) for one in of))

    def _answers(
        self, work: Callable[[Conductor, Any], Any], asked: Iterator[tuple[Any, Any]]
    ) -> Iterator[tuple[Any, Any]]:
        """Yield the outcome of each question, in the order in which answers arrive."""
        answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        waiting: dict[Any, Any] = {}
        room, looked = 0, -math.inf
        try:
            while True:
                if time.monotonic() - looked > _LOOK_S:
                    room, looked = self._room(), time.monotonic()
                while len(waiting) < room and (question := next(asked, None)):
                    future = self._client.submit(work, self._told, question[1], pure=False)
                    waiting[future] = question[0]
                    future.add_done_callback(answers.put)
                if not waiting:
                    return
                future = self._next(answers)
                name = waiting.pop(future)
                yield name, self._result(future)
        finally:
            self._client.cancel(list(waiting))

    def _room(self) -> int:
        threads: int = sum(self._client.nthreads().values())
        return _AHEAD * max(1, threads)

    def _next(self, answers: "queue.SimpleQueue[Any]") -> Any:
        """Return the next future that is done.

        Raises:
            LinkError: there are no workers left.
        """
        alone_s = 0.0
        while True:
            try:
                return answers.get(timeout=_LOOK_S)
            except queue.Empty:
                alone_s = 0.0 if self._client.nthreads() else alone_s + _LOOK_S
            if alone_s >= _PATIENCE_S:
                mend = "what was measured is in the store; start workers and give the command again"
                raise LinkError("all workers are gone", self.address, mend)

    def _result(self, future: Any) -> Any:
        from distributed import CancelledError, KilledWorker

        try:
            return future.result()
        except KilledWorker as error:
            mend = "what was measured is in the store; is there memory enough?"
            what = f"the same cases ended {error.allowed_failures + 1} workers"
            raise JoulemarkError(what, self.address, mend) from error
        except (CancelledError, OSError) as error:
            mend = "what was measured is in the store; give the same command again to go on"
            raise LinkError(f"the cluster is gone: {error}", self.address, mend) from error


def _parts(jobs: Sequence[Job]) -> Iterator[Job]:
    """Split jobs into parts of at most `AT_ONCE` cases."""
    for job in jobs:
        for start in range(0, len(job.points), AT_ONCE):
            yield replace(job, points=job.points[start : start + AT_ONCE])


# On a worker


def dask_setup(_worker: object) -> None:
    """Leave Ctrl-C to the conductor: Dask calls this on each worker of a local cluster."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@functools.cache
def _own_tree() -> str:
    """Return the tree's digest from when this worker first measured something."""
    return _tree()


class _Images:
    """Images of one campaign."""

    def __init__(self) -> None:
        self._sources = Sources()
        self._made: dict[Firmware, Made] = {}

    def __getitem__(self, firmware: Firmware) -> Made:
        if firmware not in self._made:
            self._made[firmware] = image_of(firmware, self._sources)
        return self._made[firmware]


@functools.lru_cache(maxsize=1)
def _images(_token: str) -> _Images:
    """Return the images of the current campaign; those of earlier ones are dropped."""
    return _Images()


def _prepared(told: Conductor) -> None:
    """Check that this worker has the conductor's version, and make the user's own sources known.

    Raises:
        InputError: a folder of sources is not shared with this worker.
        ToolError: this worker would not give the conductor's results.
    """
    here = f"worker on {socket.gethostname()}"
    if told.engine != engine_digest() or told.tree != _own_tree():
        mend = "install the same Joulemark there, and start the worker anew"
        raise ToolError("another version than the one that conducts", here, mend)
    for folder in told.sources:
        if not folder.is_dir():
            raise InputError("is no folder there", f"{here}, --source {folder}", "share it")
    if project.sources() != told.sources:
        project.set_sources(told.sources)


def _build(told: Conductor, firmware: Firmware) -> Made:
    _prepared(told)
    return _images(told.token)[firmware]


def _done(told: Conductor, asked: bytes) -> Any:
    # What is asked may be of a user's own subject, which is known after this.
    _prepared(told)
    work, one = pickle.loads(asked)  # noqa: S301
    return work(one)


def _measure(told: Conductor, job: Job) -> "list[PrimitiveRecord]":
    from joulemark.measure.emulated import emulate

    _prepared(told)
    image = _images(told.token)[job.firmware]
    if isinstance(image, BuiltImage):
        planned = job.image.build_id if isinstance(job.image, BuiltImage) else "an error"
        if image.build_id != planned:
            here = f"worker on {socket.gethostname()}"
            what = f"builds {image.build_id[:12]} of {job.firmware.primitive}, not {planned[:12]}"
            raise ToolError(what, here, f"its compiler is {image.compiler}; install the same")
    return list(emulate(replace(job, image=image)))
