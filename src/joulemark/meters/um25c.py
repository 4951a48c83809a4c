"""RDTech UM25C and UM24C: USB meters that are read over a serial line, mostly Bluetooth's.

On 0xF0, a meter answers with 130 bytes: model, voltage, current and its counters, as big-endian
numbers, and 0xFFF1 at the end. The protocol is undocumented; this follows libsigrok's rdtech-um and
rdserialtool. The accuracy is RDTech's specification as stated by sellers, not by RDTech.
"""

import struct
import time

import serial

from joulemark.clock import HOST, Clock
from joulemark.errors import MeterError
from joulemark.meters import Specification
from joulemark.meters.options import SerialPort, StatedAccuracy
from joulemark.meters.polled import Polled
from joulemark.meters.samples import Accuracy

_ASK = b"\xf0"
_FRAME_BYTES = 130
_END = 0xFFF1
_INTERVAL_S = 0.5  # it measures twice a second
_PATIENCE_S = 2.0


class _Model:
    """A model's name, and the sizes of its counts."""

    def __init__(self, name: str, volt: float, ampere: float) -> None:
        self.name = name
        self.volt = volt
        self.ampere = ampere


_MODELS = {0x0963: _Model("UM24C", 0.01, 0.001), 0x09C9: _Model("UM25C", 0.001, 0.0001)}
# UM25C: voltage 0.05 % + 2 counts, current 0.1 % + 4 counts; power has both errors.
_OF_READING = 0.0015
_COUNTS = 4


def decode(frame: bytes) -> tuple[str, float, float]:
    """Decode a frame to the model, current in ampere and voltage in volt.

    Raises:
        ValueError: it is not a frame of a known meter.
    """
    if len(frame) != _FRAME_BYTES:
        raise ValueError(f"{len(frame)} bytes instead of {_FRAME_BYTES}")
    identity, volt, ampere = struct.unpack_from(">HHH", frame)
    (end,) = struct.unpack_from(">H", frame, _FRAME_BYTES - 2)
    if identity not in _MODELS or end != _END:
        known = ", ".join(m.name for m in _MODELS.values())
        raise ValueError(f"{frame[:4].hex()}...{end:04x} is no frame of {known}")
    model = _MODELS[identity]
    return model.name, ampere * model.ampere, volt * model.volt


class _Line:
    def __init__(self, resource: str) -> None:
        self.where = f"USB meter at {resource}"
        try:
            self._port = serial.Serial(resource, 9600, timeout=0.05, exclusive=True)
        except (serial.SerialException, OSError, ValueError) as error:
            mend = "pair it and bind it to a port (rfcomm bind), or check the port's name"
            raise MeterError(f"cannot be opened: {error}", self.where, mend) from error

    def ask(self) -> bytes:
        data = b""
        try:
            self._port.reset_input_buffer()
            self._port.write(_ASK)
            end_s = time.monotonic() + _PATIENCE_S
            while len(data) < _FRAME_BYTES and time.monotonic() < end_s:
                data += self._port.read(_FRAME_BYTES - len(data))
        except (serial.SerialException, OSError, TypeError) as error:
            mend = "check that it is near and on; what was measured before is kept"
            raise MeterError(f"it went away: {error}", self.where, mend) from error
        if not data:
            mend = "check that it is near, on and paired"
            raise MeterError(f"it is silent for {_PATIENCE_S:g} s", self.where, mend)
        return data

    def close(self) -> None:
        self._port.close()


def open_meter(
    resource: SerialPort, accuracy: StatedAccuracy | None = None, clock: Clock = HOST
) -> Polled:
    """Open a USB meter on a serial port. It also measures voltage.

    Raises:
        MeterError: it cannot be reached, or is another instrument.
    """
    line = _Line(resource)
    names: list[str] = []

    def read() -> tuple[float, float]:
        try:
            name, ampere, volt = decode(line.ask())
        except ValueError as error:
            raise MeterError(f"{error}", line.where, "is it a UM25C?") from error
        names.append(name)
        return ampere, volt

    try:
        read()
    except MeterError:
        line.close()
        raise
    model = next(m for m in _MODELS.values() if m.name == names[0])
    of_reading = _OF_READING if accuracy is None else accuracy
    specification = Specification(
        title=f"RDTech {model.name}",
        document="accuracy as stated by whoever measured"
        if accuracy is not None
        else "as sellers state it for the UM25C: 0.05 % + 2 counts, 0.1 % + 4 counts (inferred)",
        rate_hz=1 / _INTERVAL_S,
        resolution=f"{model.ampere * 1e3:g} mA, {model.volt * 1e3:g} mV",
        measures_voltage=True,
        window_s=60.0,
    )
    bound = Accuracy(of_reading, _COUNTS * model.ampere, signed=False)
    return Polled(
        read, _INTERVAL_S, bound, specification, where=line.where, close=line.close, clock=clock
    )
