"""Plans a campaign: images, each case's key, and what is left to measure.

A key is the digest of everything that a result depends on, so that an unchanged case need not be
measured again and a changed one always is.
"""

import hashlib
import json
import secrets
from collections import Counter
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import cached_property

from joulemark.campaign.campaign import Campaign
from joulemark.campaign.case import Build, Case
from joulemark.catalogue import boards
from joulemark.catalogue.primitives import Algorithm, Library
from joulemark.errors import BuildError
from joulemark.images import BuiltImage, Sources, build_image
from joulemark.measure.session import METHOD, Job, Point
from joulemark.records.conditions import engine_version, project_commit

SHORT_BYTES = 32
LONG_TRIALS = 2
"""A message longer than SHORT_BYTES, or with associated data, gets at most this many trials."""


@dataclass(frozen=True)
class Plan:
    """All jobs of a campaign."""

    jobs: tuple[Job, ...]

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The key of each case."""
        return tuple(point.key for job in self.jobs for point in job.points)

    def without(self, done: Collection[str]) -> list[Job]:
        """What is left to measure: the primitives with most to do first, each one's jobs together.

        An oracle's answers are then still at hand for the primitive's next implementation.
        """
        left = [
            replace(job, points=tuple(p for p in job.points if p.key not in done))
            for job in self.jobs
        ]
        work: Counter[str] = Counter()
        for job in left:
            work[job.build.primitive] += sum(p.case.message_bytes for p in job.points)
        return sorted(
            (job for job in left if job.points),
            key=lambda job: (-work[job.build.primitive], job.build.primitive),
        )


def build_all(
    builds: Collection[Build], library: Library, processes: int, built: Callable[[], None]
) -> dict[Build, BuiltImage | BuildError]:
    """Build images in parallel; the compilers are the processes.

    Args:
        builds: what to build.
        library: all primitives.
        processes: how many at a time.
        built: called for each image.
    """
    sources = Sources()

    def make(build: Build) -> BuiltImage | BuildError:
        algorithm = library[build.primitive]
        try:
            return build_image(
                library.implementation(algorithm, build.implementation),
                boards.load_board(build.board),
                clock=build.clock,
                compiler=build.compiler,
                optimisation=build.optimisation,
                sources=sources,
            )
        except BuildError as error:
            return error

    result: dict[Build, BuiltImage | BuildError] = {}
    pool = ThreadPoolExecutor(processes)
    try:
        futures = {pool.submit(make, build): build for build in builds}
        for future in as_completed(futures):
            result[futures[future]] = future.result()
            built()
    finally:
        pool.shutdown(cancel_futures=True)
    return result


def plan(
    campaign: Campaign,
    library: Library,
    images: dict[Build, BuiltImage | BuildError],
    cases: dict[Build, list[Case]],
) -> Plan:
    """Give each case its key, and gather the cases of each image into a job."""
    seed = campaign.seed if campaign.seed is not None else secrets.randbits(53)
    commit = project_commit()
    engine = engine_version()
    jobs = []
    for build, points in cases.items():
        board = boards.load_board(build.board)
        image = images[build]
        shared = {
            "method": METHOD,
            "engine": engine,
            "board": board.digest,
            "chip": boards.load_chip(board.chip).digest,
            "build": image.build_id if isinstance(image, BuiltImage) else str(image),
            "oracle": _oracle_digest(library[build.primitive]),
            # A seed that was drawn is as good as another; one that was given is part of the case.
            "seed": campaign.seed,
        }
        prefix = json.dumps(shared, sort_keys=True)
        jobs.append(
            Job(
                build=build,
                image=image,
                points=tuple(_point(c, _trials(c, campaign), prefix) for c in points),
                seed=seed,
                project_commit=commit,
            )
        )
    return Plan(tuple(jobs))


def _trials(case: Case, campaign: Campaign) -> int:
    """How often to execute a case: short messages show what depends on secrets at less cost."""
    if case.message_bytes > SHORT_BYTES or case.ad_bytes > 0:
        return min(campaign.trials, LONG_TRIALS)
    return campaign.trials


def _point(case: Case, trials: int, shared: str) -> Point:
    key = hashlib.sha256(f"{shared}{trials}{case.canonical}".encode()).hexdigest()
    return Point(case=case, trials=trials, key=key)


def _oracle_digest(algorithm: Algorithm) -> str:
    """Digest of the oracle's sources."""
    digest = hashlib.sha256()
    for part in (algorithm, algorithm.over):
        path = part.primitive.folder / "oracle.py" if part else None
        if path is not None and path.exists():
            digest.update(path.read_bytes())
    return digest.hexdigest()
