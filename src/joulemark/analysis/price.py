"""Find the minimum cost of each service on a board under growing demands, beside radio energy.

On a Linux board, which is estimated, time is minimised: energy is time multiplied by the power of a
busy core, if that is known.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from joulemark.analysis.advice import Candidate, Service, services, unsized
from joulemark.analysis.choice import Demands, options, ranked
from joulemark.campaign.estimates import ESTIMATE
from joulemark.catalogue import boards, kinds, machines
from joulemark.catalogue.boards import Board
from joulemark.images.architectures import made_for
from joulemark.records.record import PrimitiveRecord

SMALL_FLASH_BYTES = 4096


@dataclass(frozen=True)
class Demand:
    """Demands on a choice."""

    title: str
    demands: Demands

    @property
    def flash_bytes(self) -> int | None:
        """Limit on flash."""
        return self.demands.max_flash_bytes


DEMANDS = (
    Demand("any that is not broken", Demands(status="research", constant_time=False)),
    Demand("a standard", Demands(constant_time=False)),
    Demand("a standard that keeps secrets", Demands()),
    Demand("... in 4 KB of flash", Demands(max_flash_bytes=SMALL_FLASH_BYTES)),
)


@dataclass(frozen=True)
class Price:
    """The cheapest choice for one message."""

    service: Service
    size_bytes: int
    """Size of the message; 0 if there is none. Some services have only the size of their kind."""
    demand: Demand
    build: Candidate
    energy_j: float | None
    """Energy net of idle; for a Linux board gross, and None if its power is not known."""
    time_s: float
    flash_bytes: int | None


class Where(NamedTuple):
    """A place whose records are compared with each other."""

    board: str
    clock: str
    architecture: str
    """Architecture of a Linux board's programs; empty for other boards."""


def places(records: Iterable[PrimitiveRecord]) -> dict[Where, list[PrimitiveRecord]]:
    """Group good records of emulated and estimated boards that have a file by their place."""
    emulated, linux = set(boards.names()), set(machines.names())
    found: dict[Where, list[PrimitiveRecord]] = defaultdict(list)
    for record in records:
        at = record.conditions
        # A place in flash that suits a build is no property of it.
        if record.status != "ok" or (record.build is not None and record.build.offset_bytes):
            continue
        if at.runner == "emulator" and at.board in emulated:
            found[Where(at.board, at.clock, "")].append(record)
        elif at.runner == ESTIMATE and at.board in linux:
            executed = machines.load_machine(at.board).architectures
            name = made_for(record.provenance.flags or "", executed)
            found[Where(at.board, at.clock, name)].append(record)
    return dict(sorted(found.items()))


def _sizes(service: Service, sizes: Sequence[int]) -> Sequence[int]:
    """Return the sizes to price a service for: its kind's own, such as that of a hash to be signed.

    It is 0 where no message decides the cost.
    """
    files = [kinds.known()[kind].file for kind in service.operations]
    if all(set(names) <= unsized(kind) for kind, names in service.operations.items()):
        return [0]
    own = [file.default.message_bytes[0] for file in files if file.default is not None]
    return own[:1] if len(own) == len(files) else sizes


def prices(records: Sequence[PrimitiveRecord], sizes: Sequence[int]) -> list[Price]:
    """Return the cheapest choice for each service, size and demand.

    Args:
        records: records of one board at one clock.
        sizes: message sizes; a larger measured size stands for one that was not measured.
    """
    estimated = any(r.conditions.runner == ESTIMATE for r in records)
    able = [
        (service, size, options(records, service.operations, size, ad, estimated=estimated))
        for service in services()
        for ad in [int(service.with_ad)]
        for size in _sizes(service, sizes)
    ]
    found = []
    for demand, (service, size, some) in itertools.product(DEMANDS, able):
        good = [o for o in some if not demand.demands.objects(o)]
        if demand.flash_bytes is not None:
            good = [o for o in good if o.flash_bytes]  # It is not known of every estimate.
        if not good:
            continue
        first = ranked(good, "time" if estimated else "energy")[0]
        found.append(
            Price(
                service=service,
                size_bytes=size,
                demand=demand,
                build=first.build,
                energy_j=None if math.isinf(first.energy_j) else first.energy_j,
                time_s=first.time_s,
                flash_bytes=first.flash_bytes or None,
            )
        )
    return found


def sending_j(board: Board, payload_bytes: int) -> float | None:
    """Return the energy to send an unsecured frame once by the board's radio; None without one.

    It is the energy at the board file's current for sending at 0 dBm, or else at its first
    transmit state.
    """
    radio = board.radio
    sending = [s for s in radio.state if s.name.startswith("tx")] if radio else []
    if radio is None or not sending:
        return None
    state = next((s for s in sending if "0dbm" in s.name), sending[0])
    bits = 8 * (radio.frame_overhead_bytes.value + payload_bytes)
    return board.supply_v.value * state.ampere * bits / radio.bit_rate_hz.value
