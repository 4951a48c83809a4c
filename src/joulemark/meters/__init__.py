"""Meters of current or energy: one module each, found by its name.

A module is a meter when it defines `open_meter`, whose parameters declare the meter's options
(`joulemark.meters.options`). Modules are found here, in `scpi`, and in the folder `meters` of
JOULEMARK_INSTRUMENTS. A meter says what the instrument's manual says of its accuracy, or asks for
it where nothing was read in a manual: nothing here is guessed.
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
    """A range of an instrument, as its manual's table has it.

    Args:
        full_scale_a: its name; it reads somewhat beyond.
        of_reading: part of the accuracy, a fraction of the reading.
        of_range: the other part, a fraction of the full scale.
        shunt_ohm: what the board's current flows through; times the current it is the burden
            voltage.
    """

    full_scale_a: float
    of_reading: float
    of_range: float
    shunt_ohm: float

    @property
    def accuracy(self) -> "Accuracy":
        """Bound on the error of a reading, in this range."""
        from joulemark.meters.samples import Accuracy

        return Accuracy(self.of_reading, self.of_range * self.full_scale_a)


@dataclass(frozen=True)
class Specification:
    """Capabilities of an instrument, as it is used here."""

    title: str
    document: str
    """Where the numbers are from."""
    rate_hz: float | None
    """Samples in a second; None where it counts energy."""
    resolution: str
    """With its unit."""
    window_s: float = 1.6
    """How long a window has to be to be measured well."""
    ranges: tuple[CurrentRange, ...] = ()
    """Empty where the accuracy has to be stated by whoever measures."""
    measures_voltage: bool = False
    """It needs not be told the supply voltage."""
    marker: str = ""
    """Its digital input for the marker, where it has one."""
    attended: bool = False
    """A person reads it."""
    step_j: float | None = None
    """Energy of one step of its counter, where it counts and its steps are seen."""


class Meter(Protocol):
    """An instrument that records the board's current in ampere, or counts its energy in joule."""

    @property
    def specification(self) -> Specification:
        """Its capabilities."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def start(self, seconds: float) -> None:
        """Begin to record for this long, or to count, and come back.

        Raises:
            MeterError: it does not do as it is told.
        """

    def finish(self) -> "Samples | Counted":
        """Wait for the end, and return what was recorded or counted.

        Raises:
            MeterError: it was unplugged, or lost samples.
        """


def names() -> list[str]:
    """Names of the meters."""
    return sorted(name for name, m in _modules().items() if hasattr(found.load(m), "open_meter"))


def options(name: str) -> list[Declared]:
    """The options that a meter declares.

    Raises:
        InputError: there is no such meter.
    """
    return declared(_opener(name))


def summary(name: str) -> str:
    """A meter in one sentence: the first of its module.

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
        supply_v: supply voltage at the board, where it is known.
        ask: shows a person a question and returns what was typed.
        clock: what it goes by where it paces itself.

    Raises:
        InputError: there is none of that name, or an option that it needs is missing or wrong.
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
