"""Agilent 34401A multimeter as an ammeter, and E3631A supply, over any line that VISA knows.

Commands and tables: 34401A User's Guide (34401-90004), chapters 4 and 8, and E3631A User's Guide
(E3631-90002), chapters 1 and 4.
"""

import math
from types import TracebackType
from typing import Self

import numpy as np
import pyvisa
from pyvisa.resources import MessageBasedResource, SerialInstrument

from joulemark.analysis.energy_of_samples import Samples
from joulemark.errors import InputError, MeterError
from joulemark.meters import CurrentRange, Specification

_INTERVAL_S = 2e-3  # 1 ms of trigger delay, and 1000 conversions a second at 0.02 PLC
_ANSWER_MS = 5_000
_NO_ERROR = "+0"


class _Session:
    """A SCPI instrument whose identity is checked.

    Args:
        resource: VISA resource name, such as TCPIP::192.0.2.7::5025::SOCKET or GPIB0::22::INSTR.
        model: what its identity has to name.
    """

    def __init__(self, resource: str, model: str) -> None:
        self.where = f"{model} at {resource}"
        self._manager = pyvisa.ResourceManager("@py")
        try:
            session = self._manager.open_resource(resource)
        except (pyvisa.Error, OSError, ValueError) as error:
            self._manager.close()
            mend = "check the resource name, the cable and that nothing else holds it"
            raise MeterError(f"cannot be opened: {error}", self.where, mend) from error
        assert isinstance(session, MessageBasedResource)  # noqa: S101
        self._session = session
        session.read_termination = session.write_termination = "\n"
        session.timeout = _ANSWER_MS
        try:
            if isinstance(session, SerialInstrument):
                self.write("SYST:REM")
            identity = self.query("*IDN?")
            fields = [field.strip() for field in identity.split(",")]
            if len(fields) < 2 or fields[1] != model:
                raise MeterError(f"it says it is {identity!r}", self.where, "connect the right one")
        except MeterError:
            self.close()
            raise

    def write(self, line: str) -> None:
        try:
            self._session.write(line)
        except (pyvisa.Error, OSError) as error:
            raise self._gone(error) from error

    def read(self, timeout_ms: float = _ANSWER_MS) -> str:
        self._session.timeout = timeout_ms
        try:
            text = self._session.read()
        except (pyvisa.Error, OSError) as error:
            raise self._gone(error) from error
        return text.strip()

    def query(self, line: str) -> str:
        self.write(line)
        return self.read()

    def command(self, *lines: str) -> None:
        """Commands, and a look at the error queue."""
        for line in lines:
            self.write(line)
        error = self.query("SYST:ERR?")
        if not error.startswith(_NO_ERROR):
            raise MeterError(f"it answers {error} to {'; '.join(lines)}", self.where)

    def close(self) -> None:
        self._session.close()
        self._manager.close()

    def _gone(self, error: Exception) -> MeterError:
        mend = "check cable and power; what was measured before is kept"
        return MeterError(f"it does not answer: {error}", self.where, mend)


class Agilent34401A:
    """The multimeter at 500 readings a second: 4.5 digits, a fixed range, no zero readings.

    Args:
        resource: VISA resource name.
        supply_v: supply voltage at the board.
        full_scale_a: range; fixed, for a change of range takes longer than a reading.

    Raises:
        InputError: there is no such range.
        MeterError: it cannot be reached, or is something else.
    """

    specification = Specification(
        title="Agilent 34401A",
        document="34401A User's Guide, 34401-90004, chapter 8: dc characteristics, 1 year, "
        "23 degrees Celsius +- 5; burden voltage",
        rate_hz=1 / _INTERVAL_S,
        resolution="4.5 digits",
        ranges=(
            CurrentRange(10e-3, 0.050e-2, 0.020e-2, 0.1),
            CurrentRange(100e-3, 0.050e-2, 0.005e-2, 0.6),
            CurrentRange(1.0, 0.100e-2, 0.010e-2, 1.0),
            CurrentRange(3.0, 0.120e-2, 0.020e-2, 2.0),
        ),
    )

    def __init__(self, resource: str, supply_v: float, full_scale_a: float = 10e-3) -> None:
        ranges = [r for r in self.specification.ranges if r.full_scale_a == full_scale_a]
        if not ranges:
            known = ", ".join(f"{r.full_scale_a:g}" for r in self.specification.ranges)
            raise InputError(f"no range of {full_scale_a:g} A", resource, f"there are {known} A")
        (self._range,) = ranges
        self._supply_v = supply_v
        self._count = 0
        self._session = _Session(resource, "34401A")
        try:
            self._session.command(
                "*RST",
                "*CLS",
                f"CONF:CURR:DC {full_scale_a:g}",
                "CURR:DC:NPLC 0.02",
                "ZERO:AUTO OFF",
                f"TRIG:DEL {_INTERVAL_S - 1e-3:g}",
                "DISP OFF",
            )
        except MeterError:
            self._session.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _value: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of it."""
        self._session.close()

    def start(self, seconds: float) -> None:
        """Trigger as many readings as fill this time.

        Raises:
            InputError: one trigger gives at most 50 000.
        """
        count = math.ceil(seconds / _INTERVAL_S)
        if not 1 <= count <= 50_000:
            raise InputError(
                f"{count} readings do not fit one trigger, which gives 50000",
                self._session.where,
                "repeat the operation less often",
            )
        self._count = count
        self._session.command(f"SAMP:COUN {count}")
        self._session.write("READ?")

    def finish(self) -> Samples:
        """The readings.

        Raises:
            MeterError: they do not come, or are fewer than asked for.
        """
        text = self._session.read(self._count * _INTERVAL_S * 1e3 + _ANSWER_MS)
        try:
            current_a = np.array(text.split(","), dtype=np.float64)
        except ValueError as error:
            raise MeterError("a reading is not a number", self._session.where) from error
        if len(current_a) != self._count:
            what = f"{len(current_a)} readings came instead of {self._count}"
            raise MeterError(what, self._session.where, "measure again")
        return Samples(
            np.arange(self._count, dtype=np.float64) * _INTERVAL_S,
            current_a,
            _INTERVAL_S,
            self._supply_v,
            self._range.accuracy,
            where=self._session.where,
        )


class AgilentE3631A:
    """The supply; the board hangs on its +6 V output.

    Args:
        resource: VISA resource name.
    """

    # E3631A User's Guide, chapter 1: readback accuracy, +6 V output, 12 months.
    readback_of_output, readback_v = 0.1e-2, 5e-3

    def __init__(self, resource: str) -> None:
        self._session = _Session(resource, "E3631A")

    def power(self, volt: float, limit_a: float) -> None:
        """Set voltage and current limit, and switch on.

        Raises:
            MeterError: it refuses.
        """
        self._session.command(f"APPL P6V, {volt:g}, {limit_a:g}", "OUTP ON")

    def off(self) -> None:
        """Switch all outputs off."""
        self._session.command("OUTP OFF")

    def measure_v(self) -> float:
        """Voltage at the terminals."""
        return float(self._session.query("MEAS:VOLT? P6V"))

    def close(self) -> None:
        """Let go of it; it stays on."""
        self._session.close()


METER = Agilent34401A
