"""A campaign's cases of libraries: rows measured on this machine or estimated for another."""

import hashlib
import json
import platform
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from joulemark import oracles
from joulemark.campaign.case import Case, Conditions
from joulemark.campaign.estimates import ESTIMATE
from joulemark.campaign.job import LOCAL, METHOD, Point, Setup
from joulemark.campaign.versions import processor, project_commit
from joulemark.catalogue import libraries, machines
from joulemark.catalogue.libraries import LibraryFile
from joulemark.catalogue.machines import Machine
from joulemark.errors import InputError
from joulemark.images import toolchain
from joulemark.images.architectures import Architecture
from joulemark.images.from_source import Source
from joulemark.images.library import LibraryProgram, build_foreign, build_library, needs
from joulemark.subjects.library import LibrarySubject
from joulemark.subjects.library.options import LibraryOptions

CALL_BYTES = 2048
"""Default size of one call, as in Crypto++'s benchmark."""


@dataclass(frozen=True, kw_only=True)
class LibraryJob:
    """The cases of one library, and its program."""

    library: LibraryFile
    program: LibraryProgram
    machine: Machine | None
    """The machine; None if no file describes it."""
    points: tuple[Point, ...]
    seed: int
    project_commit: str | None


@dataclass(frozen=True)
class _Place:
    """The machine on which a campaign's cases are measured, or for which they are estimated."""

    machine: Machine | None
    conditions: Conditions
    identity: Mapping[str, object]
    """Further details that are part of a case's key."""
    runs: int | None


def plan(campaign: LibraryOptions, setup: Setup) -> list[LibraryJob]:
    """Build the programs of a campaign's libraries and find their cases.

    Raises:
        BuildError: a program does not compile.
        InputError: a name matches nothing, or a size does not fit.
        ToolError: compilers or libraries are missing; the error names all of them.
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
    campaign: LibraryOptions,
    machine: Machine,
    target: Architecture,
    method: str,
    source: Source | None = None,
) -> Iterator[LibraryJob]:
    """Yield a campaign's jobs for another machine, with libraries of Debian for its architecture.

    Args:
        campaign: a campaign of libraries.
        machine: the machine to estimate for.
        target: the machine's architecture to compile for.
        method: digest of the method of estimation.
        source: the source to build the libraries from; None for the Debian package.

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


def _wanted(campaign: LibraryOptions) -> list[LibraryFile]:
    """Return the libraries of a campaign."""
    wanted = [n for n in libraries.names() if _matches(n, campaign.library)]
    if not wanted:
        there = ", ".join(libraries.names())
        what = f"{', '.join(campaign.library)} matches nothing"
        raise InputError(what, "--library", f"there are {there}")
    return [libraries.load_library(name) for name in wanted]


def refuse_empty(jobs: Sequence[LibraryJob], campaign: LibraryOptions) -> None:
    """Check that a plan has a case.

    Raises:
        InputError: it has none.
    """
    if not any(job.points for job in jobs):
        what = f"{', '.join((*campaign.algorithm, *campaign.operation))} matches no row"
        found = ", ".join(job.library.name for job in jobs)
        mend = f"`joulemark list algorithms` shows what {found} can do"
        raise InputError(what, "--algorithm, --operation, --size", mend)


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _job(
    library: LibraryFile,
    program: LibraryProgram,
    campaign: LibraryOptions,
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


def _sizes(name: str, campaign: LibraryOptions) -> list[int]:
    """Return the campaign's sizes of a call that an algorithm takes; 0 if it is not sized."""
    algorithm = oracles.algorithm(name)
    if not algorithm.sized:
        return [0]
    wanted = campaign.size or (CALL_BYTES,)
    return [size for size in wanted if size > 0 and size % algorithm.unit_bytes == 0]
