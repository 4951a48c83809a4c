"""Energy from samples whose true energy is known, and samples that must be refused."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from joulemark.analysis.energy_of_samples import Run, combine, estimates, evaluate, find_window
from joulemark.errors import InputError
from joulemark.meters.samples import Accuracy, Samples
from joulemark.simulated.instruments.agilent_34401a import RANGES, SimulatedAgilent34401A
from joulemark.simulated.supply import CurrentTrace, Floats

SUPPLY_V = 3.0
RANGE = RANGES[0]
ACCURACY = Accuracy(RANGE.of_reading, RANGE.of_range * RANGE.full_scale_a)


class Line:
    voltage_v = SUPPLY_V
    now_s = 0.0

    def __init__(self) -> None:
        self.trace = CurrentTrace([0.0, 1.0], [0.0])

    def mean_current_a(self, start_s: Floats, end_s: Floats) -> Floats:
        return self.trace.mean_current_a(start_s, end_s)

    def marker(self, time_s: Floats) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        return time_s < 0


def measure_with_34401a(
    operation_s: float, repetitions: int, idle_a: float, busy_a: float, seed: int
) -> list[Run]:
    """Return five runs with the papers' setting: 500 Hz, window by threshold."""
    random = np.random.default_rng(seed)
    line = Line()
    meter = SimulatedAgilent34401A(line, seed)
    meter.execute("*RST;:CONF:CURR:DC 10e-3;:CURR:DC:NPLC 0.02;:ZERO:AUTO OFF;:TRIG:DEL 0.001")
    runs = []
    for _ in range(5):
        start_s = 1.0 + random.uniform(0, 0.1)
        end_s = start_s + operation_s * repetitions
        line.trace = CurrentTrace([0.0, start_s, end_s, end_s + 9.0], [idle_a, busy_a, idle_a])
        count = int((end_s + 1.0) / meter.interval_s)
        meter.execute(f"SAMP:COUN {count}")
        current_a = np.array((meter.execute("READ?") or "").split(","), dtype=float)
        time_s = np.arange(count, dtype=np.float64) * meter.interval_s
        runs.append(
            evaluate(Samples(time_s, current_a, meter.interval_s, SUPPLY_V, ACCURACY), repetitions)
        )
    return runs


@pytest.mark.parametrize(
    ("operation_s", "repetitions", "idle_a", "busy_a"),
    [
        (1e-3, 10_000, 54.5e-6, 1.8e-3),
        (100e-6, 10_000, 54.5e-6, 1.8e-3),
        (20e-6, 20_000, 5e-6, 4e-3),
        (1.0, 1, 54.5e-6, 1.8e-3),
        (0.3, 1, 1e-3, 1.8e-3),
    ],
)
def test_the_stated_interval_holds_the_truth(
    operation_s: float, repetitions: int, idle_a: float, busy_a: float
) -> None:
    truth_j = SUPPLY_V * (busy_a - idle_a) * operation_s
    held = 0
    for seed in range(100):
        runs = measure_with_34401a(operation_s, repetitions, idle_a, busy_a, seed)
        estimate = combine(
            [r.net_j for r in runs], runs[0].sampling_uncertainty_j, ACCURACY.of_reading
        )
        held += estimate.contains(truth_j)
        # An interval that holds the truth only because it is wide proves nothing.
        assert estimate.half_width_95 < 0.006 * truth_j
    assert held >= 93


def samples(current_a: Floats, *, edges_s: tuple[float, ...] = ()) -> Samples:
    return Samples(
        np.arange(len(current_a), dtype=np.float64) * 1e-3, current_a, 1e-3, 3.0, ACCURACY, edges_s
    )


def plateau() -> Floats:
    return np.repeat([1e-4, 2e-3, 1e-4], [100, 200, 100])


def test_plateau_is_integrated_exactly() -> None:
    run = evaluate(samples(plateau()), repetitions=10)
    assert run.time_s == pytest.approx(0.02)
    assert run.net_j == pytest.approx(3.0 * 1.9e-3 * 0.02)
    assert run.gross_j == pytest.approx(3.0 * 2e-3 * 0.02)


def test_an_offset_cancels_only_where_idle_has_it_too() -> None:
    """A meter that shows no less than zero hides its offset when idle."""
    runs = {}
    for signed in (True, False):
        accuracy = Accuracy(0.0, 1e-4, signed=signed)
        whole = dataclasses.replace(samples(plateau()), accuracy=accuracy)
        runs[signed] = evaluate(whole, 1)
    offset_j = 3.0 * 1e-4 * 0.2
    for run in runs.values():
        assert run.gross_bound_j == pytest.approx(offset_j)
    assert [runs[s].net_bound_j for s in (True, False)] == [0.0, pytest.approx(offset_j)]
    gross, net = estimates([runs[False]] * 2, 0.0)
    assert net is not None
    assert gross.half_width_95 == pytest.approx(net.half_width_95)
    assert net.half_width_95 > 0.95 * offset_j
    _, signed_net = estimates([runs[True]] * 2, 0.0)
    assert signed_net is not None
    assert signed_net.half_width_95 < net.half_width_95


