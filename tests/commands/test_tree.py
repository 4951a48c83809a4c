"""The root of the tree: everything in it is known, and CONTRIBUTING describes each folder."""

import re
import subprocess

from joulemark.project import ROOT

FILES = {
    *("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE", "Makefile"),
    *("pyproject.toml", "requirements.lock", "Cargo.toml", "Cargo.lock", "clippy.toml"),
    *("deny.toml", "action.yml", "CITATION.cff"),
    *(".clang-format", ".gitignore"),
}
TOOLS = {".ci", ".devcontainer", "docs", "tools"}
"""Folders that hold no part of the program."""


def test_nothing_unknown_lies_at_the_root() -> None:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    names = {name for name in listed.split("\0") if name and (ROOT / name).exists()}
    files = {name for name in names if "/" not in name}
    folders = {name.partition("/")[0] for name in names if "/" in name}
    assert files == FILES
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    cells = re.findall(r"^\| (`[a-z/_`, ]+) \|", text, re.MULTILINE)
    described = {name.partition("/")[0] for cell in cells for name in re.findall("`([^`]+)`", cell)}
    assert folders - TOOLS <= described
