"""The command as users run it."""

import contextlib
import io
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from joulemark.cli import main

TERMINAL = {"NO_COLOR": "1", "COLUMNS": "200"}


@dataclass(frozen=True)
class Printed:
    """Output of a command."""

    stdout: str
    stderr: str


def joulemark(*arguments: str, code: int = 0, folder: Path | None = None) -> Printed:
    """Run the command in this process, and check its exit code.

    A separate process would take more than a second for its imports alone.
    """
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
    before, environment, got = sys.argv, dict(os.environ), 0
    sys.argv = ["joulemark", *arguments]
    os.environ.update(TERMINAL)
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
    return Printed(*texts)


def by_itself(
    *arguments: str, code: int = 0, folder: Path | None = None, **environment: str
) -> Printed:
    """Run the command in a separate process, and check its exit code."""
    done = subprocess.run(
        [sys.executable, "-c", "from joulemark.cli import main; main()", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, **TERMINAL, **environment},
        check=False,
    )
    assert done.returncode == code, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return Printed(done.stdout, done.stderr)


def undisturbed(*arguments: str, **options: Any) -> Printed:
    """Repeat the command until nothing disturbs it: disturbed measurements here are refused."""
    # A changed environment needs a separate process.
    call = by_itself if options.keys() - {"code", "folder"} else joulemark
    for _ in range(20):
        try:
            return call(*arguments, **options)
        except AssertionError as refused:
            if "not measured: " not in str(refused):
                raise
    raise AssertionError("something else always had the core")
