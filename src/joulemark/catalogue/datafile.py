"""Read TOML files into pydantic models; every error names the file and the key."""

import tomllib
from pathlib import Path
from typing import Any, TypeVar

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


def wrong(error: ValidationError) -> tuple[str, str]:
    """Return the first invalid key, and what is wrong with it."""
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"]) or "(the whole file)"
    plainer = {"missing": "this key is missing", "extra_forbidden": UNKNOWN}
    return key, plainer.get(first["type"]) or first["msg"].removeprefix("Value error, ")


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
        key, what = wrong(error)
        mend = "remove it or correct its spelling" if what == UNKNOWN else None
        if key == NOT_YET_CHECKED:
            what, mend = "this is a copy of another's file", str(found[key])
        raise InputError(what, f"{path}, key {key}", mend) from error
