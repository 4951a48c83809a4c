"""An architecture on the air: what its modules send and what attacks cost, in an emulated network.

The architecture's file describes the network; all its boards are of one kind. The cost of a row is
the cost of its frames, from preamble to end. Where the row only adds to frames, the cost of the
same frames without the modules is subtracted. The energy is that of the sender's radio, in the
power states it was in meanwhile.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING

from joulemark.analysis.frames import Frame, MalformedFrameError, parse
from joulemark.campaign.case import Build
from joulemark.catalogue.architectures import Air, AirMote, Architecture, Attack, Seen
from joulemark.catalogue.boards import RADIO, Board, Grade
from joulemark.catalogue.networks import Network
from joulemark.errors import InputError, VerificationError
from joulemark.meters.model import ModelMeter
from joulemark.meters.power import Energy, occupancy, weakest
from joulemark.runners.network import RunningNetwork, fault_error, image_of

if TYPE_CHECKING:
    from joulemark._engine import PowerInterval, Transmission

_ATTENUATION_DB = 60.0


@dataclass(frozen=True)
class Sent:
    """A frame on the air."""

    mote: str
    frame: Frame
    time_ps: int
    """From the start of its preamble to its end."""
    energy_nj: float
    """Energy of the sender's radio meanwhile."""


