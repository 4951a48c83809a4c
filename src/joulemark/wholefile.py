"""Write files atomically: they appear whole or not at all."""

import os
import threading
from pathlib import Path

from joulemark.errors import InputError

_MEND = "choose another file"


def check(path: Path) -> None:
    """Check before lengthy work that its output file can be written.

    Raises:
        InputError: the path is not a file, or its folder cannot be written.
    """
    if path.exists() and not path.is_file():
        raise InputError("is not a file", str(path), _MEND)
    folder = next(parent for parent in path.absolute().parents if parent.exists())
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder", str(path), _MEND)
    if not os.access(folder, os.W_OK):
        raise InputError(f"the folder {folder} cannot be written", str(path), _MEND)


def write_whole(path: Path, data: bytes, what: str) -> None:
    """Write a temporary file beside the target, then rename it.

    Args:
        path: the file; its folder is created.
        data: its contents.
        what: what the file is, for messages: "the page".

    Raises:
        InputError: it cannot be written; an earlier file is left as it was.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}")
    try:
        check(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            temporary.write_bytes(data)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputError(f"{what} cannot be written: {error.strerror}", str(path), _MEND) from error
