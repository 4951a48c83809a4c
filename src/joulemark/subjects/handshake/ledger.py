"""A handshake on the air: what each message costs each side, from a running network.

Motes whose program declares a conversation raise their marker while they compute a message.
Between two windows, a mote sends a message and awaits the next. Each message on the air, and both
keys, are compared with the oracle's.
"""

import hashlib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from joulemark.analysis.frames import MalformedFrameError, parse
from joulemark.campaign.case import Build, Case, Conditions
from joulemark.catalogue.boards import MCU, RADIO
from joulemark.catalogue.conversations import Conversation, of_program, programs
from joulemark.catalogue.networks import Mote, Network
from joulemark.catalogue.primitives import Algorithm, Library
from joulemark.errors import BudgetError, InputError, VerificationError
from joulemark.images.memory import Attribution
from joulemark.measure.recorded import Outcome, key_of, recorded
from joulemark.meters.model import NAME as METER
from joulemark.meters.power import occupancy
from joulemark.oracle import Inputs
from joulemark.records.record import Quantity, Record, quantity
from joulemark.runners.network import RunningNetwork, fault_error
from joulemark.subjects import Subject
from joulemark.subjects.handshake import HandshakeSubject
from joulemark.subjects.network.measure import provenance

if TYPE_CHECKING:
    from joulemark._engine import MarkerEdge, Transmission

LIMIT_S = 300.0
_AFTER_S = 0.1
"""Time for the acknowledgement of the initiator's last message."""
_NOT_LOWPAN_MAX = 0x3F
_FIRST, _NEXT = 0b11000, 0b11100
_FRAGMENT_UNIT = 8
"""6LoWPAN's dispatch values and unit of offsets (RFC 4944, sections 5.1 and 5.3)."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """A stage of one side: it computes, or its radio sends and listens."""

    does: str
    time_ps: int
    cycles: int
    """Core cycles while it computes; 0 while it waits for the radio."""
    core_uj: float
    radio_uj: float
    stack_bytes: int
    frames: int
    """Frames sent, acknowledgements included."""
    air_bytes: int
    """Bytes of those frames, with preambles, lengths and check sequences."""


@dataclass(frozen=True, kw_only=True)
class Side:
    """One of the two parties."""

    name: str
    side: str
    board: str
    clock_hz: int
    build: str
    supply_v: float
    flash_bytes: int
    ram_bytes: int
    """RAM of the whole image; likewise `flash_bytes`."""
    parts: Mapping[str, tuple[int, int]]
    """Flash and RAM of each part of the image."""
    steps: Sequence[Step]
    seat: int
    """Its place in the network."""

    @property
    def uj(self) -> float:
        """Energy of core and radio, from the first step to the last."""
        return sum(step.core_uj + step.radio_uj for step in self.steps)


@dataclass(frozen=True, kw_only=True)
class Ledger:
    """A handshake that both sides ended with the same key."""

    primitive: str
    implementations: Mapping[str, str]
    sides: Sequence[Side]
    messages: Mapping[str, int]
    """Size of each message that was seen on the air and compared."""
    sessions: int
    """Sessions begun; all but the last failed."""


@dataclass
class _Watched:
    """Observations of a network."""

    running: RunningNetwork
    frames: "list[Transmission]"
    said: list[list[tuple[int, str]]]
    """Lines printed by each mote, with their times."""


def _watch(running: RunningNetwork, last: int) -> _Watched:
    """Run until the initiator reports that it is done.

    Raises:
        BudgetError: it takes too long.
        FaultError: a program faulted.
    """
    seen = _Watched(running, [], [[] for _ in running.seats])
    end_s = LIMIT_S
    for piece in running.run(LIMIT_S):
        for number, stop in piece.faults:
            raise fault_error(running.names[number], stop)
        seen.frames += piece.transmissions
        for line in piece.lines:
            seen.said[line.mote].append((line.time_ps, line.data.decode("ascii", "replace")[:-1]))
        if end_s == LIMIT_S and any(text == "done" for _, text in seen.said[last]):
            end_s = running.time_s + _AFTER_S
        if running.time_s >= end_s:
            return seen
    raise BudgetError(f"{running.network.path.name}: no end within {LIMIT_S:g} s")


def ledger(running: RunningNetwork) -> Ledger:
    """Run a network with one initiator and one responder, and price their handshake.

    Args:
        running: the network, set up to observe and not run yet.

    Raises:
        BudgetError: the initiator does not finish.
        FaultError: a program faulted.
        InputError: there is not exactly one of each, or they run different handshakes.
        VerificationError: no handshake completed, or a message or a key differs from the oracle's.
    """
    where = running.network.path.name
    talk = parties(running.network)
    conversation, sides = talk.conversation, talk.sides
    seen = _watch(running, sides[conversation.first])
    sessions = {side: _sessions(seen.said[number]) for side, number in sides.items()}
    expected = _expected(talk, {side: len(begun) - 1 for side, begun in sessions.items()})
    for side, number in sides.items():
        _check_key(side, seen.said[number], expected[conversation.key].hex(), where)
    messages = _check_messages(seen, talk, sessions, expected)
    return Ledger(
        primitive=talk.algorithm.name,
        implementations=talk.implementations,
        sides=[_side(seen, side, talk, messages) for side in sides],
        messages=messages,
        sessions=len(sessions[conversation.first]),
    )


@dataclass(frozen=True, kw_only=True)
class Parties:
    """Who speaks in a network, and what."""

    conversation: Conversation
    algorithm: Algorithm
    sides: Mapping[str, int]
    """Seats by role."""
    implementations: Mapping[str, str]
    """The primitive's implementation by role."""
    optional: bool
    """Whether optional flights are made."""


