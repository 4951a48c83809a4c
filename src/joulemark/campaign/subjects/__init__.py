"""The things that are priced: one module a type of subject, found by its name.

A subject is a frozen dataclass of plain values. Its type is the name of its module, and tells
stored subjects apart.
"""

import dataclasses
import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Literal

from pydantic import TypeAdapter

Status = Literal["standard", "finalist", "research", "deprecated", "broken"]


@dataclass(frozen=True, kw_only=True)
class About:
    """A report's description of a subject, as it was when the subject was measured."""

    title: str = ""
    """For people: "AES-128"."""
    group: str = ""
    """Title of what a report lists it under: "Block ciphers"."""
    main: bool = False
    """It is what a report shows of its like until a reader chooses another operation."""
    baseline: bool = False
    """It is no result: its window costs what every window costs."""
    status: Status | None = None
    """Of the weakest primitive in it."""
    security_bits: int | None = None
    secret_independent: bool | None = None
    """The claim that time and addresses do not depend on secrets; False claims nothing."""
    one_time_key: bool | None = None
    """A key is good for one message only; None where nobody knew."""


@dataclass(frozen=True, kw_only=True)
class Subject(ABC):
    """A thing that has a price."""

    type: ClassVar[str]
    """Name of the module that defines it."""

    def __init_subclass__(cls) -> None:
        cls.type = cls.__module__.rpartition(".")[2]
        _known[cls.type] = cls

    @abstractmethod
    def __str__(self) -> str:
        """In a line of text."""

    @abstractmethod
    def about(self) -> About:
        """The present description of it.

        Raises:
            InputError: there is no such thing any more.
        """

    @property
    def order(self) -> tuple[int | str, ...]:
        """Key by which subjects of one type are sorted."""
        return dataclasses.astuple(self)

    @property
    def tagged(self) -> dict[str, int | str]:
        """Its type and its values, as JSON takes them."""
        return {"type": self.type, **vars(self)}


_known: dict[str, type[Subject]] = {}


def types() -> list[str]:
    """Return the names of all types."""
    return sorted(m.name for m in pkgutil.iter_modules(__path__))


@lru_cache
def _adapter(name: str) -> TypeAdapter[Subject]:
    if name not in types():
        raise ValueError(f"no such type of subject: {name!r}; there are {', '.join(types())}")
    importlib.import_module(f"{__name__}.{name}")
    return TypeAdapter(_known[name])


def subject(tagged: Mapping[str, Any]) -> Subject:
    """Return the subject of a type and values, as `Subject.tagged` gives them.

    Raises:
        ValueError: there is no such type, or it has other values.
    """
    values = dict(tagged)
    return _adapter(str(values.pop("type", None))).validate_python(values)
