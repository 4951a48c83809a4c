"""Meters that do not stream by themselves, read at a steady pace."""

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
"""A reading may be late by so many intervals, or by so much."""


class Polled(Closes):
    """Reads in the background.

    Args:
        read: gives current in ampere and voltage in volt now; MeterError where it cannot.
        interval_s: from one reading to the next.
        accuracy: bound on the error of a reading of the current.
        specification: what it can do.
        where: which meter, for messages.
        close: lets go of it.
        clock: what it paces itself by.
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
        """Let go of it."""
        if self._thread is not None:
            self._ending.set()
            self._thread.join()
        self._release()

    def start(self, seconds: float) -> None:
        """Begin to read, for at least this long and until it is to finish."""
        self._ending.clear()
        self._rows, self._failure = [], None
        self._thread = threading.Thread(target=self._run, args=(seconds,), daemon=True)
        self._thread.start()

    def _run(self, seconds: float) -> None:
        begin_s = self._clock.now_s()
        try:
            for number in itertools.count():
                # Whoever is late must not make the recording end before the window.
                if number * self._interval_s >= seconds and self._ending.is_set():
                    break
                self._clock.sleep(begin_s + number * self._interval_s - self._clock.now_s())
                at_s = self._clock.now_s() - begin_s
                ampere, volt = self._read()
                self._rows.append((at_s, ampere, volt))
        except MeterError as error:
            self._failure = error

    def finish(self) -> Samples:
        """Readings: currents that with the mean voltage give the power of each reading.

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
        # A program is not called to the millisecond: each reading holds until the next one.
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
