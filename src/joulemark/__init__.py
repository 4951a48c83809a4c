"""Joulemark: what security costs on a constrained device.

`import joulemark` is an interface for notebooks and scripts: docs/python.md.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from joulemark.errors import JoulemarkError
    from joulemark.interface import (
        board,
        boards,
        budget,
        choose,
        compare,
        handshake,
        leaks,
        leaks_power,
        machine,
        open_store,
        primitives,
        profile,
        results,
        run,
        study,
    )

__all__ = [
    "JoulemarkError",
    "board",
    "boards",
    "budget",
    "choose",
    "compare",
    "handshake",
    "leaks",
    "leaks_power",
    "machine",
    "open_store",
    "primitives",
    "profile",
    "results",
    "run",
    "study",
]


def __getattr__(name: str) -> Any:
    """Import the interface's names lazily, so that the command starts without them."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from joulemark import errors, interface

    return getattr(errors if name == "JoulemarkError" else interface, name)


def __dir__() -> list[str]:
    return [*__all__, "__doc__"]
