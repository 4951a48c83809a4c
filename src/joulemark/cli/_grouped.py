"""Options that belong together, as a dataclass."""

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Any, get_type_hints


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Replace each parameter of a command that is a dataclass by one option per field.

    A field has the annotation and default that a separate parameter would have.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, type] = {}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        kind = hints[parameter.name]
        if not dataclasses.is_dataclass(kind) or not isinstance(kind, type):
            parameters.append(parameter.replace(annotation=kind))
            continue
        groups[parameter.name] = kind
        of_fields = get_type_hints(kind, include_extras=True)
        parameters += (
            inspect.Parameter(
                f.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=f.default,
                annotation=of_fields[f.name],
            )
            for f in dataclasses.fields(kind)
        )

    @functools.wraps(command)
    def call(**given: Any) -> None:
        for name, kind in groups.items():
            given[name] = kind(**{f.name: given.pop(f.name) for f in dataclasses.fields(kind)})
        command(**given)

    in_order = sorted(parameters, key=lambda p: p.kind)
    call.__signature__ = inspect.Signature(in_order)  # type: ignore[attr-defined]
    call.__annotations__ = {p.name: p.annotation for p in in_order}
    return call
