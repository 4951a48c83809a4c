"""A secure protocol on the air: what each flight and each record takes, on both sides.

Two boards run the protocol's program. Each datagram is compared with the oracle's before anything
is counted; of a user's own protocol without an oracle, `directions` says what is checked. `first`
is the handshake with its first request and response, `record` each further one, on the average.
"""

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from joulemark.analysis.lowpan import Datagram, datagrams
from joulemark.catalogue import boards
from joulemark.catalogue.boards import MCU, RADIO
from joulemark.catalogue.protocols import CLIENT, SERVER, Pair, Protocol
from joulemark.errors import BudgetError, VerificationError
from joulemark.images.memory import Attribution
from joulemark.meters.power import occupancy
from joulemark.records import bounds
from joulemark.runners.network import RunningNetwork, fault_error
from joulemark.subjects.handshake import directions
from joulemark.subjects.handshake.talk import Account, Message, Talk, request_of, response_of

if TYPE_CHECKING:
    from joulemark._engine import MarkerEdge, PowerInterval, Profile, Transmission

LIMIT_S = 400.0
"""Nobody waits for so long: a client gives up by itself, CoAP's after MAX_TRANSMIT_WAIT (RFC 7252,
section 4.8.2), which is 93 s, and 372 s on a TelosB, where a peer computes for seconds and
ACK_TIMEOUT is 8 s. Only a program that is stuck meets it."""
_AFTER_S = 0.05
"""Time for what is on the air when the client is done."""
_EMPTY_CYCLES = 64
"""An empty window takes the one before it back: that repeated what had been computed."""
_SIDES = (CLIENT, SERVER)
BY_ORACLE = "every datagram is the oracle's, and both keys"
"""What is verified where there is an oracle."""
_WORDS = {"done", "failed", "key"}
"""What a side says by contract."""
_TX = "tx"
"""How the states in which a radio sends begin."""


@dataclass(frozen=True, kw_only=True)
class Flight:
    """Datagrams of a kind; of several records, the average of one."""

    name: str
    sender: str
    record: bool
    protocol: float
    coap: float
    payload: float
    lowpan: float
    """6LoWPAN: compressed IPv6 and UDP, and headers of fragments."""
    mac: float
    """IEEE 802.15.4: preambles, delimiters, lengths, headers and check sequences."""
    acks: float
    """Acknowledgements by the other side, all of their bytes."""
    again: float
    """Frames and datagrams that were sent again, all of their bytes."""
    frames: float
    """Frames without acknowledgements and repetitions."""
    air_ps: float
    """Time on the air of everything."""
    datagram: float
    """Bytes of the UDP datagram's payload."""

    @property
    def on_air(self) -> float:
        """All bytes on the air."""
        own = self.protocol + self.coap + self.payload + self.lowpan + self.mac
        return own + self.acks + self.again


@dataclass(frozen=True, kw_only=True)
class Computed:
    """What a side computes between two edges of its marker."""

    does: str
    record: bool
    cycles: float
    time_ps: float
    core_uj: float


@dataclass(frozen=True, kw_only=True)
class Spent:
    """A side's time and energy, with its waiting."""

    time_ps: float
    computing_ps: float
    cycles: float
    core_uj: float
    sending_uj: float
    """Radio while it sends."""
    listening_uj: float
    """Radio in all other states."""
    frames: float
    """Frames that it sent, acknowledgements included."""

    @property
    def uj(self) -> float:
        """All energy of core and radio."""
        return self.core_uj + self.sending_uj + self.listening_uj


@dataclass(frozen=True, kw_only=True)
class Party:
    """One of the two sides."""

    side: str
    board: str
    clock_hz: int
    build: str
    supply_v: float
    flash_bytes: int
    ram_bytes: int
    """Of the whole image; likewise `flash_bytes`."""
    stack_bytes: int
    """Peak of the whole run."""
    parts: Mapping[str, tuple[int, int]]
    """Flash and RAM of each part by itself."""
    computed: Sequence[Computed]
    first: Spent
    record: Spent


