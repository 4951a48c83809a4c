"""Compute joules per operation, with their uncertainty, from a meter's samples.

The method is that of the literature, made explicit: the operation is repeated until its window is
long compared with the sampling interval, the window is found from marker edges or from the rise of
the current, supply voltage x current is integrated over it, the idle current measured in the same
run is subtracted, and independent runs give the interval. Uncertainties combine as in JCGM 100:2008
(GUM), sections 4.3.7, 5.1.2 and G.4.1.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, median, stdev

import numpy as np

from joulemark.errors import InputError
from joulemark.meters.samples import MARGIN, Counted, Samples, check

_QUIET = 0.9  # fraction of the quiet time in which only the window may be seen
_SEPARATION = 6.0  # standard deviations of noise that must separate two levels


@dataclass(frozen=True)
class Window:
    """The part of a run in which the operation was repeated."""

    start_s: float
    end_s: float
    edge_uncertainty_s: float
    """Standard uncertainty of the length."""


@dataclass(frozen=True)
class Run:
    """One operation's share of one run."""

    time_s: float
    gross_j: float
    net_j: float
    sampling_uncertainty_j: float
    """Standard uncertainty of the net energy due to the positions of the samples."""
    gross_bound_j: float
    """Bound on the effect of the meter's offset on the gross energy, the same in all runs."""
    idle_a: float
    """Idle current; NaN if the meter counts energy."""
    net_bound_j: float = 0.0
    """The same bound for the net energy; 0 if the offset cancels, because idle includes it too."""

    def times(self, factor: float) -> "Run":
        """Return the same run with its energies multiplied by a factor."""
        return replace(
            self,
            gross_j=self.gross_j * factor,
            net_j=self.net_j * factor,
            sampling_uncertainty_j=self.sampling_uncertainty_j * factor,
            gross_bound_j=self.gross_bound_j * factor,
            net_bound_j=self.net_bound_j * factor,
        )


@dataclass(frozen=True)
class Estimate:
    """The mean over independent runs, and its 95% confidence interval."""

    mean: float
    deviation: float
    standard_uncertainty: float
    half_width_95: float
    runs: int
    outliers: tuple[int, ...] = field(default=())
    """Indices of runs far from the others, which are nevertheless part of the mean."""

    def contains(self, truth: float) -> bool:
        """Return whether the interval contains this value."""
        return abs(self.mean - truth) <= self.half_width_95


def find_window(samples: Samples, quiet_s: float | None = None) -> Window:
    """Find the window of a run: between marker edges if there are any, else where current is high.

    Args:
        samples: samples of one run.
        quiet_s: idle time before and after the window. Outside it the current may be high for other
            reasons, such as receiving a command, for at most half the window's length.

    Raises:
        InputError: there is no window, or more than one.
    """
    check(samples)
    if samples.edges_s:
        if len(samples.edges_s) != 2:
            raise InputError(
                f"{len(samples.edges_s)} marker edges instead of one rising and one falling",
                samples.where,
                "check the marker's wire, and that one operation runs at a time",
            )
        start_s, end_s = samples.edges_s
        # Two edges, each with a rectangular distribution of one sample's width.
        return Window(start_s, end_s, samples.interval_s / math.sqrt(6.0))
    above = samples.current_a > _threshold(samples)
    changes = np.flatnonzero(np.diff(above.astype(np.int8)))
    whole = not above[0] and not above[-1] and len(changes) > 0
    if whole:
        # An edge may cross the threshold more than once, as when a profiler changes its range.
        separate = np.diff(changes)[1::2] > MARGIN
        changes = changes[np.repeat(np.concatenate(([True], separate, [True])), 2)[1:-1]]
    rises, falls = changes[::2] + 1, changes[1::2] + 1
    if whole and quiet_s is not None:
        lengths = falls - rises
        longest = int(np.argmax(lengths))
        others = np.delete(lengths, longest)
        apart = _QUIET * quiet_s / samples.interval_s
        near = (falls > rises[longest] - apart) & (rises < falls[longest] + apart)
        if np.sum(near) == 1 and np.all(2 * others <= lengths[longest]):
            changes = changes[2 * longest : 2 * longest + 2]
    if not whole or len(changes) != 2:
        raise InputError(
            f"the current rises and falls {len(changes)} times instead of twice, "
            f"{'not ' if above[0] or above[-1] else ''}starting and ending idle",
            samples.where,
            "start the meter before and stop it after the operation, and keep the board quiet",
        )
    first, last = int(changes[0]) + 1, int(changes[1])
    return Window(
        float(samples.start_s[first]),
        float(samples.start_s[last]) + samples.interval_s,
        samples.interval_s / math.sqrt(6.0),
    )


