"""Files that appear whole or not at all."""

import os
from pathlib import Path

from joulemark.errors import InputError


def write_whole(path: Path, data: bytes, what: str) -> None:
    """Write a file beside its place, then put it there.

    Args:
        path: of the file; its folder is made.
        data: what it holds.
        what: it is, for messages: "the page".

    Raises:
        InputError: it cannot be written; what was there before still is.
    """
    mend = "choose another --out"
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        if path.exists() and not path.is_file():
            raise InputError("is not a file", str(path), mend)
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            temporary.write_bytes(data)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputError(f"{what} cannot be written: {error.strerror}", str(path), mend) from error