@dataclass(frozen=True, kw_only=True)
class Priced:
    """A protocol between two boards."""

    protocol: str
    title: str
    conditions: Pair
    verified: str
    """What was verified."""
    flights: Sequence[Flight]
    parties: Sequence[Party]
    errors: Sequence[str] = field(default=())

    def party(self, side: str) -> Party:
        """Return a side."""
        return next(party for party in self.parties if party.side == side)

    def bytes_of(self, *, record: bool) -> tuple[float, float]:
        """Return bytes of the protocol, and all bytes on the air."""
        some = [flight for flight in self.flights if flight.record == record]
        return sum(f.protocol for f in some), sum(f.on_air for f in some)

    def frames(self, *, record: bool) -> float:
        """Return all frames on the air that both sides sent."""
        return sum((party.record if record else party.first).frames for party in self.parties)


class ProtocolFailedError(VerificationError):
    """The client gave up."""


@dataclass
class _Run:
    frames: "list[Transmission]" = field(default_factory=list)
    said: tuple[list[str], list[str]] = field(default_factory=lambda: ([], []))


def verified(protocol: Protocol) -> str:
    """Return what is verified of each run of a protocol."""
    if protocol.has_oracle:
        return BY_ORACLE
    return "no oracle: both sides have one key, and no data is in the clear"


def price(protocol: Protocol, board_name: str, conditions: Pair) -> Priced:
    """Run a protocol between two boards of a kind, and price it.

    Raises:
        BudgetError: it does not end.
        BuildError: its program cannot be built.
        FaultError: a program faulted.
        InputError: it does not fit the board.
        ProtocolFailedError: the client gave up.
        VerificationError: a datagram or a key is not the oracle's.
    """
    return price_run(protocol, conditions, start(protocol, board_name, conditions, observe=True))


def start(
    protocol: Protocol, board_name: str, conditions: Pair, *, observe: bool = False
) -> RunningNetwork:
    """Build the network in which a protocol runs between two boards of a kind.

    Raises:
        BuildError: its program cannot be built.
        InputError: there is no such board, or it has no radio.
    """
    board = boards.load_board(board_name)
    # One exchange belongs to the handshake.
    network = protocol.pair(board, replace(conditions, records=conditions.records + 1))
    return RunningNetwork(network, observe=observe)


def price_run(protocol: Protocol, conditions: Pair, running: RunningNetwork) -> Priced:
    """Run a network that was started for a protocol and is observed, and price it.

    Raises:
        JoulemarkError: as `price` says.
    """
    run = _watch(running, conditions.loss)
    found = datagrams(run.frames)
    heard_ps = min((d.begin_ps for d in found), default=0)
    observed = [running.observed(number) for number in range(len(_SIDES))]
    windows = {
        side: _windows(protocol, side, observed[number].edges, conditions.records + 1, heard_ps)
        for number, side in enumerate(_SIDES)
    }
    # How many windows belong to the handshake with its first exchange.
    first = {
        side: len(named) - conditions.records * len(protocol.windows(side).record)
        for side, named in windows.items()
    }
    begin_ps = windows[CLIENT][0][1].time_ps
    end_ps = windows[CLIENT][-1][2].time_ps
    exchange = windows[CLIENT][first[CLIENT] - len(protocol.windows(CLIENT).record) :]
    later = windows[CLIENT][first[CLIENT] :]
    between_ps = later[0][1].time_ps if later else end_ps
    exchange_ps = exchange[0][1].time_ps if exchange else end_ps
    accounts = _accounts(protocol, conditions, found, run, (exchange_ps, between_ps))
    parties = []
    for number, side in enumerate(_SIDES):
        seen = Seen(
            running=running,
            number=number,
            power=observed[number].power,
            windows=windows[side],
            frames=run.frames,
            first=first[side],
        )
        begun_ps = begin_ps if side == CLIENT else heard_ps
        parties.append(
            _party(
                seen,
                side,
                stack=stack_of(observed[number].profile),
                first=seen.spent(begun_ps, between_ps, 1),
                record=seen.spent(between_ps, end_ps, max(1, conditions.records)),
            )
        )
    grade = running.energy(0).grade
    return Priced(
        protocol=protocol.name,
        title=protocol.variant.title,
        conditions=conditions,
        verified=verified(protocol),
        flights=list(flights_of(accounts, max(1, conditions.records))),
        parties=parties,
        errors=[bounds.of_board(running.seats[0].board, None, grade)],
    )


