"""Find the builds that meet an application's demands, their costs, and the Pareto front.

A cost is the measured cost of the operations that serve one message. A message of s bytes costs
what the smallest measured one of at least s bytes costs, because a whole-block mode pads; nothing
is interpolated. The report's script, `choose.js`, does the same.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache
from typing import Any, Literal, get_args

from joulemark.analysis.advice import UNSAFE, Candidate, Service, unsized
from joulemark.catalogue import chips
from joulemark.catalogue.boards import Board
from joulemark.catalogue.kinds import Kind
from joulemark.catalogue.near import near
from joulemark.catalogue.primitives import (
    STATUSES,
    Algorithm,
    Implementation,
    Library,
    Status,
    library,
)
from joulemark.errors import InputError
from joulemark.records import bounds
from joulemark.records.record import DEPENDENT, PrimitiveRecord

Metric = Literal["energy", "time", "flash", "ram", "stack"]
METRICS: tuple[Metric, ...] = get_args(Metric)
FRONT: tuple[Metric, ...] = ("time", "energy", "flash", "ram")
"""Quantities of the Pareto front."""
_DIGITS = 12
"""Digits by which costs are compared: equal ones that are summed in another order stay equal."""
YEAR_S = 365.25 * 86_400.0


@dataclass(frozen=True, kw_only=True)
class Option:
    """A build, and its cost for one message."""

    build: Candidate
    message_bytes: int
    """The measured message: the smallest that holds the one asked for."""
    status: Status | None
    security_bits: int | None
    one_time_key: bool
    claims: bool
    """It claims that neither time nor addresses depend on secrets."""
    leaks: bool
    """A trial of one of its operations showed that they do."""
    time_leaks: bool
    """A trial showed that time does, not addresses alone."""
    addresses_alone: bool
    """Trials can tell of addresses alone: what memories keep moves the time."""
    trials: int
    """The smallest number of trials behind its findings; 0 if trials can show nothing."""
    cycles: float
    time_s: float
    energy_j: float
    """Energy, net of idle; of an estimate gross, and infinite if its power is not known."""
    flash_bytes: int
    ram_bytes: int
    stack_bytes: int
    """The maximum over its measured operations, as for flash and RAM."""
    buffers_bytes: int = 0
    """What its caller holds in RAM for one of the operations: keys, messages and results."""
    errors: str
    """How far its time and energy may be off."""

    def of(self, metric: Metric) -> float:
        """Return the value of a quantity, in SI units or bytes, without sums' last digits."""
        values = {
            "energy": self.energy_j,
            "time": self.time_s,
            "flash": self.flash_bytes,
            "ram": self.ram_bytes,
            "stack": self.stack_bytes,
        }
        return float(f"{values[metric]:.{_DIGITS}g}")

    @property
    def memory_bytes(self) -> int:
        """RAM in all while it runs: context and data, stack, and the caller's buffers."""
        return self.ram_bytes + self.stack_bytes + self.buffers_bytes

    @property
    def secrets(self) -> str:
        """Its independence of secrets, in words."""
        if self.time_leaks:
            return "time depends on data"
        if self.leaks:
            return f"addresses depend on data ({self.trials} trials)"
        if not self.claims:
            return "no claim"
        what = "addresses independent" if self.addresses_alone else "independent"
        return f"{what} ({self.trials} trials)" if self.trials else f"{what} (claimed)"

    def mah_a_year(self, every_s: float, supply_v: float) -> float:
        """Return the charge that it takes per year, in mAh.

        Args:
            every_s: seconds between messages.
            supply_v: the board's supply voltage.
        """
        return self.energy_j / supply_v / every_s * YEAR_S / 3.6


