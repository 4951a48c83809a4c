"""A campaign's cases of libraries: rows that a library has, on the machine that this runs on."""

import hashlib
import json
import platform
import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from joulemark import oracles
from joulemark.campaign.campaign import Campaign
from joulemark.campaign.case import Case, Conditions
from joulemark.campaign.estimates import ESTIMATE
from joulemark.campaign.job import LOCAL, METHOD, Point, Setup
from joulemark.campaign.subjects.library import LibrarySubject
from joulemark.campaign.versions import processor, project_commit
from joulemark.catalogue import libraries, machines
from joulemark.catalogue.libraries import LibraryFile
from joulemark.catalogue.machines import Machine
from joulemark.errors import InputError
from joulemark.images import toolchain
from joulemark.images.architectures import Architecture
from joulemark.images.from_source import Source
from joulemark.images.library import LibraryProgram, build_foreign, build_library, needs

CALL_BYTES = 2048
"""Of one call where nobody says: as in Crypto++'s benchmark."""


@dataclass(frozen=True, kw_only=True)
class LibraryJob:
    """Cases of one library, and the program that has it."""

    library: LibraryFile
    program: LibraryProgram
    machine: Machine | None
    """The file of this machine, where it has one."""
    points: tuple[Point, ...]
    seed: int
    project_commit: str | None


@dataclass(frozen=True)
class _Place:
    """Where a campaign's cases are measured, or what they are estimated for."""

    machine: Machine | None
    conditions: Conditions
    identity: Mapping[str, object]
    """Further details that enter a case's key."""
    runs: int | None


def plan(campaign: Campaign, setup: Setup) -> list[LibraryJob]:
    """Build the programs of a campaign's libraries and find their cases.

    Raises:
        BuildError: a program does not compile.
        InputError: a name matches nothing, or a size does not fit.
        ToolError: compilers or libraries are missing; names all of them.
    """
    machine = machines.recognised()
    conditions = Conditions(
        board=LOCAL if machine is None else machine.name,
        clock=LOCAL,
        runner=setup.runner,
        meter=setup.meter,
        unit=setup.unit,
        repetitions=campaign.repetitions,
    )
    shared = {
        "node": platform.node(),
        "processor": processor(),
        "setup": [str(detail) for detail in setup.details],
    }
    place = _Place(machine, conditions, shared, setup.runs)
    wanted = _wanted(campaign)
    toolchain.refuse_missing(need for library in wanted for need in needs(library))
    jobs = [_job(library, build_library(library), campaign, place) for library in wanted]
    refuse_empty(jobs, campaign)
    return jobs


def estimates(
    campaign: Campaign,
    machine: Machine,
    target: Architecture,
    method: str,
    source: Source | None = None,
) -> Iterator[LibraryJob]:
    """The same for a machine that is not here, with its Debian's libraries.

    Args:
        campaign: of libraries.
        machine: that they are for.
        target: what of it they are compiled for.
        method: digest of how it is estimated.
        source: what the libraries are built of, where that is not the machine's Debian package.

    Raises:
        BuildError: a program does not compile.
        InputError: a name matches nothing, or a size does not fit.
        ToolError: a compiler or a library is missing.
    """
    conditions = Conditions(
        board=machine.name,
        clock=machine.default_clock,
        runner=ESTIMATE,
        meter="none",
        unit="estimated",
        repetitions=campaign.repetitions,
    )
    shared = {"estimate": method, "architecture": target.name}
    place = _Place(machine, conditions, shared, campaign.trials)
    for library in _wanted(campaign):
        yield _job(library, build_foreign(library, target, source), campaign, place)


def _wanted(campaign: Campaign) -> list[LibraryFile]:
    """The libraries of a campaign, each with some row."""
    wanted = [n for n in libraries.names() if _matches(n, campaign.library)]
    if not wanted:
        there = ", ".join(libraries.names())
        what = f"{', '.join(campaign.library)} matches nothing"
        raise InputError(what, "--library", f"there are {there}")
    return [libraries.load_library(name) for name in wanted]


def refuse_empty(jobs: Sequence[LibraryJob], campaign: Campaign) -> None:
    """Refuse a plan without a case.

    Raises:
        InputError: it has none.
    """
    if not any(job.points for job in jobs):
        what = f"{', '.join((*campaign.algorithm, *campaign.operation))} matches no row"
        found = ", ".join(job.library.name for job in jobs)
        mend = f"`joulemark list algorithms` shows what {found} can do"
        raise InputError(what, "--algorithm, --operation, --size", mend)


def without(jobs: Sequence[LibraryJob], done: Collection[str]) -> list[LibraryJob]:
    """Remaining cases.

    Args:
        jobs: of a plan.
        done: keys of what is there.
    """
    left = [replace(j, points=tuple(p for p in j.points if p.key not in done)) for j in jobs]
    return [job for job in left if job.points]


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _job(
    library: LibraryFile,
    program: LibraryProgram,
    campaign: Campaign,
    place: "_Place",
) -> LibraryJob:
    identity = {
        "method": METHOD,
        "program": program.digest,
        "objects": program.objects,
        "machine": "" if place.machine is None else place.machine.digest,
        "seed": campaign.seed,
        **place.identity,
    }
    prefix = json.dumps(identity, sort_keys=True)
    points = []
    for name, operation in program.rows:
        if not _matches(name, campaign.algorithm or ("*",)):
            continue
        if not _matches(operation, campaign.operation):
            continue
        for message_bytes in _sizes(name, campaign):
            subject = LibrarySubject(
                library=library.name,
                version=program.version,
                algorithm=name,
                operation=operation,
                message_bytes=message_bytes,
            )
            case = Case(subject=subject, build=None, conditions=place.conditions)
            key = hashlib.sha256(f"{prefix}{place.runs}{case.canonical}".encode()).hexdigest()
            points.append(Point(case=case, trials=place.runs or 1, key=key))
    return LibraryJob(
        library=library,
        program=program,
        machine=place.machine,
        points=tuple(points),
        seed=campaign.seed if campaign.seed is not None else secrets.randbits(53),
        project_commit=project_commit(),
    )


def _sizes(name: str, campaign: Campaign) -> list[int]:
    """The lengths of a call that an algorithm takes; 0 alone where its price is an operation's."""
    algorithm = oracles.algorithm(name)
    if not algorithm.sized:
        return [0]
    wanted = campaign.size or (CALL_BYTES,)
    return [size for size in wanted if size > 0 and size % algorithm.unit_bytes == 0]
