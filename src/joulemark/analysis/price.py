"""Find the minimum cost of each service on a board under growing demands, beside radio energy.

On a Linux board, which is estimated, time is minimised: energy is time multiplied by the power of a
busy core, if that is known.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from joulemark.analysis.advice import Candidate, Requirement, Service, costs, flash, services, steps
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
    requirement: Requirement
    flash_bytes: int | None = None
    """Limit on flash."""


DEMANDS = (
    Demand("any that is not broken", Requirement(standard=False, secrets_kept=False)),
    Demand("a standard", Requirement(secrets_kept=False)),
    Demand("a standard that keeps secrets", Requirement()),
    Demand("... in 4 KB of flash", Requirement(), SMALL_FLASH_BYTES),
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


def _own_size(service: Service) -> bool:
    """Return whether its kinds fix the measured sizes, such as that of a hash to be signed."""
    return all(kinds.known()[kind].file.default is not None for kind in service.operations)


def prices(records: Sequence[PrimitiveRecord], sizes: Sequence[int]) -> list[Price]:
    """Return the cheapest choice for each service, size and demand.

    Args:
        records: records of one board at one clock.
        sizes: message sizes; the next larger measured size is used for one that was not measured.
    """
    flash_bytes = flash(records)
    estimated = any(r.conditions.runner == ESTIMATE for r in records)
    by, kept = ("time", "energy_gross") if estimated else ("energy_net", "energy_net")
    found = []
    for demand in DEMANDS:
        chosen = demand.requirement.select(records)
        for service in services():
            energy, time = costs(chosen, service, kept), costs(chosen, service, "time")
            by_size = steps(costs(chosen, service, by), flash_bytes)
            if not by_size:
                continue
            for size in sizes if any(by_size) and not _own_size(service) else [max(by_size)]:
                measured = min((s for s in by_size if s >= size), default=None)
                fitting = [
                    step
                    for step in (by_size[measured] if measured is not None else ())
                    if demand.flash_bytes is None
                    or (step.flash_bytes is not None and step.flash_bytes <= demand.flash_bytes)
                ]
                if not fitting or measured is None:
                    continue
                build = fitting[0].build
                sized = min(s for s in time[build] if s >= measured)
                found.append(
                    Price(
                        service=service,
                        size_bytes=size,
                        demand=demand,
                        build=build,
                        energy_j=energy[build][sized] * 1e-9 if build in energy else None,
                        time_s=time[build][sized] * 1e-12,
                        flash_bytes=fitting[0].flash_bytes,
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
