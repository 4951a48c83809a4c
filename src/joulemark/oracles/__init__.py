"""Algorithms of libraries: their inputs, and independent verification of their outputs.

Each module here may define `ALGORITHMS`; a library's program may have rows for all of them
(docs/adding-a-library.md). Outputs are verified with another library (PyCryptodome, pyca's
cryptography, Python's hashlib) or, if none has the algorithm, with code written here from its
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
"""Calls per message, as in libraries/harness.h."""
Values = Mapping[str, bytes]
Random = Callable[[int], bytes]


@dataclass(frozen=True, kw_only=True)
class Algorithm(ABC):
    """An algorithm, as users name it."""

    name: str
    title: str
    group: str
    """Title of its group on a page."""
    operations: tuple[str, ...]
    sized: bool = field(default=False)
    """It takes messages of any length and is priced per byte; otherwise per operation."""
    unit_bytes: int = 1
    """Message lengths are multiples of this."""

    @abstractmethod
    def inputs(self, operation: str, message_bytes: int, draw: Random) -> dict[str, bytes]:
        """Draw the inputs of an operation."""

    @abstractmethod
    def problem(self, operation: str, inputs: Values, outputs: Values) -> str | None:
        """Describe an error in the outputs; None if they are correct."""

    def forged(self, operation: str, inputs: Values) -> tuple[Values, Values] | None:
        """Return inputs to be rejected, and the outputs that say so; None if there are none."""
        return None


@cache
def algorithms() -> dict[str, Algorithm]:
    """Return all algorithms, by name."""
    found: dict[str, Algorithm] = {}
    for module in pkgutil.iter_modules(__path__):
        made = importlib.import_module(f"{__name__}.{module.name}")
        found |= {one.name: one for one in getattr(made, "ALGORITHMS", ())}
    return found


def algorithm(name: str) -> Algorithm:
    """Return an algorithm by its name.

    Raises:
        InputError: no algorithm has that name.
    """
    if name not in algorithms():
        mend = f"there are {', '.join(sorted(algorithms()))}"
        raise InputError(f"no such algorithm: {name}", mend=mend)
    return algorithms()[name]


@cache
def drawn(name: str, operation: str, message_bytes: int, seed: int) -> dict[str, bytes]:
    """Derive inputs from a seed; they are the same for all libraries.

    Raises:
        InputError: no algorithm has that name.
    """
    draw = random.Random(f"{seed}/{name}/{message_bytes}").randbytes
    return {
        **algorithm(name).inputs(operation, message_bytes, draw),
        # Seeds the library's own generator.
        "seed": draw(32),
    }


def number(value: bytes) -> int:
    """Convert big-endian bytes to a number."""
    return int.from_bytes(value, "big")


def octets(value: int) -> bytes:
    """Convert a number to as few big-endian bytes as possible."""
    return value.to_bytes((value.bit_length() + 7) // 8, "big")


def difference(name: str, got: bytes, wanted: bytes) -> str | None:
    """Describe how an output differs from the expected value; None if it does not."""
    if got == wanted:
        return None
    return f"wrong {name}: {_short(got)} instead of {_short(wanted)}"


def _short(data: bytes) -> str:
    text = data.hex()
    return text if len(text) <= 64 else f"{text[:64]}... ({len(data)} bytes)"
