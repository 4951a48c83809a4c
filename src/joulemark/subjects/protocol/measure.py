"""Measures secure protocols on the air: a record for each side of each run, and back again."""

import hashlib
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from joulemark._engine import EngineError, Image
from joulemark.campaign.case import Build, Case, Conditions
from joulemark.campaign.job import Point
from joulemark.campaign.versions import project_commit
from joulemark.catalogue import chips
from joulemark.catalogue.boards import Board, load_board
from joulemark.catalogue.protocols import CLIENT, SERVER, Pair, protocol, protocols
from joulemark.conduct import Means, Records, Task, Work, of_tasks
from joulemark.errors import BuildError, InputError
from joulemark.measure.recorded import Outcome, key_of, on_board, recorded
from joulemark.meters.model import NAME as METER
from joulemark.records import bounds
from joulemark.records.record import Quantity, Record, ResultGrade, quantity
from joulemark.runners.network import RunningNetwork
from joulemark.subjects import Subject
from joulemark.subjects.handshake.flights import (
    Computed,
    Flight,
    Party,
    Priced,
    Spent,
    price_run,
    start,
    verified,
)
from joulemark.subjects.handshake.images import OTHER, price_images, start_images
from joulemark.subjects.network.measure import provenance
from joulemark.subjects.protocol import ProtocolSubject
from joulemark.subjects.protocol.options import ALL, ProtocolOptions

_SIDES = (CLIENT, SERVER)
_EACH = "each"
"""Begins the parts of a further exchange."""


@dataclass(frozen=True)
class _Run:
    """A run of a protocol, in any process."""

    protocol: str
    board: str
    conditions: Pair


@dataclass(frozen=True)
class _Images:
    """Two images that are run, with their bytes: another process may not have the files."""

    names: tuple[str, ...]
    suffixes: tuple[str, ...]
    data: tuple[bytes, ...]
    board: str
    conditions: Pair
    for_ms: int
    port: int


def plan(options: ProtocolOptions, means: Means) -> Work:
    """Return the work of images and of protocols; protocols' programs are built.

    What cannot be built is left out, with what it lacks, if anything else can.

    Raises:
        BuildError: no program can be built.
        InputError: there is no such protocol or board, or the board has no radio; a file is no
            image.
    """
    tasks: list[Task] = [
        task
        for board in options.board
        if options.image
        for task in _tasks_of_images(options, board)
    ]
    left_out: list[str] = []
    first: BuildError | None = None
    names = protocols() if ALL in options.protocol else dict.fromkeys(options.protocol)
    for board in options.board:
        for name in names:
            try:
                tasks += _tasks(options, name, board)
            except BuildError as error:
                first = first or error
                side = (error.where or "").rpartition(", ")[2]
                left_out += [f"left out: {name} on {board}", f"  {side}: {error.what}"]
    if first is not None and not tasks:
        raise first
    return of_tasks(tasks, means, left_out)


def _tasks_of_images(options: ProtocolOptions, board: str) -> Iterator[Task]:
    data = []
    for path in options.image:
        # A file that is no image is a mistake and not a case that failed.
        try:
            Image.load(path)
            data.append(path.read_bytes())
        except (OSError, EngineError) as error:
            raise InputError(str(error).removeprefix(f"{path}: "), str(path)) from error
    for number in range(options.runs_in_all):
        run = _Images(
            tuple(path.stem for path in options.image),
            tuple(path.suffix for path in options.image),
            tuple(data),
            board,
            Pair(records=0, loss=options.loss, seed=options.seed + number),
            options.for_ms,
            options.port,
        )
        points = tuple(Point(case=case, trials=1, key=key) for case, key in _cases_of_images(run))
        yield Task(points=points, measure=partial(_measure_images, run))


def _tasks(options: ProtocolOptions, name: str, board: str) -> Iterator[Task]:
    run = _Run(
        name,
        board,
        Pair(
            records=options.records,
            request_bytes=options.request_size,
            response_bytes=options.response_size,
            loss=options.loss,
            seed=options.seed,
            compiler=options.compiler,
            optimisation=options.opt,
        ),
    )
    built = start(protocol(name), board, run.conditions)
    for number in range(options.runs_in_all):
        seed = options.seed + number
        this = replace(run, conditions=replace(run.conditions, seed=seed))
        points = tuple(Point(case=c, trials=1, key=key) for c, key in _cases(this, built))
        yield Task(points=points, measure=partial(_measure, this))


def _conditions(board: Board) -> Conditions:
    return Conditions(
        board=board.name,
        clock=board.default_clock,
        runner="network",
        meter=METER,
        unit="emulated",
    )


