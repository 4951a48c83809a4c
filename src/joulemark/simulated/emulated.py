"""An emulated board on a bench: what instruments on its supply line see of it.

It runs in real time for a client in another process, or in steps when the client waits, so that
nothing depends on the speed of this machine.
"""

import contextlib
import os
import threading
import time
import tty
from collections.abc import Iterator
from typing import TYPE_CHECKING, Self

import numpy as np
import numpy.typing as npt

from joulemark.catalogue import chips
from joulemark.catalogue.boards import Board
from joulemark.closes import Closes
from joulemark.errors import FaultError, LinkError, MeterError
from joulemark.meters import Meter, Specification
from joulemark.meters.model import ModelMeter
from joulemark.meters.power import total
from joulemark.simulated.supply import CurrentTrace, Floats

if TYPE_CHECKING:
    from joulemark._engine import Image
    from joulemark.meters.samples import Counted, Samples

_SLICE_S = 0.01
_ANSWER_SLICE_S = 1e-3
_PATIENCE_S = 600.0


class _Board:
    """A board's current and marker over time.

    While the chip sleeps with no wake-up due, the emulator's time stands still and the bench's goes
    on: the board draws the current of that state.
    """

    def __init__(self, board: Board, image: "Image") -> None:
        from joulemark._engine import Machine

        chip = chips.load_chip(board.chip)
        self.voltage_v = board.supply_v.value
        self._serial_port = board.serial.port
        self._current = ModelMeter(board).current_of
        self._machine = Machine(
            chip, image, wiring=board.wiring, marker=board.marker.pin, trace=True
        )
        self._changed = threading.Condition()
        self._until_s = [0.0]
        self._ampere: list[float] = []
        self._edges: list[float] = []
        self._behind_s = 0.0
        """The bench's time minus the machine's."""
        self._done_s = 0.0

    @property
    def now_s(self) -> float:
        """Bench time that the board has reached."""
        return self._done_s

    def mean_current_a(self, start_s: Floats, end_s: Floats) -> Floats:
        """Return the mean current over each interval, once the board has run that far."""
        self._wait(float(np.max(end_s)))
        with self._changed:
            first = int(np.searchsorted(self._until_s, float(np.min(start_s)), "right")) - 1
            first = max(first, 0)
            trace = CurrentTrace(self._until_s[first:], self._ampere[first:])
        return trace.mean_current_a(start_s, end_s)

    def marker(self, time_s: Floats) -> npt.NDArray[np.bool_]:
        """Return the marker's level at each instant, once the board has run that far."""
        self._wait(float(np.max(time_s)))
        with self._changed:
            edges = np.array(self._edges)
        # The pin starts low, and each edge toggles it.
        high: npt.NDArray[np.bool_] = np.searchsorted(edges, time_s, "right") % 2 == 1
        return high

    def _wait(self, until_s: float) -> None:
        """Return once the board has run that far.

        Raises:
            MeterError: it stopped earlier.
        """
        raise NotImplementedError

    def _advance(self, target_s: float) -> None:
        """Run the board to this time of the bench."""
        machine = self._machine
        machine.clear_observations()
        stop = machine.run(until_ps=round(target_s * 1e12))
        if stop.fault is not None:
            raise FaultError(f"{stop.fault.kind}: {stop.fault.message}")
        with self._changed:
            for ampere, end_ps in total(machine.power_tracks, self._current):
                self._append(ampere, end_ps * 1e-12)
            self._edges += [edge.time_ps * 1e-12 for edge in machine.marker_edges]
            self._done_s = machine.time_ps * 1e-12
            self._changed.notify_all()

    def _append(self, ampere: float, until_s: float) -> None:
        if until_s <= self._until_s[-1]:
            return
        if self._ampere and self._ampere[-1] == ampere:
            self._until_s[-1] = until_s
        else:
            self._ampere.append(ampere)
            self._until_s.append(until_s)


class EmulatedSupplyLine(_Board):
    """A board in real time, with its serial line on a pseudo-terminal.

    Args:
        board: the board.
        image: the image it runs.
        speed: seconds of the board per second of the host.
    """

    def __init__(self, board: Board, image: "Image", speed: float = 1.0) -> None:
        super().__init__(board, image)
        self._speed = speed
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
                with contextlib.suppress(BlockingIOError):
                    self._machine.serial_write(self._serial_port, os.read(self._master, 4096))
                self._advance(min(target_s, self._done_s + _SLICE_S))
                sent = self._machine.serial_read(self._serial_port)
                if sent:
                    os.write(self._master, sent)
        except FaultError as error:
            self._failure = str(error)
        finally:
            with self._changed:
                self._changed.notify_all()


