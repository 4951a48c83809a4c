"""Attribute a followed program's costs to source lines, and to calls in chronological order."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from joulemark.meters.model import ModelMeter

if TYPE_CHECKING:
    from joulemark._engine import Followed
    from joulemark.images.lines import Line, Lines


class PartOf(Protocol):
    """Says to which part of a program an instruction belongs."""

    def __getitem__(self, address: int, /) -> str:
        """Return the part of the instruction at an address."""
        ...


Weight = Literal["cycles", "time", "energy"]
ASLEEP = "(asleep)"
"""Pseudo-function for the time in which the core sleeps."""


@dataclass
class Spent:
    """Cost of a line, or in total."""

    cycles: int = 0
    """Cycles while the core was awake."""
    instructions: int = 0
    time_ps: int = 0
    """Time asleep or awake."""
    energy_nj: float = 0.0
    """Energy of all parts of the board in that time."""

    def add(self, cycles: int, instructions: int, time_ps: int, energy_nj: float) -> None:
        """Add a cost."""
        self.cycles += cycles
        self.instructions += instructions
        self.time_ps += time_ps
        self.energy_nj += energy_nj


class Spending:
    """Costs of a followed program on a board.

    Args:
        followed: the program's execution over time.
        meter: the board's model meter.
        supply_v: the board's supply voltage.
    """

    def __init__(self, followed: "Followed", meter: ModelMeter, supply_v: float) -> None:
        self._followed = followed
        found = {part: None for states in followed.states for part, _, _ in states}
        self.parts = list(found)
        """Parts of the board, which have separate power states."""
        self._watt = []
        """Power of each part, by index of the combined power states."""
        for states in followed.states:
            drawn = {state[0]: meter.current_of(*state) for state in states}
            amperes = [one.ampere if (one := drawn.get(part)) else 0.0 for part in self.parts]
            self._watt.append([supply_v * ampere for ampere in amperes])

    def _energy_nj(self, states: int, time_ps: int) -> float:
        return sum(self._watt[states]) * time_ps * 1e-3

    def by_line(self, lines: "Lines") -> "dict[Line | None, Spent]":
        """Return the cost of each source line; None stands for code without a line."""
        found: dict[Line | None, Spent] = defaultdict(Spent)
        for address, asleep, states, cycles, instructions, time_ps in self._followed.places:
            energy_nj = self._energy_nj(states, time_ps)
            spent = found[lines[address]]
            spent.add(0 if asleep else cycles, instructions, time_ps, energy_nj)
        return dict(found)

    def by_part(self, parts: PartOf, asleep_part: str) -> dict[str, Spent]:
        """Return the cost of each part of the program.

        Args:
            parts: says to which part the instruction at an address belongs.
            asleep_part: the part that sleep belongs to.
        """
        found: dict[str, Spent] = defaultdict(Spent)
        for address, asleep, states, cycles, instructions, time_ps in self._followed.places:
            energy_nj = self._energy_nj(states, time_ps)
            part = asleep_part if asleep else parts[address]
            found[part].add(0 if asleep else cycles, instructions, time_ps, energy_nj)
        return dict(found)

    @property
    def total(self) -> Spent:
        """The total cost."""
        total = Spent()
        for _, asleep, states, cycles, instructions, time_ps in self._followed.places:
            energy_nj = self._energy_nj(states, time_ps)
            total.add(0 if asleep else cycles, instructions, time_ps, energy_nj)
        return total

    def in_order(self) -> Iterator[tuple[list[str], int, list[float]]]:
        """Yield paths of calls in chronological order: names, picoseconds, nanojoules per part."""
        turns, paths = self._followed.turns, self._followed.paths
        ends = [start for start, *_ in turns[1:]] + [self._followed.end_ps]
        for (start, path, asleep, states), end in zip(turns, ends, strict=True):
            names = paths[path]
            if asleep:
                names = [*names, ASLEEP]
            parts_nj = [watt * (end - start) * 1e-3 for watt in self._watt[states]]
            yield names or ["(no symbol)"], end - start, parts_nj

    def by_function(self) -> dict[str, list[float]]:
        """Return each part's nanojoules by function, without callees; `ASLEEP` is sleep."""
        found: dict[str, list[float]] = {}
        for names, _, parts_nj in self.in_order():
            before = found.get(names[-1], [0.0] * len(self.parts))
            found[names[-1]] = [one + more for one, more in zip(before, parts_nj, strict=True)]
        return found
