"""Energy of a stretch of time: supply voltage x current, summed over the power states."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from joulemark.catalogue.boards import Grade

if TYPE_CHECKING:
    from joulemark._engine import PowerInterval

ACTIVE = "active"
"""What a chip file calls the state in which its core runs."""

Occupancy = Mapping[tuple[str, int], int]
"""Time in picoseconds by power state and core clock in hertz."""


@dataclass(frozen=True)
class Current:
    """A supply current and how far it can be trusted."""

    ampere: float
    grade: Grade
    source: str
    uncertainty_a: float | None = None
    """Half width of the 95% interval, where it is stated."""


@dataclass(frozen=True)
class Energy:
    """Energy drawn from the supply.

    `net_nj` leaves out what the board would have drawn idle for the same time. `grade` is the
    weakest grade of the currents that went into it.
    """

    gross_nj: float
    net_nj: float
    grade: Grade


_WEAKNESS: tuple[Grade, ...] = ("measured", "datasheet", "inferred")


def weakest(grades: Iterable[Grade]) -> Grade:
    """The grade that the least trustworthy of several has."""
    return max(grades, key=_WEAKNESS.index)


def occupancy(intervals: Iterable["PowerInterval"], start_ps: int, end_ps: int) -> Occupancy:
    """Time in each state at each clock within a window."""
    result: dict[tuple[str, int], int] = defaultdict(int)
    for interval in intervals:
        length = min(interval.end_ps, end_ps) - max(interval.start_ps, start_ps)
        if length > 0:
            result[interval.state, interval.clock_hz] += length
    return dict(result)


def energy(
    times: Occupancy, supply_v: float, current: Callable[[str, int], Current], idle: Current
) -> Energy:
    """Integrate supply voltage x current over the states of a window.

    Args:
        times: how long in which state at which clock.
        supply_v: the board's supply.
        current: of a state at a clock.
        idle: what the board draws when it has nothing to do.
    """
    charge_c = 0.0
    total_s = 0.0
    grades = [idle.grade]
    for (state, clock_hz), picoseconds in times.items():
        drawn = current(state, clock_hz)
        charge_c += drawn.ampere * picoseconds * 1e-12
        total_s += picoseconds * 1e-12
        grades.append(drawn.grade)
    return Energy(
        gross_nj=charge_c * supply_v * 1e9,
        net_nj=(charge_c - idle.ampere * total_s) * supply_v * 1e9,
        grade=weakest(grades),
    )
