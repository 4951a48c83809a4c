"""Find the cheapest primitive for each message size, and where the lead changes.

The cost of a message of s bytes is that of the smallest measured size of at least s bytes, because
a whole-block mode pads; nothing is interpolated. The lead can therefore change only at a measured
size; the true crossing lies between that size and the measured size before it.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from joulemark.campaign.case import Build
from joulemark.catalogue import kinds
from joulemark.catalogue.boards import Board
from joulemark.catalogue.primitives import Algorithm, library
from joulemark.records.record import DEPENDENT, PrimitiveRecord
from joulemark.words import counted

UNSAFE = frozenset({"deprecated", "broken"})
"""Statuses that are never advised."""


@dataclass(frozen=True)
class Service:
    """What a user needs, and the operations that provide it once.

    Args:
        title: title for readers.
        operations: by kind of primitive that provides it, the operations for one message.
        with_ad: whether the message has associated data (AEAD).
    """

    title: str
    operations: Mapping[str, Sequence[str]]
    with_ad: bool = False


def services() -> list[Service]:
    """Return the services in the kinds' files, sorted by title; kinds may share one."""
    found: dict[tuple[str, bool], dict[str, Sequence[str]]] = defaultdict(dict)
    for kind in kinds.known().values():
        for service in kind.file.service:
            found[service.title, service.with_ad][kind.name] = service.operations
    return [Service(title, found[title, with_ad], with_ad) for title, with_ad in sorted(found)]


def needs() -> list[Service]:
    """Return what users may need of any kind: its services, or else its main operation.

    Associated data is a property of a message, not another need.
    """
    served = [service for service in services() if not service.with_ad]
    bare = [
        Service(f"{kind.title}: {kind.file.main_operation}", {name: [kind.file.main_operation]})
        for name, kind in kinds.known().items()
        if not kind.file.baseline and not kind.file.service
    ]
    return sorted([*served, *bare], key=lambda service: service.title)


def service_of(kind: kinds.Kind, operations: Sequence[str] = ()) -> Service:
    """Return the service that operations of a kind provide, with all kinds that provide it.

    Args:
        kind: the kind.
        operations: its operations; those of its first service, or its main one, if empty.
    """
    own = kind.file.service
    asked = operations or (own[0].operations if own else [kind.file.main_operation])
    same = (s for s in needs() if list(s.operations.get(kind.name, ())) == list(asked))
    alone = Service(f"{kind.title}: {' and '.join(asked)}", {kind.name: asked})
    return next(same, alone)


class Candidate(NamedTuple):
    """A build that can be chosen."""

    primitive: str
    implementation: str
    optimisation: str
    compiler: str
    variant: str = ""

    @property
    def built(self) -> str:
        """How it is compiled."""
        how = Build(compiler=self.compiler, optimisation=self.optimisation, variant=self.variant)
        return str(how)

    @classmethod
    def of(cls, record: PrimitiveRecord) -> "Candidate":
        """Return the build of a record."""
        subject, build = record.subject, record.build
        how = ("", "") if build is None else (build.optimisation, build.compiler, build.variant)
        return cls(subject.primitive, subject.implementation, *how)


def leaking(records: Iterable[PrimitiveRecord]) -> set[Candidate]:
    """Return the builds of which a trial, of whatever operation and size, depends on secrets."""
    return {Candidate.of(r) for r in records if r.finding in DEPENDENT}


@dataclass(frozen=True)
class Requirement:
    """Conditions on a choice; deprecated and broken primitives are never chosen.

    Args:
        standard: it must be a standard.
        secrets_kept: it must claim that neither time nor addresses depend on secrets, and no trial
            of any of its operations may have shown otherwise; or the operation handles no secret.
        reusable_key: its key must be usable for more than one message.
    """

    standard: bool = True
    secrets_kept: bool = True
    reusable_key: bool = True

    def select(self, records: Sequence[PrimitiveRecord]) -> list[PrimitiveRecord]:
        """Return the records that meet it, out of those of one board at one clock."""
        leaky = leaking(records)
        return [
            r
            for r in records
            if r.about.status not in UNSAFE
            and (not self.standard or r.about.status == "standard")
            and (not self.reusable_key or not r.about.one_time_key)
            and (
                not self.secrets_kept
                or r.about.secret_independent is None
                or (r.about.secret_independent and Candidate.of(r) not in leaky)
            )
        ]


