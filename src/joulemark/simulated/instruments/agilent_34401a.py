"""A simulated Agilent 34401A as an ammeter.

Commands, memory and timing: Agilent 34401A User's Guide (34401-90004, 7th edition), chapters 4
and 8. Accuracy: the same, and the limits of the Service Guide's gain verification (chapter 4).
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from joulemark.simulated.instruments.multimeter import Multimeter, Range, formatted
from joulemark.simulated.instruments.scpi import DATA_STALE, ScpiError, ScpiServer, command, number
from joulemark.simulated.supply import Floats, SupplyLine

_MEMORY_READINGS = 512


# One year, 23 °C ± 5 °C.
RANGES = (
    Range(10e-3, 0.050e-2, 0.020e-2),
    Range(100e-3, 0.050e-2, 0.005e-2),
    Range(1.0, 0.100e-2, 0.010e-2),
    Range(3.0, 0.120e-2, 0.020e-2, over_range=1.0),
)


@dataclass(frozen=True)
class Integration:
    """An integration time: aperture, readings per second with autozero off, noise."""

    aperture_s: float
    readings_hz: float
    noise_of_range: float
    noise_a: float
    digits: float


# By power line cycles (50 Hz). Below 1 PLC, 4 uA of noise are added on all ranges.
INTEGRATIONS = {
    0.02: Integration(400e-6, 1000.0, 0.01e-2, 4e-6, 4.5),
    0.2: Integration(3e-3, 300.0, 0.001e-2, 4e-6, 5.5),
    1.0: Integration(20e-3, 50.0, 0.001e-2, 0.0, 5.5),
    10.0: Integration(200e-3, 5.0, 0.0, 0.0, 6.5),
    100.0: Integration(2.0, 0.5, 0.0, 0.0, 6.5),
}


class SimulatedAgilent34401A(Multimeter):
    """One specimen of the instrument."""

    identity: ClassVar[str] = "HEWLETT-PACKARD,34401A,0,10-5-2"
    ranges = RANGES
    most_samples = 50_000

    @command("*RST")
    @command("SYSTem:PRESet")
    def reset(self) -> None:
        """Restore the power-on state."""
        super().reset()
        self._cycles = 10.0
        self._memory: Floats | None = None

    @command("[SENSe:]CURRent[:DC]:NPLCycles")
    def set_cycles(self, cycles: str) -> None:
        """Set the integration time in power line cycles."""
        value = number(cycles, 0.02, 100.0, 10.0)
        self._cycles = next(c for c in INTEGRATIONS if c >= value)

    @command("[SENSe:]CURRent[:DC]:NPLCycles?")
    def get_cycles(self) -> str:
        """Return the integration time in power line cycles."""
        return f"{self._cycles:+.8E}"

    @command("[SENSe:]ZERO:AUTO")
    def set_autozero(self, state: str) -> None:
        """Set autozero: OFF takes no zero reading between readings; ONCE takes one now."""
        self._autozero = state.upper() in {"ON", "1"}

    @command("[SENSe:]ZERO:AUTO?")
    def get_autozero(self) -> str:
        """Return 1 if autozero is on, else 0."""
        return str(int(self._autozero))

    @command("INITiate[:IMMediate]")
    def initiate(self) -> None:
        """Take the readings into memory, which holds 512."""
        if self._samples > _MEMORY_READINGS:
            raise ScpiError(531, "Insufficient memory")
        self._memory = self._acquire()

    @command("FETCh?")
    def fetch(self) -> str:
        """Return the readings in memory."""
        if self._memory is None:
            raise DATA_STALE
        return formatted(self._memory)

    @command("READ?")
    def read(self) -> str | None:
        """Take readings and send them as they come, without the memory's limit."""
        return formatted(self._acquire())

    @command("MEASure:CURRent[:DC]?")
    def measure(self, full_scale: str = "DEF", resolution: str = "DEF") -> str | None:
        """Configure and read once."""
        self.configure(full_scale, resolution)
        return self.read()

    @property
    def interval_s(self) -> float:
        """Time from the start of one reading to the start of the next."""
        integration = INTEGRATIONS[self._cycles]
        conversion_s = 1.0 / integration.readings_hz
        if self._autozero:
            conversion_s *= 2.0  # a zero reading follows each reading
        delay_s = self._trigger_delay_s
        if delay_s is None:
            delay_s = 1e-3 if self._cycles < 1.0 else 1.5e-3  # automatic delay, chapter 3
        return delay_s + conversion_s

    def _set_resolution(self, resolution: str) -> None:
        if resolution.upper() in {"MAX", "DEF", "MIN"}:
            self._cycles = {"MAX": 0.02, "DEF": 10.0, "MIN": 100.0}[resolution.upper()]
        else:
            # Best resolutions of 4.5, 5.5 and 6.5 digits are 1e-4, 3e-6 and 1e-6 of range or less.
            wanted = number(resolution, 0.0, 3.0, 0.0) / self._range.full_scale_a
            self._cycles = 0.02 if wanted >= 1e-4 else 0.2 if wanted >= 1e-5 else 10.0

    def _resolution_a(self) -> float:
        digits = INTEGRATIONS[self._cycles].digits
        return self._range.full_scale_a * {4.5: 1e-4, 5.5: 1e-5, 6.5: 1e-6}[digits]

    def _acquire(self) -> Floats:
        integration = INTEGRATIONS[self._cycles]
        # The trigger arrives at an arbitrary phase of the meter's own clock.
        first_s = self._line.now_s + self._phase * self.interval_s
        start_s = first_s + np.arange(self._samples, dtype=np.float64) * self.interval_s
        bound_a = self._range.full_scale_a * integration.noise_of_range + integration.noise_a
        return self._read(start_s, integration.aperture_s, bound_a)


def plug_in(line: SupplyLine, seed: int) -> ScpiServer:
    """Serve one specimen on a TCP port."""
    return ScpiServer(
        SimulatedAgilent34401A(line, seed), "multimeter", "34401A, --meter agilent-34401a"
    )
