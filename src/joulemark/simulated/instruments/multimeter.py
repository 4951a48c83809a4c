"""Common to simulated multimeters: a specimen's errors, its ranges and the shared commands."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from joulemark.simulated.instruments.scpi import OUT_OF_RANGE, ScpiInstrument, command, number
from joulemark.simulated.supply import Floats, SupplyLine

OVERLOAD = 9.9e37  # reading on overload
# The specifications bound the error. A specimen's gain and offset are drawn uniformly within the
# bound, and its noise so that the bound is three standard deviations.
_BOUND_DEVIATIONS = 3.0


@dataclass(frozen=True)
class Range:
    """A dc current range: accuracy as fractions of reading and of range."""

    full_scale_a: float
    of_reading: float
    of_range: float
    over_range: float = 1.2
    """The largest reading, as a fraction of full scale."""


class Multimeter(ScpiInstrument):
    """One specimen in a supply line.

    Args:
        line: the line that it measures.
        seed: draws this specimen's gain and offset errors and its noise.
    """

    ranges: ClassVar[tuple[Range, ...]]
    most_samples: ClassVar[int]

    def __init__(self, line: SupplyLine, seed: int) -> None:
        super().__init__()
        self._line = line
        self._random = np.random.default_rng(seed)
        self._gain = self._random.uniform(-1, 1)
        self._offset = self._random.uniform(-1, 1)
        self._phase = self._random.uniform(0, 1)
        self.reset()

    @command("*RST")
    @command("SYSTem:PRESet")
    def reset(self) -> None:
        """Restore the power-on state."""
        self._range = self._smallest(1.0)
        self._automatic_range = True
        self._autozero = True
        self._samples = 1
        self._trigger_delay_s: float | None = None
        self._trigger_source = "IMM"

    @command("CONFigure:CURRent[:DC]")
    def configure(self, full_scale: str = "DEF", resolution: str = "DEF") -> None:
        """Preset for dc current; the resolution chooses the integration time."""
        self.reset()
        if full_scale.upper() not in {"DEF", "AUTO"}:
            self.set_range(full_scale)
        self._set_resolution(resolution)

    @command("CONFigure?")
    def configuration(self) -> str:
        """Return function, range and resolution."""
        return f'"CURR {self._range.full_scale_a:+.6E},{self._resolution_a():+.6E}"'

    @command("[SENSe:]CURRent[:DC]:RANGe[:UPPer]")
    def set_range(self, full_scale: str) -> None:
        """Set the smallest range that holds this current."""
        self._range = self._smallest(number(full_scale, 0.0, self.ranges[-1].full_scale_a, 1.0))
        self._automatic_range = False
        self._changed()

    @command("[SENSe:]CURRent[:DC]:RANGe[:UPPer]?")
    def get_range(self) -> str:
        """Return the full scale in amperes."""
        return f"{self._range.full_scale_a:+.8E}"

    @command("[SENSe:]CURRent[:DC]:RANGe:AUTO")
    def set_automatic_range(self, state: str) -> None:
        """Set automatic ranging ON or OFF."""
        self._automatic_range = state.upper() in {"ON", "1"}

    @command("[SENSe:]FUNCtion")
    def set_function(self, name: str) -> None:
        """Accept dc current only: nothing else is connected."""
        if name.strip("\"'").upper() not in {"CURR", "CURR:DC", "CURRENT", "CURRENT:DC"}:
            raise OUT_OF_RANGE

    @command("DISPlay[:STATe]")
    @command("DISPlay")
    def set_display(self, _state: str) -> None:
        """Do nothing: the display slows readings, but a simulation has none."""

    @command("SAMPle:COUNt")
    def set_samples(self, count: str) -> None:
        """Set the readings per trigger."""
        self._samples = int(number(count, 1, self.most_samples, 1))
        self._changed()

    @command("SAMPle:COUNt?")
    def get_samples(self) -> str:
        """Return the readings per trigger."""
        return f"{self._samples:+d}"

    @command("TRIGger:SOURce")
    def set_trigger_source(self, source: str) -> None:
        """Set the trigger source: IMMediate or BUS; nothing is wired to the external trigger."""
        short = source.upper()[:3]
        if short not in {"IMM", "BUS"}:
            raise OUT_OF_RANGE
        self._trigger_source = short
        self._changed()

    @command("TRIGger:COUNt")
    def set_triggers(self, count: str) -> None:
        """Set the triggers before the meter becomes idle again: only 1."""
        number(count, 1, 1, 1)

    @command("TRIGger:DELay")
    def set_trigger_delay(self, seconds: str) -> None:
        """Set the pause before each reading."""
        self._trigger_delay_s = number(seconds, 0.0, 3600.0, 0.0)
        self._changed()

    @command("TRIGger:DELay?")
    def get_trigger_delay(self) -> str:
        """Return the pause before each reading."""
        return f"{self._trigger_delay_s or 0.0:+.8E}"

    def _changed(self) -> None:
        """React to a changed setting: what it does to readings in memory."""

    def _set_resolution(self, resolution: str) -> None:
        raise NotImplementedError

    def _resolution_a(self) -> float:
        raise NotImplementedError

    def _smallest(self, current_a: float) -> Range:
        return next(r for r in self.ranges if r.full_scale_a >= current_a)

    def _read(self, start_s: Floats, aperture_s: float, noise_bound_a: float) -> Floats:
        """Return readings that begin at these times, with this specimen's errors."""
        true_a = self._line.mean_current_a(start_s, start_s + aperture_s)
        if self._automatic_range:
            peak = float(np.max(np.abs(true_a)))
            self._range = next((r for r in self.ranges if peak <= r.full_scale_a), self.ranges[-1])
        scale = self._range
        systematic = (
            true_a * scale.of_reading * self._gain
            + scale.full_scale_a * scale.of_range * self._offset
        )
        noise = self._random.normal(0.0, noise_bound_a / _BOUND_DEVIATIONS, len(true_a))
        resolution = self._resolution_a()
        readings = np.round((true_a + systematic + noise) / resolution) * resolution
        limit_a = scale.full_scale_a * scale.over_range
        return np.where(np.abs(true_a) > limit_a, np.copysign(OVERLOAD, true_a), readings)


def formatted(readings: Floats) -> str:
    """Return readings as they are sent."""
    return ",".join(f"{value:+.8E}" for value in readings)
