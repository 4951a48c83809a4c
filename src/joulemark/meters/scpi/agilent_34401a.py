"""Agilent 34401A as an ammeter.

Commands and tables: 34401A User's Guide (34401-90004), chapters 4 and 8.
"""

from joulemark.errors import MeterError
from joulemark.meters import CurrentRange, Specification
from joulemark.meters.options import RangeA, Resource
from joulemark.meters.scpi.multimeter import Multimeter, find_range
from joulemark.meters.scpi.session import ANSWER_MS, Session


class Agilent34401A(Multimeter):
    """An Agilent 34401A: 4.5 digits, 500 readings per second, autozero off.

    Over RS-232 it sends at most 55 readings per second (chapter 8, system speeds), so they go
    through its memory, which holds 512, at 100 readings per second.

    Args:
        resource: VISA resource name.
        supply_v: supply voltage at the board.
        full_scale_a: full scale of the range.
        through_memory: store readings in the memory and take no more than it holds; if not given,
            only over RS-232.

    Raises:
        InputError: there is no such range.
        MeterError: it cannot be reached, or is another instrument.
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
    ) -> None:
        chosen = find_range(self.ranges, full_scale_a, resource)
        session = Session(resource, self.model)
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
                # A conversion takes 1 ms at 0.02 PLC.
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
        return self._session.read(count * self.interval_s * 1e3 + ANSWER_MS)


def open_meter(resource: Resource, supply_v: float, range_a: RangeA = 10e-3) -> Agilent34401A:
    """Open the multimeter at a VISA resource.

    Raises:
        InputError: it has no such range.
        MeterError: it cannot be reached, or is another instrument.
    """
    return Agilent34401A(resource, supply_v, range_a)
