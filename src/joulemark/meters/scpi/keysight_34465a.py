"""Keysight 34465A as an ammeter.

Commands: Truevolt Series Operating and Service Guide, SCPI Programming Reference.
"""

from joulemark.errors import InputError, MeterError
from joulemark.meters import Specification
from joulemark.meters.options import RangeA, Resource, StatedAccuracy
from joulemark.meters.samples import Accuracy
from joulemark.meters.scpi.multimeter import Multimeter
from joulemark.meters.scpi.session import ANSWER_MS, Session


class Keysight34465A(Multimeter):
    """A multimeter of the Truevolt series: its timer paces readings into its memory.

    Args:
        resource: VISA resource name.
        supply_v: supply voltage at the board.
        accuracy: bound on the error of a reading, as a fraction of it. The data sheet's table was
            not available when this was written, so the user states it.
        full_scale_a: full scale of the range.

    Raises:
        InputError: there is no such range.
        MeterError: it cannot be reached, or is another instrument.
    """

    model = "34465A"
    interval_s = 1e-3
    most = 50_000  # memory without the option MEM (SAMPle:COUNt)
    _ranges_a = (100e-6, 1e-3, 10e-3, 100e-3, 1.0, 3.0)  # CONFigure:CURRent; 10 A has its own jack
    _APERTURE_S = 500e-6  # at least 200 us without the option DIG
    _CHUNK = 1000

    def __init__(
        self,
        resource: str,
        supply_v: float,
        accuracy: float,
        full_scale_a: float = 10e-3,
    ) -> None:
        if full_scale_a not in self._ranges_a:
            known = ", ".join(f"{a:g}" for a in self._ranges_a)
            raise InputError(f"no range of {full_scale_a:g} A", resource, f"there are {known} A")
        session = Session(resource, self.model)
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
        """Read the memory in chunks, waiting for each to be filled."""
        parts = []
        for first in range(0, count, self._CHUNK):
            size = min(self._CHUNK, count - first)
            self._session.write(f"DATA:REM? {size},WAIT")
            parts.append(self._session.read((first + size) * self.interval_s * 1e3 + ANSWER_MS))
        return ",".join(parts)


def open_meter(
    resource: Resource, supply_v: float, accuracy: StatedAccuracy, range_a: RangeA = 10e-3
) -> Keysight34465A:
    """Open the multimeter at a VISA resource.

    Raises:
        InputError: it has no such range.
        MeterError: it cannot be reached, or is another instrument.
    """
    return Keysight34465A(resource, supply_v, accuracy, range_a)
