"""Joulescope JS110 and JS220, through the maker's package `joulescope`. Not tried on one.

pip install joulemark[joulescope]. This uses joulescope 1.5: `scan_require_one`, and a device's
`parameter_set` and `read`. Its digital inputs are not read; windows are found in the current.
"""

import threading
from typing import Any

import numpy as np

from joulemark.closes import Closes
from joulemark.errors import MeterError, ToolError
from joulemark.meters import Specification
from joulemark.meters.options import StatedAccuracy
from joulemark.meters.samples import Accuracy, Samples

_RATE_HZ = 100_000


class Joulescope(Closes):
    """One Joulescope.

    Args:
        device: the package's device, not yet open.
        accuracy: relative bound on its error, stated by the user.
    """

    where = "Joulescope"

    def __init__(self, device: Any, accuracy: float) -> None:
        self._device = device
        self._accuracy = Accuracy(accuracy, 0.0)
        self._read: Any = None
        self._failure: Exception | None = None
        self._thread: threading.Thread | None = None
        self.specification = Specification(
            title="Joulescope (driver not tried on one)",
            document=f"accuracy as stated by whoever measured: {accuracy:.2%} of reading",
            rate_hz=_RATE_HZ,
            resolution="by range",
            measures_voltage=True,
            window_s=2000 / _RATE_HZ,
        )
        try:
            device.open()
            device.parameter_set("sampling_frequency", _RATE_HZ)
        except Exception as error:  # The package raises whatever its C library does.
            raise MeterError(f"cannot be opened: {error}", self.where) from error

    def close(self) -> None:
        """Close the device."""
        if self._thread is not None:
            self._thread.join()
        self._device.close()

    def start(self, seconds: float) -> None:
        """Start reading in the background."""
        self._read, self._failure = None, None
        self._thread = threading.Thread(target=self._run, args=(seconds,), daemon=True)
        self._thread.start()

    def _run(self, seconds: float) -> None:
        try:
            self._read = self._device.read(contiguous_duration=seconds)
        except Exception as error:  # As above.
            self._failure = error

    def finish(self) -> Samples:
        """Return currents that, times the mean voltage, give each sample's power.

        Raises:
            MeterError: it was unplugged, or there is no voltage.
        """
        if self._thread is None:
            raise MeterError("it was not started", self.where)
        self._thread.join()
        if self._failure is not None:
            mend = "check the cable; what was measured before is kept"
            raise MeterError(f"it stopped: {self._failure}", self.where, mend) from self._failure
        # Lost samples are NaN, which the evaluation rejects.
        ampere, volt = np.asarray(self._read, dtype=np.float64).T
        mean_v = float(np.nanmean(volt))
        if not mean_v > 0:
            raise MeterError(f"it reads {mean_v:g} V", self.where, "is the supply on?")
        return Samples(
            np.arange(len(ampere), dtype=np.float64) / _RATE_HZ,
            ampere * volt / mean_v,
            1 / _RATE_HZ,
            mean_v,
            self._accuracy,
            where=self.where,
        )


def open_meter(accuracy: StatedAccuracy) -> Joulescope:
    """Open the only connected Joulescope.

    Raises:
        ToolError: its package is not installed.
        MeterError: none or several are connected.
    """
    try:
        import joulescope
    except ImportError as error:
        mend = "pip install joulemark[joulescope]"
        raise ToolError("its package is not installed", "--meter joulescope", mend) from error
    try:
        device = joulescope.scan_require_one(config="auto")
    except Exception as error:  # As above.
        raise MeterError(f"{error}", Joulescope.where, "connect one") from error
    return Joulescope(device, accuracy)
