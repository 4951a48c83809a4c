"""Which primitive costs least for which message size, and where the lead changes.

The cost of a message of s bytes is what the smallest measured size of at least s bytes costs: a
whole-block mode pads, and nothing is interpolated. The lead can therefore change only at a
measured size; the true crossing lies between that size and the measured one before it.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from joulemark.records.record import Record


@dataclass(frozen=True)
class Service:
    """What a user asks for, and the operations that serve it once.

    Args:
        title: as a reader would say it.
        operations: for each kind of primitive that can serve, what runs for one message.
        with_ad: whether the message has associated data (AEAD).
    """

    title: str
    operations: dict[str, tuple[str, ...]]
    with_ad: bool = False


SERVICES = (
    Service(
        "Encryption alone (key and IV set up for each message)",
        {"mode": ("init", "encrypt"), "stream-cipher": ("init", "encrypt")},
    ),
    Service("Hash", {"hash": ("hash",)}),
    Service("Message authentication (key set up for each message)", {"mac": ("mac",)}),
    Service("Authenticated encryption, key kept set up", {"aead": ("encrypt",)}),
    Service("Authenticated encryption, key set up each time", {"aead": ("init", "encrypt")}),
    Service(
        "Authenticated encryption with associated data, key kept set up",
        {"aead": ("encrypt",)},
        with_ad=True,
    ),
)


class Build(NamedTuple):
    """What can be chosen."""

    primitive: str
    implementation: str
    optimisation: str
    compiler: str


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
    records: Sequence[Record], service: Service, metric: str
) -> dict[Build, dict[int, float]]:
    """What one message costs with each build that can give the service, by message size in bytes.

    Args:
        records: of one board at one clock; failed ones are left out.
        service: what is asked for.
        metric: a numeric field of a record, such as "energy_net_nj".
    """
    setup: dict[Build, float] = {}
    main: dict[Build, dict[int, float]] = defaultdict(dict)
    needs_setup = set()
    for r in records:
        value = getattr(r, metric)
        operations = service.operations.get(r.kind, ())
        if r.status != "ok" or value is None or r.operation not in operations:
            continue
        build = Build(r.primitive, r.implementation, r.optimisation, r.compiler)
        if "init" in operations:
            needs_setup.add(build)
        if r.operation == "init":
            # Set-up does not depend on the message; what is added is its dearest measured cost.
            setup[build] = max(value, setup.get(build, 0.0))
        elif (r.ad_bytes > 0) == service.with_ad:
            sizes = main[build]
            sizes[r.message_bytes] = min(value, sizes.get(r.message_bytes, value))
    return {
        build: {size: cost + setup.get(build, 0.0) for size, cost in sizes.items()}
        for build, sizes in main.items()
        if build not in needs_setup or build in setup
    }


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
            result.append(Lead(before + 1, size, winner, cost, cost))
        before = size
    return result
