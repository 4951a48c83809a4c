"""A simulated Keysight 34465A as an ammeter: readings by its own timer into its memory.

Commands and memory: Truevolt Series Operating and Service Guide, SCPI Programming Reference
(CONFigure, DATA, R?, SAMPle and SENSe subsystems). Its data sheet's accuracy was not available:
`RANGES` and the noise are assumed, about as large as the 34401A's.
"""

from collections import deque
from typing import ClassVar

import numpy as np

from joulemark.simulated.instruments.multimeter import Multimeter, Range, formatted
from joulemark.simulated.instruments.scpi import (
    DATA_STALE,
    ILLEGAL_PARAMETER,
    ScpiServer,
    command,
    number,
)
from joulemark.simulated.supply import SupplyLine

_MEMORY_READINGS = 50_000  # without the option MEM
_MEMORY_OVERFLOW = 1 << 14  # in the questionable data register
_SHORTEST_S, _LONGEST_S = 200e-6, 1.0  # aperture, without the option DIG
_OVERHEAD_S = 50e-6  # assumed: time of a sample beyond its aperture

# Assumed.
RANGES = tuple(Range(a, 0.05e-2, 0.02e-2) for a in (100e-6, 1e-3, 10e-3, 100e-3, 1.0, 3.0, 10.0))
_NOISE_OF_RANGE = 0.01e-2
_RESOLUTION_OF_RANGE = 3e-6


class SimulatedKeysight34465A(Multimeter):
    """One specimen of the instrument."""

    identity: ClassVar[str] = "Keysight Technologies,34465A,MY00000000,A.03.00-03.00-03.00-00.52-01"
    ranges = RANGES
    most_samples = 1_000_000_000

    @command("*RST")
    @command("SYSTem:PRESet")
    def reset(self) -> None:
        """Restore the power-on state."""
        super().reset()
        self._aperture_s = 0.1
        self._timed = False
        self._interval_s = 1.0
        self._first_s: float | None = None
        self._taken = 0
        self._memory: deque[float] = deque(maxlen=_MEMORY_READINGS)
        self._overflow = False

    @command("[SENSe:]CURRent[:DC]:APERture")
    def set_aperture(self, seconds: str) -> None:
        """Set the integration time."""
        self._aperture_s = number(seconds, _SHORTEST_S, _LONGEST_S, 0.1)
        self._changed()

    @command("[SENSe:]CURRent[:DC]:APERture?")
    def get_aperture(self) -> str:
        """Return the integration time."""
        return f"{self._aperture_s:+.8E}"

    @command("[SENSe:]CURRent[:DC]:ZERO:AUTO")
    def set_autozero(self, state: str) -> None:
        """Set autozero: OFF takes no zero reading between readings; ONCE takes one now."""
        self._autozero = state.upper() in {"ON", "1"}
        self._changed()

    @command("SAMPle:SOURce")
    def set_sample_source(self, source: str) -> None:
        """Set pacing: IMMediate waits the trigger delay before each sample; TIMer paces them."""
        short = source.upper()[:3]
        if short not in {"IMM", "TIM"}:
            raise ILLEGAL_PARAMETER
        self._timed = short == "TIM"
        self._changed()

    @command("SAMPle:TIMer")
    def set_timer(self, seconds: str) -> None:
        """Set the time from the start of one sample to the start of the next."""
        self._interval_s = number(seconds, self._shortest_s, 3600.0, 1.0)
        self._changed()

    @command("SAMPle:TIMer?")
    def get_timer(self, which: str = "") -> str:
        """Return the time from the start of one sample to the start of the next, or its minimum."""
        return f"{self._shortest_s if which.upper()[:3] == 'MIN' else self._interval_s:+.9E}"

    @command("INITiate[:IMMediate]")
    def initiate(self) -> None:
        """Clear the memory and begin to sample into it."""
        self._changed()
        interval_s = self._pace_s
        # The trigger arrives at an arbitrary phase of the meter's own clock.
        self._first_s = self._line.now_s + self._phase * interval_s

    @command("DATA:POINts?")
    def points(self) -> str:
        """Return the number of readings in memory."""
        self._take(self._come)
        return f"{len(self._memory):+d}"

    @command("DATA:REMove?")
    def remove(self, count: str, wait: str = "") -> str:
        """Read and erase this many readings; if there are fewer, wait with WAIT, else fail."""
        wanted = int(number(count, 1, _MEMORY_READINGS, 1))
        self._take(self._come)
        if len(self._memory) < wanted and wait.upper() == "WAIT":
            self._take(min(self._taken + wanted - len(self._memory), self._samples))
        if len(self._memory) < wanted:
            raise DATA_STALE
        return formatted(np.array([self._memory.popleft() for _ in range(wanted)]))

    @command("R?")
    def read_and_erase(self, most: str = "DEF") -> str:
        """Read and erase what is in memory, as a definite-length block."""
        self._take(self._come)
        wanted = int(number(most, 1, 2_000_000, 2_000_000))
        count = min(len(self._memory), wanted)
        text = formatted(np.array([self._memory.popleft() for _ in range(count)]))
        return f"#{len(str(len(text)))}{len(text)}{text}"

    @command("FETCh?")
    def fetch(self) -> str:
        """Return all readings once they are complete; they stay in memory."""
        if self._first_s is None:
            raise DATA_STALE
        self._take(self._samples)
        return formatted(np.array(self._memory))

    @command("READ?")
    def read(self) -> str | None:
        """Begin, and return the readings once they are complete."""
        self.initiate()
        return self.fetch()

    @command("STATus:QUEStionable:CONDition?")
    def questionable(self) -> str:
        """Return the questionable data condition: whether readings were overwritten."""
        self._take(self._come)
        return str(_MEMORY_OVERFLOW if self._overflow else 0)

    @property
    def _shortest_s(self) -> float:
        return self._aperture_s * (2.0 if self._autozero else 1.0) + _OVERHEAD_S

    @property
    def _pace_s(self) -> float:
        delay_s = self._trigger_delay_s or 0.0
        return self._interval_s if self._timed else self._shortest_s + delay_s

    @property
    def _come(self) -> int:
        """Number of samples complete by now."""
        if self._first_s is None:
            return 0
        past_s = self._line.now_s - self._first_s - self._aperture_s
        return int(np.clip(past_s // self._pace_s + 1, 0, self._samples))

    def _take(self, until: int) -> None:
        """Take the samples up to this number."""
        if self._first_s is None or until <= self._taken:
            return
        numbers = np.arange(self._taken, until, dtype=np.float64)
        bound_a = self._range.full_scale_a * _NOISE_OF_RANGE
        start_s = self._first_s + numbers * self._pace_s
        readings = self._read(start_s, self._aperture_s, bound_a)
        self._overflow |= len(self._memory) + len(readings) > _MEMORY_READINGS
        self._memory.extend(readings.tolist())
        self._taken = until

    def _changed(self) -> None:
        """Clear the memory, as any change of measurement configuration does (DATA Subsystem)."""
        self._first_s = None
        self._taken = 0
        self._memory = deque(maxlen=_MEMORY_READINGS)
        self._overflow = False

    def _set_resolution(self, resolution: str) -> None:
        self._aperture_s = 0.1

    def _resolution_a(self) -> float:
        return self._range.full_scale_a * _RESOLUTION_OF_RANGE


def plug_in(line: SupplyLine, seed: int) -> ScpiServer:
    """Serve one specimen on a TCP port."""
    return ScpiServer(
        SimulatedKeysight34465A(line, seed), "multimeter", "34465A, --meter keysight-34465a"
    )
