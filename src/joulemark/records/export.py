"""Records as files for other tools: CSV, JSON and Parquet."""

import json
import sys
from pathlib import Path
from typing import Literal

from joulemark.errors import InputError
from joulemark.records.store import Store

Format = Literal["csv", "json", "parquet"]


def export(store: Store, form: Format, path: Path | None, *, history: bool = False) -> int:
    """Write all records to a file or the standard output.

    Args:
        store: where the records are.
        form: of the file. In CSV, values that are lists or objects are JSON text.
        path: the file; None is the standard output.
        history: all records instead of the last one of each case.

    Returns:
        The number of records.

    Raises:
        InputError: the file cannot be written.
    """
    frame = store.frame(history=history)
    if form == "csv":
        for name in frame.columns:
            if frame[name].map(lambda v: isinstance(v, list | dict)).any():
                frame[name] = frame[name].map(json.dumps)
        data = frame.to_csv(index=False).encode()
    elif form == "json":
        data = frame.to_json(orient="records", indent=1, force_ascii=False).encode()
    else:
        # Mappings with open keys are JSON text: a Parquet struct needs the same keys in each row.
        for name in ("samples", "power_states_ps"):
            frame[name] = frame[name].map(json.dumps)
        data = frame.to_parquet(index=False)
    try:
        if path is None:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    except OSError as error:
        raise InputError(
            f"cannot be written: {error.strerror}", str(path or "standard output")
        ) from error
    return len(frame)
