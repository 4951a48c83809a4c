"""Nordic Power Profiler Kit II as an ammeter, through ppk2-api; its input D0 is the marker's."""

import termios
import threading
import time
from typing import Any

import numpy as np
import serial
from ppk2_api.ppk2_api import PPK2_API

from joulemark.closes import Closes
from joulemark.errors import MeterError
from joulemark.meters import Specification
from joulemark.meters.options import SerialPort, StatedAccuracy
from joulemark.meters.samples import Accuracy, Samples

_RATE_HZ = 100_000
_SAMPLE_BYTES = 4
_COUNTER_SHIFT, _COUNTER_BITS = 18, 0x3F  # as in ppk2-api's and the simulated device's samples
_MARKER_BIT = 0x01
_PATIENCE_S = 5.0
_ANSWER_S = 1.0
_QUIET_S = 0.05


class Ppk2(Closes):
    """One profiler.

    Args:
        resource: its serial port.
        supply_v: supply voltage at the board.
        accuracy: relative bound on its error. Its manual has no table with such a bound, so the
            user states it, from a calibration or the maker's promise.

    Raises:
        MeterError: it cannot be reached, or is another instrument.
    """

    specification = Specification(
        title="Nordic Power Profiler Kit II",
        document="ppk2-api: 100 000 samples a second, five ranges",
        rate_hz=_RATE_HZ,
        resolution="by range",
        window_s=2000 / _RATE_HZ,
        marker="D0",
    )

    def __init__(self, resource: str, supply_v: float, accuracy: float) -> None:
        self.where = f"PPK2 at {resource}"
        self._accuracy = Accuracy(accuracy, 0.0)
        self._supply_v = supply_v
        self._recorded = bytearray()
        self._failure: Exception | None = None
        self._thread: threading.Thread | None = None
        self._ending = threading.Event()
        try:
            self._device: Any = PPK2_API(resource, timeout=_ANSWER_S, exclusive=True)
        except (serial.SerialException, OSError, ValueError) as error:
            mend = "check the port, and that no other program holds it"
            raise MeterError(f"cannot be opened: {error}", self.where, mend) from error
        try:
            known = self._device.get_modifiers()
        except (serial.SerialException, OSError, ValueError):
            # The answer may not even be text.
            known = None
        if not known:
            self.close()
            raise MeterError("it does not tell its calibration", self.where, "is it a PPK2?")
        self._device.use_ampere_meter()
        self._device.set_source_voltage(round(supply_v * 1e3))

    def close(self) -> None:
        """Close its port."""
        port, self._device.ser = self._device.ser, None
        if port is not None:
            port.close()

    def start(self, seconds: float) -> None:
        """Record in the background for at least this long, and until `finish` is called.

        Raises:
            MeterError: it was unplugged.
        """
        self._recorded = bytearray()
        self._failure = None
        self._ending.clear()
        wanted = round(seconds * _RATE_HZ) * _SAMPLE_BYTES
        self._thread = threading.Thread(target=self._listen, args=(wanted,), daemon=True)
        try:
            self._device.ser.reset_input_buffer()
            self._device.start_measuring()
        except (serial.SerialException, OSError, termios.error) as error:
            raise self._gone(error) from error
        self._thread.start()

    def _gone(self, error: Exception) -> MeterError:
        mend = "check the cable; what was measured before is kept"
        return MeterError(f"it stopped: {error}", self.where, mend)

    def _listen(self, wanted: int) -> None:
        last = time.monotonic()
        try:
            # If the host is late, the recording must not end before the window.
            while len(self._recorded) < wanted or not self._ending.is_set():
                data = self._device.ser.read(self._device.ser.in_waiting or 1)
                if data:
                    self._recorded += data
                    last = time.monotonic()
                elif time.monotonic() - last > _PATIENCE_S:
                    raise OSError(f"no sample for {_PATIENCE_S:g} s")
        except (serial.SerialException, OSError, TypeError) as error:
            self._failure = error

    def finish(self) -> Samples:
        """Stop, and return the samples with the marker's edges.

        Raises:
            MeterError: it was unplugged, or samples are missing.
        """
        if self._thread is None:
            raise MeterError("it was not started", self.where)
        self._ending.set()
        self._thread.join()
        if self._failure is not None:
            raise self._gone(self._failure)
        try:
            self._device.stop_measuring()
            # Samples still in transit must not be taken for the next run's.
            self._device.ser.timeout = _QUIET_S
            while self._device.ser.read(self._device.ser.in_waiting or 1):
                pass
            self._device.ser.timeout = _ANSWER_S
        except (serial.SerialException, OSError) as error:
            raise self._gone(error) from error
        whole = len(self._recorded) // _SAMPLE_BYTES * _SAMPLE_BYTES
        raw = bytes(self._recorded[:whole])
        counter = np.frombuffer(raw, "<u4") >> _COUNTER_SHIFT
        lost = np.flatnonzero((counter[1:] - counter[:-1]) & _COUNTER_BITS != 1)
        if len(lost):
            what = f"samples are missing after {lost[0] / _RATE_HZ:.5f} s"
            raise MeterError(what, self.where, "use another USB port; the run is measured again")
        self._device.remainder = {"sequence": b"", "len": 0}
        current_ua, bits = self._device.get_samples(raw)
        level = np.asarray(bits, dtype=np.int64) & _MARKER_BIT
        edges = np.flatnonzero(np.diff(level)) + 1
        return Samples(
            np.arange(len(current_ua), dtype=np.float64) / _RATE_HZ,
            np.asarray(current_ua, dtype=np.float64) * 1e-6,
            1 / _RATE_HZ,
            self._supply_v,
            self._accuracy,
            edges_s=tuple(float(e) / _RATE_HZ for e in edges),
            marker=self.specification.marker,
            where=self.where,
        )


def open_meter(resource: SerialPort, supply_v: float, accuracy: StatedAccuracy) -> Ppk2:
    """Open a profiler on a serial port.

    Raises:
        MeterError: it cannot be reached, or is another instrument.
    """
    return Ppk2(resource, supply_v, accuracy)