def parties(network: Network) -> Parties:
    """Return the parties of a network.

    Raises:
        InputError: there is not exactly one of each role, or they run different handshakes.
    """
    where = network.path.name
    motes = [mote for _, mote in network.seats()]
    spoken = [of_program(mote.program or "") for mote in motes]
    conversation = next((one for one in spoken if one is not None), None)
    if conversation is None:
        known = ", ".join(programs())
        raise InputError("no mote runs a program with a conversation", where, f"such as {known}")
    sides: dict[str, int] = {}
    for number, (mote, its) in enumerate(zip(motes, spoken, strict=True)):
        if its == conversation:
            side = conversation.role_of(mote)
            if side in sides:
                raise InputError(f"there is more than one {side}", where)
            sides[side] = number
    missing = [name for name in conversation.role if name not in sides]
    if missing:
        mend = f"its define is {conversation.role[missing[0]].define or 'any other'}"
        raise InputError(f"no mote is {conversation.title}'s {missing[0]}", where, mend)
    folders = {
        side: motes[number].wiring.get(conversation.interface, "").split("/")
        for side, number in sides.items()
    }
    names = {tuple(folder[:-1]) for folder in folders.values()}
    if len(names) > 1:
        raise InputError("the two motes are wired to different handshakes", where)
    first = motes[sides[conversation.first]]
    return Parties(
        conversation=conversation,
        algorithm=_algorithm(next(iter(names)), where),
        sides=sides,
        implementations={side: folder[-1] for side, folder in folders.items()},
        optional=bool(first.define.get(conversation.optional, 0)),
    )


def _algorithm(folder: Sequence[str], where: str) -> Algorithm:
    kind_and_name = "/".join(folder[1:])
    for algorithm in Library.load().algorithms.values():
        primitive = algorithm.primitive
        if f"{primitive.kind}/{primitive.name}" == kind_and_name and algorithm.is_default:
            return algorithm
    raise InputError(f"no handshake {kind_and_name!r}", f"{where}, key wiring")


def _sessions(said: Sequence[tuple[int, str]]) -> list[int]:
    """Return when each session began."""
    return [time_ps for time_ps, text in said if text.startswith("session ")]


def _expected(talk: Parties, last: Mapping[str, int]) -> Mapping[str, bytes]:
    """Return the messages of the vectors' parties, with what the last sessions renew."""
    algorithm = talk.algorithm
    values = dict(algorithm.vectors[0].values)
    for side, number in last.items():
        for name in talk.conversation.role[side].renews if number > 0 else ():
            values[name] = hashlib.sha256(values[name] + bytes([number])).digest()
    names = algorithm.contract.file.input
    # What the vectors' parties do not send is empty, such as external authorization data.
    given = {name: values.get(name, b"") for name in names}
    return algorithm.oracle(Inputs(tag_bytes=0, **given))


def _check_key(side: str, said: Sequence[tuple[int, str]], key: str, where: str) -> None:
    keys = [text.removeprefix("key ") for _, text in said if text.startswith("key ")]
    if not keys:
        words = "; ".join(text for _, text in said[-4:])
        raise VerificationError(f"the {side} has no key: {words}", where)
    if keys[-1] != key:
        raise VerificationError(f"the {side}'s key is {keys[-1]}, not {key}", where)