def left_out(
    have: Collection[tuple[str, str]], board: Board, algorithms: Iterable[Algorithm]
) -> str:
    """Say in a line which implementations of algorithms a board runs that were not measured.

    Args:
        have: names of the primitives and implementations that were.
        board: the board.
        algorithms: the algorithms.

    Returns:
        The line; empty if nothing is left out.
    """
    ways = [
        way
        for algorithm in algorithms
        for way in library().implementations(algorithm)
        if way.runs_on(board.instruction_set, board.accelerators)
        and (algorithm.name, way.name) not in have
    ]
    if not ways:
        return ""
    names = ", ".join(map(str, sorted(ways, key=lambda w: (not w.accelerators, str(w)))[:3]))
    hardware = sum(bool(way.accelerators) for way in ways)
    return (
        f"left out: {counted(len(ways), 'implementation')}, {hardware} of them with "
        f"hardware ({names}{', ...' if len(ways) > 3 else ''}); any of them may take less: "
        "`joulemark choose` measures them, with each compiler and optimisation"
    )


class Step(NamedTuple):
    """A choice for one message size: the cheapest, or the cheapest with less flash than another.

    `cost` is in the unit of the metric; `flash_bytes` is None if unknown.
    """

    build: Candidate
    cost: float
    flash_bytes: int | None


def costs(
    records: Sequence[PrimitiveRecord], service: Service, metric: str
) -> dict[Candidate, dict[int, float]]:
    """Return the cost of one message, by build that provides the service and size in bytes.

    Args:
        records: records of one board at one clock; failed ones are ignored.
        service: the service.
        metric: name of a quantity, such as "energy_net".
    """
    fixed: dict[Candidate, dict[str, float]] = defaultdict(dict)
    main: dict[Candidate, dict[int, float]] = defaultdict(dict)
    kind_of: dict[Candidate, str] = {}
    for r in records:
        value, what = r.value(metric), r.subject
        asked = service.operations.get(what.kind, ())
        if r.status != "ok" or value is None or what.operation not in asked:
            continue
        build = Candidate.of(r)
        kind_of[build] = what.kind
        if what.operation in unsized(what.kind):
            # The cost does not depend on the message: use the highest measured one.
            fixed[build][what.operation] = max(value, fixed[build].get(what.operation, 0.0))
        elif (what.ad_bytes > 0) == service.with_ad:
            sizes = main[build]
            sizes[what.message_bytes] = min(value, sizes.get(what.message_bytes, value))
    result: dict[Candidate, dict[int, float]] = {}
    for build, kind in kind_of.items():
        operations = set(service.operations[kind])
        alike = operations & unsized(kind)
        if alike <= set(fixed[build]):
            once = sum(fixed[build].values())
            sizes = main[build] if operations - alike else {0: 0.0}
            if sizes:
                result[build] = {size: cost + once for size, cost in sizes.items()}
    return result


def unsized(kind: str) -> set[str]:
    """Return a kind's operations whose cost does not depend on the message's length."""
    return {n for n, o in kinds.known()[kind].file.operation.items() if not o.sized}


def flash(records: Sequence[PrimitiveRecord]) -> dict[Candidate, int]:
    """Return the flash in bytes of each build for which it is known: the maximum of its records."""
    result: dict[Candidate, int] = {}
    for r in records:
        if r.flash_bytes is not None:
            build = Candidate.of(r)
            result[build] = max(r.flash_bytes, result.get(build, 0))
    return result


def steps(
    table: Mapping[Candidate, Mapping[int, float]], flash_bytes: Mapping[Candidate, int]
) -> dict[int, list[Step]]:
    """Return, per measured size, the cheapest choice, then the cheapest with less flash, and so on.

    The first step that fits into a given flash is the cheapest choice that fits.

    Args:
        table: result of `costs`.
        flash_bytes: result of `flash`.
    """
    result: dict[int, list[Step]] = {}
    for size in sorted({size for sizes in table.values() for size in sizes}):
        able = [
            Step(build, sizes[min(s for s in sizes if s >= size)], flash_bytes.get(build))
            for build, sizes in table.items()
            if max(sizes) >= size
        ]
        chosen: list[Step] = []
        least = float("inf")
        for step in sorted(able, key=lambda s: (s.cost, _or_infinite(s.flash_bytes), s.build)):
            needed = _or_infinite(step.flash_bytes)
            if not chosen or needed < least:
                chosen.append(step)
                least = needed
        result[size] = chosen
    return result


def _or_infinite(value: int | None) -> float:
    return float("inf") if value is None else value