@dataclass
class Run:
    """What a network run produced."""

    sent: list[Sent] = field(default_factory=list)
    lines: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    energy: dict[str, Energy] = field(default_factory=dict)
    parts_mj: dict[str, Mapping[str, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Cost:
    """Observed cost of a row."""

    frames: int
    octets: float
    """Payload bytes of the frames that the row adds; otherwise the growth of existing frames."""
    time_ps: float
    energy_nj: float


@dataclass(frozen=True)
class Harm:
    """Cost of an attack to its victim."""

    frames: int
    """Frames sent by the attacker."""
    extra_nj: float
    """Extra energy of the victim."""
    extra_part_nj: Mapping[str, float]
    drawn_nj: float
    """Energy without the attack."""
    grade: Grade
    """The weakest grade of the currents."""


@dataclass(frozen=True)
class OnAir:
    """An architecture's network on boards of one kind."""

    architecture: Architecture
    board: Board
    clock: str
    build: Build
    wiring: Mapping[str, str]

    @property
    def air(self) -> Air:
        """The network that the architecture's file describes.

        Raises:
            InputError: it describes none.
        """
        if self.architecture.air is None:
            where = f"{self.architecture.name}, key air"
            raise InputError("says of no network in which it is to be seen", where)
        return self.architecture.air

    def costs(self) -> dict[str, Cost]:
        """Return the observed cost of each row.

        Raises:
            FaultError: a mote faulted.
        """
        run, plain = self._run(self.air.mote), self._run([_bare(m) for m in self.air.mote])
        innocent = [m.name for m in self.air.mote if m.program == self.architecture.application]
        without = [s for s in plain.sent if s.mote in innocent]
        found: dict[str, dict[str, list[Sent]]] = defaultdict(lambda: defaultdict(list))
        adds = {}
        for sent in run.sent:
            answer = self.architecture.oracle.seen(sent.frame.payload)
            if answer is not None:
                seen = Seen(*answer)
                found[seen.row][seen.message].append(sent)
                adds[seen.row] = not seen.is_whole
        return {
            row: _cost(list(messages.values()), without if adds[row] else [])
            for row, messages in found.items()
        }

    def images(self, *, is_attacked: bool) -> list[str]:
        """Return the build ids of the images of all motes, including those without modules.

        Args:
            is_attacked: include the attackers and the motes as configured under attack.
        """
        networks = [self.air.mote, list(map(_bare, self.air.mote))]
        if is_attacked:
            networks = [self._attacked(), *([attack.mote] for attack in self.air.attack)]
        seats = [seat for motes in networks for seat in self._network(motes).seats()]
        return [image_of(mote).build_id for _, mote in seats]

    def attacks(self) -> Iterator[tuple[Attack, Harm]]:
        """Yield the cost of each attack to its victim, once it is certain that the attack failed.

        Raises:
            VerificationError: a forgery was accepted, or the service ended.
        """
        motes = self._attacked()
        without = self._run(motes)
        self._judge(without, "without an attack")
        for attack in self.air.attack:
            run = self._run([*motes, attack.mote])
            self._judge(run, attack.name)
            mine, base = run.energy[attack.victim], without.energy[attack.victim]
            parts = run.parts_mj[attack.victim]
            before = without.parts_mj[attack.victim]
            yield (
                attack,
                Harm(
                    frames=sum(s.mote == attack.mote.name for s in run.sent),
                    extra_nj=mine.gross_nj - base.gross_nj,
                    extra_part_nj={k: (parts[k] - before.get(k, 0.0)) * 1e6 for k in parts},
                    drawn_nj=base.gross_nj,
                    grade=weakest([mine.grade, base.grade]),
                ),
            )

    def _attacked(self) -> list[AirMote]:
        return [
            m.model_copy(update={"define": m.define | self.air.attacked}) for m in self.air.mote
        ]

    def _judge(self, run: Run, what: str) -> None:
        wrong = self.architecture.oracle.broken(run.lines)
        if wrong is not None:
            raise VerificationError(wrong, f"{self.architecture.name}, {what}")

    def _run(self, motes: Sequence[AirMote]) -> Run:
        running = RunningNetwork(self._network(motes))
        meter = ModelMeter(self.board)
        run = Run()
        # A single slice, so that no frame straddles a slice boundary.
        (piece,) = running.run(self.air.for_s, self.air.for_s)
        if piece.faults:
            number, stop = piece.faults[0]
            raise fault_error(running.names[number], stop)
        for line in piece.lines:
            text = line.data.decode("ascii", "replace").strip()
            run.lines[running.names[line.mote]].append(text)
        for t in piece.transmissions:
            try:
                frame = parse(t.frame[: -t.phy.check_bytes])
            except MalformedFrameError:
                continue
            if frame.kind != "data" or t.is_cut or not frame.payload:
                continue
            drawn_nj = self._drawn_nj(t, piece.states[t.mote], meter)
            run.sent.append(Sent(running.names[t.mote], frame, t.end_ps - t.begin_ps, drawn_nj))
        for number, seat in enumerate(running.seats):
            run.energy[seat.name] = running.energy(number)
            run.parts_mj[seat.name] = running.parts_mj(number)
            run.lines[seat.name] += []
        return run

    def _drawn_nj(
        self, t: "Transmission", tracks: "Mapping[str, Sequence[PowerInterval]]", meter: ModelMeter
    ) -> float:
        radio = {part: track for part, track in tracks.items() if part == RADIO}
        times = occupancy(radio, t.begin_ps, t.end_ps)
        amperes = {key: meter.current_of(*key) for key in times}
        charge_c = sum(a.ampere * times[k] * 1e-12 for k, a in amperes.items() if a is not None)
        return charge_c * self.board.supply_v.value * 1e9

    def _network(self, motes: Sequence[AirMote]) -> Network:
        network = Network.model_validate(
            {
                "title": self.architecture.title,
                "everyone": {"attenuation_db": _ATTENUATION_DB},
                "mote": [
                    {
                        "name": m.name,
                        "board": self.board.name,
                        "program": m.program,
                        "architecture": self.architecture.name,
                        "modules": m.modules,
                        "define": m.define,
                        "wiring": dict(self.wiring),
                        "compiler": self.build.compiler,
                        "optimisation": self.build.optimisation,
                        "clock": self.clock,
                        "start_s": m.start_s,
                        "restart_s": m.restart_s,
                    }
                    for m in motes
                ],
            }
        )
        network._path = self.architecture.file
        return network


def _bare(mote: AirMote) -> AirMote:
    """Return the same mote with no module between its application and its stack."""
    return mote.model_copy(update={"modules": []})


def _cost(messages: Sequence[Sequence[Sent]], without: Sequence[Sent]) -> Cost:
    """Price one of each message, less the frame that would be sent without the row."""
    base = [without] if without else []

    def less(value: Callable[[Sent], float]) -> float:
        return _sum(messages, value) - _sum(base, value)

    return Cost(
        frames=sum(map(len, messages)),
        octets=less(lambda s: len(s.frame.data) if without else len(s.frame.payload)),
        time_ps=less(lambda s: s.time_ps),
        energy_nj=less(lambda s: s.energy_nj),
    )


def _sum(messages: Sequence[Sequence[Sent]], value: Callable[[Sent], float]) -> float:
    return sum(fmean(map(value, each)) for each in messages)
