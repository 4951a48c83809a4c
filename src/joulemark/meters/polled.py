"""Poll meters that do not stream, at a steady pace."""

import itertools
import threading
from collections.abc import Callable

import numpy as np

from joulemark.clock import HOST, Clock
from joulemark.closes import Closes
from joulemark.errors import MeterError
from joulemark.meters import Specification
from joulemark.meters.samples import Accuracy, Samples

_GAP = 3.0
_GAP_S = 0.1
"""Limits on the gap between readings, in intervals and in seconds; the larger one applies."""


class Polled(Closes):
    """A meter that is read in the background.

    Args:
        read: returns the present current in ampere and voltage in volt; raises MeterError if it
            cannot.
        interval_s: time from one reading to the next.
        accuracy: bound on the error of a current reading.
        specification: the meter's capabilities.
        where: the meter, for messages.
        close: releases the meter.
        clock: clock that paces the readings.
    """

    def __init__(
        self,
        read: Callable[[], tuple[float, float]],
        interval_s: float,
        accuracy: Accuracy,
        specification: Specification,
        *,
        where: str,
        close: Callable[[], None] = lambda: None,
        clock: Clock = HOST,
    ) -> None:
        self.specification = specification
        self.where = where
        self._release = close
        self._clock = clock
        self._read = read
        self._interval_s = interval_s
        self._accuracy = accuracy
        self._thread: threading.Thread | None = None
        self._ending = threading.Event()
        self._rows: list[tuple[float, float, float]] = []
        self._failure: MeterError | None = None

    def close(self) -> None:
        """Stop reading and release the meter."""
        if self._thread is not None:
            self._ending.set()
            self._thread.join()
        self._release()

    def start(self, seconds: float) -> None:
        """Start reading, for at least this long and until `finish` is called."""
        self._ending.clear()
        self._rows, self._failure = [], None
        self._thread = threading.Thread(target=self._run, args=(seconds,), daemon=True)
        self._thread.start()

    def _run(self, seconds: float) -> None:
        begin_s = self._clock.now_s()
        try:
            for number in itertools.count():
                # If the caller is late, the recording must not end before the window.
                if number * self._interval_s >= seconds and self._ending.is_set():
                    break
                self._clock.sleep(begin_s + number * self._interval_s - self._clock.now_s())
                at_s = self._clock.now_s() - begin_s
                ampere, volt = self._read()
                self._rows.append((at_s, ampere, volt))
        except MeterError as error:
            self._failure = error

    def finish(self) -> Samples:
        """Stop, and return currents that, times the mean voltage, give each reading's power.

        Raises:
            MeterError: it was unplugged, or there is no voltage.
        """
        if self._thread is None:
            raise MeterError("it was not started", self.where)
        self._ending.set()
        self._thread.join()
        if self._failure is not None:
            raise self._failure
        at_s, ampere, volt = np.array(self._rows, dtype=np.float64).T
        gaps_s = np.diff(at_s)
        if len(gaps_s) and float(np.max(gaps_s)) > max(_GAP_S, _GAP * self._interval_s):
            longest = int(np.argmax(gaps_s))
            raise MeterError(
                f"nothing was read for {gaps_s[longest]:.3f} s after {at_s[longest]:.3f} s",
                self.where,
                "keep this machine quiet; the run is measured again",
            )
        mean_v = float(np.mean(volt))
        if not mean_v > 0:
            raise MeterError(f"it reads {mean_v:g} V", self.where, "is the supply on?")
        # Scheduling jitters by milliseconds, so resample: each reading holds until the next one.
        even_s = np.arange(at_s[0], at_s[-1], self._interval_s)
        held = np.searchsorted(at_s, even_s, "right") - 1
        return Samples(
            even_s,
            (ampere * volt / mean_v)[held],
            self._interval_s,
            mean_v,
            self._accuracy,
            where=self.where,
        )