def _threshold(samples: Samples) -> float:
    """Return the middle of the two levels, which minimise the variance within them (Otsu 1979)."""
    ordered = np.sort(samples.current_a)
    count = np.arange(1, len(ordered))
    total = np.cumsum(ordered)
    low_mean = total[:-1] / count
    high_mean = (total[-1] - total[:-1]) / (len(ordered) - count)
    between = count * (len(ordered) - count) * (high_mean - low_mean) ** 2
    split = int(np.argmax(between)) + 1
    low, high = ordered[:split], ordered[split:]
    noise = max(float(np.std(low)), float(np.std(high)))
    rise = float(np.mean(high) - np.mean(low))
    if rise <= _SEPARATION * noise or rise <= 2 * samples.accuracy.offset_a:
        raise InputError(
            f"no window: the current never rises clearly above its noise "
            f"(levels {rise * 1e6:.3g} uA apart, noise {noise * 1e6:.3g} uA)",
            samples.where,
            "repeat the operation more often, choose a lower range, or wire the marker",
        )
    return float(np.mean(low) + np.mean(high)) / 2


def evaluate(samples: Samples, repetitions: int, quiet_s: float | None = None) -> Run:
    """Compute one operation's time and energy in a run.

    Args:
        samples: samples of one run that is idle before and after the window.
        repetitions: executions in the window.
        quiet_s: idle time before and after the window; None if all time outside it is idle.

    Raises:
        InputError: as for `find_window`, or no idle time was recorded.
    """
    window = find_window(samples, quiet_s)
    end_s = samples.start_s + samples.interval_s
    margin_s = MARGIN * samples.interval_s
    outside = (end_s < window.start_s - margin_s) | (samples.start_s > window.end_s + margin_s)
    idle = outside
    if quiet_s is not None:
        idle = (
            outside
            & (samples.start_s >= window.start_s - quiet_s + margin_s)
            & (end_s <= window.end_s + quiet_s - margin_s)
        )
    if not idle.any():
        raise InputError(
            "nothing idle was recorded beside the window",
            samples.where,
            "start the meter earlier and stop it later",
        )
    length_s = window.end_s - window.start_s
    if samples.edges_s:
        # Integrate exactly between the edges, because next to them the board may be busy with
        # something else, which is not idle either.
        overlap_s = np.clip(
            np.minimum(end_s, window.end_s) - np.maximum(samples.start_s, window.start_s), 0.0, None
        )
        gross_c = float(np.sum(samples.current_a * overlap_s))
        beside_a = samples.current_a[idle]
        half_way_a = (gross_c / length_s + float(np.median(beside_a))) / 2
        idle_a = float(np.mean(beside_a[beside_a <= max(half_way_a, float(np.min(beside_a)))]))
        net_c = gross_c - idle_a * length_s
    else:
        # Sum net charge to a margin beyond the edges, where the net current is zero: then a sample
        # that straddles an edge is counted in full wherever the edge is.
        idle_a = float(np.mean(samples.current_a[idle]))
        net_c = float(np.sum(samples.current_a[~outside] - idle_a)) * samples.interval_s
    height_a = net_c / length_s
    offset_j = samples.supply_v * samples.accuracy.offset_a * length_s / repetitions
    return Run(
        time_s=length_s / repetitions,
        gross_j=samples.supply_v * (net_c + idle_a * length_s) / repetitions,
        net_j=samples.supply_v * net_c / repetitions,
        sampling_uncertainty_j=samples.supply_v
        * abs(height_a)
        * window.edge_uncertainty_s
        / repetitions,
        gross_bound_j=offset_j,
        idle_a=idle_a,
        net_bound_j=0.0 if samples.accuracy.signed else offset_j,
    )


