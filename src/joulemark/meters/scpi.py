"""Multimeters as ammeters, and the E3631A supply, over any line that VISA knows.

Commands and tables: 34401A User's Guide (34401-90004), chapters 4 and 8; E3631A User's Guide
(E3631-90002), chapter 4; Truevolt Series Operating and Service Guide, SCPI Programming
Reference.
"""

import math

import numpy as np
import pyvisa
from pyvisa.resources import MessageBasedResource, SerialInstrument

from joulemark.analysis.energy_of_samples import Accuracy, Samples
from joulemark.closes import Closes
from joulemark.errors import InputError, MeterError
from joulemark.meters import CurrentRange, Options, Specification

_ANSWER_MS = 5_000
_NO_ERROR = "+0"


class _Session:
    """A SCPI instrument whose identity is checked.

    Args:
        resource: VISA resource name, such as TCPIP::192.0.2.7::5025::SOCKET or GPIB0::22::INSTR.
        models: what its identity has to name one of.
    """

    def __init__(self, resource: str, *models: str) -> None:
        self.where = f"{' or '.join(models)} at {resource}"
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
        self.is_serial = isinstance(session, SerialInstrument)
        try:
            if self.is_serial:
                self.write("SYST:REM")
            identity = self.query("*IDN?")
            fields = [field.strip() for field in identity.split(",")]
            if len(fields) < 2 or fields[1] not in models:
                raise MeterError(f"it says it is {identity!r}", self.where, "connect the right one")
            self.model = fields[1]
            self.where = f"{self.model} at {resource}"
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
        except (pyvisa.Error, OSError, UnicodeDecodeError) as error:
            raise self._gone(error) from error
        return str(text).strip()

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


