"""Run the commands that guides show, and write what they print: tools/renew_guide.py GUIDE... .

Of each ```console block the first line is the command, and what follows, there or in a ```text
block behind it, is what it prints; a block that shows no output keeps none.
Commands run in an empty folder in which the shipped scenarios and networks are. The tests mask
digits where they vary with the machine, so figures that a change moves are renewed here.
"""

import re
import shlex
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests/support"))

from command import joulemark
from joulemark.project import ROOT


def renew(guide: Path, folder: Path) -> None:
    """Rewrite a guide's blocks; commands run in `folder`."""

    def block(found: re.Match[str]) -> str:
        command, between, shown = found[1], found[2], found[3]
        words = shlex.split(command.removeprefix("$ "))
        if Path(words[0]).name != "joulemark" or not shown:
            return found[0]
        done = joulemark(*words[1:], folder=folder)
        both = "page:" in shown and "page:" not in done.stdout
        printed = done.stdout + (done.stderr if both else "")
        return f"```console\n{command}\n{between}{printed.rstrip()}\n```"

    text = guide.read_text()
    form = r"```console\n([^\n]*)\n((?:```\n\n```text\n)?)(.*?)\n?```"
    guide.write_text(re.sub(form, block, text, flags=re.DOTALL))


def main() -> None:
    """Renew the guides that are named."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("scenarios", "networks"):
            (Path(folder) / name).symlink_to(ROOT / name)
        for guide in sys.argv[1:]:
            renew(Path(guide), Path(folder))


if __name__ == "__main__":
    main()