def _sent(frames: "Sequence[Transmission]", mote: int) -> Iterator[bytes]:
    """Yield a mote's messages, reassembled and in order; retransmissions count once."""
    sequence: int | None = None
    parts: dict[int, bytes] = {}
    for sent in frames:
        if sent.mote != mote:
            continue
        try:
            frame = parse(sent.frame[: -sent.phy.check_bytes])
        except MalformedFrameError:
            continue
        if frame.kind != "data" or frame.sequence == sequence:
            continue
        sequence = frame.sequence
        payload = frame.payload
        if payload[0] <= _NOT_LOWPAN_MAX:
            yield payload
        elif payload[0] >> 3 in (_FIRST, _NEXT):
            size = (payload[0] & 7) << 8 | payload[1]
            if payload[0] >> 3 == _FIRST:
                parts = {0: payload[4:]}
            else:
                parts[payload[4] * _FRAGMENT_UNIT] = payload[5:]
            whole = b"".join(parts[at] for at in sorted(parts))
            if len(whole) == size:
                yield whole


def _check_messages(
    seen: _Watched,
    talk: Parties,
    sessions: Mapping[str, Sequence[int]],
    expected: Mapping[str, bytes],
) -> dict[str, int]:
    """Compare each message of the last session with the oracle's; return their sizes."""
    found: dict[str, int] = {}
    sent = {flight.byte: flight.sends for flight in talk.conversation.flight if flight.sends}
    for side, number in talk.sides.items():
        begin = sessions[side][-1]
        later = [t for t in seen.frames if t.begin_ps > begin]
        for message in _sent(later, number):
            if message[0] == talk.conversation.error_byte:
                continue
            name = sent.get(message[0])
            if name is None or message[1:] != expected[name]:
                wanted = expected[name].hex() if name else f"one of {', '.join(sent.values())}"
                raise VerificationError(f"{side}'s message {message.hex()} is not {wanted}")
            found[name] = len(message) - 1
    wanted_names = [f.sends for f in talk.conversation.flights(optional=talk.optional) if f.sends]
    missing = [name for name in wanted_names if name not in found]
    if missing:
        raise VerificationError(f"not on air: {', '.join(missing)}")
    return {name: found[name] for name in wanted_names}


def _windows(edges: "Sequence[MarkerEdge]") -> "list[tuple[MarkerEdge, MarkerEdge]]":
    return [
        (rise, fall) for rise, fall in itertools.pairwise(edges) if rise.rising and not fall.rising
    ]


def _side(seen: _Watched, side: str, talk: Parties, messages: Mapping[str, int]) -> Side:
    number, conversation = talk.sides[side], talk.conversation
    names = [flight.does for flight in conversation.of_role(side, optional=talk.optional)]
    sends = {f.does: f.sends for f in conversation.of_role(side, optional=talk.optional)}
    running = seen.running
    seat = running.seats[number]
    observed = running.observed(number)
    all_windows = _windows(observed.edges)
    # A session is announced before its first window, but the line's end may fall within the window.
    begin_ps = _sessions(seen.said[number])[-1]
    windows = [window for window in all_windows if window[1].time_ps >= begin_ps]
    if len(windows) != len(names):
        raise VerificationError(f"the {side} computed {len(windows)} times, not {len(names)}")
    functions = () if observed.profile is None else observed.profile.functions
    stacks = {function.name: function.stack_bytes for function in functions}
    near = [
        t
        for t in seen.frames
        if t.mote == number or any(h.mote == number and h.outcome == "received" for h in t.hearings)
    ]
    steps: list[Step] = []

    def step(does: str, times: tuple[int, int], cycles: int = 0, stack: int = 0) -> None:
        start_ps, end_ps = times
        parts = running.parts_of(number, occupancy(observed.power, start_ps, end_ps))
        own = [t for t in near if t.mote == number and start_ps <= t.begin_ps < end_ps]
        steps.append(
            Step(
                does=does,
                time_ps=end_ps - start_ps,
                cycles=cycles,
                core_uj=1e3 * parts.get(MCU, 0.0),
                radio_uj=1e3 * parts.get(RADIO, 0.0),
                stack_bytes=stack,
                frames=len(own),
                air_bytes=sum(len(t.frame) + t.phy.overhead_bytes for t in own),
            )
        )

    at_ps = windows[0][0].time_ps
    if side != conversation.first:
        # Start at the first frame of the message that it answers: earlier listening is not a cost.
        at_ps = max(t.begin_ps for t in near if t.mote != number and t.begin_ps < at_ps)
    lost = all_windows[: -len(windows)]
    if lost:
        spent = sum(fall.cycles - rise.cycles for rise, fall in lost)
        step("sessions before", (lost[0][0].time_ps, at_ps), spent)
    if side != conversation.first:
        step(f"hears {conversation.flight[0].sends}", (at_ps, windows[0][0].time_ps))
    for position, (name, (rise, fall)) in enumerate(zip(names, windows, strict=True)):
        is_last = position + 1 == len(windows)
        ends = [t.end_ps for t in near if t.end_ps > fall.time_ps]
        until = max(ends, default=fall.time_ps)
        if not is_last:
            until = windows[position + 1][0].time_ps
        sent = sends[name]
        done_ps = fall.time_ps if sent or is_last else until
        stack = stacks.get(f"{talk.algorithm.prefix}_{name}", 0)
        step(name, (rise.time_ps, done_ps), fall.cycles - rise.cycles, stack)
        if sent:
            step(f"sends {sent}{'' if is_last else ', waits'}", (done_ps, until))
    memory = Attribution.load(seat.path.parent)
    return Side(
        name=seat.name,
        side=side,
        board=seat.board.name,
        clock_hz=seat.board.clock_profile(seat.mote.clock).hz,
        build=_build(seat.mote),
        supply_v=seat.board.supply_v.value,
        flash_bytes=memory.total_flash_bytes,
        ram_bytes=memory.total_ram_bytes,
        parts={name: (p.flash_bytes, p.ram_bytes) for name, p in memory.parts.items()},
        steps=steps,
        seat=number,
    )


