"""A library of somebody's in a git repository, with the folder that says what it is."""

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
    """Give a command of git as somebody."""
    command = ["git", "-C", str(root), *arguments]
    environment = {**os.environ, **_SOMEBODY}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return done.stdout


def library(root: Path, implementation: str, change: tuple[str, str], **about: object) -> Path:
    """A library that has one of the ways to write AES here, and tags v1 and v2.

    Args:
        root: where the repository shall be.
        implementation: the way of which v1 is a copy.
        change: the function that v2 has anew, and what stands in its place; the old one is `before`
            then.
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
