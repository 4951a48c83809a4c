"""Options that belong together: a dataclass, or the options of a subject in a campaign."""

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterator
from enum import StrEnum
from operator import or_
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import typer
from pydantic.fields import FieldInfo

from joulemark.campaign.options import POSITIONAL, Options, checked
from joulemark.cli._options import complete_board

_COMPLETED = {"board": complete_board}


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Replace each parameter of a command that is such a class by one option per field.

    A dataclass's field has the annotation and default that a separate parameter would have. An
    option of a subject has the name, range and description of its model's field.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, type] = {}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        kind = hints[parameter.name]
        if isinstance(kind, type) and (dataclasses.is_dataclass(kind) or issubclass(kind, Options)):
            groups[parameter.name] = kind
            parameters += _of_fields(kind)
        else:
            parameters.append(parameter.replace(annotation=kind))

    @functools.wraps(command)
    def call(**given: Any) -> None:
        for name, kind in groups.items():
            values = {p.name: given.pop(p.name) for p in _of_fields(kind)}
            if issubclass(kind, Options):
                some = {n: _plain(v) for n, v in values.items() if v not in (None, [])}
                given[name] = checked(kind, some)
            else:
                given[name] = kind(**values)
        command(**given)

    in_order = sorted(parameters, key=lambda p: p.kind)
    call.__signature__ = inspect.Signature(in_order)  # type: ignore[attr-defined]
    call.__annotations__ = {p.name: p.annotation for p in in_order}
    return call


def _plain(value: Any) -> Any:
    """Return an option's value with the strings of an enumeration as they are."""
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value.value if isinstance(value, StrEnum) else value


def _of_fields(kind: Any) -> Iterator[inspect.Parameter]:
    """Yield a parameter for each field."""
    if issubclass(kind, Options):
        for name, field in kind.model_fields.items():
            yield _of_model(name, field)
        return
    hints = get_type_hints(kind, include_extras=True)
    for field in dataclasses.fields(kind):
        yield inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=hints[field.name],
        )


def _choice(name: str, kind: Any) -> Any:
    """Return a literal type as an enumeration, whose values Typer shows and checks."""
    if get_origin(kind) is not Literal:
        return kind
    return StrEnum(name, {value.upper() or "NOTHING": value for value in get_args(kind)})


def _bare(kind: Any) -> Any:
    """Return a type without what is said of it."""
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def _of_model(name: str, field: FieldInfo) -> inspect.Parameter:
    kind: Any = field.annotation
    limits = field.metadata
    default = inspect.Parameter.empty if field.is_required() else field.default
    if get_origin(kind) is tuple:
        item = get_args(kind)[0]
        if get_origin(item) is Annotated:
            item, *more = get_args(item)
            limits = [*limits, *(limit for one in more for limit in one.metadata)]
        kind = list.__class_getitem__(_choice(name, item))
        if not field.is_required():
            kind, default = kind | None, None
    if get_origin(kind) in {Union, UnionType}:
        kind = functools.reduce(or_, (_bare(one) for one in get_args(kind)))
    kind = _choice(name, kind)
    if field.json_schema_extra == POSITIONAL:
        argument = typer.Argument(metavar=name.upper(), help=field.description)
        annotation = Annotated[kind, argument]
        return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation)
    option = typer.Option(
        f"--{name.strip('_').replace('_', '-')}",
        help=field.description,
        autocompletion=_COMPLETED.get(name),
        min=next((limit.ge for limit in limits if hasattr(limit, "ge")), None),
        max=next((limit.le for limit in limits if hasattr(limit, "le")), None),
    )
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option]
    )
