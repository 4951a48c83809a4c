"""The command as users call it: in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path


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
