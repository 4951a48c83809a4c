"""A simulated Agilent 34401A as an ammeter.

Commands, memory and timing: Agilent 34401A User's Guide (34401-90004, 7th edition), chapters 4
and 8; accuracy and burden: its specifications, dc characteristics.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from joulemark.bench.scpi import (
    DATA_STALE,
    OUT_OF_RANGE,
    ScpiError,
    ScpiInstrument,
    command,
    number,
)
from joulemark.bench.supply import Floats, SupplyLine

_MEMORY_READINGS = 512


@dataclass(frozen=True)
class Range:
    """A dc current range: one-year accuracy, 23 °C ± 5 °C, as parts of reading and of range."""

    full_scale_a: float
    of_reading: float
    of_range: float


RANGES = (
    Range(10e-3, 0.050e-2, 0.020e-2),
    Range(100e-3, 0.050e-2, 0.005e-2),
    Range(1.0, 0.100e-2, 0.010e-2),
    Range(3.0, 0.120e-2, 0.020e-2),
)
OVER_RANGE = 1.2  # a range reads to 120 % of full scale; the 3 A range to 100 %
OVERLOAD = 9.9e37  # what is read beyond


@dataclass(frozen=True)
class Integration:
    """An integration time: aperture, readings per second with autozero off, noise."""

    aperture_s: float
    readings_hz: float
    noise_of_range: float
    noise_a: float
    digits: float


# By power line cycles (50 Hz). Below 1 PLC 4 uA are added on all ranges.
INTEGRATIONS = {
    0.02: Integration(400e-6, 1000.0, 0.01e-2, 4e-6, 4.5),
    0.2: Integration(3e-3, 300.0, 0.001e-2, 4e-6, 5.5),
    1.0: Integration(20e-3, 50.0, 0.001e-2, 0.0, 5.5),
    10.0: Integration(200e-3, 5.0, 0.0, 0.0, 6.5),
    100.0: Integration(2.0, 0.5, 0.0, 0.0, 6.5),
}
# The specifications bound the error; a specimen's gain and offset are drawn evenly within the
# bound, and its noise so that the bound is three standard deviations.
_BOUND_DEVIATIONS = 3.0


class Agilent34401A(ScpiInstrument):
    """One specimen of the instrument in a supply line.

    Args:
        line: what it measures.
        seed: draws this specimen's gain and offset errors and its noise.
    """

    identity: ClassVar[str] = "HEWLETT-PACKARD,34401A,0,10-5-2"

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
        """Power-on state."""
        self._range = RANGES[2]
        self._automatic_range = True
        self._cycles = 10.0
        self._autozero = True
        self._samples = 1
        self._trigger_delay_s: float | None = None
        self._trigger_source = "IMM"
        self._memory: Floats | None = None

    @command("CONFigure:CURRent[:DC]")
    def configure(self, full_scale: str = "DEF", resolution: str = "DEF") -> None:
        """Preset for dc current; the resolution chooses the integration time."""
        self.reset()
        if full_scale.upper() not in {"DEF", "AUTO"}:
            self.set_range(full_scale)
        if resolution.upper() in {"MAX", "DEF", "MIN"}:
            self._cycles = {"MAX": 0.02, "DEF": 10.0, "MIN": 100.0}[resolution.upper()]
        else:
            # Best resolutions of 4.5, 5.5 and 6.5 digits are 1e-4, 3e-6 and 1e-6 of range or less.
            wanted = number(resolution, 0.0, 3.0, 0.0) / self._range.full_scale_a
            self._cycles = 0.02 if wanted >= 1e-4 else 0.2 if wanted >= 1e-5 else 10.0

    @command("CONFigure?")
    def configuration(self) -> str:
        """Function, range and resolution."""
        return f'"CURR {self._range.full_scale_a:+.6E},{self._resolution_a():+.6E}"'

    @command("[SENSe:]CURRent[:DC]:RANGe[:UPPer]")
    def set_range(self, full_scale: str) -> None:
        """The smallest range that holds this current."""
        wanted = number(full_scale, 0.0, 3.0, 1.0)
        self._range = next(r for r in RANGES if r.full_scale_a >= wanted)
        self._automatic_range = False

    @command("[SENSe:]CURRent[:DC]:RANGe[:UPPer]?")
    def get_range(self) -> str:
        """Full scale in ampere."""
        return f"{self._range.full_scale_a:+.8E}"

    @command("[SENSe:]CURRent[:DC]:RANGe:AUTO")
    def set_automatic_range(self, state: str) -> None:
        """ON or OFF."""
        self._automatic_range = state.upper() in {"ON", "1"}

    @command("[SENSe:]CURRent[:DC]:NPLCycles")
    def set_cycles(self, cycles: str) -> None:
        """Integration time in power line cycles."""
        value = number(cycles, 0.02, 100.0, 10.0)
        self._cycles = next(c for c in INTEGRATIONS if c >= value)

    @command("[SENSe:]CURRent[:DC]:NPLCycles?")
    def get_cycles(self) -> str:
        """Integration time in power line cycles."""
        return f"{self._cycles:+.8E}"

    @command("[SENSe:]ZERO:AUTO")
    def set_autozero(self, state: str) -> None:
        """OFF takes no zero reading between readings; ONCE takes one now."""
        self._autozero = state.upper() in {"ON", "1"}

    @command("[SENSe:]ZERO:AUTO?")
    def get_autozero(self) -> str:
        """1 when on."""
        return str(int(self._autozero))

    @command("[SENSe:]FUNCtion")
    def set_function(self, name: str) -> None:
        """Only dc current is connected."""
        if name.strip("\"'").upper() not in {"CURR", "CURR:DC", "CURRENT", "CURRENT:DC"}:
            raise OUT_OF_RANGE

    @command("DISPlay[:STATe]")
    @command("DISPlay")
    def set_display(self, _state: str) -> None:
        """The display slows readings; a simulation has none."""

    @command("SAMPle:COUNt")
    def set_samples(self, count: str) -> None:
        """Readings per trigger."""
        self._samples = int(number(count, 1, 50000, 1))

    @command("SAMPle:COUNt?")
    def get_samples(self) -> str:
        """Readings per trigger."""
        return f"{self._samples:+d}"

    @command("TRIGger:SOURce")
    def set_trigger_source(self, source: str) -> None:
        """IMMediate or BUS; nothing is wired to the external trigger."""
        short = source.upper()[:3]
        if short not in {"IMM", "BUS"}:
            raise OUT_OF_RANGE
        self._trigger_source = short

    @command("TRIGger:COUNt")
    def set_triggers(self, count: str) -> None:
        """Triggers before the meter is idle again: one."""
        number(count, 1, 1, 1)

    @command("TRIGger:DELay")
    def set_trigger_delay(self, seconds: str) -> None:
        """Pause before each reading."""
        self._trigger_delay_s = number(seconds, 0.0, 3600.0, 0.0)

    @command("TRIGger:DELay?")
    def get_trigger_delay(self) -> str:
        """Pause before each reading."""
        return f"{self._trigger_delay_s or 0.0:+.8E}"

    @command("INITiate[:IMMediate]")
    def initiate(self) -> None:
        """Take the readings into memory, which holds 512."""
        if self._samples > _MEMORY_READINGS:
            raise ScpiError(531, "Insufficient memory")
        self._memory = self._acquire()

    @command("FETCh?")
    def fetch(self) -> str:
        """Readings in memory."""
        if self._memory is None:
            raise DATA_STALE
        return _format(self._memory)

    @command("READ?")
    def read(self) -> str | None:
        """Take readings and send them as they come, without the memory's limit."""
        return _format(self._acquire())

    @command("MEASure:CURRent[:DC]?")
    def measure(self, full_scale: str = "DEF", resolution: str = "DEF") -> str | None:
        """Configure and read once."""
        self.configure(full_scale, resolution)
        return self.read()

    @property
    def interval_s(self) -> float:
        """From the start of one reading to the start of the next."""
        integration = INTEGRATIONS[self._cycles]
        conversion_s = 1.0 / integration.readings_hz
        if self._autozero:
            conversion_s *= 2.0  # a zero reading follows each reading
        delay_s = self._trigger_delay_s
        if delay_s is None:
            delay_s = 1e-3 if self._cycles < 1.0 else 1.5e-3  # automatic delay, chapter 3
        return delay_s + conversion_s

    def _resolution_a(self) -> float:
        digits = INTEGRATIONS[self._cycles].digits
        return self._range.full_scale_a * {4.5: 1e-4, 5.5: 1e-5, 6.5: 1e-6}[digits]

    def _acquire(self) -> Floats:
        integration = INTEGRATIONS[self._cycles]
        interval_s = self.interval_s
        # The trigger arrives at no particular moment of the meter's own clock.
        first_s = self._line.now_s + self._phase * interval_s
        start_s = first_s + np.arange(self._samples, dtype=np.float64) * interval_s
        true_a = self._line.mean_current_a(start_s, start_s + integration.aperture_s)
        if self._automatic_range:
            peak = float(np.max(np.abs(true_a)))
            self._range = next((r for r in RANGES if peak <= r.full_scale_a), RANGES[-1])
        scale = self._range
        systematic = (
            true_a * scale.of_reading * self._gain
            + scale.full_scale_a * scale.of_range * self._offset
        )
        bound_a = scale.full_scale_a * integration.noise_of_range + integration.noise_a
        noise = self._random.normal(0.0, bound_a / _BOUND_DEVIATIONS, len(true_a))
        resolution = self._resolution_a()
        readings = np.round((true_a + systematic + noise) / resolution) * resolution
        limit_a = scale.full_scale_a * (1.0 if scale is RANGES[-1] else OVER_RANGE)
        return np.where(np.abs(true_a) > limit_a, np.copysign(OVERLOAD, true_a), readings)


def _format(readings: Floats) -> str:
    return ",".join(f"{value:+.8E}" for value in readings)
