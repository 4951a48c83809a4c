"""Read the records of a store, or of an exported file, as plain rows."""

import json
from pathlib import Path
from typing import Any

from joulemark.errors import InputError

_SUFFIXES = (".csv", ".json", ".parquet")
_MEND = "`joulemark export` writes such a file"
_NEEDED = ("case_digest", "status", "failure", "board", "clock")


def rows(location: str) -> list[dict[str, Any]]:
    """Return the last record of each case.

    Args:
        location: a store's file or URL, or a file that `joulemark export` wrote.

    Raises:
        InputError: it is neither.
        StoreError: the store cannot be read.
    """
    if Path(location).suffix in _SUFFIXES and "://" not in location:
        return _exported(Path(location))
    from joulemark.records.export import flat_frame
    from joulemark.records.store import Store

    with Store(location, "read") as opened:
        return _plain(flat_frame(opened.records()))


def _exported(path: Path) -> list[dict[str, Any]]:
    import pandas as pd

    try:
        if path.suffix == ".json":
            found = json.loads(path.read_text(encoding="utf-8"))
            frame = pd.DataFrame(found if isinstance(found, list) else [])
        elif path.suffix == ".csv":
            frame = pd.read_csv(path)
        else:
            frame = pd.read_parquet(path)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", str(path)) from error
    except RecursionError as error:
        raise InputError("is nested too deeply", str(path), _MEND) from error
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8 text", str(path), _MEND) from error
    except (ValueError, pd.errors.ParserError) as error:
        raise InputError(f"cannot be read: {str(error).splitlines()[0]}", str(path)) from error
    missing = [name for name in _NEEDED if name not in frame]
    if missing:
        mend = f"`joulemark export --format {path.suffix[1:]}` writes such a file (without --long)"
        raise InputError(f"has no column {missing[0]}", str(path), mend)
    return _plain(frame)


def _plain(frame: Any) -> list[dict[str, Any]]:
    """Convert a frame to rows of plain Python values; missing values are None."""
    plain = frame.drop(columns=[n for n in ("samples", "notes") if n in frame]).astype(object)
    found: list[dict[str, Any]] = plain.where(plain.notna(), None).to_dict("records")
    return found