class _Multimeter(Closes):
    """What the multimeters share: a fixed range, a number of readings, and what may be wrong.

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

    def __init__(
        self, session: _Session, supply_v: float, full_scale_a: float, accuracy: Accuracy
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
        raise NotImplementedError

    def _readings(self, count: int) -> str:
        raise NotImplementedError


class Agilent34401A(_Multimeter):
    """The multimeter of 1991: 4.5 digits, 500 readings a second, no zero readings.

    Over RS-232 it sends 55 readings a second at most (chapter 8, system speeds), so that they go
    through its memory, which holds 512, a hundred a second.

    Args:
        resource: VISA resource name.
        supply_v: supply voltage at the board.
        full_scale_a: range.
        through_memory: take no more readings than the memory holds; where not said, over RS-232.
        session: where it is open already.

    Raises:
        InputError: there is no such range.
        MeterError: it cannot be reached, or is something else.
    """

    model = "34401A"
    # Accuracy: chapter 8, dc characteristics, and the limits of the Service Guide's gain
    # verification (chapter 4). Shunts: chapter 8, measuring characteristics, dc current.
    ranges = (
        CurrentRange(10e-3, 0.050e-2, 0.020e-2, 5.0),
        CurrentRange(100e-3, 0.050e-2, 0.005e-2, 5.0),
        CurrentRange(1.0, 0.100e-2, 0.010e-2, 0.1),
        CurrentRange(3.0, 0.120e-2, 0.020e-2, 0.1),
    )

    def __init__(
        self,
        resource: str,
        supply_v: float,
        full_scale_a: float = 10e-3,
        *,
        through_memory: bool | None = None,
        session: _Session | None = None,
    ) -> None:
        chosen = _range(self.ranges, full_scale_a, resource)
        session = session or _Session(resource, self.model)
        super().__init__(session, supply_v, full_scale_a, chosen.accuracy)
        self._through_memory = session.is_serial if through_memory is None else through_memory
        self.most = 512 if self._through_memory else 50_000
        self.interval_s = 10e-3 if self._through_memory else 2e-3
        self.specification = Specification(
            title="Agilent 34401A",
            document="34401A User's Guide, 34401-90004, chapter 8: 1 year, 23 degrees Celsius +- 5",
            rate_hz=1 / self.interval_s,
            resolution="4.5 digits",
            ranges=self.ranges,
        )
        try:
            session.command(
                "*RST",
                "*CLS",
                f"CONF:CURR:DC {full_scale_a:g}",
                "CURR:DC:NPLC 0.02",
                "ZERO:AUTO OFF",
                # At 0.02 PLC a conversion takes 1 ms.
                f"TRIG:DEL {self.interval_s - 1e-3:g}",
                "DISP OFF",
            )
        except MeterError:
            session.close()
            raise

    def _trigger(self) -> None:
        self._session.write("INIT" if self._through_memory else "READ?")

    def _readings(self, count: int) -> str:
        if self._through_memory:
            self._session.write("FETC?")
        return self._session.read(count * self.interval_s * 1e3 + _ANSWER_MS)


class Keysight34465A(_Multimeter):
    """A multimeter of the Truevolt series: readings by its own timer into its memory.

    Args:
        resource: VISA resource name.
        supply_v: supply voltage at the board.
        accuracy: bound on the error of a reading, as a fraction of it. The table of its data
            sheet was not at hand when this was written, so whoever measures states it.
        full_scale_a: range.
        session: where it is open already.

    Raises:
        InputError: there is no such range, or no accuracy is stated.
        MeterError: it cannot be reached, or is something else.
    """

    model = "34465A"
    interval_s = 1e-3
    most = 50_000  # its memory without the option MEM (SAMPle:COUNt)
    _ranges_a = (100e-6, 1e-3, 10e-3, 100e-3, 1.0, 3.0)  # CONFigure:CURRent; 10 A has a jack apart
    _APERTURE_S = 500e-6  # 200 us at least without the option DIG
    _CHUNK = 1000

    def __init__(
        self,
        resource: str,
        supply_v: float,
        accuracy: float,
        full_scale_a: float = 10e-3,
        *,
        session: _Session | None = None,
    ) -> None:
        if full_scale_a not in self._ranges_a:
            known = ", ".join(f"{a:g}" for a in self._ranges_a)
            raise InputError(f"no range of {full_scale_a:g} A", resource, f"there are {known} A")
        session = session or _Session(resource, self.model)
        super().__init__(session, supply_v, full_scale_a, Accuracy(accuracy, 0.0))
        self.specification = Specification(
            title="Keysight 34465A",
            document="Truevolt Series Operating and Service Guide; accuracy as stated by whoever "
            f"measured: {accuracy:.3%} of reading",
            rate_hz=1 / self.interval_s,
            resolution="aperture of 500 us",
        )
        try:
            session.command(
                "*RST",
                "*CLS",
                f"CONF:CURR:DC {full_scale_a:g}",
                "CURR:DC:ZERO:AUTO OFF",
                f"CURR:DC:APER {self._APERTURE_S:g}",
                "SAMP:SOUR TIM",
                f"SAMP:TIM {self.interval_s:g}",
                "TRIG:SOUR IMM",
            )
            shortest_s = float(session.query("SAMP:TIM? MIN"))
            if shortest_s > self.interval_s:
                what = f"it takes a reading each {shortest_s:g} s at most"
                raise MeterError(what, session.where, "choose another range")
        except MeterError:
            session.close()
            raise

    def _trigger(self) -> None:
        self._session.write("INIT")

    def _readings(self, count: int) -> str:
        """Out of the memory, a part at a time; each waits until it is there."""
        parts = []
        for first in range(0, count, self._CHUNK):
            size = min(self._CHUNK, count - first)
            self._session.write(f"DATA:REM? {size},WAIT")
            parts.append(self._session.read((first + size) * self.interval_s * 1e3 + _ANSWER_MS))
        return ",".join(parts)


def _range(ranges: tuple[CurrentRange, ...], full_scale_a: float, where: str) -> CurrentRange:
    for found in ranges:
        if found.full_scale_a == full_scale_a:
            return found
    known = ", ".join(f"{r.full_scale_a:g}" for r in ranges)
    raise InputError(f"no range of {full_scale_a:g} A", where, f"there are {known} A")


class AgilentE3631A:
    """The supply; the board hangs on its +6 V output.

    Args:
        resource: VISA resource name.
    """

    # Readback accuracy of the +6 V output over a year: inferred, its specifications were not read.
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


def open_meter(options: Options) -> _Multimeter:
    """The multimeter that answers, whichever it is.

    Raises:
        InputError: something that it needs is missing.
        MeterError: it cannot be reached, or is none of ours.
    """
    resource = options.need_resource("TCPIP::192.0.2.7::5025::SOCKET")
    full_scale_a = 10e-3 if options.range_a is None else options.range_a
    session = _Session(resource, Agilent34401A.model, Keysight34465A.model)
    try:
        if session.model == Agilent34401A.model:
            return Agilent34401A(resource, options.supply_v, full_scale_a, session=session)
        accuracy = options.need_accuracy(session.where)
        return Keysight34465A(resource, options.supply_v, accuracy, full_scale_a, session=session)
    except InputError:
        session.close()
        raise
