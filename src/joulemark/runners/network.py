"""Run a network on this machine: build its motes, add them, run and observe them."""

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from joulemark.catalogue import boards, chips
from joulemark.catalogue.architectures import Wired, load_architecture
from joulemark.catalogue.boards import Board
from joulemark.catalogue.near import near
from joulemark.catalogue.networks import Crystal, Mote, Network, picoseconds
from joulemark.catalogue.surroundings import Points, since, surroundings
from joulemark.errors import BuildError, FaultError, InputError
from joulemark.images import toolchain
from joulemark.images.built import BuiltImage
from joulemark.images.parts import closure
from joulemark.images.program import build_program, wired_on
from joulemark.meters.model import ModelMeter
from joulemark.meters.power import Energy, Occupancy
from joulemark.project import sources
from joulemark.runners.capture import read_capture

if TYPE_CHECKING:
    from joulemark._engine import (
        Chip,
        Image,
        MarkerEdge,
        PowerInterval,
        PowerTracks,
        Profile,
        Stop,
        Transmission,
    )

_MOTES = 4096

SLICE_S = 0.1
"""How long the engine runs at a time, before new output is shown."""


@dataclass
class Seat:
    """A mote of a running network."""

    name: str
    mote: Mote
    board: Board
    chip: "Chip"
    image: "Image"
    path: Path
    """The image's file."""
    compiler: str
    flags: str
    restarts_ps: list[int]
    typed: list[tuple[int, str, bytes]]
    """Its serial input: time, port, bytes."""
    around: dict[str, Points]
    """What surrounds it, in the network's time."""
    occupancy_of: Callable[[], Occupancy]
    """Ask the engine for its time by part, power state and clock."""
    cycles_before: int = 0
    """Cycles of the machines in its place before it was last switched off."""
    resets_before: int = 0
    """The same for resets."""
    line: dict[str, bytearray] = field(default_factory=lambda: defaultdict(bytearray))
    """Incomplete lines of output, by port."""

    @property
    def occupancy(self) -> Occupancy:
        """Time by part, power state and clock."""
        return self.occupancy_of()


@dataclass(frozen=True)
class Line:
    """A line of text, or the start of one at the end of a run, that a mote sent on a port."""

    mote: int
    port: str
    time_ps: int
    data: bytes


@dataclass(frozen=True)
class Slice:
    """Events of a network within a time span."""

    end_ps: int
    transmissions: Sequence["Transmission"]
    lines: Sequence[Line]
    states: "PowerTracks | Sequence[dict[str, list[PowerInterval]]]"
    """Power states of each mote, by part."""
    faults: Sequence[tuple[int, "Stop"]]


@dataclass(frozen=True, kw_only=True)
class Observed:
    """Events of a mote, in the network's time."""

    edges: Sequence["MarkerEdge"]
    profile: "Profile | None"
    power: dict[str, list["PowerInterval"]]


@dataclass(frozen=True)
class _Program:
    """Everything that determines a mote's image."""

    name: str
    board: str
    define: tuple[tuple[str, int], ...]
    wiring: tuple[tuple[str, str], ...]
    without: tuple[str, ...]
    compiler: str
    optimisation: str
    clock: str | None
    architecture: str | None
    modules: tuple[str, ...]
    sources: tuple[Path, ...]
    """A user's folders, in which its parts may be."""


def _in_billionths(crystal: Crystal) -> tuple[int, int]:
    """Return a crystal's error and its growth per hour, in parts per 10^9."""
    return round(crystal.ppm * 1000), round(crystal.drift_ppm_per_hour * 1000)


def _since(around: dict[str, Points], start_ps: int) -> dict[str, Points]:
    """Return what surrounds a mote, in its own time."""
    return {quantity: since(points, start_ps) for quantity, points in around.items()}


@lru_cache(maxsize=_MOTES)
def _built(program: _Program) -> BuiltImage:
    wired, wiring = _wired(program)
    return build_program(
        program.name,
        boards.load_board(program.board),
        also=wired.parts,
        without=(*wired.without, *program.without),
        wiring=wiring,
        define=wired.define | dict(program.define),
        compiler=program.compiler,
        optimisation=program.optimisation,
        clock=program.clock,
    )


