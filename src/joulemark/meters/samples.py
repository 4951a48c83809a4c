"""Readings of a meter: samples of a current or a count of energy, with bounds on their error."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from joulemark.errors import InputError

Floats = npt.NDArray[np.float64]

MARGIN = 3
"""Samples on each side of a detected edge that belong neither to the window nor to idle time."""


@dataclass(frozen=True)
class Accuracy:
    """The meter's stated bound on the error of a reading: |error| <= of_reading * I + offset_a.

    `of_reading` is a fraction, `offset_a` is in ampere.
    """

    of_reading: float
    offset_a: float
    signed: bool = True
    """It also reads below zero, so its offset cancels in a difference of readings."""


@dataclass(frozen=True)
class Samples:
    """Samples that a meter recorded in one run.

    Args:
        start_s: start of each sample's averaging.
        current_a: mean current over each sample.
        interval_s: time from one sample to the next.
        supply_v: supply voltage at the board.
        accuracy: accuracy of the meter in the range used.
        edges_s: marker edges, alternately rising and falling, if the meter has digital inputs.
        marker: name of that digital input, even if no edge was seen there.
        where: source of the samples, for messages.
    """

    start_s: Floats
    current_a: Floats
    interval_s: float
    supply_v: float
    accuracy: Accuracy
    edges_s: tuple[float, ...] = ()
    marker: str = ""
    where: str = "samples"


@dataclass(frozen=True)
class Counted:
    """Energy counted by a meter from the start of a run to its end.

    Args:
        joule: difference of its readings.
        uncertainty_j: standard uncertainty due to its steps.
        of_reading: bound on its gain error, as a fraction.
        edge_bound_s: bound on the delay of its readings at the run's start and end.
        where: the meter, for messages.
    """

    joule: float
    uncertainty_j: float
    of_reading: float
    edge_bound_s: float
    where: str = "counter"


def check(samples: Samples) -> None:
    """Check that samples can be integrated.

    Raises:
        InputError: they are too few, not finite, overloaded, or not evenly spaced (some are lost).
    """
    if len(samples.current_a) < 2 * MARGIN + 2:
        raise InputError(
            f"only {len(samples.current_a)} samples", samples.where, "measure for longer"
        )
    bad = np.flatnonzero(~np.isfinite(samples.current_a))
    if len(bad):
        raise InputError(
            f"sample {bad[0]} is not a number", samples.where, "the run has to be measured again"
        )
    overload = np.flatnonzero(np.abs(samples.current_a) > 1e3)
    if len(overload):
        raise InputError(
            f"overload at sample {overload[0]}", samples.where, "choose a higher current range"
        )
    steps = np.diff(samples.start_s)
    lost = np.flatnonzero(np.abs(steps - samples.interval_s) > 0.5 * samples.interval_s)
    if len(lost):
        at = float(samples.start_s[lost[0]])
        raise InputError(
            f"samples are missing after {at:.6f} s: the next comes {steps[lost[0]]:.6f} s later "
            f"instead of {samples.interval_s:.6f} s",
            samples.where,
            "the run has to be measured again",
        )
