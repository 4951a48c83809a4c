"""Summarise samples: exact if all values are equal and deterministic, else with an interval."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev


@dataclass(frozen=True)
class Summary:
    """Mean, spread, and half width of the 95% confidence interval of the mean.

    `deviation` and `confidence_95` are None for a single value that is not known to be exact.
    """

    count: int
    mean: float
    minimum: float
    maximum: float
    deviation: float | None
    confidence_95: float | None
    exact: bool


def summarise(values: Sequence[float], *, deterministic: bool) -> Summary:
    """Summarise samples of one quantity.

    Args:
        values: at least one value.
        deterministic: the runner gives equal values for equal inputs, so samples that are all
            equal are exact.
    """
    if not values:
        raise ValueError("no values to summarise")
    count, mean = len(values), fmean(values)
    low, high = min(values), max(values)
    if deterministic and low == high:
        return Summary(count, low, low, high, 0.0, 0.0, exact=True)
    if count == 1:
        return Summary(count, mean, low, high, None, None, exact=False)
    deviation = stdev(values)
    half_width = _half_widths(count) * deviation
    return Summary(count, mean, low, high, deviation, half_width, exact=False)


def _half_widths(count: int) -> float:
    """Return the half width of the interval in standard deviations of a sample."""
    # Two-sided Student's t, because the variance is estimated from few samples.
    from scipy.stats import t

    return float(t.ppf(0.975, count - 1)) / math.sqrt(count)
