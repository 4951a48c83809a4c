"""A simulated Nordic Power Profiler Kit II as an ammeter, on a pseudo-terminal.

The protocol is undocumented; commands and the layout of samples are as Nordic's nRF Connect Power
Profiler and the ppk2-api package use them. Ranges and accuracy: PPK2 user guide, "Power Profiler
Kit II" hardware description (200 nA to 1 A, five ranges, 100 kS/s).
"""

import threading

import numpy as np
import numpy.typing as npt

from joulemark.errors import MeterError
from joulemark.simulated.supply import Floats, SupplyLine
from joulemark.simulated.terminal import Terminal

SAMPLE_RATE_HZ = 100_000
_BLOCK = 2_000  # samples sent at a time, 20 ms

# Command bytes, and the number of parameter bytes that follow.
_AVERAGE_START, _AVERAGE_STOP, _GET_METADATA = 0x06, 0x07, 0x19
_PARAMETERS = {0x0C: 1, 0x0D: 2, 0x11: 1, 0x12: 4, 0x25: 5, 0x20: 0, 0x15: 0, 0x16: 0}

_ADC_VOLT = 1.8 / 163_840  # volt per count of the amplified shunt voltage
_ADC_MAXIMUM = (1 << 14) - 1  # a sample carries counts / 4
_SHUNT_OHM = np.array([1031.64, 101.65, 10.15, 0.94, 0.043])
_RANGE_LIMIT_A = np.array([50e-6, 500e-6, 5e-3, 60e-3, 1.0])
_OFFSET_COUNTS = 120.0
_NOISE_COUNTS = 8.0


class SimulatedPpk2:
    """One specimen, streaming to the client that opens `resource`.

    Args:
        line: the line that it measures; its marker is wired to digital input D0.
        seed: draws the noise.
    """

    role = "profiler"
    usage = "PPK2, --meter ppk2"

    def __init__(self, line: SupplyLine, seed: int) -> None:
        self._line = line
        self._random = np.random.default_rng(seed)
        self._terminal = Terminal()
        self.resource = self._terminal.port
        self._streaming = threading.Event()
        self._threads = [
            threading.Thread(target=target, daemon=True) for target in (self._listen, self._stream)
        ]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Unplug."""
        self._streaming.set()
        self._terminal.close(*self._threads)

    def _listen(self) -> None:
        while code := self._terminal.read(1):
            for _ in range(_PARAMETERS.get(code[0], 0)):
                self._terminal.read(1)
            if code[0] == _GET_METADATA:
                self._terminal.write(_metadata())
            elif code[0] == _AVERAGE_START:
                self._streaming.set()
            elif code[0] == _AVERAGE_STOP:
                self._streaming.clear()

    def _stream(self) -> None:
        counter = 0
        while True:
            self._streaming.wait()
            start_s = self._line.now_s
            while self._streaming.is_set() and not self._terminal.closed:
                edges_s = start_s + np.arange(_BLOCK + 1) / SAMPLE_RATE_HZ
                start_s = float(edges_s[-1])
                try:
                    words = self._samples(edges_s, counter)
                except MeterError:
                    return  # The board was switched off.
                counter += _BLOCK
                self._terminal.write(words.tobytes())
            if self._terminal.closed:
                return

    def _samples(self, edges_s: Floats, counter: int) -> npt.NDArray[np.uint32]:
        true_a = self._line.mean_current_a(edges_s[:-1], edges_s[1:])
        level = self._line.marker(edges_s[:-1])
        scale = np.minimum(np.searchsorted(_RANGE_LIMIT_A, true_a), len(_SHUNT_OHM) - 1)
        counts = true_a * _SHUNT_OHM[scale] / _ADC_VOLT + _OFFSET_COUNTS
        counts += self._random.normal(0.0, _NOISE_COUNTS, len(true_a))
        code = np.clip(np.round(counts / 4), 0, _ADC_MAXIMUM).astype(np.uint32)
        serial = (counter + np.arange(len(true_a), dtype=np.uint32)) & 0x3F
        word: npt.NDArray[np.uint32] = (
            code
            | (scale.astype(np.uint32) << 14)
            | (serial.astype(np.uint32) << 18)
            | (level.astype(np.uint32) << 24)
        )
        return word.astype("<u4")


def _metadata() -> bytes:
    """Return the calibration that the instrument reports; this specimen's is exact except noise."""
    lines = ["Calibrated: 0"]
    for i, ohm in enumerate(_SHUNT_OHM):
        lines.append(f"R{i}: {ohm:.4f}")
    for key, value in (("GS", 0), ("GI", 1), ("O", _OFFSET_COUNTS), ("S", 0), ("I", 0), ("UG", 1)):
        lines.extend(f"{key}{i}: {value:.4f}" for i in range(len(_SHUNT_OHM)))
    lines.extend(["HW: 37292", "IA: 56", "END"])
    return "\n".join(lines).encode()


def plug_in(line: SupplyLine, seed: int) -> SimulatedPpk2:
    """Serve one specimen on a terminal."""
    return SimulatedPpk2(line, seed)
