"""What users need, the builds that can be chosen for it, and what was not measured of them."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from joulemark.campaign.case import Build
from joulemark.catalogue import kinds
from joulemark.catalogue.boards import Board
from joulemark.catalogue.primitives import Algorithm, Implementation, library
from joulemark.records.record import PrimitiveRecord
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


def left_out(
    have: Collection[tuple[str, str]],
    board: Board,
    algorithms: Iterable[Algorithm],
    able: Callable[[Implementation], bool] = lambda _: True,
) -> str:
    """Say in a line which implementations of algorithms a board runs that were not measured.

    Args:
        have: names of the primitives and implementations that were.
        board: the board.
        algorithms: the algorithms.
        able: whether an implementation can be an answer at all.

    Returns:
        The line; empty if nothing is left out.
    """
    core = board.instruction_set
    every = [w for w in _beside(have, board, algorithms) if w.algorithm.status not in UNSAFE]
    ways = [way for way in every if not way.is_on_request(core) and able(way)]
    named = on_request(have, board, (way.algorithm for way in every))
    if not ways:
        return named
    names = ", ".join(map(str, sorted(ways, key=lambda w: (not w.accelerators, str(w)))[:3]))
    hardware = sum(bool(way.accelerators) for way in ways)
    return (
        f"left out: {counted(len(ways), 'implementation')}, {hardware or 'none'} of them with "
        f"hardware ({names}{', ...' if len(ways) > 3 else ''}); any of them may take less: "
        "`joulemark choose` measures them, with each compiler and optimisation"
        f"{'; ' + named if named else ''}"
    )


def on_request(
    have: Collection[tuple[str, str]], board: Board, algorithms: Iterable[Algorithm]
) -> str:
    """Say in a line what of `left_out` is only considered where it is named; empty if nothing."""
    every = _beside(have, board, algorithms)
    ways = [way for way in every if way.is_on_request(board.instruction_set)]
    if not ways:
        return ""
    known = {primitive for primitive, _ in have}
    new = sorted({way.algorithm.name for way in ways} - known)
    of_known = sum(way.algorithm.name in known for way in ways)
    names = [*new, *([counted(of_known, "more implementation")] if of_known else [])]
    return f"on request only: {', '.join(names)}; --primitive or --implementation considers them"


def _beside(
    have: Collection[tuple[str, str]], board: Board, algorithms: Iterable[Algorithm]
) -> list[Implementation]:
    """Return the implementations that a board runs and that are not among those that one has."""
    return [
        way
        for algorithm in dict.fromkeys(algorithms)
        for way in library().implementations(algorithm)
        if way.is_main
        and way.runs_on(board.instruction_set, board.accelerators)
        and (algorithm.name, way.name) not in have
    ]


def unsized(kind: str) -> set[str]:
    """Return a kind's operations whose cost does not depend on the message's length."""
    return {n for n, o in kinds.known()[kind].file.operation.items() if not o.sized}
