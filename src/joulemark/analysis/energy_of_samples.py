"""From a meter's samples to joules per operation, with their uncertainty.

The method is that of the literature, made explicit: the operation is repeated until its window is
long against the sampling interval, the window is found from marker edges or from the rise of the
current, supply voltage x current is integrated over it, idle current measured in the same run is
taken off, and independent runs give the interval. Uncertainties combine as in JCGM 100:2008 (GUM),
sections 4.3.7, 5.1.2 and G.4.1.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, median, stdev

import numpy as np

from joulemark.errors import InputError
from joulemark.meters.samples import MARGIN, Counted, Samples, check

_QUIET = 0.9  # of the quiet time, in which nothing but the window may be seen
_SEPARATION = 6.0  # deviations of noise that the levels must lie apart to be called two levels


@dataclass(frozen=True)
class Window:
    """The stretch of a run in which the operation was repeated."""

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
    """Standard uncertainty of the net energy that comes from where the samples lie."""
    gross_bound_j: float
    """Bound on what the meter's offset does to the gross energy, the same in all runs."""
    idle_a: float
    """Not a number where a meter counts energy."""
    net_bound_j: float = 0.0
    """The same for the net energy: idle is measured with the offset too."""

    def times(self, factor: float) -> "Run":
        """The same run with its energies times a factor."""
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
    """A mean over independent runs and the interval that holds the truth with 95% confidence."""

    mean: float
    deviation: float
    standard_uncertainty: float
    half_width_95: float
    runs: int
    outliers: tuple[int, ...] = field(default=())
    """Indices of runs far from the others. They are part of the mean all the same."""

    def contains(self, truth: float) -> bool:
        """Whether the interval holds this value."""
        return abs(self.mean - truth) <= self.half_width_95


def find_window(samples: Samples, quiet_s: float | None = None) -> Window:
    """The window of a run: between marker edges where there are any, else where current is high.

    Args:
        samples: of one run.
        quiet_s: how long it is idle before and after; before that and after that the current may
            be high for other reasons too, such as a command that is received, for half as long
            as the window at most.

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
        # Each edge is known to a sample: rectangular, two of them.
        return Window(start_s, end_s, samples.interval_s / math.sqrt(6.0))
    above = samples.current_a > _threshold(samples)
    changes = np.flatnonzero(np.diff(above.astype(np.int8)))
    whole = not above[0] and not above[-1] and len(changes) > 0
    if whole:
        # An edge may cross the threshold more than once, such as where a profiler changes range.
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
    """Half-way between the two levels, found by minimising the variance within them (Otsu 1979)."""
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
    """One operation's time and energy in a run.

    Args:
        samples: of one run, idle before and after the window.
        repetitions: executions in the window.
        quiet_s: how long it is idle before and after; None where it is whenever it is not busy.

    Raises:
        InputError: as `find_window`; or nothing idle was recorded.
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
        # Exactly between the edges: beside them the board may be at work on something else, which
        # is not idle either.
        overlap_s = np.clip(
            np.minimum(end_s, window.end_s) - np.maximum(samples.start_s, window.start_s), 0.0, None
        )
        gross_c = float(np.sum(samples.current_a * overlap_s))
        beside_a = samples.current_a[idle]
        half_way_a = (gross_c / length_s + float(np.median(beside_a))) / 2
        idle_a = float(np.mean(beside_a[beside_a <= max(half_way_a, float(np.min(beside_a)))]))
        net_c = gross_c - idle_a * length_s
    else:
        # Net charge is summed a margin beyond the edges, where the net current is zero: what a
        # sample that straddles an edge holds is counted wherever the edge is.
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
    """One operation's energy from a meter that counts.

    Args:
        counted: over a run.
        seconds: how long the run was.
        repetitions: executions in it.
        idle_w: what was drawn without the operation; None where it was not measured.
    """
    net_j = math.nan if idle_w is None else (counted.joule - idle_w * seconds) / repetitions
    # Read as far from the start and from the end as the bound says, always the same way.
    edges_j = counted.joule / seconds * counted.edge_bound_s * math.sqrt(2.0)
    return Run(
        time_s=seconds / repetitions,
        gross_j=counted.joule / repetitions,
        net_j=net_j,
        # Idle was counted in the same steps.
        sampling_uncertainty_j=counted.uncertainty_j
        * (1 if idle_w is None else math.sqrt(2.0))
        / repetitions,
        gross_bound_j=edges_j / repetitions,
        idle_a=math.nan,
    )


def estimates(runs: Sequence[Run], relative_bound: float) -> tuple[Estimate, Estimate | None]:
    """Gross and net energy over independent runs; no net where nothing idle was measured.

    Args:
        runs: at least two.
        relative_bound: bound on the gain's error: of meter, supply voltage and clock together.
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
    """Combine independent runs with what is known of the instrument.

    Args:
        values: one for each run, at least two.
        sampling_uncertainty: standard uncertainty of one value from sampling alone. The runs'
            scatter shows it too, but few runs that happen to agree would hide it.
        relative_bound: the meter's bound on its gain error: rectangular, the same in all runs.
        bound: the meter's bound on its offset's contribution, in the unit of the values.

    Raises:
        ValueError: fewer than two values.
    """
    # Of scipy.stats, which takes a second to import, this is what Student's t is computed by.
    from scipy.special import stdtrit

    count = len(values)
    if count < 2:
        raise ValueError("an interval needs at least two runs")
    mean, deviation = fmean(values), stdev(values)
    random = max(deviation, sampling_uncertainty) / math.sqrt(count)
    systematic = math.hypot(relative_bound * abs(mean), bound) / math.sqrt(3.0)
    combined = math.hypot(random, systematic)
    # Welch-Satterthwaite: the systematic part is known, so it has endless degrees of freedom.
    freedom = (count - 1) * (combined / random) ** 4 if random > 0 else math.inf
    factor = float(stdtrit(freedom, 0.975)) if math.isfinite(freedom) else 1.959963984540054
    return Estimate(mean, deviation, combined, factor * combined, count, _outliers(values))


def _outliers(values: Sequence[float]) -> tuple[int, ...]:
    """Runs whose modified z-score is over 3.5 (Iglewicz and Hoaglin 1993)."""
    centre = median(values)
    spread = median(abs(v - centre) for v in values)
    if spread == 0:
        return ()
    return tuple(i for i, v in enumerate(values) if 0.6745 * abs(v - centre) / spread > 3.5)
