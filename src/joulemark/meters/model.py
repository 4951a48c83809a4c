"""The model meter: an emulated board's power states x the board's currents."""

from functools import lru_cache

from joulemark.catalogue import boards
from joulemark.catalogue.boards import Board
from joulemark.meters.power import Current, Energy, Occupancy, energy

NAME = "model"


class ModelMeter:
    """Energy of a board from the time that its chip spends in each power state.

    What the board's maker states for the whole board counts, where it was stated for the clock in
    use or where the current does not depend on the clock; otherwise what the chip's maker states
    for the chip. Radio, sensors and LEDs are off.

    Args:
        board: whose currents to use.
    """

    def __init__(self, board: Board) -> None:
        self._board = board
        self._chip = boards.load_chip(board.chip)
        self._supply_v = board.supply_v.value
        self.current = lru_cache(self._current)

    def _of_chip(self, state: str, clock_hz: int) -> Current:
        stated = self._chip.current_a(state, clock_hz, self._supply_v)
        return Current(stated.value, stated.grade, stated.source)

    def _current(self, state: str, clock_hz: int) -> Current:
        chip = self._of_chip(state, clock_hz)
        any_clock = chip.ampere == self._of_chip(state, 2 * clock_hz).ampere
        for stated in self._board.current:
            at_this_clock = stated.clock_hz == clock_hz or (stated.clock_hz is None and any_clock)
            if stated.state == state and at_this_clock:
                return Current(stated.ampere, stated.grade, stated.source, stated.uncertainty_a)
        return chip

    @property
    def idle(self) -> Current:
        """What the board draws when it has nothing to do."""
        return self.current(self._board.idle_state, self._board.clock_profile(None).hz)

    def energy(self, times: Occupancy) -> Energy:
        """Energy drawn in these times."""
        return energy(times, self._supply_v, self.current, self.idle)

    def notes(self, times: Occupancy) -> list[str]:
        """The currents that an energy was computed with, and where they come from."""
        used = [(f"{s} at {hz / 1e6:g} MHz", self.current(s, hz)) for s, hz in sorted(times)]
        used.append((f"idle ({self._board.idle_state})", self.idle))
        return [f"{name}: {c.ampere * 1e3:g} mA ({c.grade}: {c.source})" for name, c in used]
