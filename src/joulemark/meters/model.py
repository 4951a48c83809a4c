"""The model meter: an emulated board's power states x the board's currents."""

from collections.abc import Sequence
from functools import lru_cache

from joulemark.catalogue import chips
from joulemark.catalogue.boards import MCU, RADIO, Board
from joulemark.meters.power import Current, Energy, Occupancy, energy, weakest

NAME = "model"


class ModelMeter:
    """Computes a board's energy from the time that its parts spend in each power state.

    The chip's current is the one that the board's maker states for the whole board, if it is stated
    for the clock in use or does not depend on the clock; otherwise the one that the chip's maker
    states. Devices add their own currents, except in their quiescent states, which the current of
    the whole board includes. Devices that the board's file does not wire are off. The chip's own
    radio adds the currents that the board's file states for it.

    Args:
        board: the board.
        clock: the clock profile at which it idles; its default if none is given.
    """

    def __init__(self, board: Board, clock: str | None = None) -> None:
        self._board = board
        self._idle_hz = board.clock_profile(clock).hz
        self._quiescent = {name: board.wiring.quiescent(name) for name in board.wiring.devices}
        self._chip = chips.load_chip(board.chip)
        self._supply_v = board.supply_v.value
        self.current = lru_cache(self._current)
        self.current_of = lru_cache(self._current_of)

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

    def _current_of(self, part: str, state: str, clock_hz: int) -> Current | None:
        """Return a part's current; None if the current of the whole board includes it."""
        if part == MCU:
            return self.current(state, clock_hz)
        if part == RADIO and part not in self._quiescent:
            return self._of_radio(state)
        if state in self._quiescent[part]:
            return None
        stated = self._board.wiring.current_a(part, state)
        return Current(stated.value, stated.grade, stated.source)

    def _of_radio(self, state: str) -> Current | None:
        """Return the current that the chip's own radio adds in a state; None if none is stated.

        A current stated for the whole board with its core asleep includes the chip's lightest sleep
        state, which is subtracted.
        """
        states = [] if self._board.radio is None else self._board.radio.state
        stated = next((one for one in states if one.name == state), None)
        if stated is None:
            return None
        if not stated.whole_board:
            return Current(stated.ampere, stated.grade, stated.source)
        asleep = self._chip.power_states[1]
        rest = self.current(asleep, self._idle_hz)
        source = f"{stated.source}; less {asleep}: {rest.source}"
        added = max(stated.ampere - rest.ampere, 0.0)
        return Current(added, weakest([stated.grade, rest.grade]), source)

    @property
    def idle(self) -> Current:
        """The board's current when it has nothing to do."""
        return self.current(self._board.idle_state, self._idle_hz)

    def energy(self, times: Occupancy) -> Energy:
        """Return the energy drawn in these times."""
        return energy(times, self._supply_v, self.current_of, self.idle)

    def notes(self, times: Occupancy) -> list[str]:
        """Describe the currents that an energy was computed with, and their sources.

        The clocks of a state whose currents have one source are one line: a DCO has hundreds.
        """
        used: dict[tuple[str, str], list[tuple[int, float]]] = {}
        for part, state, hz in sorted(times):
            current = self.current_of(part, state, hz)
            if current is not None:
                name = state if part == MCU else f"{part} {state}"
                about = f"{current.grade}: {current.source}"
                used.setdefault((name, about), []).append(
                    (hz if part == MCU else 0, current.ampere)
                )
        idle = self.idle
        used[f"idle ({self._board.idle_state})", f"{idle.grade}: {idle.source}"] = [
            (0, idle.ampere)
        ]
        lines = []
        for (name, about), at in used.items():
            clocks, amperes = zip(*at, strict=True)
            lines.append(
                f"{name}{_clocks(clocks)}: {_range([a * 1e3 for a in amperes])} mA ({about})"
            )
        return lines


def _range(values: Sequence[float]) -> str:
    low, high = min(values), max(values)
    texts = [f"{value:.4g}" if value < 1000 else f"{value:g}" for value in (low, high)]
    return texts[0] if texts[0] == texts[1] else " to ".join(texts)


def _clocks(hz: Sequence[int]) -> str:
    """Return the clocks that a state was in, in words; nothing for a device."""
    if not any(hz):
        return ""
    several = f", {len(hz)} clocks" if len(hz) > 1 else ""
    return f" at {_range([one / 1e6 for one in hz])} MHz{several}"