def among_others(*parts: tuple[int, float]) -> Floats:
    """Return idle except for these parts and a window of 200 samples in the middle."""
    current_a = np.full(1000, 1e-4)
    current_a[400:600] = 2e-3
    for start, length in parts:
        current_a[start : start + int(length)] = 2e-3
    return current_a


def test_a_window_is_found_between_command_and_answer() -> None:
    with_others = samples(among_others((250, 10), (750, 10)))
    with pytest.raises(InputError, match="rises and falls 6 times"):
        evaluate(with_others, 1)
    run = evaluate(with_others, 1, quiet_s=0.14)
    assert run.time_s == pytest.approx(0.2)
    assert run.net_j == pytest.approx(3.0 * 1.9e-3 * 0.2)
    assert run.idle_a == pytest.approx(1e-4)


@given(
    st.lists(st.integers(1, 3), min_size=1, max_size=4),
    st.lists(st.integers(1, 3), min_size=1, max_size=4),
)
def test_an_edge_that_crosses_the_threshold_more_than_once_is_one_edge(
    rising: list[int], falling: list[int]
) -> None:
    """Runs of one to three samples, alternately high and low, before the window and after it."""
    current_a = plateau()
    high = np.flatnonzero(current_a > np.mean(current_a))
    first, last = int(high[0]), int(high[-1])
    at = first
    for i, length in enumerate(rising):
        at -= length
        current_a[at : at + length] = current_a[0] if i % 2 == 0 else current_a[first + 20]
    at = last + 1
    for i, length in enumerate(falling):
        current_a[at : at + length] = current_a[0] if i % 2 == 0 else current_a[first + 20]
        at += length
    window = find_window(samples(current_a))
    assert window.start_s == pytest.approx(first * 1e-3, abs=12.1e-3)
    assert window.end_s == pytest.approx((last + 1) * 1e-3, abs=12.1e-3)


@pytest.mark.parametrize("part", [(350, 10), (640, 10), (100, 150)])
def test_other_work_in_the_quiet_time_or_as_long_as_the_window_is_refused(
    part: tuple[int, int],
) -> None:
    with pytest.raises(InputError, match="rises and falls 4 times"):
        evaluate(samples(among_others(part)), 1, quiet_s=0.14)


def test_marker_edges_find_what_the_current_does_not_show() -> None:
    flat = np.full(400, 1e-3)
    with pytest.raises(InputError, match="never rises clearly"):
        find_window(samples(flat))
    window = find_window(samples(flat, edges_s=(0.1, 0.3)))
    assert (window.start_s, window.end_s) == (0.1, 0.3)


@pytest.mark.parametrize(
    ("current_a", "message"),
    [
        (plateau()[:5], "only 5 samples"),
        (np.where(np.arange(400) == 7, np.nan, plateau()), "sample 7 is not a number"),
        (np.where(np.arange(400) == 9, 9.9e37, plateau()), "overload at sample 9"),
        (plateau()[100:], "not starting and ending idle"),
        (np.tile(plateau(), 2), "rises and falls 4 times"),
    ],
)
def test_samples_that_cannot_be_trusted_are_refused(current_a: Floats, message: str) -> None:
    with pytest.raises(InputError, match=message):
        evaluate(samples(current_a), repetitions=1)


def test_lost_samples_are_noticed() -> None:
    whole = samples(plateau())
    keep = np.delete(np.arange(400), [150, 151])
    holed = Samples(whole.start_s[keep], whole.current_a[keep], 1e-3, 3.0, ACCURACY, where="run 3")
    with pytest.raises(InputError, match=r"run 3: samples are missing after 0\.149000 s"):
        evaluate(holed, repetitions=1)


def test_outliers_are_reported_and_kept() -> None:
    estimate = combine([1.0, 1.01, 0.99, 1.0, 2.0], 0.0, 0.0)
    assert estimate.outliers == (4,)
    assert estimate.mean == pytest.approx(1.2)


def test_a_run_of_several_operations_has_all_of_their_energy_and_bounds() -> None:
    one = Run(2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0)
    assert one.times(10) == Run(2.0, 30.0, 40.0, 50.0, 60.0, 7.0, 80.0)
