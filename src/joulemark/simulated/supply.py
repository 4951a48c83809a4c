"""The current that instruments on a bench see, as a function of time."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


class SupplyLine(Protocol):
    """Supply line that an instrument is connected to. Time is the emulated board's."""

    @property
    def voltage_v(self) -> float:
        """Supply voltage."""

    @property
    def now_s(self) -> float:
        """Time that the board has reached."""

    def mean_current_a(self, start_s: Floats, end_s: Floats) -> Floats:
        """Return the mean current over each interval; the board runs on as far as needed."""

    def marker(self, time_s: Floats) -> npt.NDArray[np.bool_]:
        """Return the marker pin's level at each instant; the board runs on as far as needed."""


class CurrentTrace:
    """A piecewise constant current.

    Args:
        times_s: times of the steps, ascending; the first is the trace's start, the last its end.
        currents_a: the current after each step but the last.
    """

    def __init__(self, times_s: Sequence[float] | Floats, currents_a: Sequence[float] | Floats):
        self.times_s = np.asarray(times_s, dtype=np.float64)
        self.currents_a = np.asarray(currents_a, dtype=np.float64)
        if len(self.times_s) != len(self.currents_a) + 1:
            raise ValueError("a trace has one more time than currents")
        # The integral of a step function is piecewise linear: interpolation is exact.
        steps = self.currents_a * np.diff(self.times_s)
        self._charge_c = np.concatenate(([0.0], np.cumsum(steps)))

    def charge_c(self, start_s: Floats | float, end_s: Floats | float) -> Floats:
        """Return the charge over each interval; no current flows outside the trace."""
        until = np.interp(end_s, self.times_s, self._charge_c)
        return np.asarray(until - np.interp(start_s, self.times_s, self._charge_c))

    def mean_current_a(self, start_s: Floats, end_s: Floats) -> Floats:
        """Return the mean current over each interval."""
        return self.charge_c(start_s, end_s) / (end_s - start_s)
