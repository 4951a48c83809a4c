"""A mote's charge over a minute of time slots: by states, by the trace, by an instrument."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from joulemark.catalogue.networks import read_network
from joulemark.meters.model import ModelMeter
from joulemark.meters.power import total
from joulemark.project import NETWORKS
from joulemark.runners.network import RunningNetwork
from joulemark.simulated.instruments.agilent_34401a import RANGES, SimulatedAgilent34401A
from joulemark.simulated.supply import CurrentTrace, Floats

LEAF = 1
BEGIN_S, MINUTE_S = 10, 60
"""By then it has joined."""
NANOCOULOMB = 1e-9


class Line:
    """A supply line with a minute of a mote's current."""

    voltage_v = 3.0
    now_s = 0.0

    def __init__(self, trace: CurrentTrace) -> None:
        self.trace = trace

    def mean_current_a(self, start_s: Floats, end_s: Floats) -> Floats:
        return self.trace.mean_current_a(start_s, end_s)

    def marker(self, time_s: Floats) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        return time_s < 0


def test_a_minutes_charge_is_that_of_its_states_and_what_an_instrument_sees() -> None:
    running = RunningNetwork(read_network(NETWORKS / "tsch-telosb.toml"))
    for _ in running.run(BEGIN_S):
        pass
    seat = running.seats[LEAF]
    supply_v = seat.board.supply_v.value
    before_nj = running.energy(LEAF).gross_nj
    seen = [piece.states[LEAF] for piece in running.run(BEGIN_S + MINUTE_S)]
    command_c = (running.energy(LEAF).gross_nj - before_nj) * 1e-9 / supply_v
    meter = ModelMeter(seat.board)
    tracks = {part: [one for piece in seen for one in piece[part]] for part in seen[0]}
    assert len(tracks["radio"]) > 500, "it receives and sends"

    # Each part is in exactly one state at a time: to the picosecond.
    by_states = Fraction(0)
    for part, intervals in tracks.items():
        assert all(one.end_ps == other.start_ps for one, other in pairwise(intervals)), part
        # A mote first completes its last instruction.
        begin_ps, end_ps = intervals[0].start_ps, intervals[-1].end_ps
        assert abs(begin_ps - BEGIN_S * 10**12) < 10**8
        assert abs(end_ps - (BEGIN_S + MINUTE_S) * 10**12) < 10**8
        for one in intervals:
            current = meter.current_of(part, one.state, one.clock_hz)
            if current is not None:
                by_states += Fraction(current.ampere) * (one.end_ps - one.start_ps) / 10**12

    steps = list(total(tracks, meter.current_of))
    times_s = np.array([begin_ps, *(time_ps for _, time_ps in steps)]) * 1e-12 - BEGIN_S
    trace = CurrentTrace(times_s, [ampere for ampere, _ in steps])
    by_trace_c = float(trace.charge_c(times_s[0], times_s[-1]))
    assert abs(by_trace_c - float(by_states)) < NANOCOULOMB
    assert abs(command_c - float(by_states)) < NANOCOULOMB

    # A multimeter that integrates without gaps, 20 ms at a time, on its 100 mA range.
    instrument = SimulatedAgilent34401A(Line(trace), seed=1)
    instrument.execute("*RST;:CONF:CURR:DC 100e-3;:CURR:DC:NPLC 1;:ZERO:AUTO OFF;:TRIG:DEL 0")
    count = round(MINUTE_S / instrument.interval_s)
    instrument.execute(f"SAMP:COUN {count}")
    readings = np.array((instrument.execute("READ?") or "").split(","), dtype=float)
    assert len(readings) == count
    seen_c = float(readings.sum()) * instrument.interval_s
    span = next(one for one in RANGES if one.full_scale_a == pytest.approx(0.1))
    bound_c = float(by_states) * span.of_reading + span.of_range * span.full_scale_a * MINUTE_S
    assert abs(seen_c - float(by_states)) < bound_c
    assert bound_c < 0.02 * float(by_states)
