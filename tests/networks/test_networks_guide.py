"""Every command of the guide to networks runs, and prints what the guide shows of it."""

import re
import shlex
from pathlib import Path

from command import joulemark
from joulemark.project import ROOT


def test_every_command_of_the_guide_runs(tmp_path: Path) -> None:
    text = (ROOT / "docs/networks.md").read_text()
    (commands,) = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    (tmp_path / "networks").symlink_to(ROOT / "networks")
    printed = []
    for line in commands.splitlines():
        program, *arguments = shlex.split(line.removeprefix("$ "))
        assert program == ".venv/bin/joulemark"
        printed.append(joulemark(*arguments, folder=tmp_path).stdout)
    (shown,) = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    assert shown in printed[0]
    for name in ("ping.pcapng", "ping.html", "lines/asker.usart1.txt", "network.db"):
        assert (tmp_path / name).stat().st_size > 0
