"""Plan a campaign: its images, each case's key, and the cases left to measure.

A key is the digest of everything that a result depends on, so an unchanged case is not measured
again and a changed one always is.
"""

import hashlib
import json
import platform
import secrets
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from joulemark import meaning
from joulemark.campaign.build import Builder, Threads
from joulemark.campaign.case import Case
from joulemark.campaign.job import METHOD, Firmware, Job, Point, Setup
from joulemark.campaign.versions import commits, engine_digest, processor
from joulemark.catalogue import chips, kinds
from joulemark.catalogue.primitives import Algorithm, Implementation, Library
from joulemark.errors import BuildError
from joulemark.images import BuiltImage, toolchain
from joulemark.subjects.primitive import PrimitiveSubject
from joulemark.subjects.primitive.cases import expand
from joulemark.subjects.primitive.options import DEFAULT_SIZES, PrimitiveOptions

DEFAULT_TRIALS = 8
SHORT_BYTES = 32
LONG_TRIALS = 2
"""Default trials of a message of more than SHORT_BYTES, or with associated data."""


@dataclass(frozen=True)
class Plan:
    """All jobs of a campaign."""

    jobs: tuple[Job, ...]
    beyond: Mapping[Implementation, int] = field(default_factory=dict)
    """Number of cases left out, per implementation, because they are longer than it takes."""

    @cached_property
    def points(self) -> tuple[Point, ...]:
        """All cases."""
        return tuple(point for job in self.jobs for point in job.points)

    def only(self, left: Collection[str]) -> list[Job]:
        """Return the jobs of some cases, grouped by primitive, those with the most work first.

        Grouping lets a primitive's next implementation reuse the oracle's answers.

        Args:
            left: keys of the cases.
        """
        some = [
            replace(job, points=tuple(p for p in job.points if p.key in left)) for job in self.jobs
        ]
        work: Counter[str] = Counter()
        for job in some:
            work[job.firmware.primitive] += sum(map(_message_bytes, job.points))
        return sorted(
            (job for job in some if job.points),
            key=lambda job: (-work[job.firmware.primitive], job.firmware.primitive),
        )


def _message_bytes(point: Point) -> int:
    subject = point.case.subject
    return subject.message_bytes if isinstance(subject, PrimitiveSubject) else 0


def plan(
    campaign: PrimitiveOptions,
    setup: Setup,
    *,
    builder: Builder | None = None,
    building: Callable[[int, int, int], None] = lambda _images, _cases, _long: None,
    built: Callable[[], None] = lambda: None,
    able: Callable[[Implementation], bool] = lambda _: True,
) -> Plan:
    """Build a campaign's images, give each case its key, and group the cases of an image in a job.

    Args:
        campaign: the campaign.
        setup: how its cases are measured.
        builder: builds the images; one compiler at a time on this machine if not given.
        building: called before the first image is built with the numbers of images, of cases, and
            of those that may take long.
        built: called after each image.
        able: filters implementations.

    Raises:
        InputError: a name matches nothing, or a file is invalid.
        ToolError: tools are missing; the error names all of them.
    """
    library = Library.load()
    beyond: Counter[Implementation] = Counter()
    cases = expand(campaign, library, setup, able, beyond)
    builder = builder or Threads(1)
    toolchain.refuse_missing(builder.needs(cases))
    every = [case for some in cases.values() for case in some]
    building(len(cases), len(every), sum(_may_take_long(case, campaign) for case in every))
    images = builder.build(cases, built)
    seed = campaign.seed if campaign.seed is not None else secrets.randbits(53)
    commit = commits()
    jobs = []
    for firmware, some in cases.items():
        shared = {
            "method": METHOD,
            "image": _of_image(images[firmware]),
            "primitive": _of_primitive(library[firmware.primitive]),
            "setup": [str(detail) for detail in setup.details],
            **_of_board(firmware, setup),
        }
        prefix = json.dumps(shared, sort_keys=True)
        jobs.append(
            Job(
                firmware=firmware,
                image=images[firmware],
                points=tuple(
                    _point(c, setup.runs or _trials(c, campaign), prefix, campaign.seed)
                    for c in some
                ),
                seed=seed,
                project_commit=commit,
            )
        )
    return Plan(tuple(jobs), beyond)


def _of_image(image: BuiltImage | BuildError) -> str:
    return image.build_id if isinstance(image, BuiltImage) else str(image)


def _of_board(firmware: Firmware, setup: Setup) -> dict[str, str]:
    """Return the details of the board or machine that a result depends on."""
    if firmware.board is None:
        return {"node": platform.node(), "processor": processor()}
    found = {"board": firmware.board.digest, "chip": chips.digest(firmware.board.chip)}
    return found | ({"engine": engine_digest()} if setup.runner == "emulator" else {})


def _trials(case: Case, campaign: PrimitiveOptions) -> int:
    """Return a case's number of trials: short messages show dependence on secrets at less cost."""
    if campaign.trials is not None:
        return campaign.trials
    subject = case.subject
    if not isinstance(subject, PrimitiveSubject):
        return DEFAULT_TRIALS
    default = kinds.known()[subject.kind].file.default
    if default:
        return default.trials
    if subject.message_bytes > SHORT_BYTES or subject.ad_bytes > 0:
        return LONG_TRIALS
    return DEFAULT_TRIALS


def _may_take_long(case: Case, campaign: PrimitiveOptions) -> bool:
    """Return whether a case may take many times as long as one of the default campaign does."""
    subject = case.subject
    if not isinstance(subject, PrimitiveSubject) or kinds.known()[subject.kind].file.default:
        return True
    executions = _trials(case, campaign) * campaign.repetitions
    return executions > DEFAULT_TRIALS or subject.message_bytes > max(DEFAULT_SIZES)


def _point(case: Case, trials: int, shared: str, seed: int | None) -> Point:
    key = hashlib.sha256(f"{shared}{trials}{case.canonical}".encode()).hexdigest()
    return Point(case=case, trials=trials, key=key, seed=seed)


def _of_primitive(algorithm: Algorithm) -> list[str]:
    """Return the digests of an algorithm's data files and oracles, and those of its partner."""
    found = []
    for part in (algorithm, algorithm.over) if algorithm.over else (algorithm,):
        folder = part.primitive.folder
        tables = [part.contract.folder / "kind.toml", folder / "primitive.toml"]
        found += [meaning.of_table(path) for path in tables]
        found.append(meaning.of_module(folder / "oracle.py"))
    return found
