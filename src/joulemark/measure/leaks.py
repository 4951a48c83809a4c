"""Dependence of a build's time, addresses and branches on its secrets.

The same operation is repeated with different secrets while everything public stays the same:
random secrets, and patterns that code is known to stumble over. A build that leaks nothing takes
the same cycles, touches the same addresses and decides its branches by the same values each time.
Refused inputs are compared only with their like: invalid keys with each other, and different
secrets with each other beside the same refused public value.
"""

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from joulemark._engine import Image, Wiring
from joulemark.catalogue import chips
from joulemark.catalogue.boards import Board
from joulemark.catalogue.kinds import BUDGET_CYCLES, Exchange
from joulemark.catalogue.primitives import Algorithm, Implementation
from joulemark.errors import InputError, LinkError, VerificationError
from joulemark.images import BuiltImage
from joulemark.measure.branches import WatchedBoard, deciders
from joulemark.measure.declared import Declarations, Declared
from joulemark.measure.following import (
    NOTHING,
    Followed,
    Located,
    Marked,
    Place,
    leaking,
    located,
    marks,
    varying,
    with_what_is_declared,
)
from joulemark.oracle import Inputs, Output
from joulemark.runners.emulator import EmulatedBoard
from joulemark.runners.protocol import Device, Status
from joulemark.words import counted

PATTERNS = [b"\x00", b"\xff", b"\xff\x00", b"\x00\xff", b"\xff\xff\x00\x00", b"\xfe\xff", b"\x80"]
"""Fill patterns of secrets."""
RANDOM_TRIALS = 4
FIRST_TRIALS = 2 + RANDOM_TRIALS
"""Trials that are made however long they take."""
OTHER_VALUES = 4
"""Random values, secret and public, that are tried for the code that they reach."""
MESSAGE_BLOCKS = 2
AD_BYTES = 5

_SCALARS = "secret_bytes", "scalar_bytes"
_SECRETS_OF_A_REFUSAL = 3
_MOST_SAID = 3
"""Instructions that a sentence on a leak names."""

Fill = Callable[[int], bytes]


def _secrets(algorithm: Algorithm) -> Iterator[tuple[bytes | None, bytes | None]]:
    """Yield fill patterns for the first secret and the second, if any; None means random."""
    yield from ((pattern, None) for pattern in PATTERNS)
    if sum(given.secret for given in algorithm.contract.file.input.values()) > 1:
        yield from itertools.product(PATTERNS[:2], PATTERNS[:2])
        yield from ((None, pattern) for pattern in PATTERNS)
    yield from [(None, None)] * RANDOM_TRIALS


def _fill(patterns: Iterator[bytes | None], source: random.Random, length: int) -> bytes:
    """Return the next secret."""
    pattern = next(patterns)
    if pattern is None:
        return source.randbytes(length)
    return (pattern * length)[:length]


def _scalar(scalar: bytes, source: random.Random, length: int) -> bytes:
    """Return the special scalar where a scalar is asked for, else a random secret."""
    return scalar if length == len(scalar) else source.randbytes(length)


