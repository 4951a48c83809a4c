"""What a followed program spent, by source line and by calls in the order of time."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from joulemark.meters.model import ModelMeter

if TYPE_CHECKING:
    from joulemark._engine import Followed
    from joulemark.images.lines import Line, Lines

Weight = Literal["cycles", "time", "energy"]
ASLEEP = "(asleep)"
"""What is called where the core sleeps."""


@dataclass
class Spent:
    """What a line, or an address, cost."""

    cycles: int = 0
    """While the core was awake."""
    instructions: int = 0
    time_ps: int = 0
    """Asleep or awake."""
    energy_nj: float = 0.0
    """What all parts of the board drew in that time."""

    def add(self, cycles: int, instructions: int, time_ps: int, energy_nj: float) -> None:
        """Count some more."""
        self.cycles += cycles
        self.instructions += instructions
        self.time_ps += time_ps
        self.energy_nj += energy_nj


class Spending:
    """What a followed program spent on a board.

    Args:
        followed: what ran when.
        meter: of the board.
        supply_v: the board's supply.
    """

    def __init__(self, followed: "Followed", meter: ModelMeter, supply_v: float) -> None:
        self._followed = followed
        found = {part: None for states in followed.states for part, _, _ in states}
        self.parts = list(found)
        """Parts of the board, each with a power state of its own."""
        self._watt = []
        """By index of the power states of all parts: each part's power."""
        for states in followed.states:
            drawn = {state[0]: meter.current_of(*state) for state in states}
            amperes = [one.ampere if (one := drawn.get(part)) else 0.0 for part in self.parts]
            self._watt.append([supply_v * ampere for ampere in amperes])

    def _energy_nj(self, states: int, time_ps: int) -> float:
        return sum(self._watt[states]) * time_ps * 1e-3

    def by_line(self, lines: "Lines") -> "dict[Line | None, Spent]":
        """What each source line cost; None is all code that is from none."""
        found: dict[Line | None, Spent] = defaultdict(Spent)
        for address, asleep, states, cycles, instructions, time_ps in self._followed.places:
            energy_nj = self._energy_nj(states, time_ps)
            spent = found[lines[address]]
            spent.add(0 if asleep else cycles, instructions, time_ps, energy_nj)
        return dict(found)

    @property
    def total(self) -> Spent:
        """All of it."""
        total = Spent()
        for _, asleep, states, cycles, instructions, time_ps in self._followed.places:
            energy_nj = self._energy_nj(states, time_ps)
            total.add(0 if asleep else cycles, instructions, time_ps, energy_nj)
        return total

    def in_order(self) -> Iterator[tuple[list[str], int, list[float]]]:
        """Paths of calls in the order of time: names, picoseconds, nanojoules of each part."""
        turns = self._followed.turns
        ends = [start for start, *_ in turns[1:]] + [self._followed.end_ps]
        for (start, path, asleep, states), end in zip(turns, ends, strict=True):
            names = self._followed.paths[path]
            if asleep:
                names = [*names, ASLEEP]
            parts_nj = [watt * (end - start) * 1e-3 for watt in self._watt[states]]
            yield names or ["(no symbol)"], end - start, parts_nj

    def by_function(self) -> dict[str, list[float]]:
        """Nanojoules of each part in each function itself; those of sleep are under `ASLEEP`."""
        found: dict[str, list[float]] = {}
        for names, _, parts_nj in self.in_order():
            before = found.get(names[-1], [0.0] * len(self.parts))
            found[names[-1]] = [one + more for one, more in zip(before, parts_nj, strict=True)]
        return found
