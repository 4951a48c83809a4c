"""A simulated RDTech UM25C; a pseudo-terminal stands for the serial port of its Bluetooth line.

The protocol is undocumented; a frame has the layout that libsigrok's rdtech-um and rdserialtool
read. The specimen's errors are drawn within what sellers state: 0.05 % + 2 counts of the voltage,
0.1 % + 4 counts of the current.
"""

import struct
import threading

import numpy as np

from joulemark.simulated.supply import SupplyLine
from joulemark.simulated.terminal import Terminal

_ASK = 0xF0
_IDENTITY, _END = 0x09C9, 0xFFF1
_FRAME_BYTES = 130
_VOLT, _AMPERE, _WATT = 1e-3, 1e-4, 1e-3  # per count
_AVERAGE_S = 0.5  # it shows the mean over half a second


class SimulatedUm25c:
    """One specimen, answering the client that opens `resource`.

    Args:
        line: the line that it measures.
        seed: draws its errors.
    """

    role = "USB meter"
    usage = "UM25C, --meter um25c"

    def __init__(self, line: SupplyLine, seed: int) -> None:
        self._line = line
        draw = np.random.default_rng(seed)
        self._volt_gain = 1 + draw.uniform(-0.0005, 0.0005)
        self._ampere_gain = 1 + draw.uniform(-0.001, 0.001)
        self._volt_offset = draw.uniform(-2, 2)
        self._ampere_offset = draw.uniform(-4, 4)
        self._terminal = Terminal()
        self.resource = self._terminal.port
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Unplug."""
        self._terminal.close(self._thread)

    def _run(self) -> None:
        while asked := self._terminal.read(64):
            for _ in range(asked.count(_ASK)):
                self._terminal.write(self.frame())

    def frame(self) -> bytes:
        """Return its current message."""
        end_s = np.array([max(self._line.now_s, _AVERAGE_S)])
        true_a = float(self._line.mean_current_a(end_s - _AVERAGE_S, end_s)[0])
        ampere = true_a / _AMPERE * self._ampere_gain + self._ampere_offset
        volt = self._line.voltage_v / _VOLT * self._volt_gain + self._volt_offset
        counts = max(round(ampere), 0)
        watt = round(counts * _AMPERE * round(volt) * _VOLT / _WATT)
        frame = bytearray(_FRAME_BYTES)
        struct.pack_into(">HHHI", frame, 0, _IDENTITY, round(volt), counts, watt)
        struct.pack_into(">H", frame, _FRAME_BYTES - 2, _END)
        return bytes(frame)


def plug_in(line: SupplyLine, seed: int) -> SimulatedUm25c:
    """Serve one specimen on a terminal."""
    return SimulatedUm25c(line, seed)