def evaluate_counted(
    counted: Counted, seconds: float, repetitions: int, idle_w: float | None = None
) -> Run:
    """Compute one operation's energy from a counting meter.

    Args:
        counted: energy counted over a run.
        seconds: length of the run.
        repetitions: executions in the run.
        idle_w: power without the operation; None if it was not measured.
    """
    net_j = math.nan if idle_w is None else (counted.joule - idle_w * seconds) / repetitions
    # The delays of the readings at start and end are systematic, within the bound.
    edges_j = counted.joule / seconds * counted.edge_bound_s * math.sqrt(2.0)
    return Run(
        time_s=seconds / repetitions,
        gross_j=counted.joule / repetitions,
        net_j=net_j,
        # Idle energy was counted with the same steps.
        sampling_uncertainty_j=counted.uncertainty_j
        * (1 if idle_w is None else math.sqrt(2.0))
        / repetitions,
        gross_bound_j=edges_j / repetitions,
        idle_a=math.nan,
    )


def estimates(runs: Sequence[Run], relative_bound: float) -> tuple[Estimate, Estimate | None]:
    """Estimate gross and net energy from independent runs; net is None without idle measurement.

    Args:
        runs: at least two runs.
        relative_bound: bound on the gain error of meter, supply voltage and clock together.
    """
    sampling = max(r.sampling_uncertainty_j for r in runs)
    bound = max(r.gross_bound_j for r in runs)
    gross = combine([r.gross_j for r in runs], sampling, relative_bound, bound)
    if any(math.isnan(r.net_j) for r in runs):
        return gross, None
    net_bound = max(r.net_bound_j for r in runs)
    return gross, combine([r.net_j for r in runs], sampling, relative_bound, net_bound)


def combine(
    values: Sequence[float], sampling_uncertainty: float, relative_bound: float, bound: float = 0.0
) -> Estimate:
    """Combine independent runs with the instrument's error bounds.

    Args:
        values: one value per run, at least two.
        sampling_uncertainty: standard uncertainty of one value due to sampling alone. The scatter
            of the runs includes it, but a few runs that happen to agree would hide it.
        relative_bound: the meter's bound on its gain error: rectangular, the same in all runs.
        bound: the meter's bound on its offset's contribution, in the unit of the values.

    Raises:
        ValueError: fewer than two values.
    """
    # scipy.stats computes Student's t with this function but takes a second to import.
    from scipy.special import stdtrit

    count = len(values)
    if count < 2:
        raise ValueError("an interval needs at least two runs")
    mean, deviation = fmean(values), stdev(values)
    random = max(deviation, sampling_uncertainty) / math.sqrt(count)
    systematic = math.hypot(relative_bound * abs(mean), bound) / math.sqrt(3.0)
    combined = math.hypot(random, systematic)
    # Welch-Satterthwaite; the systematic part is a known bound with infinite degrees of freedom.
    freedom = (count - 1) * (combined / random) ** 4 if random > 0 else math.inf
    factor = float(stdtrit(freedom, 0.975)) if math.isfinite(freedom) else 1.959963984540054
    return Estimate(mean, deviation, combined, factor * combined, count, _outliers(values))


def _outliers(values: Sequence[float]) -> tuple[int, ...]:
    """Return indices of runs with a modified z-score over 3.5 (Iglewicz and Hoaglin 1993)."""
    centre = median(values)
    spread = median(abs(v - centre) for v in values)
    if spread == 0:
        return ()
    return tuple(i for i, v in enumerate(values) if 0.6745 * abs(v - centre) / spread > 3.5)