def cases(running: RunningNetwork) -> dict[str, tuple[Case, str]]:
    """Return each side's case and the key of its record.

    Raises:
        InputError: as `parties` says.
    """
    network, talk = running.network, parties(running.network)
    found = {}
    for side, number in talk.sides.items():
        seat = running.seats[number]
        subject = HandshakeSubject(
            handshake=talk.algorithm.name,
            implementation=talk.implementations[side],
            side=side,
            network=network.path.stem,
        )
        clock = seat.mote.clock or seat.board.default_clock
        case = Case(
            subject=subject,
            build=Build(compiler=seat.mote.compiler, optimisation=seat.mote.optimisation),
            conditions=Conditions(
                board=seat.board.name, clock=clock, runner="network", meter=METER, unit="emulated"
            ),
        )
        found[side] = case, key_of(case, network.digest, seat.image.digest)
    return found


def records(running: RunningNetwork, priced: Ledger) -> Iterator[Record[Subject]]:
    """Yield a record for each side, whose parts are its steps.

    Args:
        running: the network after the run.
        priced: its ledger.
    """
    network, known = running.network, cases(running)
    for side in priced.sides:
        case, key = known[side.side]
        yield recorded(
            key,
            case.subject,
            case,
            provenance(running.seats[side.seat], network, case.conditions.clock),
            Outcome(
                quantities=list(_quantities(side, running)),
                notes=[
                    f"network file {network.path.name}, SHA-256 {network.digest}",
                    f"sessions: {priced.sessions}",
                ],
            ),
        )


def _quantities(side: Side, running: RunningNetwork) -> Iterator[Quantity]:
    grade = running.energy(side.seat).grade
    yield quantity("flash", "B", [side.flash_bytes], exact=True)
    yield quantity("ram", "B", [side.ram_bytes], exact=True)
    whole = Step(
        does="",
        time_ps=sum(s.time_ps for s in side.steps),
        cycles=sum(s.cycles for s in side.steps),
        core_uj=sum(s.core_uj for s in side.steps),
        radio_uj=sum(s.radio_uj for s in side.steps),
        stack_bytes=max(s.stack_bytes for s in side.steps),
        frames=sum(s.frames for s in side.steps),
        air_bytes=sum(s.air_bytes for s in side.steps),
    )
    for step in (whole, *side.steps):
        part = step.does
        core_nj, radio_nj = step.core_uj * 1e3, step.radio_uj * 1e3
        yield quantity("time", "ps", [step.time_ps], part=part, exact=True)
        yield quantity("cycles", "cycles", [step.cycles], part=part, exact=True)
        for name, nj in (
            ("energy_gross", core_nj + radio_nj),
            ("energy_core", core_nj),
            ("energy_radio", radio_nj),
        ):
            yield quantity(name, "nJ", [nj], part=part, grade=grade, exact=True)
        yield quantity("stack", "B", [step.stack_bytes], part=part, exact=True)
        yield quantity("frames_sent", "frames", [step.frames], part=part, exact=True)
        yield quantity("air", "B", [step.air_bytes], part=part, exact=True)


def _build(mote: Mote) -> str:
    return f"{mote.compiler} -{mote.optimisation}"
