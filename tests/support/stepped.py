"""Images measured on an emulated bench whose time advances only while the test waits for it."""

from joulemark.campaign.job import Job
from joulemark.measure.instrumented import Instrumented
from joulemark.measure.metered import Line
from joulemark.measure.window import Instrument
from joulemark.meters import Meter
from joulemark.simulated.emulated import SteppedBench


class Stepped(Instrumented):
    """One image on such a bench, with the meter plugged into it."""

    def __init__(self, job: Job, meter: Meter, bench: SteppedBench) -> None:
        super().__init__(job, Instrument(bench.meter(meter), clock=bench.clock()), "bench")
        self._bench = bench

    def _open_line(self) -> Line:
        return self._bench.line()
