"""Workers of a cluster: Dask carries images' names to them, and brings records back.

Records are given to whoever conducts, who alone writes them: a worker that dies takes the part of a
job with it that it was at, and another one measures that. Nothing is installed on the workers but
the same Joulemark, and their compilers; what they build is compared with what was planned.
"""

import functools
import importlib
import math
import os
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
from typing import TYPE_CHECKING, Any

from joulemark import project
from joulemark.campaign.build import Made, image_of
from joulemark.campaign.job import Firmware, Job
from joulemark.campaign.versions import engine_version
from joulemark.closes import Closes
from joulemark.errors import InputError, JoulemarkError, LinkError, ToolError
from joulemark.images import BuiltImage, Sources, state_of
from joulemark.measure.pool import Processes

if TYPE_CHECKING:
    from joulemark.measure.conduct import Workers
    from joulemark.records.record import PrimitiveRecord

AT_ONCE = 64
"""Cases that a worker is given at a time, and loses at most."""
_AHEAD = 3
"""Parts that each worker's thread has before it, so that it never waits."""
_ANSWER_S = 20
"""Until a scheduler is taken not to be there."""
_PATIENCE_S = 60.0
"""How long a campaign waits where there is no worker at all."""
_LOOK_S = 2.0
_LOCAL = re.compile(r"local(?::([1-9][0-9]{0,3}))?")
_REMOTE = re.compile(r"(?:tcp|tls|ws|wss|ucx)://\S+:\d+")


def workers_of(
    cluster: str | None, processes: int | None = None
) -> "AbstractContextManager[Workers]":
    """Workers for a campaign, to be closed after it.

    Args:
        cluster: `local:N`, a scheduler's address, or None: processes of this machine.
        processes: how many of those; one for each core if not given.

    Raises:
        InputError: it is no address, or processes are given too.
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
    """Who conducts a campaign, as its workers are told."""

    token: str
    """A campaign's own: what a worker knows of an earlier one may be out of date."""
    engine: str
    tree: str
    sources: tuple[Path, ...]


def _tree() -> str:
    """Digest of all that decides a result, but for the engine and the compilers."""
    package = Path(__file__).parents[1]
    rooms = sorted(p for p in package.iterdir() if p.is_dir() and p.name != "data")
    return state_of([*rooms, project.CHIPS, project.BOARDS, project.FIRMWARE])


class Cluster(Closes):
    """Builds and measures with Dask's workers.

    Args:
        address: `local`, `local:N` for N processes of this machine, or a scheduler's address.

    Raises:
        InputError: it is no address.
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
            secrets.token_hex(8), engine_version(), _tree(), tuple(project.sources())
        )

    def close(self) -> None:
        """Leave the cluster; a local one ends."""
        self._client.close()
        if self._own is not None:
            self._own.close()

    def needs(self, wanted: Collection[Firmware]) -> tuple[()]:
        """Nothing of this machine: the workers build."""
        return ()

    def build(
        self, wanted: Collection[Firmware], built: Callable[[], None]
    ) -> dict[Firmware, Made]:
        """Let the workers build images, as `Builder` says."""
        found: dict[Firmware, Made] = {}
        for firmware, image in self._answers(_build, ((f, f) for f in wanted)):
            found[firmware] = image
            built()
        return found

    def conduct(self, jobs: Sequence[Job]) -> "Iterator[Sequence[PrimitiveRecord]]":
        """Let the workers measure, as `Workers` says; records come as parts of jobs are done."""
        for _, records in self._answers(_measure, ((None, part) for part in _parts(jobs))):
            yield records

    def _answers(
        self, work: Callable[[Conductor, Any], Any], asked: Iterator[tuple[Any, Any]]
    ) -> Iterator[tuple[Any, Any]]:
        """Outcome of each question, in the order of the answers."""
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
        """The next future that is done.

        Raises:
            LinkError: there is nobody any more who could do one.
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
    """Jobs of a few cases each."""
    for job in jobs:
        for start in range(0, len(job.points), AT_ONCE):
            yield replace(job, points=job.points[start : start + AT_ONCE])


# On a worker


def dask_setup(_worker: object) -> None:
    """Leave Ctrl-C to who conducts: Dask calls this on each worker of a local cluster."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@functools.cache
def _own_tree() -> str:
    """The tree as it was when this worker first measured something."""
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
    """The images of the campaign that this worker is at, and not those of earlier ones."""
    return _Images()


def _prepared(told: Conductor) -> None:
    """Be of the same version, with the same sources of a user's own.

    Raises:
        ToolError: this worker would not give the conductor's results.
    """
    here = f"worker on {socket.gethostname()}"
    if told.engine != engine_version() or told.tree != _own_tree():
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
