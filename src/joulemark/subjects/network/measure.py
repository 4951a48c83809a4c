"""Activity and energy of a network's motes, as records."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from joulemark.campaign.case import Build, Case, Conditions
from joulemark.campaign.versions import project_commit
from joulemark.catalogue.networks import Network
from joulemark.measure.recorded import Outcome, key_of, on_board, recorded
from joulemark.meters.model import NAME as METER
from joulemark.records.record import Provenance, Quantity, Record, quantity
from joulemark.runners.network import RunningNetwork, Seat
from joulemark.subjects.network import NetworkSubject


def records(
    running: RunningNetwork,
    network: Network,
    duration_s: float,
    motes: Sequence[Mapping[str, Any]],
) -> Iterator[Record[NetworkSubject]]:
    """Yield a record for each mote.

    Args:
        running: the network after the run.
        network: its file.
        duration_s: how long it ran.
        motes: what each mote did, by name.
    """
    for number, (seat, mote) in enumerate(zip(running.seats, motes, strict=True)):
        subject = NetworkSubject(
            network=network.path.stem,
            mote=seat.name,
            program=seat.mote.program or str(seat.mote.image),
            duration_ms=round(duration_s * 1000),
        )
        build = Build(compiler=seat.mote.compiler, optimisation=seat.mote.optimisation)
        clock = seat.mote.clock or seat.board.default_clock
        conditions = Conditions(
            board=seat.board.name,
            clock=clock,
            runner="network",
            meter=METER,
            unit="emulated",
        )
        case = Case(
            subject=subject,
            build=None if seat.mote.program is None else build,
            conditions=conditions,
        )
        yield recorded(
            key_of(case, network.digest, seat.image.digest),
            subject,
            case,
            provenance(seat, network, clock),
            Outcome(
                quantities=list(_quantities(running, number, mote)),
                notes=[f"network file {network.path.name}, digest {network.digest}"],
            ),
        )


def provenance(seat: Seat, network: Network, clock: str) -> Provenance:
    """Return the circumstances of a mote, at a clock profile."""
    return replace(
        on_board(seat.board, clock, network.seed % (1 << 63), project_commit()),
        compiler_version=seat.compiler or None,
        flags=seat.flags or None,
        image_digest=seat.image.digest,
    )


def _quantities(
    running: RunningNetwork, number: int, mote: Mapping[str, Any]
) -> Iterator[Quantity]:
    drawn = running.energy(number)
    yield quantity("energy_gross", "nJ", [drawn.gross_nj], grade=drawn.grade, exact=True)
    yield quantity("cycles", "cycles", [mote["cycles"]], exact=True)
    yield quantity("frames_sent", "frames", [mote["sent"]], exact=True)
    yield quantity("frames_received", "frames", [mote["received"]], exact=True)
    for part, mj in mote["parts_mj"].items():
        yield quantity("energy_gross", "nJ", [mj * 1e6], part=part, grade=drawn.grade, exact=True)
