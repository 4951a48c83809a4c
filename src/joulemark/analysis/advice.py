"""Which primitive costs least for which message size, and where the lead changes.

The cost of a message of s bytes is what the smallest measured size of at least s bytes costs: a
whole-block mode pads, and nothing is interpolated. The lead can therefore change only at a
measured size; the true crossing lies between that size and the measured one before it.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from joulemark.catalogue import kinds
from joulemark.records.record import PrimitiveRecord


@dataclass(frozen=True)
class Service:
    """What a user asks for, and the operations that serve it once.

    Args:
        title: as a reader would say it.
        operations: for each kind of primitive that can serve, what runs for one message.
        with_ad: whether the message has associated data (AEAD).
    """

    title: str
    operations: Mapping[str, Sequence[str]]
    with_ad: bool = False


def services() -> list[Service]:
    """What the kinds' files say that they serve, by title; kinds may share a service."""
    found: dict[tuple[str, bool], dict[str, Sequence[str]]] = defaultdict(dict)
    for kind in kinds.shipped().values():
        for service in kind.file.service:
            found[service.title, service.with_ad][kind.name] = service.operations
    return [Service(title, found[title, with_ad], with_ad) for title, with_ad in sorted(found)]


class Build(NamedTuple):
    """What can be chosen."""

    primitive: str
    implementation: str
    optimisation: str
    compiler: str

    @classmethod
    def of(cls, record: PrimitiveRecord) -> "Build":
        """What a record is the cost of."""
        subject, build = record.subject, record.build
        how = ("", "") if build is None else (build.optimisation, build.compiler)
        return cls(subject.primitive, subject.implementation, *how)


@dataclass(frozen=True)
class Lead:
    """The cheapest choice over a range of message sizes.

    `least_cost` and `most_cost` are its costs at the range's ends, in the unit of the metric.
    """

    from_bytes: int
    to_bytes: int
    build: Build
    least_cost: float
    most_cost: float


def costs(
    records: Sequence[PrimitiveRecord], service: Service, metric: str
) -> dict[Build, dict[int, float]]:
    """What one message costs with each build that can give the service, by message size in bytes.

    Args:
        records: of one board at one clock; failed ones are left out.
        service: what is asked for.
        metric: name of a quantity, such as "energy_net".
    """
    fixed: dict[Build, dict[str, float]] = defaultdict(dict)
    main: dict[Build, dict[int, float]] = defaultdict(dict)
    kind_of: dict[Build, str] = {}
    for r in records:
        value, what = r.value(metric), r.subject
        asked = service.operations.get(what.kind, ())
        if r.status != "ok" or value is None or what.operation not in asked:
            continue
        build = Build.of(r)
        kind_of[build] = what.kind
        if what.operation in _unsized(what.kind):
            # It does not depend on the message; what counts is its dearest measured cost.
            fixed[build][what.operation] = max(value, fixed[build].get(what.operation, 0.0))
        elif (what.ad_bytes > 0) == service.with_ad:
            sizes = main[build]
            sizes[what.message_bytes] = min(value, sizes.get(what.message_bytes, value))
    result: dict[Build, dict[int, float]] = {}
    for build, kind in kind_of.items():
        operations = set(service.operations[kind])
        unsized = operations & _unsized(kind)
        if unsized <= set(fixed[build]):
            once = sum(fixed[build].values())
            sizes = main[build] if operations - unsized else {0: 0.0}
            if sizes:
                result[build] = {size: cost + once for size, cost in sizes.items()}
    return result


def _unsized(kind: str) -> set[str]:
    """A kind's operations whose cost does not depend on the message's length."""
    return {n for n, o in kinds.shipped()[kind].file.operation.items() if not o.sized}


def leads(table: Mapping[Build, Mapping[int, float]]) -> list[Lead]:
    """The cheapest choice for each range of message sizes, from a table of `costs`."""
    result: list[Lead] = []
    before = 0
    for size in sorted({size for sizes in table.values() for size in sizes}):
        padded = {
            build: sizes[min(s for s in sizes if s >= size)]
            for build, sizes in table.items()
            if max(sizes) >= size
        }
        winner = min(padded, key=lambda build: (padded[build], build))
        cost = padded[winner]
        if result and winner == result[-1].build:
            last = result[-1]
            result[-1] = Lead(last.from_bytes, size, winner, last.least_cost, cost)
        else:
            result.append(Lead(min(before + 1, size), size, winner, cost, cost))
        before = size
    return result
