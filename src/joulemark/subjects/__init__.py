"""The subjects that are priced: one folder per type, found by its name.

A folder defines a frozen dataclass of plain values. Its type is the folder's name, and identifies
stored subjects. Beside it are modules for later stages: `options.py`, `measure.py`, `page.py`
(docs/adding-a-subject.md). A user's own are in `subjects/` of a folder of --source.
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

from joulemark import project

Status = Literal["standard", "finalist", "research", "deprecated", "broken"]


@dataclass(frozen=True, kw_only=True)
class About:
    """A subject's description in reports, as of its measurement."""

    title: str = ""
    """Title for readers: "AES-128"."""
    group: str = ""
    """Title of its group in a report: "Block ciphers"."""
    main: bool = False
    """Its operation is the one that a report shows first."""
    baseline: bool = False
    """Not a result: it measures the cost of an empty window."""
    status: Status | None = None
    """Status of the weakest primitive in it."""
    security_bits: int | None = None
    secret_independent: bool | None = None
    """Whether it claims that time and addresses are independent of secrets."""
    one_time_key: bool | None = None
    """A key may be used for one message only; None if unknown."""


@dataclass(frozen=True, kw_only=True)
class Subject(ABC):
    """Something that has a price."""

    type: ClassVar[str]
    """Name of the folder that defines it."""

    def __init_subclass__(cls) -> None:
        cls.type = cls.__module__.rpartition(".")[2]
        _known[cls.type] = cls

    @abstractmethod
    def __str__(self) -> str:
        """Describe it in a line of text."""

    @abstractmethod
    def about(self) -> About:
        """Return its current description.

        Raises:
            InputError: it does not exist any more.
        """

    @property
    def order(self) -> tuple[int | str, ...]:
        """Sort key among subjects of one type."""
        return dataclasses.astuple(self)

    @property
    def tagged(self) -> dict[str, int | str]:
        """Its type and values, for JSON."""
        return {"type": self.type, **vars(self)}


_known: dict[str, type[Subject]] = {}


_shipped = tuple(__path__)


def _find_own() -> None:
    """Let a user's folders be searched, too."""
    __path__[:] = [*_shipped, *(str(folder / "subjects") for folder in project.sources())]


# A worker may import a user's subject before anything asks for its type.
_find_own()


def types() -> list[str]:
    """Return the names of all types."""
    _find_own()
    return sorted(m.name for m in pkgutil.iter_modules(__path__) if m.ispkg)


def module(name: str, stage: str) -> Any:
    """Return a module of a type that exists: `options`, `measure` or `page`."""
    return importlib.import_module(f"{__name__}.{name}.{stage}")


@lru_cache
def _adapter(name: str) -> TypeAdapter[Subject]:
    if name not in types():
        raise ValueError(f"no such type of subject: {name!r}; there are {', '.join(types())}")
    importlib.import_module(f"{__name__}.{name}")
    return TypeAdapter(_known[name])


def subject(tagged: Mapping[str, Any]) -> Subject:
    """Return the subject for a type and values as in `Subject.tagged`.

    Raises:
        ValueError: there is no such type, or the values do not fit it.
    """
    values = dict(tagged)
    return _adapter(str(values.pop("type", None))).validate_python(values)
