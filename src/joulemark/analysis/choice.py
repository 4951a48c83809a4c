"""Find the builds that meet an application's demands, their costs, and the Pareto front.

A cost is the measured cost of the operations that serve one message; nothing is interpolated.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from joulemark.analysis.advice import Candidate
from joulemark.catalogue.primitives import STATUSES, Implementation, Status
from joulemark.records import bounds
from joulemark.records.record import DEPENDENT, PrimitiveRecord

Metric = Literal["energy", "time", "flash", "ram", "stack"]
METRICS: tuple[Metric, ...] = get_args(Metric)
FRONT: tuple[Metric, ...] = ("time", "energy", "flash", "ram")
"""Quantities of the Pareto front."""
YEAR_S = 365.25 * 86_400.0


@dataclass(frozen=True, kw_only=True)
class Option:
    """A build, and its cost for one message."""

    build: Candidate
    status: Status | None
    security_bits: int | None
    one_time_key: bool
    claims: bool
    """It claims that neither time nor addresses depend on secrets."""
    leaks: bool
    """A trial of one of its operations showed that they do."""
    time_leaks: bool
    """A trial showed that time does, not addresses alone."""
    trials: int
    """The smallest number of trials behind its findings; 0 if trials can show nothing."""
    cycles: float
    time_s: float
    energy_j: float
    """Energy, net of idle."""
    flash_bytes: int
    ram_bytes: int
    stack_bytes: int
    """The maximum over its measured operations, as for flash and RAM."""
    errors: str
    """How far its time and energy may be off."""

    def of(self, metric: Metric) -> float:
        """Return the value of a quantity, in SI units or bytes."""
        values = {
            "energy": self.energy_j,
            "time": self.time_s,
            "flash": self.flash_bytes,
            "ram": self.ram_bytes,
            "stack": self.stack_bytes,
        }
        return values[metric]

    @property
    def secrets(self) -> str:
        """Its independence of secrets, in words."""
        if self.time_leaks:
            return "time depends on data"
        if self.leaks:
            return f"addresses depend on data ({self.trials} trials)"
        if not self.claims:
            return "no claim"
        return f"independent ({self.trials} trials)" if self.trials else "independent (claimed)"

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
    constant_time: bool = False
    """Independence of secrets: claimed, and contradicted by no trial."""
    time_alone: bool = False
    """Time that no trial shows to depend on secrets, whatever addresses do, with no claim."""
    one_time_key: bool = False
    """Accept keys that may be used for one message only."""
    security_bits: int | None = None
    max_flash_bytes: int | None = None
    max_ram_bytes: int | None = None
    max_stack_bytes: int | None = None
    max_time_s: float | None = None

    def objects_unmeasured(self, way: Implementation) -> list[str]:
        """Return the demands that an implementation cannot satisfy, whatever its cost."""
        algorithm = way.algorithm
        return self._known(
            algorithm.status,
            algorithm.sizes.get("security_bits"),
            one_time_key=algorithm.primitive.file.one_time_key,
            claims=way.secret_independent,
        )

    def objects(self, option: Option) -> list[str]:
        """Return the demands that a build does not satisfy."""
        found = self._known(
            option.status,
            option.security_bits,
            one_time_key=option.one_time_key,
            claims=option.claims,
        )
        if self.constant_time and option.claims and option.leaks:
            found.append("constant time: its trials depend on data")
        if self.time_alone and option.time_leaks:
            found.append("constant time: its time depends on data")
        limits: tuple[tuple[str, float, float | None, str], ...] = (
            ("flash", option.flash_bytes, self.max_flash_bytes, "bytes"),
            ("RAM", option.ram_bytes, self.max_ram_bytes, "bytes"),
            ("stack", option.stack_bytes, self.max_stack_bytes, "bytes"),
            ("time", option.time_s * 1e3, _times(self.max_time_s, 1e3), "ms"),
        )
        for name, value, most, unit in limits:
            if most is not None and value > most:
                found.append(f"{name} at most {most:,.6g} {unit}")
        return found

    def _known(
        self, status: Status | None, bits: int | None, *, one_time_key: bool, claims: bool
    ) -> list[str]:
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


def _times(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor


def options(
    records: Iterable[PrimitiveRecord],
    operations: Sequence[str],
    leaking: Collection[Candidate] = (),
) -> list[Option]:
    """Return the builds that have all of the operations, with their costs.

    Args:
        records: records of one board at one clock, for one size of message and associated data.
        operations: the operations that serve one message.
        leaking: builds that leak at other sizes: see `advice.leaking`.
    """
    groups: dict[Candidate, dict[str, PrimitiveRecord]] = defaultdict(dict)
    for r in records:
        if r.status == "ok" and None not in (r.cycles, r.time_ps, r.energy_net_nj, r.flash_bytes):
            groups[Candidate.of(r)][r.subject.operation] = r
    return [
        _option(build, by_name, [by_name[n] for n in operations], leaks=build in leaking)
        for build, by_name in sorted(groups.items())
        if set(operations) <= set(by_name)
    ]


def _option(
    build: Candidate,
    by_name: dict[str, PrimitiveRecord],
    serve: list[PrimitiveRecord],
    *,
    leaks: bool,
) -> Option:
    secret = [r for r in by_name.values() if r.about.secret_independent is not None]
    about = serve[0].about

    def most(get: Callable[[PrimitiveRecord], Any]) -> int:
        return max(get(r) or 0 for r in by_name.values())

    return Option(
        build=build,
        status=about.status,
        security_bits=about.security_bits,
        one_time_key=bool(about.one_time_key),
        claims=all(r.about.secret_independent for r in secret),
        leaks=leaks or any(r.finding in DEPENDENT for r in secret),
        time_leaks=any(r.finding == "time depends on data" for r in secret),
        trials=min((r.trials or 0 if r.finding else 0 for r in secret), default=0),
        cycles=sum(r.cycles or 0 for r in serve),
        time_s=sum(r.time_ps or 0 for r in serve) * 1e-12,
        energy_j=sum(r.energy_net_nj or 0 for r in serve) * 1e-9,
        flash_bytes=most(lambda r: r.flash_bytes),
        ram_bytes=most(lambda r: r.ram_bytes),
        stack_bytes=most(lambda r: r.stack_bytes),
        errors=bounds.of_record(serve[0]),
    )


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
    return sorted(found, key=lambda o: (o.of(metric), o.energy_j, o.flash_bytes, o.build))


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
