"""Find instruments: modules in the project's packages and in a lab's own folder."""

import importlib.util
import pkgutil
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

from joulemark import project
from joulemark.errors import InputError, JoulemarkError


def extend(path: "list[str]", folder: str) -> None:
    """Add the modules of a folder of JOULEMARK_INSTRUMENTS to a package.

    Args:
        path: the package's `__path__`.
        folder: name of a folder in JOULEMARK_INSTRUMENTS.
    """
    if project.INSTRUMENTS:
        path.append(str(Path(project.INSTRUMENTS, folder).resolve()))


def modules(path: Iterable[str], package: str) -> dict[str, str]:
    """Return the modules of a package by the names that users type: hyphens for underscores.

    Raises:
        InputError: JOULEMARK_INSTRUMENTS is not a folder.
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
        InputError: the module is a lab's own and cannot be imported.
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
