"""Energy of a time interval: supply voltage x current, summed over the power states."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from joulemark.catalogue.boards import MCU, Grade

if TYPE_CHECKING:
    from joulemark._engine import PowerInterval

ACTIVE = "active"
"""The power state in chip files in which the core runs."""

Occupancy = Mapping[tuple[str, str, int], int]
"""Time in picoseconds, by part of the board, power state and clock in hertz."""


@dataclass(frozen=True)
class Current:
    """A supply current, with its grade and source."""

    ampere: float
    grade: Grade
    source: str
    uncertainty_a: float | None = None
    """Half width of the 95% interval, if stated."""


@dataclass(frozen=True)
class Energy:
    """Energy drawn from the supply.

    `net_nj` excludes what the board would have drawn idle in the same time. `grade` is the weakest
    grade among the currents that contributed.
    """

    gross_nj: float
    net_nj: float
    grade: Grade


_WEAKNESS: tuple[Grade, ...] = ("measured", "datasheet", "inferred")


def weakest(grades: Iterable[Grade]) -> Grade:
    """Return the least trustworthy of several grades."""
    return max(grades, key=_WEAKNESS.index)


def occupancy(
    tracks: Mapping[str, Iterable["PowerInterval"]], start_ps: int, end_ps: int
) -> Occupancy:
    """Return the time of each part in each state at each clock within a window."""
    result: dict[tuple[str, str, int], int] = defaultdict(int)
    for part, intervals in tracks.items():
        for interval in intervals:
            length = min(interval.end_ps, end_ps) - max(interval.start_ps, start_ps)
            if length > 0:
                result[part, interval.state, interval.clock_hz] += length
    return dict(result)


def total(
    tracks: Mapping[str, Iterable["PowerInterval"]],
    current: Callable[[str, str, int], Current | None],
) -> Iterator[tuple[float, int]]:
    """Yield the total current of all parts in ampere, and the time in picoseconds until it changes.

    All tracks must cover the same time.
    """
    for amperes, end_ps in by_part(tracks, current):
        yield sum(amperes), end_ps


def by_part(
    tracks: Mapping[str, Iterable["PowerInterval"]],
    current: Callable[[str, str, int], Current | None],
) -> Iterator[tuple[tuple[float, ...], int]]:
    """Yield the parts' currents in ampere, in the order of tracks, and the time until they change.

    The time is in picoseconds. A part whose current is included in another part's has 0. All tracks
    must cover the same time.
    """
    running = {part: iter(intervals) for part, intervals in tracks.items()}
    now = {part: next(intervals, None) for part, intervals in running.items()}
    while True:
        ends = [interval.end_ps for interval in now.values() if interval is not None]
        if not ends:
            return
        end_ps = min(ends)
        drawn = [
            None if interval is None else current(part, interval.state, interval.clock_hz)
            for part, interval in now.items()
        ]
        yield tuple(0.0 if one is None else one.ampere for one in drawn), end_ps
        for part, interval in now.items():
            if interval is not None and interval.end_ps == end_ps:
                now[part] = next(running[part], None)


def duration_s(times: Occupancy) -> float:
    """Return the length of a window, which is the sum over the chip's states."""
    return sum(ps for (part, _, _), ps in times.items() if part == MCU) * 1e-12


def energy(
    times: Occupancy,
    supply_v: float,
    current: Callable[[str, str, int], Current | None],
    idle: Current,
) -> Energy:
    """Integrate supply voltage x current over the states of a window.

    Args:
        times: time by part, state and clock.
        supply_v: the board's supply voltage.
        current: returns a part's current in a state at a clock; None if another part's current
            includes it.
        idle: the board's current when it has nothing to do.
    """
    charge_c = 0.0
    total_s = duration_s(times)
    grades = [idle.grade]
    for (part, state, clock_hz), picoseconds in times.items():
        drawn = current(part, state, clock_hz)
        if drawn is not None:
            charge_c += drawn.ampere * picoseconds * 1e-12
            grades.append(drawn.grade)
    return Energy(
        gross_nj=charge_c * supply_v * 1e9,
        net_nj=(charge_c - idle.ampere * total_s) * supply_v * 1e9,
        grade=weakest(grades),
    )
