"""Read TOML files into pydantic models; every error names the file and the key."""

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from joulemark.errors import InputError


class DataModel(BaseModel):
    """A table of a data file: immutable, with strict types and finite numbers.

    Unknown keys are errors.
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, defer_build=True, allow_inf_nan=False
    )


UNKNOWN = "unknown key"
NOT_YET_CHECKED = "not_yet_checked"
"""Key of a copy that `joulemark new` wrote: it is refused until its constants were checked."""

Model = TypeVar("Model", bound=BaseModel)


def table(path: Path) -> dict[str, Any]:
    """Read a TOML file.

    Raises:
        InputError: the file is unreadable or is not TOML; the error names it.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", str(path)) from error
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8 text", str(path), "save it as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"is not TOML: {error}", str(path)) from error


_PLAIN = {
    "missing": "this key is missing",
    "extra_forbidden": UNKNOWN,
    "greater_than": "must be more than {gt:.10g}",
    "greater_than_equal": "must be at least {ge:.10g}",
    "less_than": "must be less than {lt:.10g}",
    "less_than_equal": "must be at most {le:.10g}",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "string_type": "must be text",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "dict_type": "must be a table",
    "model_type": "must be a table",
    "model_attributes_type": "must be a table",
    "path_type": "must be the path of a file",
    "string_pattern_mismatch": "must match {pattern}",
    "string_too_short": "must not be empty",
    "too_short": "must have {min_length} or more",
    "too_long": "must have {max_length} or fewer",
}
"""What is said of an error of pydantic's, by its type."""


_OF_TYPES = re.compile(r"(constrained-)?(int|float|str|bool)$|(list|tuple|dict|function-\w+)\[")
"""What pydantic adds to a key whose value may be of several types."""


class Wrong(NamedTuple):
    """A key, and what is wrong with its value."""

    key: str
    what: str


def wrong(error: ValidationError) -> list[Wrong]:
    """Return all invalid keys, and what is wrong with each."""
    found: dict[str, dict[str, None]] = {}
    for one in error.errors():
        parts = [part for part in map(str, one["loc"]) if not _OF_TYPES.match(part)]
        plain = _PLAIN.get(one["type"])
        what = plain.format(**one.get("ctx", {})) if plain else one["msg"]
        key = ".".join(parts) or "(the whole file)"
        found.setdefault(key, {})[what.removeprefix("Value error, ")] = None
    return [Wrong(key, ", or ".join(whats)) for key, whats in found.items()]


def listed(found: Sequence[Wrong]) -> str:
    """Return what is wrong with several keys as one text."""
    return "; ".join(f"{one.key}: {one.what}" for one in found)


def read(path: Path, model: type[Model]) -> Model:
    """Read a data file.

    Raises:
        InputError: the file is unreadable, is not TOML, or does not fit the model; the error names
            the file and the key.
    """
    found = table(path)
    try:
        return model.model_validate(found)
    except ValidationError as error:
        keys = wrong(error)
        if any(one.key == NOT_YET_CHECKED for one in keys):
            where = f"{path}, key {NOT_YET_CHECKED}"
            what = "this is a copy of another's file"
            raise InputError(what, where, str(found[NOT_YET_CHECKED])) from error
        unknown = any(one.what == UNKNOWN for one in keys)
        mend = "remove what is unknown or correct its spelling" if unknown else None
        if len(keys) > 1:
            raise InputError(listed(keys), f"{path}, {len(keys)} keys", mend) from error
        raise InputError(keys[0].what, f"{path}, key {keys[0].key}", mend) from error
