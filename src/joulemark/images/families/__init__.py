"""One module for each family of chips: found by the name of the core that a chip's file gives.

A module has `CLANG_TARGET` (as `clang --print-targets` names it; None where it is this machine),
`DEFAULT_COMPILER` (`clang` or `gcc`), `GCC` (the program's name) and `GET_GCC` (how to install it).
`LINKER` (`gcc` or `lld`) links what clang compiles; None where each compiler does. But for `host`
it has `describe(board, chip, clock, compiler)`, which returns a `Target`. Its firmware is in the
folder of the same name under `firmware/hal`.
"""

import importlib
import pkgutil
from types import ModuleType

from joulemark.errors import InputError


def names() -> list[str]:
    """Return the names of all families."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def load(name: str) -> ModuleType:
    """Return a family's module.

    Raises:
        InputError: there is no firmware for such a core.
    """
    if name not in names():
        mend = f"there is for {', '.join(names())}"
        raise InputError(f"there is no firmware for the core {name}", mend=mend)
    return importlib.import_module(f"{__name__}.{name}")
