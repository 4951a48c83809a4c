"""Meters of current or energy: one module each, found by its name.

A module is a meter if it defines `open_meter`, whose parameters declare the meter's options
(`joulemark.meters.options`). Modules are found here, in `scpi`, and in the folder `meters` of
JOULEMARK_INSTRUMENTS. A meter takes its accuracy from the instrument's manual, or has the user
state it: nothing here is guessed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

from joulemark import found
from joulemark.clock import HOST, Clock
from joulemark.errors import InputError
from joulemark.meters import scpi
from joulemark.meters.options import Declared, declared, take

if TYPE_CHECKING:
    from joulemark.meters.samples import Accuracy, Counted, Samples

found.extend(__path__, "meters")


@dataclass(frozen=True)
class CurrentRange:
    """A range of an instrument, from the table in its manual.

    Args:
        full_scale_a: nominal full scale, which names the range; it reads somewhat beyond.
        of_reading: first term of the accuracy, as a fraction of the reading.
        of_range: second term of the accuracy, as a fraction of the full scale.
        shunt_ohm: resistance that the board's current flows through; times the current, it gives
            the burden voltage.
    """

    full_scale_a: float
    of_reading: float
    of_range: float
    shunt_ohm: float

    @property
    def accuracy(self) -> "Accuracy":
        """Bound on the error of a reading in this range."""
        from joulemark.meters.samples import Accuracy

        return Accuracy(self.of_reading, self.of_range * self.full_scale_a)


@dataclass(frozen=True)
class Specification:
    """Capabilities of an instrument, as it is used here."""

    title: str
    document: str
    """Source of the numbers."""
    rate_hz: float | None
    """Samples per second; None if it counts energy."""
    resolution: str
    """Resolution, with its unit."""
    window_s: float = 1.6
    """Length of a window that it measures well."""
    ranges: tuple[CurrentRange, ...] = ()
    """Empty if the user must state the accuracy."""
    measures_voltage: bool = False
    """It need not be told the supply voltage."""
    marker: str = ""
    """Its digital input for the marker; empty if it has none."""
    attended: bool = False
    """A person reads it."""
    step_j: float | None = None
    """Energy of one step of its counter, if it counts in visible steps."""


class Meter(Protocol):
    """An instrument that records the board's current in ampere or counts its energy in joules."""

    @property
    def specification(self) -> Specification:
        """Its capabilities."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def start(self, seconds: float) -> None:
        """Start recording for this long, or counting, and return at once.

        Raises:
            MeterError: the instrument refuses.
        """

    def finish(self) -> "Samples | Counted":
        """Wait for the end, and return what was recorded or counted.

        Raises:
            MeterError: it was unplugged, or lost samples.
        """


def names() -> list[str]:
    """Return the names of the meters."""
    return sorted(name for name, m in _modules().items() if hasattr(found.load(m), "open_meter"))


def options(name: str) -> list[Declared]:
    """Return the options that a meter declares.

    Raises:
        InputError: there is no such meter.
    """
    return declared(_opener(name))


def summary(name: str) -> str:
    """Return a one-sentence summary of a meter: the first line of its module's docstring.

    Raises:
        InputError: there is no such meter.
    """
    _opener(name)
    return (found.load(_modules()[name]).__doc__ or name).partition("\n")[0].rstrip(".")


def open_meter(
    name: str,
    given: Mapping[str, object] | None = None,
    *,
    supply_v: float | None = None,
    ask: Callable[[str], str] = input,
    clock: Clock = HOST,
) -> Meter:
    """Open a meter by its name.

    Args:
        name: one of `names`.
        given: values of the options that it declares, by parameter.
        supply_v: supply voltage at the board, if it is known.
        ask: shows a question to a person and returns the typed answer.
        clock: clock for a meter that paces itself.

    Raises:
        InputError: no meter has that name, or an option is missing or invalid.
        MeterError: it cannot be reached.
    """
    opener = _opener(name)
    surroundings = {"supply_v": supply_v, "ask": ask, "clock": clock}
    return opener(**take(opener, f"--meter {name}", given or {}, surroundings))


def _modules() -> dict[str, str]:
    return found.modules(scpi.__path__, scpi.__name__) | found.modules(__path__, __name__)


def _opener(name: str) -> Callable[..., Meter]:
    module = _modules().get(name)
    opener = getattr(found.load(module), "open_meter", None) if module else None
    if opener is None:
        raise InputError(f"no such meter: {name}", "--meter", f"there are {', '.join(names())}")
    made: Callable[..., Meter] = opener
    return made
