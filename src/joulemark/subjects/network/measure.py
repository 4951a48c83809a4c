"""Activity and energy of a network's motes, as records."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from joulemark.campaign.case import Build, Case, Conditions
from joulemark.campaign.job import Point
from joulemark.campaign.versions import project_commit
from joulemark.catalogue import files, networks
from joulemark.catalogue.networks import Network, read_network
from joulemark.conduct import Means, Records, Task, Work, of_tasks
from joulemark.measure.recorded import Outcome, key_of, on_board, recorded
from joulemark.meters.model import NAME as METER
from joulemark.project import NETWORKS
from joulemark.records.record import Provenance, Quantity, Record, quantity
from joulemark.runners.network import RunningNetwork, Seat, fault_error, refuse_unused_wiring
from joulemark.subjects import Subject
from joulemark.subjects.network import NetworkSubject
from joulemark.subjects.network.options import NetworkOptions

if TYPE_CHECKING:
    from joulemark._engine import Transmission


@dataclass
class Counts:
    """Frames of each mote, by its number."""

    sent: Counter[int] = field(default_factory=Counter)
    fates: dict[int, Counter[str]] = field(default_factory=dict)
    """What became of frames that it could hear: "received", or why not."""

    def note(self, t: "Transmission") -> None:
        """Count a frame."""
        self.sent[t.mote] += 1
        for hearing in t.hearings:
            self.fates.setdefault(hearing.mote, Counter())[hearing.outcome or "unknown"] += 1


def plan(options: NetworkOptions, means: Means) -> Work:
    """Return the work of running a network; its motes are built.

    Raises:
        BuildError: a program cannot be built.
        InputError: there is no such network, or its file is invalid.
    """
    path = shipped_or_given(options.network)
    running = RunningNetwork(read_network(path), threads=1)
    refuse_unused_wiring(running.network)
    points = tuple(
        Point(case=case, trials=1, key=key) for case, key in cases(running, options.for_ms / 1000)
    )
    return of_tasks([Task(points=points, measure=partial(_run, path, options.for_ms))], means)


def shipped_or_given(path: Path) -> Path:
    """Return the file of a network, which may be the name of a shipped one.

    Raises:
        InputError: there is neither.
    """
    return files.given(str(path) if path.exists() else path.name, NETWORKS, networks.names())


def _run(path: Path, for_ms: int) -> Records:
    running = RunningNetwork(read_network(path))
    counts = Counts()
    for piece in running.run(for_ms / 1000):
        for number, stop in piece.faults:
            raise fault_error(running.names[number], stop)
        for transmission in piece.transmissions:
            counts.note(transmission)
    return list(records(running, for_ms / 1000, counts))


def cases(running: RunningNetwork, duration_s: float) -> Iterator[tuple[Case, str]]:
    """Yield each mote's case and the key of its record.

    Args:
        running: the network.
        duration_s: how long it runs.
    """
    for seat in running.seats:
        subject = NetworkSubject(
            network=running.network.path.stem,
            mote=seat.name,
            program=seat.mote.program or str(seat.mote.image),
            duration_ms=round(duration_s * 1000),
        )
        build = Build(compiler=seat.mote.compiler, optimisation=seat.mote.optimisation)
        case = Case(
            subject=subject,
            build=None if seat.mote.program is None else build,
            conditions=Conditions(
                board=seat.board.name,
                clock=seat.mote.clock or seat.board.default_clock,
                runner="network",
                meter=METER,
                unit="emulated",
            ),
        )
        yield case, key_of(case, running.network.digest, seat.image.digest)


def records(
    running: RunningNetwork, duration_s: float, counts: Counts
) -> Iterator[Record[Subject]]:
    """Yield a record for each mote.

    Args:
        running: the network after the run.
        duration_s: how long it ran.
        counts: its frames.
    """
    network = running.network
    for number, (case, key) in enumerate(cases(running, duration_s)):
        yield recorded(
            key,
            case.subject,
            case,
            provenance(running.seats[number], network, case.conditions.clock),
            Outcome(
                quantities=list(_quantities(running, number, counts)),
                notes=[f"network file {network.path.name}, SHA-256 {network.digest}"],
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


def _quantities(running: RunningNetwork, number: int, counts: Counts) -> Iterator[Quantity]:
    drawn = running.energy(number)
    received = counts.fates.get(number, Counter())["received"]
    yield quantity("energy_gross", "nJ", [drawn.gross_nj], grade=drawn.grade, exact=True)
    yield quantity("cycles", "cycles", [running.cycles(number)], exact=True)
    yield quantity("frames_sent", "frames", [counts.sent[number]], exact=True)
    yield quantity("frames_received", "frames", [received], exact=True)
    for part, mj in running.parts_mj(number).items():
        yield quantity("energy_gross", "nJ", [mj * 1e6], part=part, grade=drawn.grade, exact=True)