def _wired(program: _Program) -> tuple[Wired, dict[str, str]]:
    """Return what an architecture adds to a program, and the wiring of both."""
    wiring = dict(program.wiring)
    if program.architecture is None:
        return Wired([], [], [], {}), wiring
    architecture = load_architecture(program.architecture)
    wiring = {**architecture.wiring_of(boards.load_board(program.board).core), **wiring}
    return architecture.wired(wiring, *program.modules), wiring


@lru_cache(maxsize=_MOTES)
def _unused(program: _Program) -> InputError | None:
    """Return an error for the first interface in a wiring that the program does not use."""
    wired, wiring = _wired(program)
    behind = wired_on(boards.load_board(program.board), wiring)
    without = (*wired.without, *program.without)
    parts = closure(program.name, also=tuple(wired.parts), without=without, wiring=behind)
    interfaces = {name for part in parts for name in part.wired}
    for name, _ in program.wiring:
        if name not in interfaces:
            what, mend = f"nothing in it is wired to {name}", near(name, interfaces)
            return InputError(what, f"{program.name}, key wiring", mend)
    return None


def refuse_unused_wiring(network: Network) -> None:
    """Check that all interfaces wired in a network's file are used: a misspelt name is not.

    Raises:
        InputError: nothing in a mote's program is wired to an interface.
    """
    for name, mote in network.seats():
        if mote.program is not None and (error := _unused(_program(mote))):
            where = f"{network.path}, mote {name}"
            raise InputError(f"{error.where}: {error.what}", where, error.mend)


def image_of(mote: Mote) -> BuiltImage:
    """Build the image of a mote that has a program.

    Raises:
        BuildError: the program cannot be built.
        InputError: its board or a setting is invalid.
    """
    return _built(_program(mote))


def _program(mote: Mote) -> _Program:
    return _Program(
        str(mote.program),
        mote.board,
        tuple(sorted(mote.define.items())),
        tuple(sorted(mote.wiring.items())),
        tuple(mote.without),
        mote.compiler,
        mote.optimisation,
        mote.clock,
        mote.architecture,
        tuple(mote.modules),
        sources(),
    )