@dataclass(frozen=True, kw_only=True)
class Demands:
    """An application's demands on a build; None means no demand."""

    status: Status = "standard"
    """The weakest accepted status."""
    constant_time: bool = True
    """Independence of secrets: claimed, and contradicted by no trial."""
    time_alone: bool = False
    """Time that no trial shows to depend on secrets, whatever addresses do, with no claim."""
    one_time_key: bool = False
    """Accept keys that may be used for one message only."""
    security_bits: int | None = None
    max_flash_bytes: int | None = None
    max_ram_bytes: int | None = None
    max_stack_bytes: int | None = None
    max_memory_bytes: int | None = None
    """Limit on RAM in all: context and data, stack, and the caller's keys and messages."""
    max_time_s: float | None = None

    def objects_unmeasured(self, way: Implementation) -> list[str]:
        """Return the demands that an implementation cannot satisfy, whatever its cost."""
        algorithm = way.algorithm
        return self.objects_known(
            algorithm.status,
            algorithm.sizes.get("security_bits"),
            one_time_key=algorithm.primitive.file.one_time_key,
            claims=way.secret_independent,
        )

    def objects(self, option: Option) -> list[str]:
        """Return the demands that a build does not satisfy."""
        found = self.objects_known(
            option.status,
            option.security_bits,
            one_time_key=option.one_time_key,
            claims=option.claims,
        )
        if self.constant_time and option.claims and option.leaks:
            found.append("constant time: its trials depend on data")
        if self.time_alone and option.time_leaks:
            found.append("constant time: its time depends on data")
        found += (f"{name} at most {most:,} bytes" for name, _, most in self._exceeded(option))
        time_ms, most_ms = option.time_s * 1e3, _times(self.max_time_s, 1e3)
        if most_ms is not None and time_ms > most_ms:
            found.append(f"time at most {most_ms:,.6g} ms")
        return found

    def missing_bytes(self, option: Option) -> dict[str, int] | None:
        """Return what a build lacks of each limit in bytes; None if other demands are not met."""
        exceeded = list(self._exceeded(option))
        if len(self.objects(option)) > len(exceeded):
            return None
        return {name: value - most for name, value, most in exceeded}

    def _exceeded(self, option: Option) -> Iterator[tuple[str, int, int]]:
        """Yield the limits in bytes that a build exceeds: name, its value, the limit."""
        for name, value, most in (
            ("flash", option.flash_bytes, self.max_flash_bytes),
            ("RAM", option.ram_bytes, self.max_ram_bytes),
            ("stack", option.stack_bytes, self.max_stack_bytes),
            ("RAM in all", option.memory_bytes, self.max_memory_bytes),
        ):
            if most is not None and value > most:
                yield name, value, most

    def objects_known(
        self,
        status: Status | None,
        bits: int | None,
        *,
        one_time_key: bool = False,
        claims: bool = True,
    ) -> list[str]:
        """Return the demands that something does not satisfy, by what is known of it.

        Args:
            status: of the weakest algorithm in it.
            bits: its security strength.
            one_time_key: whether its key is good for one message only.
            claims: whether it claims to be independent of secrets.
        """
        found = []
        if status is None or STATUSES.index(status) > STATUSES.index(self.status):
            found.append(
                f"status {self.status}" + ("" if self.status == "standard" else " at least")
            )
        if self.security_bits is not None and (bits or 0) < self.security_bits:
            found.append(f"security of {self.security_bits} bits at least")
        if one_time_key and not self.one_time_key:
            found.append("a key for more than one message")
        if self.constant_time and not claims:
            found.append("constant time: it claims none")
        return found


def demands(**given: Any) -> Demands:
    """Return demands from what a script gives, by the names of the fields.

    Raises:
        InputError: there is no such demand.
    """
    given = {"constant_time": not given.get("time_alone", False)} | given
    try:
        return Demands(**given)
    except TypeError:
        known = [f.name for f in fields(Demands)]
        name = next(name for name in given if name not in known)
        raise InputError("no such demand", name, near(name, known)) from None


def metric(name: str) -> Metric:
    """Return a quantity to rank by.

    Raises:
        InputError: there is no such quantity.
    """
    if name not in METRICS:
        raise InputError(f"nothing is ranked by {name}", "sort", near(name, METRICS))
    return name