def _watch(running: RunningNetwork, loss: float) -> _Run:
    run, end_s = _Run(), LIMIT_S
    for piece in running.run(LIMIT_S):
        for number, stop in piece.faults:
            raise fault_error(running.names[number], stop)
        run.frames += piece.transmissions
        for line in piece.lines:
            run.said[line.mote].append(line.data.decode("ascii", "replace").strip())
        if end_s == LIMIT_S and {"done", "failed"} & set(run.said[0]):
            end_s = running.time_s + _AFTER_S
        if running.time_s >= end_s:
            break
    else:
        raise BudgetError(f"{running.network.title}: no end within {LIMIT_S:g} s")
    if "done" not in run.said[0]:
        lost = f" with {loss:.0%} of the frames lost" if loss else ""
        told = [text for text in run.said[0] if text and text.split()[0] not in _WORDS]
        last = f"; the last that it said is {told[-1]!r}" if told else ""
        raise ProtocolFailedError(f"{running.network.title}: the client gave up{lost}{last}")
    return run


def heard(
    protocol: Protocol, conditions: Pair, running: RunningNetwork
) -> "tuple[Sequence[Transmission], Mapping[str, Sequence[str]]]":
    """Run a network that was started for a protocol; return its frames, and its keys for others.

    Raises:
        JoulemarkError: as `price` says.
    """
    run = _watch(running, conditions.loss)
    talk, _ = _talk(protocol, conditions, datagrams(run.frames), run)
    if not protocol.has_oracle:
        directions.check(talk)
        return run.frames, {}
    protocol.read(talk)
    return run.frames, protocol.keys(talk)


def _talk(
    protocol: Protocol, conditions: Pair, found: Sequence[Datagram], run: _Run
) -> tuple[Talk, dict[tuple[int, bytes], int]]:
    """Return each datagram once, and the place of each by its sender and bytes."""
    seen: dict[tuple[int, bytes], int] = {}
    messages: list[Message] = []
    for datagram in found:
        if datagram.is_whole and (datagram.mote, datagram.data) not in seen:
            seen[datagram.mote, datagram.data] = len(messages)
            messages.append(
                Message(
                    sender=_SIDES[datagram.mote],
                    source=datagram.source,
                    destination=datagram.destination,
                    data=datagram.data,
                )
            )
    talk = Talk(
        variant=protocol.name,
        define=protocol.variant.define,
        wiring=protocol.variant.wiring,
        datagrams=messages,
        keys=dict(_keys(run)),
        records=conditions.records + 1,
        request=request_of(conditions.request_bytes),
        response=response_of(conditions.response_bytes),
    )
    return talk, seen


