"""An emulated board that runs in real time: what instruments on its supply line see of it."""

import contextlib
import os
import threading
import time
import tty
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from joulemark.catalogue import boards
from joulemark.catalogue.boards import Board
from joulemark.errors import FaultError, MeterError
from joulemark.meters.model import ModelMeter
from joulemark.simulated.supply import CurrentTrace, Floats

if TYPE_CHECKING:
    from joulemark._engine import Image

_SLICE_S = 0.01
_PATIENCE_S = 600.0


class EmulatedSupplyLine:
    """A board's serial line on a pseudo-terminal, and its current and marker over time.

    Args:
        board: which board.
        image: what it runs.
        speed: the board's seconds in one of the host's.
    """

    def __init__(self, board: Board, image: "Image", speed: float = 1.0) -> None:
        from joulemark._engine import Machine

        chip = boards.load_chip(board.chip)
        self.voltage_v = board.supply_v.value
        self._serial_port = board.serial.port
        self._current = ModelMeter(board).current
        self._machine = Machine(chip, image, marker=board.marker.pin, trace=True)
        self._speed = speed
        self._changed = threading.Condition()
        self._until_s = [0.0]
        self._ampere: list[float] = []
        self._edges: list[float] = []
        self._done_s = 0.0
        self._failure: str | None = None
        self._closed = threading.Event()
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)  # kept open, so that a client may come and go
        os.set_blocking(self._master, False)
        self.port = os.ttyname(self._slave)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Switch the board off."""
        self._closed.set()
        self._thread.join()
        os.close(self._slave)
        os.close(self._master)

    @property
    def now_s(self) -> float:
        """How far the board has come."""
        return self._done_s

    def mean_current_a(self, start_s: Floats, end_s: Floats) -> Floats:
        """Mean current over each interval, when the board has come so far."""
        self._wait(float(np.max(end_s)))
        with self._changed:
            first = int(np.searchsorted(self._until_s, float(np.min(start_s)), "right")) - 1
            first = max(first, 0)
            trace = CurrentTrace(self._until_s[first:], self._ampere[first:])
        return trace.mean_current_a(start_s, end_s)

    def marker(self, time_s: Floats) -> npt.NDArray[np.bool_]:
        """Level of the marker at each instant, when the board has come so far."""
        self._wait(float(np.max(time_s)))
        with self._changed:
            edges = np.array(self._edges)
        # The pin starts low, and each edge turns it.
        high: npt.NDArray[np.bool_] = np.searchsorted(edges, time_s, "right") % 2 == 1
        return high

    def _wait(self, until_s: float) -> None:
        with self._changed:
            come = self._changed.wait_for(
                lambda: self._done_s >= until_s or self._failure or self._closed.is_set(),
                timeout=_PATIENCE_S,
            )
            if not come or self._done_s < until_s:
                raise MeterError(self._failure or "the board has stopped", "emulated bench")

    def _run(self) -> None:
        begin = time.monotonic()
        try:
            while not self._closed.is_set():
                target_s = (time.monotonic() - begin) * self._speed
                if target_s < self._done_s + _SLICE_S / 2:
                    time.sleep(_SLICE_S / 4)
                    continue
                self._advance(min(target_s, self._done_s + _SLICE_S))
        except FaultError as error:
            self._failure = str(error)
        finally:
            with self._changed:
                self._changed.notify_all()

    def _advance(self, target_s: float) -> None:
        """Run the board to this time of the bench."""
        machine = self._machine
        with contextlib.suppress(BlockingIOError):
            machine.serial_write(self._serial_port, os.read(self._master, 4096))
        machine.clear_observations()
        stop = machine.run(until_ps=round(target_s * 1e12))
        if stop.fault is not None:
            raise FaultError(f"{stop.fault.kind}: {stop.fault.message}")
        sent = machine.serial_read(self._serial_port)
        if sent:
            os.write(self._master, sent)
        with self._changed:
            for interval in machine.power_intervals:
                self._append(interval.state, interval.clock_hz, interval.end_ps * 1e-12)
            self._edges += [edge.time_ps * 1e-12 for edge in machine.marker_edges]
            self._done_s = machine.time_ps * 1e-12
            self._changed.notify_all()

    def _append(self, state: str, clock_hz: int, until_s: float) -> None:
        ampere = self._current(state, clock_hz).ampere
        if until_s <= self._until_s[-1]:
            return
        if self._ampere and self._ampere[-1] == ampere:
            self._until_s[-1] = until_s
        else:
            self._ampere.append(ampere)
            self._until_s.append(until_s)