def _times(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor


def options(
    records: Iterable[PrimitiveRecord],
    operations: Mapping[str, Sequence[str]],
    message_bytes: int = 0,
    ad_bytes: int = 0,
    *,
    estimated: bool = False,
) -> list[Option]:
    """Return the builds that have all of the operations, with their costs.

    Args:
        records: records of one board at one clock, of all sizes.
        operations: by kind, the operations that serve one message.
        message_bytes: size of the message.
        ad_bytes: size of its associated data.
        estimated: they are estimates, which need no energy, and of which it is gross.
    """
    groups: dict[Candidate, list[PrimitiveRecord]] = defaultdict(list)
    for r in records:
        measured = (r.cycles, r.energy_net_nj, r.flash_bytes)
        priced = r.time_ps is not None and (estimated or None not in measured)
        # A place in flash that suits a build is no property of it.
        placed = r.build is not None and r.build.offset_bytes > 0
        if r.status == "ok" and priced and not placed and r.subject.kind in operations:
            groups[Candidate.of(r)].append(r)
    found = []
    for build, group in sorted(groups.items()):
        kind = group[0].subject.kind
        serve = _serving(group, kind, operations[kind], message_bytes, ad_bytes)
        if serve:
            energy = "energy_gross" if estimated else "energy_net"
            found.append(_option(build, group, serve, energy))
    return found


def _serving(
    group: list[PrimitiveRecord], kind: str, names: Sequence[str], message_bytes: int, ad_bytes: int
) -> list[PrimitiveRecord]:
    """Return a build's record of each operation; none if one of them was not measured."""
    fixed = unsized(kind)
    by_size: dict[str, dict[tuple[int, int], PrimitiveRecord]] = {name: {} for name in names}
    for r in group:
        what = r.subject
        if what.operation not in by_size:
            continue
        size = (0, 0) if what.operation in fixed else (what.message_bytes, what.ad_bytes)
        # Without associated data there is none to be authenticated.
        if what.operation not in fixed and not (
            size[0] >= message_bytes and (size[1] >= ad_bytes if ad_bytes else size[1] == 0)
        ):
            continue
        known = by_size[what.operation].get(size)
        if known is None or (r.energy_net_nj or 0) > (known.energy_net_nj or 0):
            by_size[what.operation][size] = r
    sized = [by_size[name].keys() for name in names if name not in fixed]
    common = set[tuple[int, int]].intersection(*map(set, sized)) if sized else {(0, 0)}
    if not common or not all(by_size.values()):
        return []
    least = min(common)
    return [by_size[name][(0, 0) if name in fixed else least] for name in names]


def _option(
    build: Candidate, group: list[PrimitiveRecord], serve: list[PrimitiveRecord], energy: str
) -> Option:
    energies = [r.value(energy) for r in serve]
    secret = [r for r in group if r.about.secret_independent is not None]
    about = serve[0].about
    algorithm = library().algorithms.get(build.primitive)

    def most(get: Callable[[PrimitiveRecord], Any]) -> int:
        return max(get(r) or 0 for r in group)

    return Option(
        build=build,
        message_bytes=max(r.subject.message_bytes for r in serve),
        status=about.status,
        security_bits=about.security_bits,
        one_time_key=bool(about.one_time_key),
        claims=all(r.about.secret_independent for r in secret),
        leaks=any(r.finding in DEPENDENT for r in secret),
        time_leaks=any(r.finding == "time depends on data" for r in secret),
        addresses_alone=any(r.finding == "addresses independent of data" for r in secret),
        trials=min((r.trials or 0 if r.finding else 0 for r in secret), default=0),
        cycles=sum(r.cycles or 0 for r in serve),
        time_s=sum(r.time_ps or 0 for r in serve) * 1e-12,
        energy_j=sum(math.inf if nj is None else nj for nj in energies) * 1e-9,
        flash_bytes=most(lambda r: r.flash_bytes),
        ram_bytes=most(lambda r: r.ram_bytes),
        stack_bytes=most(lambda r: r.stack_bytes),
        buffers_bytes=max(
            algorithm.contract.buffers_bytes(
                r.subject.operation,
                {**algorithm.sizes, "message": r.subject.message_bytes, "ad": r.subject.ad_bytes},
            )
            for r in serve
        )
        if algorithm is not None
        else 0,
        errors=bounds.of_record(serve[0]),
    )


def is_accelerated(build: Candidate) -> bool:
    """Return whether an accelerator does a part of it; False for one that no longer exists."""
    return build[:2] in _accelerated(library())


@lru_cache(maxsize=4)
def _accelerated(known: Library) -> frozenset[tuple[str, ...]]:
    ways = (way for a in known.algorithms.values() for way in known.implementations(a))
    return frozenset((way.algorithm.name, way.name) for way in ways if way.accelerators)


def front(found: Sequence[Option]) -> set[Candidate]:
    """Return the Pareto front: the builds that no other dominates in the quantities of FRONT."""
    points = {o.build: tuple(o.of(metric) for metric in FRONT) for o in found}
    return {
        build
        for build, mine in points.items()
        if not any(
            other != mine and all(theirs <= own for theirs, own in zip(other, mine, strict=True))
            for other in points.values()
        )
    }


def ranked(found: Iterable[Option], metric: Metric) -> list[Option]:
    """Sort options by a metric, then by energy and flash."""
    return sorted(found, key=lambda o: (o.of(metric), o.of("energy"), o.flash_bytes, o.build))


def shown(found: Sequence[Option], metric: Metric) -> list[Option]:
    """Return each implementation's builds on the front, or its best build if none is there."""
    on_front = front(found)
    in_order = ranked(found, metric)
    have = {o.build[:2] for o in found if o.build in on_front}
    result = []
    for option in in_order:
        name = option.build[:2]
        if option.build in on_front or name not in have:
            have.add(name)
            result.append(option)
    return result


@dataclass(frozen=True, kw_only=True)
class Question:
    """A service and its board, before any demand."""

    board: Board
    clock: str
    kind: Kind
    """The kind that was asked for; others may provide the same service."""
    service: Service
    message_bytes: int = 0
    ad_bytes: int = 0
    primitives: tuple[str, ...] = ()
    """Globs; all if empty."""
    implementations: tuple[str, ...] = ()
    """Globs; all if empty."""
    hardware: bool = True
    """Whether accelerators may do it."""

    def __str__(self) -> str:
        ad = f" with {self.ad_bytes} of associated data" if self.ad_bytes else ""
        hz = self.board.clock_profile(self.clock).hz
        message = f", {self.message_bytes} bytes{ad}" if self.sized else ""
        served, kinds = " and ".join(self.operations), " or ".join(self.service.operations)
        what = kinds if served == kinds else f"{served} of {kinds}"
        return f"{what}{message}, on {self.board.name} at {hz / 1e6:g} MHz"

    @property
    def operations(self) -> Sequence[str]:
        """Operations of the kind that serve one message."""
        return self.service.operations[self.kind.name]

    @property
    def sized(self) -> bool:
        """Whether they take a message."""
        return self.kind.sized(self.operations)

    def allows(self, primitive: str, implementation: str, *, accelerated: bool) -> bool:
        """Return whether an implementation may be considered."""
        return (
            any(fnmatchcase(primitive, p) for p in self.primitives or ("*",))
            and any(fnmatchcase(implementation, p) for p in self.implementations or ("*",))
            and (self.hardware or not accelerated)
        )

    def options(self, records: Iterable[PrimitiveRecord]) -> list[Option]:
        """Return what records have that answers it, whatever is demanded.

        Args:
            records: of its board and clock. Measured on hardware, they count only where none is
                emulated.
        """
        records = list(records)
        emulated = [r for r in records if r.conditions.runner == "emulator"]
        sizes = self.message_bytes, self.ad_bytes
        return [
            o
            for o in options(emulated or records, self.service.operations, *sizes)
            if self.allows(*o.build[:2], accelerated=is_accelerated(o.build))
        ]

    def algorithms(self) -> list[Algorithm]:
        """Return the algorithms that serve it: those named, or those considered by default."""
        return [
            a
            for a in library().algorithms.values()
            if a.kind in self.service.operations
            and (
                any(fnmatchcase(a.name, p) for p in self.primitives)
                if self.primitives
                else a.is_default
            )
        ]


@dataclass(frozen=True, kw_only=True)
class Lacking:
    """A build that a board does not hold, as the same code was measured on a larger one."""

    option: Option
    measured_on: str
    """The larger board, of the same instruction set."""
    missing: Mapping[str, int]
    """Bytes by memory, flash or RAM; empty where the program that measures leaves no room."""


def lacking(board: Board, elsewhere: Mapping[str, Iterable[Option]]) -> dict[str, Lacking]:
    """Return of each primitive the build that lacks least of a board's memory.

    RAM has to hold context and data, stack, and the caller's keys, messages and results.

    Args:
        board: the board.
        elsewhere: options by the board that they were measured on.
    """
    room = {name: chips.room(board.chip, name.lower()) for name in ("flash", "RAM")}
    found: dict[str, Lacking] = {}
    for name, some in elsewhere.items():
        for option in some:
            needs = {"flash": option.flash_bytes, "RAM": option.memory_bytes}
            short = {memory: needs[memory] - most for memory, most in room.items() if most}
            missing = {memory: value for memory, value in short.items() if value > 0}
            known = found.get(option.build.primitive)
            if known is None or sum(missing.values()) < sum(known.missing.values()):
                one = Lacking(option=option, measured_on=name, missing=missing)
                found[option.build.primitive] = one
    return found


@dataclass(frozen=True, kw_only=True)
class Judged:
    """What meets demands, and what does not."""

    demands: Demands
    found: Sequence[Option]
    unmeasured: Mapping[Any, Sequence[str]] = field(default_factory=dict)
    """What cannot meet the demands, whatever it costs, and why."""

    @cached_property
    def objections(self) -> Mapping[Candidate, list[str]]:
        """The demands that each build does not meet."""
        return {o.build: self.demands.objects(o) for o in self.found}

    @cached_property
    def good(self) -> list[Option]:
        """What meets all demands."""
        return [o for o in self.found if not self.objections[o.build]]

    def first(self, by: Metric) -> Option:
        """Return the answer."""
        return ranked(self.good, by)[0]

    def leaking(self, by: Metric) -> Option | None:
        """Return the first that fails only by what is demanded of secrets, if it costs less."""
        lax = replace(self.demands, constant_time=False, time_alone=False)
        able = [o for o in self.found if not lax.objects(o)]
        first = ranked(able, by)[0] if able else None
        return first if first is not None and self.objections[first.build] else None

    def removed(self) -> dict[str, dict[str, int]]:
        """Return the builds that each demand rules out by itself, by implementation.

        An implementation that was not measured counts as 0 builds.
        """
        result: dict[str, dict[str, int]] = {}
        for way, reasons in self.unmeasured.items():
            for reason in reasons:
                result.setdefault(reason, {})[str(way)] = 0
        for option in self.found:
            name = f"{option.build.primitive}/{option.build.implementation}"
            for reason in self.objections[option.build]:
                builds = result.setdefault(reason, {})
                builds[name] = builds.get(name, 0) + 1
        return result

    def too_large(self) -> dict[str, tuple[Option, dict[str, int]]]:
        """Return what has no build within the limits in bytes, by primitive.

        Of each, it is the build that lacks least, and the bytes that it lacks of each limit.
        """
        fitting = {o.build.primitive for o in self.good}
        found: dict[str, tuple[Option, dict[str, int]]] = {}
        for option in self.found:
            missing = self.demands.missing_bytes(option)
            if option.build.primitive in fitting or not missing:
                continue
            known = found.get(option.build.primitive)
            if known is None or sum(missing.values()) < sum(known[1].values()):
                found[option.build.primitive] = option, missing
        return found

    def too_slow(self) -> dict[str, Option]:
        """Return the fastest build of what no build is fast enough of and nothing else objects."""
        fitting = {o.build.primitive for o in self.good}
        patient = replace(self.demands, max_time_s=None)
        slow = [
            option
            for option in self.found
            if option.build.primitive not in fitting and not patient.objects(option)
        ]
        return {o.build.primitive: o for o in reversed(ranked(slow, "time"))}

    def surrenders(self) -> list[str]:
        """Return what could be given up for an answer: the fewest demands first.

        Each is a smallest set of demands without which something would be left. Of what was not
        measured, only the demands are known that nothing measured could meet: it is said.
        """
        # What nobody should use is an answer only where there is no other.
        met = self._lacking(safe=True) or self._lacking(safe=False)
        least = [s for s in met if not any(other < s for other in met)]
        least.sort(key=lambda s: (bool(met[s]), len(s), sorted(s)))
        return [" and ".join(sorted(s)) + met[s] for s in least]

    def _lacking(self, *, safe: bool) -> dict[frozenset[str], str]:
        """Return the demands that each lacks, and what is to be said of it."""
        met = {
            frozenset(self.objections[o.build]): ""
            for o in self.found
            if (o.status not in UNSAFE) == safe
        }
        for way, reasons in self.unmeasured.items():
            status = way.algorithm.status if isinstance(way, Implementation) else None
            if (status not in UNSAFE) == safe:
                met.setdefault(frozenset(reasons), " (perhaps: it was not measured)")
        return met

    @cached_property
    def on_front(self) -> set[Candidate]:
        """The Pareto front of what meets all demands."""
        return front(self.good)


@dataclass(frozen=True, kw_only=True)
class Answer(Judged):
    """What answers a question about primitives."""

    question: Question
    unmeasured: Mapping[Implementation, Sequence[str]] = field(default_factory=dict)
    failed: Mapping[str, str] = field(default_factory=dict)
    """Why each primitive has no figure that was tried here."""
    lacking: Mapping[str, Lacking] = field(default_factory=dict)
    """What of those lacks memory here."""

    @property
    def misfits(self) -> list[str]:
        """What does not fit the board's memory, in words; and what failed otherwise."""
        told = []
        for name, why in sorted(self.failed.items()):
            one = self.lacking.get(name)
            if one is None:
                told.append(
                    f"{name} has no figure: {why.partition('; ')[0].partition(' (')[0]}; where the"
                    " same code was measured on a larger board, missing bytes are told"
                )
                continue
            build = one.option.build
            how = f"{build.implementation}, {build.built}, as on {one.measured_on}"
            if one.missing:
                bytes_of = " and ".join(f"{n:,} bytes of {m}" for m, n in one.missing.items())
                told.append(f"{name} does not fit: {bytes_of} are missing ({how})")
            else:
                what = "it fits alone, but not beside the program that measures it"
                told.append(f"{name} has no figure: {what} ({how})")
        return told

    def row(self, option: Option, every_s: float | None = None) -> dict[str, Any]:
        """Return an option as users see it, by column.

        Args:
            option: one of `good`.
            every_s: seconds between messages, for the charge of a year.
        """
        build = option.build
        row: dict[str, Any] = {
            "front": "*" if build in self.on_front else "",
            "primitive": build.primitive,
            "implementation": build.implementation,
            "build": build.built,
            **({"bytes": option.message_bytes} if self.question.sized else {}),
            "time µs": option.time_s * 1e6,
            "energy µJ": option.energy_j * 1e6,
            "flash": option.flash_bytes,
            "RAM": option.ram_bytes,
            "stack": option.stack_bytes,
            **({} if self.demands.max_memory_bytes is None else {"in all": option.memory_bytes}),
            "bits": option.security_bits,
            "secrets": option.secrets,
        }
        if every_s is not None:
            row["mAh a year"] = option.mah_a_year(every_s, self.question.board.supply_v.value)
        return row