def _numbers(length: int) -> Iterator[bytes]:
    """Yield special scalars: small, sparse, dense, a single bit at either end."""
    top = 8 * length
    for value in (1, 2, 3, 16, 1 << top - 1, 1 << top // 2, (1 << top) - 1, (1 << top) - 2):
        yield value.to_bytes(length, "big")


@lru_cache(maxsize=4096)
def _forward(algorithm: Algorithm, inputs: Inputs) -> Output:
    """Return the oracle's answer; cached across operations and builds, because some are slow."""
    return algorithm.oracle(inputs)


def _is_key(algorithm: Algorithm, name: str, key: bytes) -> bool:
    """Return whether the oracle accepts a secret key."""
    try:
        _exchange(algorithm, name, lambda size: key if size == len(key) else bytes([1] * size))
    except ValueError:
        return False
    return True


@lru_cache(maxsize=256)
def _largest(algorithm: Algorithm, length: int) -> bytes | None:
    """Return the largest valid secret key (the order less 1), or None where there is no limit."""
    # Every operation refuses the same keys, and the first is the one that makes them.
    name = on_secrets(algorithm)[0]

    def good(value: int) -> bool:
        return _is_key(algorithm, name, value.to_bytes(length, "big"))

    low, high = 1, (1 << 8 * length) - 1
    if good(high) or not good(low):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if good(middle) else (low, middle)
    return low.to_bytes(length, "big")


def _exchange(
    algorithm: Algorithm,
    name: str,
    secret: Fill,
    size: tuple[int, int] | None = None,
    public: Fill | None = None,
) -> Exchange:
    """Return a case; `size`: bytes of the message and of associated data."""
    operation = algorithm.contract.operation(name)
    length = MESSAGE_BLOCKS * algorithm.sizes.get("block_bytes", 16) if operation.sized else 16
    if algorithm.whole_blocks and not operation.sized:
        length = algorithm.sizes["block_bytes"]
    length, ad = size or (length, AD_BYTES if operation.with_ad else 0)
    sizes = {**algorithm.sizes, "message": length, "ad": ad}
    return algorithm.contract.exchange(
        name,
        sizes=sizes,
        forward=partial(_forward, algorithm),
        secret=secret,
        public=public or random.Random(f"{algorithm}").randbytes,
    )


def trials(algorithm: Algorithm, name: str, *, special: bool = False) -> Iterator[Exchange]:
    """Yield the same case over and over, with different secrets.

    Args:
        algorithm: the algorithm to try.
        name: of the operation.
        special: whether to include special scalars.
    """
    fills: list[Fill] = []
    length = next((algorithm.sizes[s] for s in _SCALARS if s in algorithm.sizes), 0)
    if special and length:
        largest = _largest(algorithm, length)
        for scalar in [*_numbers(length), *([largest] if largest else [])]:
            source = random.Random(f"{algorithm} special")
            fills.append(partial(_scalar, scalar, source))
    for number, (key, message) in enumerate(_secrets(algorithm)):
        source = random.Random(f"{algorithm} {number}")
        patterns = itertools.chain((key, message), itertools.repeat(None))
        fills.append(partial(_fill, patterns, source))
    for fill in fills:
        # Zero, and anything from the curve's order up, is not a secret key.
        with suppress(ValueError):
            yield _exchange(algorithm, name, fill)


@dataclass(frozen=True)
class Other:
    """Cases that differ in secrets, which may reach code that trials do not."""

    name: str
    pair: list[Exchange]
    wanted: Status = Status.OK


def others(algorithm: Algorithm, name: str) -> Iterator[Other]:
    """Yield what else to try: other sizes, other public values and secrets, changed inputs."""
    yield from (Other(text, pair) for text, pair in other_sizes(algorithm, name))
    for public in ("zeros", "ones", *(f"random, no. {n + 1}" for n in range(OTHER_VALUES))):
        pair = []
        for seed in range(2):
            fill: Fill = random.Random(f"{algorithm} {public}").randbytes
            if public in _PUBLIC_PATTERNS:
                fill = partial(_repeated, _PUBLIC_PATTERNS[public])
            secret = random.Random(f"{algorithm} {public} {seed}").randbytes
            with suppress(ValueError):
                pair.append(_exchange(algorithm, name, secret, public=fill))
        if len(pair) == 2:
            yield Other(f"other secrets, public values {public}", pair)
    for slot in algorithm.contract.operation(name).refuses:
        pair = [changed(algorithm, put, slot) for put in at_random(algorithm, name, 2)]
        yield Other(f"a changed bit of {slot}", pair, Status.BAD_TAG)


_PUBLIC_PATTERNS = {"zeros": b"\x00", "ones": b"\xff"}


def _repeated(pattern: bytes, length: int) -> bytes:
    return pattern * length


def changed(algorithm: Algorithm, put: Exchange, slot: str) -> Exchange:
    """Return a case in which a bit of a slot differs, so that it must be refused."""
    first, *rest = put.inputs[slot]
    slots = algorithm.contract.file.slot
    cleared = {s: bytes(len(right)) for s, right in put.expected.items() if slots[s].cleared}
    return Exchange({**put.inputs, slot: bytes([first ^ 1, *rest])}, cleared)


def other_sizes(algorithm: Algorithm, name: str) -> Iterator[tuple[str, list[Exchange]]]:
    """Yield pairs of cases that differ in secrets, of sizes that `trials` leaves out.

    Around a block and its multiples code takes other ways: for what is padded, for what is empty.
    """
    operation = algorithm.contract.operation(name)
    if not operation.sized:
        return
    block = algorithm.sizes.get("block_bytes", 16)
    lengths = [block, 3 * block, 0, 9 * block]
    if not algorithm.whole_blocks:
        lengths = [block + 1, 0, 1, block - 1, block, 3 * block, 2 * block - 1, 9 * block + 7]
    ads = [0, block, AD_BYTES, 2 * block + 3] if operation.with_ad else [0]
    for number, length in enumerate(dict.fromkeys(lengths)):
        ad = ads[number % len(ads)]
        text = ("1 byte" if length == 1 else f"{length} bytes") + (
            f" and {ad} of associated data" if operation.with_ad else ""
        )
        pair = []
        for seed in range(2):
            secret = random.Random(f"{algorithm} {length} {seed}").randbytes
            # Some sizes are none of the algorithm's.
            with suppress(ValueError):
                pair.append(_exchange(algorithm, name, secret, (length, ad)))
        if len(pair) == 2:
            yield text, pair


def at_random(algorithm: Algorithm, name: str, count: int) -> list[Exchange]:
    """Return the same case as often, with random secrets."""
    found: list[Exchange] = []
    number = 0
    while len(found) < count:
        number += 1
        with suppress(ValueError):
            secret = random.Random(f"{algorithm} {number}").randbytes
            found.append(_exchange(algorithm, name, secret))
    return found


def refusals(algorithm: Algorithm, name: str) -> Iterator[list[Exchange]]:
    """Yield groups of cases that are refused; within a group only secrets differ.

    The first group has numbers that are not secret keys: 0, the order, the order plus 1, all ones.
    Then comes each public value listed as refused in the primitive's file, beside various secrets.
    """
    operation = algorithm.contract.operation(name)
    good = list(itertools.islice(trials(algorithm, name, special=True), _SECRETS_OF_A_REFUSAL))
    key = next((k for k, g in algorithm.contract.file.input.items() if g.size in _SCALARS), None)
    slot = next((s for s, value in operation.takes.items() if value == key), None)
    if slot is None:
        return

    def refused(put: Exchange, **changed: bytes) -> Exchange:
        return Exchange(
            {**put.inputs, **changed}, {s: bytes(len(e)) for s, e in put.expected.items()}
        )

    length = len(good[0].inputs[slot])
    largest = _largest(algorithm, length)
    above = int.from_bytes(largest, "big") + 1 if largest else 1 << 8 * length
    numbers = {0, above, above + 1, (1 << 8 * length) - 1} if largest else {0}
    none = [n.to_bytes(length, "big") for n in sorted(numbers) if n < 1 << 8 * length]
    if not _is_key(algorithm, name, bytes(length)):
        yield [refused(good[0], **{slot: number}) for number in none]
    for public, values in algorithm.primitive.file.refused.items():
        if public in operation.takes:
            for value in values:
                yield [refused(put, **{public: value}) for put in good]


def on_secrets(algorithm: Algorithm) -> list[str]:
    """Return the operations that handle secrets."""
    measured = algorithm.contract.measured
    return [name for name, operation in measured.items() if not operation.public]


@dataclass(frozen=True)
class Leak:
    """Findings from an operation's trials."""

    operation: str
    trials: int
    cycles_min: int
    cycles_max: int
    address_traces: int
    """Number of distinct digests of all addresses: 1 where nothing leaks."""
    branches: tuple[Place, ...] = ()
    """The instructions that decided a branch by different values when only secrets differed."""
    declared: tuple[Declared, ...] = ()
    """What the code declares public although it is derived from a secret; equal in all trials."""
    refusals: int = 0
    """Number of refused cases."""
    refused_spread: int = 0
    """Cycles between the slowest and the fastest refusal within a group that differs in secrets."""
    refused_traces: int = 1
    """Most distinct digests of addresses within a group of refusals that differ only in secrets."""
    followed: Followed = NOTHING
    """What secrets decide, found by following them through the machine."""
    message_bytes: int | None = None
    """Bytes of the message, where the operation takes one."""
    ad_bytes: int = 0
    """Bytes of associated data."""

    @property
    def any(self) -> bool:
        """Whether something leaks; what is declared public does not."""
        if self.agreement == "as declared":
            return False
        return self.shown_by_trials or bool(leaking(self.followed.uses))

    @property
    def shown_by_trials(self) -> bool:
        """Whether trials differ."""
        of_refusals = self.refused_spread > 0 or self.refused_traces > 1
        varies = self.cycles_max > self.cycles_min or self.address_traces > 1
        return varies or of_refusals or bool(self.branches)

    @property
    def agreement(self) -> str:
        """How what trials show and what following finds go together."""
        if self.followed.runs == 0:
            return "trials only"
        uses = leaking(self.followed.uses)
        if bool(uses) == self.shown_by_trials:
            return "agree"
        if not uses:
            # What may be known makes trials differ, or else what is not followed.
            all_followed = not (self.followed.devices or self.followed.lost)
            return "as declared" if self.followed.verdicts and all_followed else "trials alone"
        return "following alone" if any(use.costs_time for use in uses) else "no cycles"

    def __str__(self) -> str:
        found = [*map(str, leaking(self.followed.uses)), *map(str, self.branches)]
        if found:
            more = [f"and {len(found) - _MOST_SAID} more"] if len(found) > _MOST_SAID else []
            return f"{self.operation}: {'; '.join([*found[:_MOST_SAID], *more])}"
        if self.refused_spread or self.refused_traces > 1:
            traces = f"{counted(self.refused_traces, 'trace')} of addresses"
            spread = counted(self.refused_spread, "cycle")
            return f"{self.operation}: refusals differ by {spread}, {traces}"
        if self.cycles_max > self.cycles_min:
            return f"{self.operation}: {self.cycles_min} to {self.cycles_max} cycles"
        if self.address_traces > 1:
            return f"{self.operation}: addresses differ"
        return f"{self.operation}: nothing"


def observe(
    implementation: Implementation,
    board: Board,
    image: BuiltImage,
    operation: str,
    *,
    special: bool = False,
    branches: bool = False,
    enough_cycles: int | None = None,
    following: bool = True,
    cover: bool = False,
) -> Leak:
    """Execute an operation with many secrets.

    Args:
        implementation: the implementation that the image was built from.
        board: the board it runs on.
        image: the image.
        operation: its name.
        special: whether to include special scalars.
        branches: whether to look at what decides branches, in two more runs that stop there.
        enough_cycles: no further trial after these; two patterns and the random secrets are tried
            first, whatever they take.
        following: whether to follow secrets through the machine, in one run more.
        cover: whether to follow them through other inputs too: sizes, values, changed bits.

    Raises:
        InputError: the algorithm has no oracle for it.
        VerificationError: an output was wrong.
    """
    algorithm = implementation.algorithm
    chip, port, marker = chips.load_chip(board.chip), board.serial.port, board.marker.pin
    # Emulating devices beside the chip takes time; only accelerators need them.
    wiring = board.wiring if implementation.accelerators else None
    # What a cache keeps, and where it puts the next line, depends on what ran before: for example
    # on how secrets came over the serial line.
    program = Image.load(image.path)
    public = Declarations(program, board.core)
    machine = EmulatedBoard(
        chip,
        program,
        wiring=wiring,
        marker=marker,
        port=port,
        cold=True,
        budget_cycles=implementation.cycles_max(operation),
        met={} if public.address is None else {public.address: public.meet},
    )
    device = Device(machine, attempts=1)

    def watch(puts: list[Exchange], wanted: Status) -> tuple[list[int], int]:
        """Return the cycles of each, and the number of distinct digests of addresses."""
        cycles: list[int] = []
        addresses: list[str] = []
        warm = chip.memories_keep_state
        # Fetches in flight when a window begins arrive later the first time, and clocks of
        # accelerators are started then: leave that one out.
        for number, put in enumerate([*puts[:1], *puts] if warm else puts):
            if enough_cycles and number > FIRST_TRIALS and sum(cycles) > enough_cycles:
                break
            for slot, data in put.inputs.items():
                device.write(slot, data)
            public.begin()
            status = device.run(operation).status
            try:
                window = machine.take_window()
            except LinkError:
                if wanted is Status.OK or status is not wanted:
                    raise
                continue  # It was refused while it was set up, which is not measured.
            for slot, expected in put.expected.items():
                # From the second trial on, values that are declared public are the first trial's.
                right = public.found or device.read(slot, len(expected)) == expected
                if status is not wanted or not right:
                    raise VerificationError(f"{implementation} {operation} gave a wrong {slot}")
            cycles.append(window.cycles)
            addresses.append(window.addresses)
        first = 1 if warm else 0
        return cycles[first:], len(set(addresses[first:]))

    puts = list(trials(algorithm, operation, special=special))
    if not puts:
        try:
            _exchange(algorithm, operation, random.Random(0).randbytes)
        except ValueError as error:
            raise InputError(f"nothing to try: {error}", f"{algorithm} {operation}") from error
    if enough_cycles:
        puts = [*puts[:2], *puts[-RANDOM_TRIALS:], *puts[2:-RANDOM_TRIALS]]
    cycles, traces = watch(puts, Status.OK)
    groups = list(refusals(algorithm, operation)) if special else []
    refused = [found for group in groups if (found := watch(group, Status.BAD_TAG))[0]]
    return Leak(
        operation,
        len(cycles),
        min(cycles),
        max(cycles),
        traces,
        _looking(board, image, operation, puts, wiring) if branches else (),
        public.found,
        refusals=sum(len(each) for each, _ in refused),
        refused_spread=max((max(each) - min(each) for each, _ in refused), default=0),
        refused_traces=max((count for _, count in refused), default=1),
        message_bytes=None
        if operation == "init"
        else len(puts[0].inputs.get("message", b"")) or None,
        ad_bytes=len(puts[0].inputs.get("ad", b"")),
        followed=NOTHING
        if not following
        else follow(
            board,
            image,
            operation,
            puts,
            refused=groups,
            more=list(others(algorithm, operation)) if cover else [],
            wiring=wiring,
            budget_cycles=implementation.cycles_max(operation),
        ),
    )


def follow(
    board: Board,
    image: BuiltImage,
    operation: str,
    puts: Sequence[Exchange],
    *,
    refused: Sequence[list[Exchange]] = (),
    more: Sequence[Other] = (),
    wiring: Wiring | None = None,
    budget_cycles: int = BUDGET_CYCLES,
) -> Followed:
    """Follow an operation's secrets through the machine: in the last trial, and in refusals.

    Secret is what differs between trials.

    Args:
        board: the board it runs on.
        image: the image.
        operation: its name.
        puts: trials, which differ only in secrets.
        refused: groups of cases that are refused.
        more: what else to try for what it reaches.
        wiring: devices around the chip.
        budget_cycles: cycles that the operation may take.

    Raises:
        VerificationError: an output was wrong.
    """
    program = Image.load(image.path)
    places = Located(image.path, board.core, program.symbols)
    room = {slot: program.symbols[f"slot_{slot}_bytes"] for slot in puts[0].inputs}

    # The same in all cases, so that what was found in one is kept in the next: of a longer message,
    # all of it.
    sets = [puts, *(other.pair for other in more)]
    spans = {
        slot: max(
            (list(varying([put.inputs[slot] for put in those])) for those in sets),
            key=lambda found: found[-1][0] + found[-1][1] if found else 0,
        )
        for slot in room
    }
    secret = [
        Marked(slot, first, at + first, length)
        for slot, at in room.items()
        for first, length in spans[slot]
    ]
    cases = [
        ("", puts[-1], Status.OK),
        *(("", group[-1], Status.BAD_TAG) for group in refused),
        *((other.name, other.pair[-1], other.wanted) for other in more),
    ]

    def once(public_code: list[tuple[int, int]]) -> Followed:
        public = Declarations(program, board.core)
        machine = EmulatedBoard(
            chips.load_chip(board.chip),
            program,
            wiring=wiring,
            marker=board.marker.pin,
            port=board.serial.port,
            budget_cycles=budget_cycles,
            met={} if public.address is None else {public.address: public.release},
        )
        if not machine.follows_secrets:
            return NOTHING
        device = Device(machine, attempts=1)
        widened: list[str] = []
        reached, one_way = 0, set[tuple[int, bool]]()
        for name, put, wanted in cases:
            for slot, data in put.inputs.items():
                device.write(slot, data)
            machine.follow(marks(secret), public_code)
            if device.run(operation).status is not wanted:
                what = f"{image.path}: {operation} failed while it was followed"
                raise VerificationError(what)
            for slot, expected in put.expected.items():
                at = program.symbols[f"slot_{slot}_bytes"]
                if machine.read_memory(at, len(expected)) != expected:
                    raise VerificationError(f"{image.path}: {operation} gave a wrong {slot}")
            if more:
                now = machine.secrets
                gained = now.reached - reached, len(one_way - set(now.one_way))
                if name and any(gained):
                    branches = "branch" if gained[1] == 1 else "branches"
                    what = (
                        f"{counted(gained[0], 'more instruction')}, {gained[1]:,} more {branches}"
                    )
                    widened.append(f"{name}: {what} both ways")
                reached, one_way = now.reached, set(now.one_way)
        return replace(located(machine.secrets, places, len(cases)), widened=tuple(widened))

    return with_what_is_declared(once, places)


def _looking(
    board: Board,
    image: BuiltImage,
    operation: str,
    puts: list[Exchange],
    wiring: Wiring | None,
) -> tuple[Place, ...]:
    """Return the instructions whose branch decisions depend on secrets, by the last two trials."""
    program = Image.load(image.path)
    watched = WatchedBoard(program, board, wiring)
    device = Device(watched, attempts=1)
    seen = watched.watch(device, operation, puts[-2], deciders(image.path, board.core))
    again = watched.watch(device, operation, puts[-1], seen)
    places = Located(image.path, board.core, program.symbols)
    return tuple(places[d.address] for d in seen if seen[d] != again.get(d))
