"""Somebody's library in a git repository, with the folder that describes it."""

import json
import os
import shutil
import subprocess
from pathlib import Path

from command import joulemark
from joulemark.project import FIRMWARE

AES = FIRMWARE / "primitives/block-cipher/aes"
_SOMEBODY = {
    f"GIT_{who}_{what}": "t@t" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
}


def git(root: Path, *arguments: str) -> str:
    """Run a git command as somebody."""
    command = ["git", "-C", str(root), *arguments]
    environment = {**os.environ, **_SOMEBODY}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return done.stdout


def library(root: Path, implementation: str, change: tuple[str, str], **about: object) -> Path:
    """Make a library with one of our implementations of AES, and with tags v1 and v2.

    Args:
        root: where to put the repository.
        implementation: the implementation that v1 copies.
        change: the function that v2 replaces, and its replacement; the old one is then called
            `before`.
        about: further keys of `implementation.toml`.
    """
    source = root / "src"
    source.mkdir(parents=True)
    for name in ("aes.c", "aes.h"):
        shutil.copy(AES / implementation / name, source)
    joulemark("new", "primitive", "block-cipher/aes/mine", "--out", str(root / "joulemark"))
    mine = root / "joulemark/block-cipher/aes/mine"
    for skeleton in ("aes.c", "aes.h"):
        (mine / skeleton).unlink()
    file = mine / "implementation.toml"
    lines = [line for line in file.read_text().splitlines() if line.split(" ")[0] not in about]
    keys = {
        "variants": ["aes-128"],
        "sources": ["../../../../src/*.c"],
        "include": ["../../../../src"],
        **about,
    }
    lines += [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
    file.write_text("\n".join(lines) + "\n")
    git(root, "init", "--quiet")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "first")
    git(root, "tag", "v1")
    code = source / "aes.c"
    function, anew = change
    code.write_text(code.read_text().replace(f"void {function}(", "static void before(", 1) + anew)
    git(root, "commit", "--quiet", "-am", "second")
    git(root, "tag", "v2")
    return root
