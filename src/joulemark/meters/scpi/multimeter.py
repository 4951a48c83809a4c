"""Multimeters as ammeters."""

import math

import numpy as np

from joulemark.closes import Closes
from joulemark.errors import InputError, MeterError
from joulemark.meters import CurrentRange, Specification
from joulemark.meters.samples import Accuracy, Samples
from joulemark.meters.scpi.session import Session

OVERLOAD = 9.9e37
"""Value that SCPI instruments send for an out-of-range reading."""
_OVER_RANGE = 1.2
"""Largest reading of a range, relative to its full scale."""


class Multimeter(Closes):
    """A multimeter in a fixed range that takes a number of readings.

    Args:
        session: session with the instrument.
        supply_v: supply voltage at the board.
        full_scale_a: full scale of the range; fixed, because changing it takes longer than a
            reading.
        accuracy: bound on a reading's error in this range.
    """

    specification: Specification
    most: int
    """Maximum readings in one run."""
    interval_s: float
    """Time from one reading to the next."""

    def __init__(
        self, session: Session, supply_v: float, full_scale_a: float, accuracy: Accuracy
    ) -> None:
        self._session = session
        self._supply_v = supply_v
        self._full_scale_a = full_scale_a
        self._accuracy = accuracy
        self._count = 0

    def close(self) -> None:
        """Close the session."""
        self._session.close()

    def start(self, seconds: float) -> None:
        """Trigger enough readings to fill this time.

        Raises:
            InputError: they are more than it can take.
            MeterError: its settings have been changed.
        """
        count = math.ceil(seconds / self.interval_s)
        if not 1 <= count <= self.most:
            raise InputError(
                f"{count} readings do not fit one trigger, which gives {self.most}",
                self._session.where,
                "repeat the operation less often",
            )
        self._check_setting()
        self._count = count
        self._session.command(f"SAMP:COUN {count}")
        self._trigger()

    def finish(self) -> Samples:
        """Wait for the readings and return them.

        Raises:
            MeterError: they do not arrive, are incomplete or out of range, or settings changed.
        """
        text = self._readings(self._count)
        try:
            current_a = np.array(text.split(","), dtype=np.float64)
        except ValueError as error:
            raise MeterError("a reading is not a number", self._session.where) from error
        if len(current_a) != self._count:
            what = f"{len(current_a)} readings came instead of {self._count}"
            raise MeterError(what, self._session.where, "measure again")
        self._check_setting()
        # Overload, which is far larger, has its own message elsewhere.
        beyond = np.flatnonzero(
            (np.abs(current_a) > _OVER_RANGE * self._full_scale_a) & (np.abs(current_a) < OVERLOAD)
        )
        if len(beyond):
            raise MeterError(
                f"reading {beyond[0]} is {current_a[beyond[0]]:g} A, in the range of "
                f"{self._full_scale_a:g} A",
                self._session.where,
                "check what answers at this address; the run is measured again",
            )
        return Samples(
            np.arange(self._count, dtype=np.float64) * self.interval_s,
            current_a,
            self.interval_s,
            self._supply_v,
            self._accuracy,
            where=self._session.where,
        )

    def _check_setting(self) -> None:
        """Check that nobody has changed its function or range."""
        text = self._session.query("CONF?").strip('"')
        words = text.replace(",", " ").split()
        try:
            good = words[0] in {"CURR", "CURR:DC"} and float(words[1]) == self._full_scale_a
        except (IndexError, ValueError):
            good = False
        if not good:
            raise MeterError(
                f"it is set to {text!r}, and no more to a current of {self._full_scale_a:g} A",
                self._session.where,
                "leave its front panel alone; the run is measured again",
            )

    def _trigger(self) -> None:
        """Start taking the readings, and return at once."""
        raise NotImplementedError

    def _readings(self, count: int) -> str:
        """Return the readings in ampere, separated by commas."""
        raise NotImplementedError


def find_range(ranges: tuple[CurrentRange, ...], full_scale_a: float, where: str) -> CurrentRange:
    """Return the range with this full scale.

    Raises:
        InputError: there is no such range.
    """
    for found in ranges:
        if found.full_scale_a == full_scale_a:
            return found
    known = ", ".join(f"{r.full_scale_a:g}" for r in ranges)
    raise InputError(f"no range of {full_scale_a:g} A", where, f"there are {known} A")
