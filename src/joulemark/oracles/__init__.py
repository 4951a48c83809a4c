"""Algorithms of libraries: their inputs, and independent judgement of their outputs.

Each module here may define `ALGORITHMS`; all of them together are what a library's program may have
rows of (docs/adding-a-library.md). What judges an output is another library (PyCryptodome, pyca's
cryptography, Python's hashlib) or, where neither has the algorithm, written here from its
specification.
"""

import importlib
import pkgutil
import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache

from joulemark.errors import InputError

PERIOD = 64
"""Calls that are made on one message, as in libraries/harness.h."""
Values = Mapping[str, bytes]
Random = Callable[[int], bytes]


@dataclass(frozen=True, kw_only=True)
class Algorithm(ABC):
    """An algorithm, as a user names it."""

    name: str
    title: str
    group: str
    """Title of what a page lists it under."""
    operations: tuple[str, ...]
    sized: bool = field(default=False)
    """It takes messages of any length, and its price is one of a byte; else of an operation."""
    unit_bytes: int = 1
    """Messages are multiples of it."""

    @abstractmethod
    def inputs(self, operation: str, message_bytes: int, draw: Random) -> dict[str, bytes]:
        """Inputs of an operation."""

    @abstractmethod
    def problem(self, operation: str, inputs: Values, outputs: Values) -> str | None:
        """Error in the outputs; None where they are right."""

    def forged(self, operation: str, inputs: Values) -> tuple[Values, Values] | None:
        """Inputs that have to be refused, and the outputs that say so; None where none are."""
        return None


@cache
def algorithms() -> dict[str, Algorithm]:
    """All algorithms, by name."""
    found: dict[str, Algorithm] = {}
    for module in pkgutil.iter_modules(__path__):
        made = importlib.import_module(f"{__name__}.{module.name}")
        found |= {one.name: one for one in getattr(made, "ALGORITHMS", ())}
    return found


def algorithm(name: str) -> Algorithm:
    """Find an algorithm.

    Raises:
        InputError: there is none of that name.
    """
    if name not in algorithms():
        mend = f"there are {', '.join(sorted(algorithms()))}"
        raise InputError(f"no such algorithm: {name}", mend=mend)
    return algorithms()[name]


@cache
def drawn(name: str, operation: str, message_bytes: int, seed: int) -> dict[str, bytes]:
    """Inputs that derive from a seed: the same for all libraries.

    Raises:
        InputError: there is no such algorithm.
    """
    draw = random.Random(f"{seed}/{name}/{message_bytes}").randbytes
    return {
        **algorithm(name).inputs(operation, message_bytes, draw),
        # What a library's own generator is seeded with.
        "seed": draw(32),
    }


def number(value: bytes) -> int:
    """A number as bytes, the most significant first."""
    return int.from_bytes(value, "big")


def octets(value: int) -> bytes:
    """A number as few bytes as hold it."""
    return value.to_bytes((value.bit_length() + 7) // 8, "big")


def difference(name: str, got: bytes, wanted: bytes) -> str | None:
    """How an output differs from what it has to be."""
    if got == wanted:
        return None
    return f"wrong {name}: {_short(got)} instead of {_short(wanted)}"


def _short(data: bytes) -> str:
    text = data.hex()
    return text if len(text) <= 64 else f"{text[:64]}... ({len(data)} bytes)"
