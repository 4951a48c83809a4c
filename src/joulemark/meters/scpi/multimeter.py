"""Multimeters as ammeters."""

import math

import numpy as np

from joulemark.closes import Closes
from joulemark.errors import InputError, MeterError
from joulemark.meters import CurrentRange, Specification
from joulemark.meters.samples import Accuracy, Samples
from joulemark.meters.scpi.session import Session

OVERLOAD = 9.9e37
"""Sent by SCPI instruments in place of a reading that is out of range."""
_OVER_RANGE = 1.2
"""A range is read to this many times its full scale at most."""


class Multimeter(Closes):
    """A multimeter in a fixed range, which takes a number of readings.

    Args:
        session: with the instrument.
        supply_v: supply voltage at the board.
        full_scale_a: range; fixed, for a change of range takes longer than a reading.
        accuracy: bound on a reading's error in this range.
    """

    specification: Specification
    most: int
    """Readings that it can take in one run."""
    interval_s: float
    """From one reading to the next."""

    def __init__(
        self, session: Session, supply_v: float, full_scale_a: float, accuracy: Accuracy
    ) -> None:
        self._session = session
        self._supply_v = supply_v
        self._full_scale_a = full_scale_a
        self._accuracy = accuracy
        self._count = 0

    def close(self) -> None:
        """Let go of it."""
        self._session.close()

    def start(self, seconds: float) -> None:
        """Trigger as many readings as fill this time.

        Raises:
            InputError: those are more than it can take.
            MeterError: it is not set as it was.
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
        """The readings.

        Raises:
            MeterError: they do not come, or are fewer than asked for.
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
        # Overload, which is much more yet, has a message of its own.
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
        """Nobody has turned it to another function or range since."""
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
        """Begin to take the readings, and come back."""
        raise NotImplementedError

    def _readings(self, count: int) -> str:
        """The readings in ampere, with commas between them."""
        raise NotImplementedError


def find_range(ranges: tuple[CurrentRange, ...], full_scale_a: float, where: str) -> CurrentRange:
    """The range of this full scale.

    Raises:
        InputError: there is none.
    """
    for found in ranges:
        if found.full_scale_a == full_scale_a:
            return found
    known = ", ".join(f"{r.full_scale_a:g}" for r in ranges)
    raise InputError(f"no range of {full_scale_a:g} A", where, f"there are {known} A")
