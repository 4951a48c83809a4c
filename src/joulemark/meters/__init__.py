"""What measures current or energy: one module a meter, found by its name.

A module is a meter that records when it defines `METER`. It says what the instrument's manual says
of its accuracy, or asks for it where nothing was read in a manual: nothing here is guessed.
"""

import importlib
import pkgutil
from dataclasses import dataclass
from types import ModuleType, TracebackType
from typing import Protocol, Self

from joulemark.analysis.energy_of_samples import Accuracy, Samples
from joulemark.errors import InputError


@dataclass(frozen=True)
class CurrentRange:
    """A range of an instrument, as its manual's table has it."""

    full_scale_a: float
    of_reading: float
    of_range: float
    burden_v: float
    """Voltage over the instrument at full scale, at most."""

    @property
    def accuracy(self) -> Accuracy:
        """Bound on the error of a reading, in this range."""
        return Accuracy(self.of_reading, self.of_range * self.full_scale_a)


@dataclass(frozen=True)
class Specification:
    """What an instrument can do, as it is used here."""

    title: str
    document: str
    """Where the numbers are from."""
    rate_hz: float
    resolution: str
    ranges: tuple[CurrentRange, ...]
    """Empty where the accuracy has to be stated by whoever measures."""


class Meter(Protocol):
    """An instrument that records the board's current."""

    specification: Specification

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _value: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None: ...

    def start(self, seconds: float) -> None:
        """Begin to record for this long, and come back at once.

        Raises:
            MeterError: it does not do as it is told.
        """

    def finish(self) -> Samples:
        """Wait for the end, and return what was recorded.

        Raises:
            MeterError: it was unplugged, or lost samples.
        """


def names() -> list[str]:
    """Names of the meters that record."""
    modules = (m.name for m in pkgutil.iter_modules(__path__))
    return sorted(m for m in modules if hasattr(_module(m), "METER"))


def find(name: str) -> type[Meter]:
    """A meter by its name.

    Raises:
        InputError: there is none.
    """
    if name not in names():
        raise InputError(f"no such meter: {name}", "--meter", f"there are {', '.join(names())}")
    meter: type[Meter] = _module(name).METER
    return meter


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"{__name__}.{name}")
