"""Every command shown in docs/linux-boards.md runs."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from joulemark.project import ROOT
from test_remote import Server, server  # noqa: F401

_TEXT = (ROOT / "docs" / "linux-boards.md").read_text(encoding="utf-8")
COMMANDS = [
    line.removeprefix("$ ")
    for block in re.findall(r"```console\n(.*?)```", _TEXT, re.DOTALL)
    for line in block.splitlines()
]


@pytest.mark.parametrize("command", COMMANDS)
def test_it_runs(command: str, server: Server, tmp_path: Path) -> None:  # noqa: F811
    (tmp_path / "studies").symlink_to(ROOT / "studies")
    program, *arguments = shlex.split(command)
    assert program == "joulemark"
    # Readings that a person would type when asked.
    readings = "".join(f"{number}\n" for number in range(1, 40))
    # With a meter the windows are long, and other work may disturb all of them.
    attended = "--meter" in command
    for _ in range(2 if attended else 20):
        done = subprocess.run(
            [sys.executable, "-c", "from joulemark.cli import main; main()", *arguments],
            input=readings,
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "NO_COLOR": "1", "COLUMNS": "200", "PATH": server.path},
            check=False,
        )
        # A busy machine is refused; the same command then goes on.
        if "not measured: " not in done.stderr:
            break
    if "is there a network?" in done.stderr:
        pytest.skip(done.stderr)  # the paper's version of its library
    if "cannot fetch" in done.stderr:
        pytest.skip(done.stderr)  # Debian's packages for ARM, once for each checkout
    disturbed = attended and "something else had the core" in done.stderr
    assert done.returncode == 0 or disturbed, done.stderr


def test_all_are_there() -> None:
    assert len(COMMANDS) >= 9
    assert any("--host" in command for command in COMMANDS)