class RunningNetwork:
    """A running network.

    Args:
        network: the network to run.
        threads: number of cores that the engine may use; all if not given.
        observe: keep marker edges, power states and cycles by function for `observed`; slices then
            have no power states.

    Raises:
        InputError: an image, a board or a setting is invalid.
        BuildError: a program cannot be built.
        ToolError: tools are missing; the error names all of them.
    """

    def __init__(
        self, network: Network, *, threads: int | None = None, observe: bool = False
    ) -> None:
        from joulemark._engine import Network as Engine

        self.network = network
        seats = network.seats()
        # Errors in the network's file are reported by _seat, which names the mote.
        with suppress(InputError):
            toolchain.refuse_missing(
                need
                for _, mote in seats
                if mote.program is not None
                for need in toolchain.needs(mote.compiler, boards.load_board(mote.board).core)
            )
        wanted = threads or len(os.sched_getaffinity(0))
        self.engine = Engine(seed=network.seed, threads=min(wanted, len(seats)))
        self._is_observed = observe
        self.seats: list[Seat] = []
        for name, mote in seats:
            self.seats.append(self._seat(name, mote))
        self._meters = {seat.board.name: ModelMeter(seat.board) for seat in self.seats}
        self._faulted: set[int] = set()
        numbers = {seat.name: number for number, seat in enumerate(self.seats)}
        for recording in network.recording:
            numbers[recording.name] = self.engine.add_recording()
        self.names = list(numbers)
        for (sender, receiver), (attenuation_db, loss) in network.links().items():
            self.engine.link(
                numbers[sender], numbers[receiver], attenuation_db=attenuation_db, loss=loss
            )
        for recording in network.recording:
            frames = read_capture(network.path.parent / recording.file, recording.channel)
            for frame in frames:
                begin_ps = picoseconds(recording.at_s) + frame.time_ps - frames[0].time_ps
                self.engine.inject(
                    numbers[recording.name],
                    frame.phy,
                    begin_ps,
                    frame.frequency_mhz,
                    recording.power_dbm,
                    frame.psdu,
                )

    def _seat(self, name: str, mote: Mote) -> Seat:
        from joulemark._engine import EngineError, Image

        where = f"{self.network.path}, mote {name}"
        compiler = flags = ""
        try:
            board = boards.load_board(mote.board)
            chip = chips.load_chip(board.chip)
            if mote.program is not None:
                built = image_of(mote)
                path, compiler, flags = built.path, built.compiler, built.flags
            else:
                path = self.network.path.parent / str(mote.image)
        except InputError as error:
            what = f"{error.where}: {error.what}" if error.where else error.what
            raise InputError(what, where, error.mend) from error
        except BuildError as error:
            what = f"{error.where}: {error.what}" if error.where else error.what
            raise BuildError(what, f"{self.network.title}, {name}", error.mend) from error
        restarts = sorted(picoseconds(at) for at in mote.restart_s)
        ppb, drift_ppb_per_hour = _in_billionths(mote.crystal)
        watch = mote.watch_crystal
        try:
            flash = None if mote.flash is None else self._flash(mote.flash, where)
            image = Image.load(path)
            if mote.symbols:
                image = image.with_variables(mote.symbols)
            typed = self._typed(mote, board)
            folder, until_s = self.network.path.parent, self.network.duration_s
            around = surroundings(mote.surroundings, f"{where}: surroundings", folder, until_s)
            seat = Seat(
                *(name, mote, board, chip, image, path, compiler, flags, restarts, typed, around),
                partial(self.engine.occupancy, len(self.seats)),
            )
            number = self.engine.add(
                chip,
                image,
                wiring=board.wiring,
                start_ps=picoseconds(mote.start_s),
                ppb=ppb,
                drift_ppb_per_hour=drift_ppb_per_hour,
                watch=None if watch is None else _in_billionths(watch),
                trace=True,
                marker=board.marker.pin if self._is_observed else None,
                profile=self._is_observed,
                settings=mote.settings,
                flash=flash,
                device_number=mote.device_number,
                surroundings=_since(around, picoseconds(mote.start_s)),
            )
        except EngineError as error:
            raise InputError(str(error), where) from error
        ports = self.engine.serial_ports(number)
        for _, port, _ in typed:
            if port.upper() not in ports:
                mend = f"there are {', '.join(ports)}"
                raise InputError(f"input: no serial port {port!r}", where, mend)
        return seat

    def _typed(self, mote: Mote, board: Board) -> list[tuple[int, str, bytes]]:
        return [
            (picoseconds(typed.at_s), typed.port or board.serial.port, typed.text.encode())
            for typed in mote.input
        ]

    def _flash(self, name: str, where: str) -> bytes:
        path = self.network.path.parent / name
        try:
            return path.read_bytes()
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror}", where) from error

    @property
    def time_s(self) -> float:
        """The network's time in seconds."""
        return self.engine.time_ps * 1e-12

    def run(self, until_s: float, slice_s: float = SLICE_S) -> Iterator[Slice]:
        """Run up to a time, and yield the events of each slice.

        Args:
            until_s: the end, from the network's start.
            slice_s: length of a slice.
        """
        end_ps, step_ps = picoseconds(until_s), picoseconds(slice_s)
        while self.engine.time_ps < end_ps:
            now = self.engine.time_ps
            until = min(end_ps, (now // step_ps + 1) * step_ps)
            restarts = [at for seat in self.seats for at in seat.restarts_ps if at > now]
            typed = [at for seat in self.seats for at, _, _ in seat.typed if at > now]
            until = min([until, *restarts, *typed])
            self.engine.run(until)
            yield self._take(all_of_them=until >= end_ps)
            for number, seat in enumerate(self.seats):
                if until in seat.restarts_ps:
                    self._restart(number, seat)
                for at, port, data in seat.typed:
                    if at == until:
                        self.engine.serial_write(number, port, data)

    def _restart(self, number: int, seat: Seat) -> None:
        seat.cycles_before += self.engine.cycles(number)
        seat.resets_before += self.engine.resets(number)
        self.engine.restart(
            number,
            seat.chip,
            seat.image,
            wiring=seat.board.wiring,
            trace=True,
            settings=seat.mote.settings,
            device_number=seat.mote.device_number,
            surroundings=_since(seat.around, self.engine.time_ps),
        )
        self._faulted.discard(number)

    def _take(self, *, all_of_them: bool) -> Slice:
        lines: list[Line] = []
        last_ps = {}
        for number, port, sent in self.engine.serial_take():
            lines += self._lines(number, port, sent)
            last_ps[number, port] = sent[-1][1]
        if all_of_them:
            lines += self._unended(last_ps)
        faults = []
        for number in self.engine.faulted():
            if number not in self._faulted and (stop := self.engine.fault(number)) is not None:
                self._faulted.add(number)
                faults.append((number, stop))
        nothing: list[dict[str, list[PowerInterval]]] = [{} for _ in self.seats]
        states = nothing if self._is_observed else self.engine.take_all_power_tracks()
        return Slice(
            self.engine.time_ps,
            self.engine.take_transmissions(all=all_of_them),
            sorted(lines, key=lambda line: line.time_ps),
            states,
            faults,
        )

    def _lines(self, number: int, port: str, sent: list[tuple[int, int]]) -> Iterator[Line]:
        seat = self.seats[number]
        rest = seat.line[port]
        for byte, time_ps in sent:
            rest.append(byte)
            if byte == 0x0A:
                yield Line(number, port, time_ps, bytes(rest))
                rest.clear()

    def _unended(self, last_ps: dict[tuple[int, str], int]) -> Iterator[Line]:
        for number, seat in enumerate(self.seats):
            for port, rest in seat.line.items():
                if rest:
                    time_ps = last_ps.get((number, port), self.engine.time_ps)
                    yield Line(number, port, time_ps, bytes(rest))
                    rest.clear()

    def observed(self, number: int) -> Observed:
        """Return a mote's events since the start, only once; needs `observe`."""
        engine = self.engine
        edges, profile = engine.marker_edges(number), engine.profile(number)
        return Observed(edges=edges, profile=profile, power=engine.take_power_tracks(number))

    def energy(self, number: int) -> Energy:
        """Return the energy that a mote has drawn so far."""
        seat = self.seats[number]
        return self._meters[seat.board.name].energy(seat.occupancy)

    def parts_mj(self, number: int) -> dict[str, float]:
        """Return the energy that each part of a mote has drawn so far, in millijoules."""
        return self.parts_of(number, self.seats[number].occupancy)

    def parts_of(self, number: int, times: Occupancy) -> dict[str, float]:
        """Return the energy that each part of a mote draws in given times, in millijoules."""
        seat = self.seats[number]
        meter = self._meters[seat.board.name]
        drawn: dict[str, float] = defaultdict(float)
        for (part, state, clock_hz), time_ps in times.items():
            current = meter.current_of(part, state, clock_hz)
            ampere = 0.0 if current is None else current.ampere
            drawn[part] += ampere * seat.board.supply_v.value * time_ps * 1e-9
        return dict(drawn)

    def cycles(self, number: int) -> int:
        """Return the cycles of a mote's core, across all its restarts."""
        return self.seats[number].cycles_before + self.engine.cycles(number)

    def resets(self, number: int) -> int:
        """Return how often a mote was reset by its watchdog or its program."""
        return self.seats[number].resets_before + self.engine.resets(number)


def fault_error(name: str, stop: "Stop") -> FaultError:
    """Return a mote's fault as an error."""
    fault = stop.fault
    message = "it stopped" if fault is None else fault.message
    return FaultError(f"mote {name} faulted: {message}")
