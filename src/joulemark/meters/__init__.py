"""What measures current or energy: one module a meter, found by its name.

A module is a meter when it defines `open_meter(options)`. It says what the instrument's manual says
of its accuracy, or asks for it where nothing was read in a manual: nothing here is guessed.
"""

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Protocol, Self

from joulemark.errors import InputError

if TYPE_CHECKING:
    from joulemark.analysis.energy_of_samples import Accuracy, Counted, Samples


@dataclass(frozen=True)
class CurrentRange:
    """A range of an instrument, as its manual's table has it."""

    full_scale_a: float
    of_reading: float
    of_range: float
    shunt_ohm: float
    """What the board's current flows through; times the current it is the burden voltage."""

    @property
    def accuracy(self) -> "Accuracy":
        """Bound on the error of a reading, in this range."""
        from joulemark.analysis.energy_of_samples import Accuracy

        return Accuracy(self.of_reading, self.of_range * self.full_scale_a)


@dataclass(frozen=True)
class Specification:
    """What an instrument can do, as it is used here."""

    title: str
    document: str
    """Where the numbers are from."""
    rate_hz: float | None
    """Samples in a second; None where it counts energy."""
    resolution: str
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


@dataclass(frozen=True)
class Options:
    """How a meter is reached, and what it does not know itself."""

    resource: str | None
    """VISA resource name, serial port or folder."""
    supply_v: float
    accuracy: float | None = None
    """Bound on its error, as a fraction of the reading."""
    range_a: float | None = None
    """Current range, where it has several."""
    unit: str = "Wh"
    """Of what a person reads."""
    resolution: float | None = None
    """Smallest step of what a person reads, in its unit."""
    ask: Callable[[str], str] = input
    """Shows a person a question and returns what was typed."""

    def need_resource(self, what: str) -> str:
        """The resource.

        Raises:
            InputError: it was not given.
        """
        if self.resource is None:
            raise InputError("it is not said where the meter is", "--meter", f"--resource {what}")
        return self.resource

    def need_accuracy(self, where: str) -> float:
        """The accuracy.

        Raises:
            InputError: it was not given, or is none.
        """
        mend = "give --accuracy, as a fraction of the reading"
        if self.accuracy is None:
            raise InputError("the accuracy of this meter has to be stated", where, mend)
        if not 0 <= self.accuracy < 1:
            raise InputError(f"an accuracy of {self.accuracy:g} is none", where, mend)
        return self.accuracy


class Meter(Protocol):
    """An instrument that records the board's current, or counts its energy."""

    @property
    def specification(self) -> Specification:
        """What it can do."""

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
    modules = (m.name for m in pkgutil.iter_modules(__path__))
    return sorted(m for m in modules if hasattr(_module(m), "open_meter"))


def open_meter(name: str, options: Options) -> Meter:
    """Open a meter by its name.

    Raises:
        InputError: there is none of that name, or an option that it needs is missing.
        MeterError: it cannot be reached.
    """
    known = any(m.name == name for m in pkgutil.iter_modules(__path__))
    if not known or not hasattr(_module(name), "open_meter"):
        raise InputError(f"no such meter: {name}", "--meter", f"there are {', '.join(names())}")
    opened: Meter = _module(name).open_meter(options)
    return opened


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"{__name__}.{name}")