def _cases_of_images(run: _Images) -> Iterator[tuple[Case, str]]:
    board = load_board(run.board)
    for side in _SIDES:
        subject = ProtocolSubject(
            protocol=", ".join(run.names),
            side=side,
            records=0,
            request_bytes=0,
            response_bytes=0,
            loss_ppm=round(run.conditions.loss * 1e6),
            seed=run.conditions.seed,
            for_ms=run.for_ms,
            port=run.port,
        )
        case = Case(subject=subject, build=None, conditions=_conditions(board))
        bytes_of = (hashlib.sha256(data).hexdigest() for data in run.data)
        yield case, key_of(case, *bytes_of, board.digest, chips.digest(board.chip))


def _cases(run: _Run, built: RunningNetwork) -> Iterator[tuple[Case, str]]:
    """Yield each side's case and the key of its record; images do not depend on the seed."""
    what, of = run.conditions, protocol(run.protocol)
    board = load_board(run.board)
    images = [seat.image.digest for seat in built.seats]
    for side in _SIDES:
        subject = ProtocolSubject(
            protocol=run.protocol,
            side=side,
            records=what.records,
            request_bytes=what.request_bytes,
            response_bytes=what.response_bytes,
            loss_ppm=round(what.loss * 1e6),
            seed=what.seed,
        )
        case = Case(
            subject=subject,
            build=Build(compiler=what.compiler or board.compiler, optimisation=what.optimisation),
            conditions=_conditions(board),
        )
        network = of.pair(board, replace(what, records=what.records + 1))
        yield case, key_of(case, of.digest, network.digest, *images)


def _measure(run: _Run) -> Records:
    running = start(protocol(run.protocol), run.board, run.conditions, observe=True)
    known = list(_cases(run, running))
    priced = price_run(protocol(run.protocol), run.conditions, running)
    made: list[Record[Subject]] = []
    for number, (case, key) in enumerate(known):
        circumstances = provenance(running.seats[number], running.network, case.conditions.clock)
        outcome = Outcome(
            quantities=list(_quantities(priced, _SIDES[number], running.energy(number).grade)),
            notes=[priced.verified],
        )
        made.append(recorded(key, case.subject, case, circumstances, outcome))
    return made


def _measure_images(run: _Images) -> Records:
    board = load_board(run.board)
    with tempfile.TemporaryDirectory(prefix="joulemark-") as folder:
        paths = []
        for side, name, suffix, data in zip(_SIDES, run.names, run.suffixes, run.data, strict=True):
            path = Path(folder) / side / f"{name}{suffix}"
            path.parent.mkdir()
            path.write_bytes(data)
            paths.append(path)
        running = start_images(paths, run.board, run.conditions)
        seconds = run.for_ms / 1000
        priced = price_images(running, paths, run.conditions, seconds, run.port)
    made: list[Record[Subject]] = []
    for number, (case, key) in enumerate(_cases_of_images(run)):
        circumstances = replace(
            on_board(board, case.conditions.clock, run.conditions.seed, project_commit()),
            clock_hz=priced.parties[number].clock_hz,
            image_digest=running.seats[number].image.digest,
        )
        grade = running.energy(number).grade
        outcome = Outcome(
            quantities=list(_quantities(priced, _SIDES[number], grade)),
            notes=[priced.verified, priced.title],
        )
        made.append(recorded(key, case.subject, case, circumstances, outcome))
    return made


# ---- A side as quantities ----

_BYTES = ("protocol", "coap", "payload", "lowpan", "mac", "acks", "again", "datagram")
"""Of a flight, as `Flight` names them."""
_ENERGIES = ("core", "sending", "listening")


def _part(name: str, *, record: bool) -> str:
    return f"{_EACH} {name}".strip() if record else name