def _accounts(
    protocol: Protocol,
    conditions: Pair,
    found: Sequence[Datagram],
    run: _Run,
    exchanges_ps: tuple[int, int],
) -> list[tuple[Datagram, Account, bool]]:
    """Return each datagram with what it is for, and whether it repeats an earlier one.

    Args:
        protocol: what is spoken.
        conditions: and under which conditions.
        found: all datagrams.
        run: what else was seen.
        exchanges_ps: when the client begins with the first exchange, and with the further ones.
    """
    talk, seen = _talk(protocol, conditions, found, run)
    if protocol.has_oracle:
        accounts = protocol.read(talk)
    else:
        begins: dict[int, int] = {}
        for datagram in found:
            if datagram.is_whole:
                place = seen[datagram.mote, datagram.data]
                begins.setdefault(place, datagram.begin_ps)
        accounts = directions.read(talk, [begins[n] for n in sorted(begins)], exchanges_ps)
    for message, account in zip(talk.datagrams, accounts, strict=True):
        if account.length != len(message.data):
            what = f"{account.flight}: {account.length} bytes are accounted for"
            raise VerificationError(f"{what}, not {len(message.data)}")
    told: list[tuple[Datagram, Account, bool]] = []
    used: set[int] = set()
    for datagram in found:
        number = seen.get((datagram.mote, datagram.data)) if datagram.is_whole else None
        if number is None:  # of a message that was given up between two fragments
            number = next(
                (
                    n
                    for (mote, data), n in seen.items()
                    if mote == datagram.mote and data.startswith(datagram.data)
                ),
                None,
            )
        if number is not None:
            is_again = number in used or accounts[number].again or not datagram.is_whole
            told.append((datagram, accounts[number], is_again))
            used |= {number} if datagram.is_whole else set()
    return told


def _keys(run: _Run) -> Iterator[tuple[str, bytes]]:
    for side, said in zip(_SIDES, run.said, strict=True):
        keys = [text.removeprefix("key ") for text in said if text.startswith("key ")]
        if not keys:
            raise VerificationError(f"the {side} has no key: {'; '.join(said[-3:])}")
        yield side, bytes.fromhex(keys[-1])


def flights_of(
    accounts: Sequence[tuple[Datagram, Account, bool]], records: int
) -> Iterator[Flight]:
    """Yield rows of datagrams that are told what they are for; further exchanges' averaged."""
    rows: dict[tuple[str, int, bool], list[tuple[Datagram, Account, bool]]] = {}
    for datagram, account, is_again in accounts:
        key = account.flight, datagram.mote, account.record
        rows.setdefault(key, []).append((datagram, account, is_again))
    for (name, mote, record), some in rows.items():
        times = records if record else 1
        new = [(d, a) for d, a, is_again in some if not is_again]
        old = [d for d, _, is_again in some if is_again]

        def mean(values: Iterable[float], times: int = times) -> float:
            return sum(values) / times

        everything = [d for d, _, _ in some]
        repeated = sum(d.on_air_bytes - d.ack_bytes for d in old)
        repeated += sum(d.again_bytes for d, _ in new)
        yield Flight(
            name=name,
            sender=_SIDES[mote],
            record=record,
            protocol=mean(a.protocol for _, a in new),
            coap=mean(a.coap for _, a in new),
            payload=mean(a.payload for _, a in new),
            lowpan=mean(d.lowpan_bytes for d, _ in new),
            mac=mean(d.frame_bytes for d, _ in new),
            acks=mean(d.ack_bytes for d in everything),
            again=repeated / times,
            frames=mean(d.frames for d, _ in new),
            air_ps=mean(d.air_ps for d in everything),
            datagram=mean(len(d.data) for d, _ in new),
        )


_Window = tuple[str, "MarkerEdge", "MarkerEdge"]


