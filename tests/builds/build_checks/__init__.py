"""Checks that a build is right: each function marked `check` in a module of this package.

A check is given a build and fails by an exception. All checks of a build use one image, built once.
"""

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from types import ModuleType

from emulated import BuildOf
from joulemark._engine import Image
from joulemark.images import BuiltImage, Sources
from vectors import Subject


class Build:
    """A build whose image is made once, and an emulated board that runs it.

    Args:
        of: the build.
        sources: shared by builds from the same state of the tree.
    """

    def __init__(self, of: BuildOf, sources: Sources | None = None) -> None:
        self.of = of
        self._sources = sources
        self.way = of.implementation
        self.algorithm = self.way.algorithm
        self.board = of.board

    @cached_property
    def made(self) -> BuiltImage:
        """The image's files."""
        return self.of.build(self._sources)

    @cached_property
    def image(self) -> Image:
        return Image.load(self.made.path)

    @cached_property
    def subject(self) -> Subject:
        """The implementation on a board that runs on from one check to the next."""
        return Subject(self.way, self.of.start(self.image)[1])


@dataclass(frozen=True)
class Check:
    """A check, and the builds that it is for."""

    name: str
    run: Callable[[Build], None]
    applies: Callable[[BuildOf], bool]
    module: str
    """Name of the module that it is in."""


def check(applies: Callable[[BuildOf], bool]) -> Callable[[Callable[[Build], None]], Check]:
    """Turn a function into a check of the builds that satisfy a predicate."""

    def mark(run: Callable[[Build], None]) -> Check:
        return Check(run.__name__.replace("_", "-"), run, applies, run.__module__)

    return mark


def all_checks() -> tuple[Check, ...]:
    """Return all checks, in the order of modules and of their lines."""
    modules: list[ModuleType] = [
        import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__)
    ]
    return tuple(
        value for module in modules for value in vars(module).values() if isinstance(value, Check)
    )
