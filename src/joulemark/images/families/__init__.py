"""One module per family of chips, found by the name of the core in a chip's file.

Every module but `host` has `describe(board, chip, clock, compiler)`, which returns a `Target`. A
family's firmware is in the folder of the same name under `firmware/hal`; its compilers are those of
its instruction set (`catalogue/instruction_sets`).
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
        InputError: there is no firmware for this core.
    """
    if name not in names():
        mend = f"there is for {', '.join(names())}"
        raise InputError(f"there is no firmware for the core {name}", mend=mend)
    return importlib.import_module(f"{__name__}.{name}")