class SteppedBench(_Board):
    """A board whose time advances only while a client waits for it.

    Its `clock` is the one to measure by, and its `line` is the board's serial line. Measure with a
    meter through `meter`, which lets time advance while its readings are awaited.

    Args:
        board: the board.
        image: the image it runs.
    """

    def __init__(self, board: Board, image: "Image") -> None:
        super().__init__(board, image)
        self._flowing = False
        self._looks = 0

    @property
    def now_s(self) -> float:
        """Bench time that the board has reached; instruments read it as they begin to measure."""
        with self._changed:
            self._looks += 1
            self._changed.notify_all()
            return self._done_s

    def clock(self) -> "SteppedClock":
        """Return a clock of the bench's time, to measure by."""
        return SteppedClock(self)

    def line(self, timeout_s: float = 5.0) -> "SteppedLine":
        """Return the board's serial line."""
        return SteppedLine(self, timeout_s)

    def meter(self, meter: Meter) -> Meter:
        """Return a meter whose instrument is plugged into this bench."""
        return _Stepped(self, meter)

    @property
    def time_s(self) -> float:
        """Bench time that the board has reached, for anything but an instrument."""
        return self._done_s

    def advance(self, until_s: float) -> None:
        """Let the board run to this time.

        Raises:
            FaultError: its program faulted.
        """
        with self._changed:
            while self._done_s < until_s - _SLICE_S / 1000:
                self._advance(min(until_s, self._done_s + _SLICE_S))

    def exchange(self, data: bytes = b"") -> bytes:
        """Send bytes to the board, and return what it has sent since the last exchange."""
        with self._changed:
            if data:
                self._machine.serial_write(self._serial_port, data)
            return self._machine.serial_read(self._serial_port)

    @contextlib.contextmanager
    def flowing(self) -> Iterator[None]:
        """Let instruments advance time as far as they need."""
        with self._changed:
            self._flowing = True
            self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._flowing = False

    @contextlib.contextmanager
    def looked_at(self) -> Iterator[None]:
        """Wait on exit until an instrument has begun what it was told in the block.

        Raises:
            MeterError: none has.
        """
        with self._changed:
            before = self._looks
        yield
        with self._changed:
            if not self._changed.wait_for(lambda: self._looks > before, timeout=_PATIENCE_S):
                raise MeterError("no instrument has begun to measure", "emulated bench")

    def _wait(self, until_s: float) -> None:
        end_s = time.monotonic() + _PATIENCE_S
        with self._changed:
            while self._done_s < until_s - _SLICE_S / 1000:
                if self._flowing:
                    self._advance(min(until_s, self._done_s + _SLICE_S))
                elif not self._changed.wait(timeout=max(end_s - time.monotonic(), 0.0)):
                    raise MeterError("nobody lets the board run", "emulated bench")


class SteppedClock:
    """A bench's time: sleeping lets the board run."""

    def __init__(self, bench: SteppedBench) -> None:
        self._bench = bench

    def now_s(self) -> float:
        """Return the bench time that the board has reached."""
        return self._bench.time_s

    def sleep(self, seconds: float) -> None:
        """Let the board run for this long."""
        self._bench.advance(self._bench.time_s + seconds)


class SteppedLine(Closes):
    """A bench's serial line: waiting for an answer lets the board run."""

    def __init__(self, bench: SteppedBench, timeout_s: float) -> None:
        self._bench = bench
        self.timeout_s = timeout_s

    def send(self, data: bytes) -> None:
        """Put bytes on the line."""
        self._bench.exchange(data)

    def receive(self) -> bytes:
        """Let the board run until it has sent a zero byte.

        Raises:
            LinkError: it sends none in time.
        """
        data = b""
        end_s = self._bench.time_s + self.timeout_s
        while not data.endswith(b"\0"):
            if self._bench.time_s > end_s:
                raise LinkError(f"silent for {self.timeout_s:g} s", "emulated bench")
            self._bench.advance(self._bench.time_s + _ANSWER_SLICE_S)
            data += self._bench.exchange()
        return data

    def settle(self) -> None:
        """Let the board run until it sends nothing more."""
        while True:
            self._bench.advance(self._bench.time_s + _SLICE_S)
            if not self._bench.exchange():
                return


class _Stepped:
    """A meter that begins before time advances, and lets it advance until the recording ends."""

    def __init__(self, bench: SteppedBench, meter: Meter) -> None:
        self._bench = bench
        self._meter = meter
        self.specification: Specification = meter.specification

    def __enter__(self) -> Self:
        self._meter.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._meter.__exit__(*error)

    def start(self, seconds: float) -> None:
        """Begin to record."""
        with self._bench.looked_at():
            self._meter.start(seconds)

    def finish(self) -> "Samples | Counted":
        """Return the recording."""
        with self._bench.flowing():
            return self._meter.finish()