def _quantities(priced: Priced, side: str, grade: ResultGrade | None) -> Iterator[Quantity]:
    party = priced.party(side)

    def one(name: str, unit: str, value: float, part: str = "") -> Quantity:
        graded = grade if unit == "nJ" else None
        return quantity(name, unit, [value], part=part, grade=graded, exact=True)

    yield one("flash", "B", party.flash_bytes)
    yield one("ram", "B", party.ram_bytes)
    yield one("stack", "B", party.stack_bytes)
    for name, (flash, ram) in party.parts.items():
        yield one("flash", "B", flash, name)
        yield one("ram", "B", ram, name)
    for record, spent in ((False, party.first), (True, party.record)):
        part = _part("", record=record)
        yield one("time", "ps", spent.time_ps, part)
        yield one("time_computing", "ps", spent.computing_ps, part)
        yield one("cycles", "cycles", spent.cycles, part)
        yield one("frames_sent", "frames", spent.frames, part)
        yield one("energy_gross", "nJ", spent.uj * 1e3, part)
        for name in _ENERGIES:
            yield one(f"energy_{name}", "nJ", getattr(spent, f"{name}_uj") * 1e3, part)
    for place, computed in enumerate(party.computed):
        part = _part(computed.does, record=computed.record)
        yield one("place", "", place, part)
        yield one("cycles", "cycles", computed.cycles, part)
        yield one("time", "ps", computed.time_ps, part)
        yield one("energy_core", "nJ", computed.core_uj * 1e3, part)
    for place, flight in enumerate(priced.flights):
        if (flight.sender or CLIENT) != side:
            continue
        part = _part(flight.name, record=flight.record)
        yield one("air_place", "", place, part)
        yield one("air_frames", "frames", flight.frames, part)
        yield one("air_time", "ps", flight.air_ps, part)
        for name in _BYTES:
            yield one(f"air_{name}", "B", getattr(flight, name), part)


# ---- And back ----


def priced_of(records: Sequence[Record[ProtocolSubject]]) -> Priced:
    """Return what the records of both sides of a run say."""
    sides = {record.subject.side: record for record in records}
    subject, build = records[0].subject, records[0].build
    if subject.for_ms:
        said, title = records[0].notes
    else:
        of = protocol(subject.protocol)
        said, title = verified(of), of.variant.title
    flights = [placed for record in records for placed in _flights(record)]
    return Priced(
        protocol=subject.protocol,
        title=title,
        verified=said,
        conditions=Pair(
            records=subject.records,
            request_bytes=subject.request_bytes,
            response_bytes=subject.response_bytes,
            loss=subject.loss_ppm / 1e6,
            seed=subject.seed,
            compiler=build.compiler if build else "",
            optimisation=build.optimisation if build else "",
        ),
        flights=[flight for _, flight in sorted(flights, key=lambda placed: placed[0])],
        parties=[_party(sides[side]) for side in _SIDES],
        errors=[bounds.of_record(records[0])],
    )


def _value(record: Record[ProtocolSubject], name: str, part: str = "") -> float:
    return record.value(name, part) or 0.0


def _placed(record: Record[ProtocolSubject], name: str) -> list[tuple[float, str, bool, str]]:
    """Return the place, the part, whether it is of further exchanges, and its name."""
    found = []
    for q in record.quantities:
        if q.name == name:
            is_each = q.part.startswith(f"{_EACH} ")
            found.append((q.value, q.part, is_each, q.part.removeprefix(f"{_EACH} ")))
    return sorted(found)


def _flights(record: Record[ProtocolSubject]) -> Iterator[tuple[float, Flight]]:
    for place, part, is_each, name in _placed(record, "air_place"):
        sizes = {size: _value(record, f"air_{size}", part) for size in _BYTES}
        yield (
            place,
            Flight(
                name=name,
                sender="" if name == OTHER else record.subject.side,
                record=is_each,
                frames=_value(record, "air_frames", part),
                air_ps=_value(record, "air_time", part),
                **sizes,
            ),
        )


def _party(record: Record[ProtocolSubject]) -> Party:
    sized = {q.part for q in record.quantities if q.name == "flash" and q.part}
    return Party(
        side=record.subject.side,
        board=record.conditions.board,
        clock_hz=record.provenance.clock_hz,
        build=str(record.build or record.subject.image),
        supply_v=load_board(record.conditions.board).supply_v.value,
        flash_bytes=record.flash_bytes or 0,
        ram_bytes=record.ram_bytes or 0,
        stack_bytes=record.stack_bytes or 0,
        parts={
            part: (round(_value(record, "flash", part)), round(_value(record, "ram", part)))
            for part in sorted(sized)
        },
        computed=[
            Computed(
                does=name,
                record=is_each,
                cycles=_value(record, "cycles", part),
                time_ps=_value(record, "time", part),
                core_uj=_value(record, "energy_core", part) / 1e3,
            )
            for _, part, is_each, name in _placed(record, "place")
        ],
        first=_spent(record, ""),
        record=_spent(record, _EACH),
    )


def _spent(record: Record[ProtocolSubject], part: str) -> Spent:
    core, sending, listening = (_value(record, f"energy_{name}", part) / 1e3 for name in _ENERGIES)
    return Spent(
        time_ps=_value(record, "time", part),
        computing_ps=_value(record, "time_computing", part),
        cycles=_value(record, "cycles", part),
        core_uj=core,
        sending_uj=sending,
        listening_uj=listening,
        frames=_value(record, "frames_sent", part),
    )
