"""One window under an instrument: what is recorded around it, and its evaluation."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

from joulemark.analysis.energy_of_samples import Estimate
from joulemark.clock import HOST, Clock
from joulemark.errors import JoulemarkError, LinkError
from joulemark.meters import Meter, Specification
from joulemark.meters.samples import Counted, Samples
from joulemark.records.record import Quantity, number

_QUIET_S = 0.3
_QUIET_SAMPLES = 16
"""The board sleeps before and after the window for at least this long and this many samples."""
_LEAD_S = 0.1
_LEAD_SAMPLES = 3
_LATE_S = 1.0
"""Recording before the board is told to begin; and how late the command may be."""


@dataclass(frozen=True)
class Instrument:
    """A meter, and what is known of the voltage that it measures at."""

    meter: Meter
    supply_bound: float = 0.0
    """Relative bound on the error of the supply voltage that the meter was given."""
    supply_note: str = "supply voltage as the board's file says, taken as exact"
    clock: Clock = HOST
    """Source of pauses and time stamps."""


COUNT_ERROR = 0.01
"""With a meter that counts in steps, the window is long enough that a step is this share of it."""
SHORTEST_S, LONGEST_S = 0.5, 600.0


def chosen_window_s(specification: Specification, watt: float | None) -> float:
    """Return the default length of a window.

    Args:
        specification: the meter's.
        watt: power of the machine with one busy core; None if unknown.
    """
    if specification.step_j is None or watt is None:
        return specification.window_s
    return min(max(specification.step_j / (COUNT_ERROR * watt), SHORTEST_S), LONGEST_S)


def expected_errors(specification: Specification, window_s: float, watt: float | None) -> str:
    """Return a counting meter's resolution over such a window, in words; empty for other meters."""
    if specification.step_j is None:
        return ""
    at = 1.0 if watt is None else watt
    count = specification.step_j / (at * window_s)
    text = (
        f"windows of {window_s:g} s: one count of {specification.resolution} is +-{count:.1%} of "
        f"{at:g} W ({'assumed' if watt is None else 'as the machine file says'})"
    )
    if specification.attended:
        text += f", one second of a person's reaction +-{1 / window_s:.1%}"
    return text


def marked_note(marker: str | None, executions: int) -> list[str]:
    """Return a note on the windows for someone who records beside the machine."""
    if marker is None:
        return []
    return [f"{marker} was high while a window lasted: {executions} executions each"]


Result = TypeVar("Result")


@dataclass(frozen=True)
class Window(Generic[Result]):
    """An execution, and what the meter made of it."""

    result: Result
    got: Samples | Counted
    wall_s: float
    """From the command to its answer."""
    quiet_s: float
    """Idle time before and after, where the meter samples."""
    idle_w: float | None
    """Power drawn before, where the meter counts and no person reads it."""


def metered_window(
    instrument: Instrument, seconds: float, execute: Callable[[float], Result]
) -> Window[Result]:
    """Execute under an instrument.

    Args:
        instrument: records or counts.
        seconds: approximate length of the window.
        execute: executes, with the given number of seconds idle before and after.

    Raises:
        LinkError: what executes does not answer.
        MeterError: the meter fails.
    """
    meter, clock = instrument.meter, instrument.clock
    rate_hz, idle_w, quiet_s = meter.specification.rate_hz, None, 0.0
    if rate_hz is None:
        if not meter.specification.attended:
            idle_w = _idle_w(instrument, seconds)
        meter.start(seconds)
    else:
        quiet_s = max(_QUIET_S, _QUIET_SAMPLES / rate_hz)
        lead_s = max(_LEAD_S, _LEAD_SAMPLES / rate_hz)
        # A slow meter's first sample covers the time before it.
        clock.sleep(1 / rate_hz)
        # The board sleeps by another clock than the meter's, and the command may be late.
        meter.start(seconds + 2.1 * quiet_s + 4 * lead_s + _LATE_S)
        clock.sleep(lead_s)
    began_s = clock.now_s()
    try:
        result = execute(quiet_s)
    except LinkError:
        if not meter.specification.attended:
            # Otherwise it would still be recording this run during the next one.
            with suppress(JoulemarkError):
                meter.finish()
        raise
    wall_s = clock.now_s() - began_s
    return Window(result, meter.finish(), wall_s, quiet_s, idle_w)


def _idle_w(instrument: Instrument, seconds: float) -> float:
    """Return the idle power of the machine, by a counting meter."""
    instrument.meter.start(seconds)
    began_s = instrument.clock.now_s()
    instrument.clock.sleep(seconds)
    counted = instrument.meter.finish()
    assert isinstance(counted, Counted)  # noqa: S101
    return counted.joule / (instrument.clock.now_s() - began_s)


def energy_quantity(name: str, estimate: Estimate) -> Quantity:
    """Return a mean over runs in nanojoules, with its interval."""
    ends = (estimate.mean - estimate.half_width_95, estimate.mean + estimate.half_width_95)
    middle, lower, upper = (number(joule * 1e9) for joule in (estimate.mean, *ends))
    return Quantity("", f"energy_{name}", "nJ", middle, lower, upper, "interval", "measured")


def interval_note(name: str, estimate: Estimate) -> str:
    """Return an estimate in words."""
    text = (
        f"{name}: {estimate.mean * 1e6:.6g} uJ +- {estimate.half_width_95 * 1e6:.2g} (95%), "
        f"{estimate.runs} runs"
    )
    if estimate.outliers:
        far = ", ".join(str(i + 1) for i in estimate.outliers)
        text += f"; far from the others, and counted: {far}"
    return text
