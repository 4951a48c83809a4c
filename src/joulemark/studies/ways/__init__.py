"""Ways to obtain our values, one per module; a study's file gives the module's name.

A way has a model `Asked` of the questions that it takes, and three functions:

    needs(asked: Sequence[Asked], bench: Bench) -> Iterable[Need]    a finder for each tool
    obtain(asked: Sequence[Asked], bench: Bench) -> dict[Asked, Answer]
    best(asked: Asked) -> Asked | None    the question for today's best of the same; or None
"""

import importlib
import pkgutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol, cast

from pydantic import ValidationError

from joulemark.catalogue import datafile
from joulemark.errors import InputError
from joulemark.images.toolchain import Need
from joulemark.measure.bench import Workers
from joulemark.records.store import Store


@dataclass(frozen=True, kw_only=True)
class Answer:
    """Answer to a question, in SI units."""

    value: float | None
    """None if there is no number."""
    how: str
    """How it was obtained, or why there is none."""
    source: str = ""
    """Conditions that a reader of the number has to know."""
    errors: str = ""
    """How far it may be off, as `bounds` says it; empty for what is no measurement of ours."""


@dataclass(frozen=True, kw_only=True)
class Bench:
    """Means by which ways obtain their answers."""

    store: Store
    """Serves earlier results and keeps new ones."""
    workers: Workers


class Way(Protocol):
    """A module of this package."""

    Asked: type[datafile.DataModel]

    def needs(self, asked: Sequence[Any], bench: Bench) -> Iterable[Need]:
        """Yield a finder for each tool that the answers need."""
        ...

    def obtain(self, asked: Sequence[Any], bench: Bench) -> dict[Any, Answer]:
        """Answer all questions."""
        ...

    def best(self, asked: Any) -> Any:
        """Return the question for the least cost known today; None if there is none."""
        ...


def names() -> list[str]:
    """Return the names of all ways."""
    return sorted(m.name for m in pkgutil.iter_modules(__path__))


@lru_cache
def load(name: str) -> Way:
    """Return the way of a name that is known to exist."""
    return cast("Way", importlib.import_module(f"{__name__}.{name}"))


def fields(asked: dict[str, Any]) -> Iterable[str]:
    """Return the keys that a question's way takes; none if there is no such way."""
    way = asked.get("way")
    return load(str(way)).Asked.model_fields if way in names() else ()


def question(asked: dict[str, Any], where: str) -> tuple[str, datafile.DataModel]:
    """Return a checked question: the way, and the way's own model.

    Args:
        asked: the question in the study's file, with `way`.
        where: its place, for messages.

    Raises:
        InputError: there is no such way, or it does not take this question.
    """
    rest = dict(asked)
    way = rest.pop("way", None)
    if way not in names():
        raise InputError(f"no such way: {way}", where, f"there are {', '.join(names())}")
    try:
        return str(way), load(str(way)).Asked.model_validate(rest)
    except ValidationError as error:
        wrong = datafile.wrong(error)
        mend = f"the keys are {', '.join(load(str(way)).Asked.model_fields)}"
        raise InputError(datafile.listed(wrong), where, mend) from error
