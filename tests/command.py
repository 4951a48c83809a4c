"""The command as users call it: in a process of its own."""

import contextlib
import io
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from joulemark.cli import main


def joulemark(
    *arguments: str, code: int = 0, folder: Path | None = None, **environment: str
) -> "subprocess.CompletedProcess[str]":
    """Run the command and check its exit code."""
    done = subprocess.run(
        [sys.executable, "-c", "from joulemark.cli import main; main()", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": "200", **environment},
        check=False,
    )
    assert done.returncode == code, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


@dataclass(frozen=True)
class Typed:
    """What a command that was called in this process has printed."""

    stdout: str
    stderr: str


def typed(*arguments: str, code: int = 0, folder: Path | None = None) -> Typed:
    """Call the command in this process, which takes less time than one of its own."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
    before, environment, got = sys.argv, dict(os.environ), 0
    sys.argv = ["joulemark", *arguments]
    try:
        with (
            contextlib.chdir(folder or Path.cwd()),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            main()
    except SystemExit as end:
        got = int(end.code or 0)
    finally:
        sys.argv = before
        os.environ.clear()
        os.environ.update(environment)
    texts = []
    for stream in (out, err):
        stream.seek(0)
        texts.append(stream.read())
    assert got == code, f"exit code {got}\n{texts[0]}\n{texts[1]}"
    return Typed(*texts)


def undisturbed(*arguments: str, **options: Any) -> "Typed | subprocess.CompletedProcess[str]":
    """The same until nothing else had the core: a measurement of this machine is refused then."""
    # An environment of its own takes a process of its own.
    call = joulemark if options.keys() - {"code", "folder"} else typed
    for _ in range(20):
        try:
            return call(*arguments, **options)
        except AssertionError as refused:
            if "not measured: " not in str(refused):
                raise
    raise AssertionError("something else always had the core")
