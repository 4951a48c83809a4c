"""Energy of a stretch of time: supply voltage x current, summed over the power states."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from joulemark.records import Grade

if TYPE_CHECKING:
    from joulemark._engine import PowerInterval

Occupancy = Mapping[tuple[str, int], int]
"""Time in picoseconds by power state and core clock in hertz."""


@dataclass(frozen=True)
class Current:
    """A supply current and how far it can be trusted."""

    ampere: float
    grade: Grade
    source: str


@dataclass(frozen=True)
class Energy:
    """Energy drawn from the supply.

    `net_nj` leaves out what the board would have drawn idle for the same time. `grade` is the
    weakest grade of the currents, `sources` what was inferred and why.
    """

    gross_nj: float
    net_nj: float
    grade: Grade


_WEAKNESS: tuple[Grade, ...] = ("measured", "datasheet", "inferred")


def occupancy(intervals: Iterable["PowerInterval"], start_ps: int, end_ps: int) -> Occupancy:
    """Time in each state at each clock within a window."""
    result: dict[tuple[str, int], int] = defaultdict(int)
    for interval in intervals:
        length = min(interval.end_ps, end_ps) - max(interval.start_ps, start_ps)
        if length > 0:
            result[interval.state, interval.clock_hz] += length
    return dict(result)


def energy(
    times: Occupancy,
    supply_v: float,
    current: Callable[[str, int], Current],
    idle: Current,
) -> Energy:
    """Integrate supply voltage x current over the states of a window.

    Args:
        times: how long in which state.
        supply_v: the board's supply.
        current: of a state at a clock.
        idle: what the board draws when it has nothing to do.
    """
    charge_c = 0.0
    total_s = 0.0
    grades: list[Grade] = [idle.grade]
    for (state, clock_hz), picoseconds in times.items():
        drawn = current(state, clock_hz)
        seconds = picoseconds * 1e-12
        charge_c += drawn.ampere * seconds
        total_s += seconds
        grades.append(drawn.grade)
    gross_nj = charge_c * supply_v * 1e9
    return Energy(
        gross_nj=gross_nj,
        net_nj=gross_nj - idle.ampere * supply_v * total_s * 1e9,
        grade=max(grades, key=_WEAKNESS.index),
    )


def difference(window: Energy, empty: Energy, repetitions: int) -> Energy:
    """What one execution cost: the window less the empty window, shared out."""
    return Energy(
        gross_nj=(window.gross_nj - empty.gross_nj) / repetitions,
        net_nj=(window.net_nj - empty.net_nj) / repetitions,
        grade=max(window.grade, empty.grade, key=_WEAKNESS.index),
    )
