"""Every command in the README does what the README shows."""

import re
import shlex
import shutil
from pathlib import Path

from command import joulemark
from joulemark.catalogue import boards
from joulemark.catalogue.primitives import Library
from joulemark.images import build_image
from joulemark.project import ROOT

_CAMPAIGN = """
primitive = "sha-256"
size = 64
opt = "O3"
"""


def test_every_command_of_the_readme_runs(tmp_path: Path) -> None:
    library = Library.load()
    way = library.implementation(library["aes-128"], "msp430")
    image = build_image(way, boards.load_board("telosb"))
    shutil.copy(image.path, tmp_path / "firmware.elf")
    (tmp_path / "campaign.toml").write_text(_CAMPAIGN)
    blocks = re.findall(r"```console\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    commands = [line for block in blocks for line in block.splitlines() if line.startswith("$")]
    assert len(commands) > 5
    for line in commands:
        program, *arguments = shlex.split(line.removeprefix("$ "), comments=True)
        assert program == ".venv/bin/joulemark"
        if arguments[0] == "choose":
            continue  # tests/commands/test_users.py runs it, and looks at its answer.
        printed = joulemark(*arguments, folder=tmp_path).stdout
        shown = next(b for b in blocks if line in b).partition(line)[2].strip()
        if shown and not shown.startswith("$"):
            assert _rows(printed) == _rows(shown)


def _rows(text: str) -> list[str]:
    """Return the table's rows; the rest names folders."""
    return [" ".join(line.split()) for line in text.splitlines() if " aes-128 " in line]
