"""Instruments are modules that are found: in the project's folders, and in a lab's own."""

import importlib.util
import pkgutil
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

from joulemark import project
from joulemark.errors import InputError, JoulemarkError


def extend(path: "list[str]", folder: str) -> None:
    """Let a package have the modules of a folder of JOULEMARK_INSTRUMENTS too.

    Args:
        path: the package's `__path__`.
        folder: within JOULEMARK_INSTRUMENTS.
    """
    if project.INSTRUMENTS:
        path.append(str(Path(project.INSTRUMENTS, folder).resolve()))


def modules(path: Iterable[str], package: str) -> dict[str, str]:
    """The modules of a package by the names that users give: hyphens for underscores.

    Raises:
        InputError: JOULEMARK_INSTRUMENTS is no folder.
    """
    if project.INSTRUMENTS and not Path(project.INSTRUMENTS).is_dir():
        mend = "name a folder, or unset JOULEMARK_INSTRUMENTS"
        raise InputError("is no folder", f"JOULEMARK_INSTRUMENTS={project.INSTRUMENTS}", mend)
    return {
        module.name.replace("_", "-"): f"{package}.{module.name}"
        for module in pkgutil.iter_modules(path)
        if not module.ispkg
    }


def load(name: str) -> ModuleType:
    """Import a module.

    Raises:
        InputError: it is a lab's own, and cannot be imported.
    """
    try:
        return importlib.import_module(name)
    except JoulemarkError:
        raise
    except Exception as error:
        spec = importlib.util.find_spec(name)
        where = spec.origin if spec and spec.origin else name
        if not project.INSTRUMENTS or not Path(where).is_relative_to(
            Path(project.INSTRUMENTS).resolve()
        ):
            raise
        raise InputError(
            f"cannot be loaded: {type(error).__name__}: {error}", where, "mend it or move it away"
        ) from error