def _windows(
    protocol: Protocol, side: str, edges: "Sequence[MarkerEdge]", records: int, heard_ps: int
) -> list[_Window]:
    """Return what a side computed, with the edges of its marker.

    Where the handshake's are not named, a server's before the first datagram are no part of it.
    """
    named = protocol.windows(side)
    names = [*named.handshake, *named.record * records]
    is_free = not protocol.has_oracle and not named.handshake
    found: list[tuple[MarkerEdge, MarkerEdge]] = []
    for rise, fall in itertools.pairwise(edges):
        if rise.rising and not fall.rising:
            if fall.cycles - rise.cycles > _EMPTY_CYCLES or not (found or is_free):
                found.append((rise, fall))
            elif not is_free:  # a library that is called back has empty ones as a matter of course
                found.pop()
    if is_free and side == SERVER:
        found = [window for window in found if window[0].time_ps >= heard_ps]
    if is_free and len(found) > len(names):
        names = [directions.HANDSHAKE] * (len(found) - len(names)) + names
    if len(found) != len(names):
        raise VerificationError(f"the {side} computed {len(found)} times, not {len(names)}")
    return [(name, *edge) for name, edge in zip(names, found, strict=True)]


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What was seen of a side."""

    running: RunningNetwork
    number: int
    power: "Mapping[str, Sequence[PowerInterval]]"
    windows: Sequence[_Window]
    frames: "Sequence[Transmission]"
    first: int
    """How many windows belong to the handshake with its first exchange."""

    def computed(self) -> list[Computed]:
        """Return what it computed, the records' averaged."""
        times = Counter(name for name, _, _ in self.windows[self.first :])
        sums: dict[tuple[str, bool], list[float]] = {}
        for position, (name, rise, fall) in enumerate(self.windows):
            used = occupancy(self.power, rise.time_ps, fall.time_ps)
            parts = self.running.parts_of(self.number, used)
            each = sums.setdefault((name, position >= self.first), [0.0, 0.0, 0.0])
            each[0] += fall.cycles - rise.cycles
            each[1] += fall.time_ps - rise.time_ps
            each[2] += 1e3 * parts.get(MCU, 0.0)
        return [
            Computed(
                does=name,
                record=record,
                cycles=values[0] / (times[name] if record else 1),
                time_ps=values[1] / (times[name] if record else 1),
                core_uj=values[2] / (times[name] if record else 1),
            )
            for (name, record), values in sums.items()
        ]

    def spent(self, begin_ps: int, end_ps: int, times: int) -> Spent:
        """Return what it spent in a span, divided by a number of times."""
        used = occupancy(self.power, begin_ps, end_ps)
        sending = {key: time for key, time in used.items() if key[1].startswith(_TX)}
        parts = self.running.parts_of(self.number, used)
        sending_uj = 1e3 * self.running.parts_of(self.number, sending).get(RADIO, 0.0)
        computed = [(r, f) for _, r, f in self.windows if begin_ps <= r.time_ps < end_ps]
        frames = sum(t.mote == self.number and begin_ps <= t.begin_ps < end_ps for t in self.frames)
        return Spent(
            time_ps=(end_ps - begin_ps) / times,
            computing_ps=sum(f.time_ps - r.time_ps for r, f in computed) / times,
            cycles=sum(f.cycles - r.cycles for r, f in computed) / times,
            core_uj=1e3 * parts.get(MCU, 0.0) / times,
            sending_uj=sending_uj / times,
            listening_uj=(1e3 * parts.get(RADIO, 0.0) - sending_uj) / times,
            frames=frames / times,
        )


def stack_of(profile: "Profile | None") -> int:
    """Return the peak of a stack that calls nest on."""
    functions = () if profile is None else profile.functions
    return max((function.stack_bytes for function in functions), default=0)


def _party(seen: Seen, side: str, *, stack: int, first: Spent, record: Spent) -> Party:
    seat = seen.running.seats[seen.number]
    memory = Attribution.load(seat.path.parent)
    return Party(
        side=side,
        board=seat.board.name,
        clock_hz=seat.board.clock_profile(seat.mote.clock).hz,
        build=f"{seat.mote.compiler} -{seat.mote.optimisation}",
        supply_v=seat.board.supply_v.value,
        flash_bytes=memory.total_flash_bytes,
        ram_bytes=memory.total_ram_bytes,
        stack_bytes=stack,
        parts={name: (p.flash_bytes, p.ram_bytes) for name, p in memory.parts.items()},
        computed=seen.computed(),
        first=first,
        record=record,
    )
