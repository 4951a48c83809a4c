"""What a campaign asks for: tables of options, each for one type of subject.

The options of a type are a model in its folder, `options.py`. A campaign file has a table for each
question, such as `[[slot]]`; keys outside of tables are one table of primitives, or of libraries.
"""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
)
from pydantic.config import JsonDict

from joulemark import subjects
from joulemark.catalogue import datafile
from joulemark.catalogue.near import near
from joulemark.errors import InputError


def as_list(value: Any) -> Any:
    """Return a list or tuple as it is, and anything else as a list of it."""
    return value if isinstance(value, list | tuple) else [value]


def _beside(path: Path, info: ValidationInfo) -> Path:
    return (info.context or Path()) / path


EMULATOR = "emulator"
POSITIONAL: JsonDict = {"positional": True}
"""Marks an option that the command line takes without its name."""
Names = Annotated[tuple[str, ...], BeforeValidator(as_list), Field(min_length=1)]
Bytes = Annotated[
    tuple[Annotated[int, Field(strict=True, ge=0, le=65535)], ...],
    BeforeValidator(as_list),
    Field(min_length=1),
]
Opt = Annotated[str, BeforeValidator(lambda name: str(name).removeprefix("-"))]
"""An optimisation, with or without the dash of compilers' -O3."""
Beside = Annotated[Path, AfterValidator(_beside)]
"""A file; a relative path begins at the folder of the campaign's file."""


class Options(BaseModel):
    """A table of a campaign. Its keys are the names of the command line's options."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    type: ClassVar[str]
    """The type of its subjects: the name of the folder that defines it."""
    runners: ClassVar[tuple[str, ...]] = (EMULATOR,)
    """What can run its images."""
    has_windows: ClassVar[bool] = False
    """It is measured in windows of a length that a user may choose, if need be by time alone."""

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        cls.type = cls.__module__.split(".")[-2]
        _known[cls.type] = cls


_known: dict[str, type[Options]] = {}
OptionsT = TypeVar("OptionsT", bound=Options)


def model(name: str) -> type[Options]:
    """Return the options of a type of subject that exists."""
    subjects.module(name, "options")
    return _known[name]


def checked(
    of: type[OptionsT],
    values: Mapping[str, Any],
    path: Path | None = None,
    overrides: Mapping[str, Any] | None = None,
    table: str = "",
) -> OptionsT:
    """Return options with values by key.

    Args:
        of: their model.
        values: values by key; None stands for the default.
        path: the file that they are from; None for the command line.
        overrides: values of the command line, which override those.
        table: name of the table in the file, for messages.

    Raises:
        InputError: a key or a value is invalid.
    """
    given = {k: v for k, v in (overrides or {}).items() if v is not None}
    whole = {k: v for k, v in values.items() if v is not None} | given
    try:
        return of.model_validate(whole, context=None if path is None else path.parent)
    except ValidationError as error:
        raise _invalid(datafile.wrong(error), of, path, given, table) from error


def _invalid(
    wrong: Sequence[datafile.Wrong],
    of: type[Options],
    path: Path | None,
    given: Collection[str],
    table: str,
) -> InputError:
    """Return the error of all keys that are wrong in a table."""

    def where(key: str) -> str:
        if path is None or key in given:
            # What several options are wrong about has no name of one.
            return "the options" if key.startswith("(") else f"--{key.strip('_').replace('_', '-')}"
        return f"{path}: {table}{key}"

    found = {one.key.partition(".")[0]: one.what for one in wrong}
    names = [field.alias or name for name, field in of.model_fields.items()]
    mend = f"the keys are: {', '.join(names)}"
    if not table and path is not None:
        mend += f"; the tables are: {', '.join(f'[[{name}]]' for name in subjects.types())}"
    first, *others = found
    what = "; ".join([found[first], *(f"{where(key)}: {found[key]}" for key in others)])
    return InputError(what, where(first), mend if datafile.UNKNOWN in found.values() else None)


def read(path: Path | None, overrides: Mapping[str, Any]) -> list[Options]:
    """Return the tables of a campaign.

    Args:
        path: a TOML file, or None for the default campaign.
        overrides: values by key, for every table that has the key; None overrides nothing.

    Raises:
        InputError: the file cannot be read, or a key or value is invalid.
    """
    flat = {} if path is None else datafile.table(path)
    given = {k: v for k, v in overrides.items() if v is not None}
    asked: list[tuple[str, dict[str, Any], str]] = []
    for name in [name for name in flat if name in subjects.types()]:
        tables = as_list(flat[name])
        if all(isinstance(one, dict) for one in tables):
            del flat[name]
            asked += [
                (name, values, f"[[{name}]] {number}, ") for number, values in enumerate(tables, 1)
            ]
    if flat or not asked:
        name = "library" if "library" in {*flat, *given} else "primitive"
        asked.insert(0, (name, flat, ""))
    models = {name: model(name) for name, _, _ in asked}
    for key in given:
        if not any(key in of.model_fields for of in models.values()):
            known = {k for of in models.values() for k in of.model_fields}
            what = f"it is no option of {' and '.join(dict.fromkeys(models))}"
            raise InputError(what, f"--{key.replace('_', '-')}", near(key, known))
    found: list[Options] = []
    refused: list[InputError] = []
    for name, values, table in asked:
        of = models[name]
        overriding = {k: v for k, v in given.items() if k in of.model_fields}
        try:
            found.append(checked(of, values, path, overriding, table))
        except InputError as error:
            refused.append(error)
    if refused:
        first, *others = refused
        what = "; ".join([first.what, *map(str, others)])
        raise InputError(what, first.where, first.mend)
    return found
