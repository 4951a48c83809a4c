"""Compilers that are started once do the same as those started for each command."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from joulemark.errors import BuildError
from joulemark.images import started, toolchain

CLANG = shutil.which("clang-19") or "clang-19"
SOURCE = "int twice(int a) { return 2 * a; }\n"


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Ignore what other tests started, and make what is found unfit here fit again."""
    monkeypatch.setattr(started, "_waiting", {})
    monkeypatch.setattr(started, "_unfit", set())
    yield
    started.close()


def command(name: str, *options: str) -> list[str]:
    return [CLANG, "--target=msp430", "-O2", *options, "-c", name, "-o", f"{name}.o"]


def waiting() -> list[int]:
    return [each.pid for idle in started._waiting.values() for each in idle]


def test_the_objects_are_the_same(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(SOURCE)
    for _ in range(3):
        assert started.run(command("a.c"), tmp_path) == (0, "")
        made = (tmp_path / "a.c.o").read_bytes()
        (tmp_path / "a.c.o").unlink()
    assert len(waiting()) == 1, "it was started anew"
    subprocess.run(command("a.c"), cwd=tmp_path, check=True)
    assert (tmp_path / "a.c.o").read_bytes() == made


def test_what_one_command_says_is_not_said_again(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(SOURCE)
    (tmp_path / "b.c").write_text("int twice(int a) { return 2 * b; }\n")
    with pytest.raises(BuildError, match="undeclared identifier 'b'"):
        toolchain.run(command("b.c"), "compiling b.c", tmp_path)
    assert started.run(command("a.c"), tmp_path) == (0, "")
    assert len(waiting()) == 1


def test_threads_have_one_each(tmp_path: Path) -> None:
    names = [f"{i}.c" for i in range(12)]
    for name in names:
        (tmp_path / name).write_text(SOURCE)
    with ThreadPoolExecutor(3) as pool:
        done = list(pool.map(lambda name: started.run(command(name), tmp_path), names))
    assert done == [(0, "")] * len(names)
    assert 1 <= len(waiting()) <= 3
    assert all((tmp_path / f"{name}.o").is_file() for name in names)


def test_an_environment_that_changed_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "b.h").write_text(SOURCE)
    (tmp_path / "a.c").write_text('#include "b.h"\n')
    code, printed = started.run(command("a.c"), tmp_path) or (None, "")
    assert code == 1
    assert "'b.h' file not found" in printed
    before = waiting()
    monkeypatch.setenv("CPATH", str(tmp_path / "folder"))
    assert started.run(command("a.c"), tmp_path) == (0, "")
    # Those of the earlier environment have ended.
    assert len(waiting()) == 1
    assert not set(waiting()) & set(before)


def test_one_that_was_killed_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(SOURCE)
    assert started.run(command("a.c"), tmp_path) is not None
    os.kill(waiting()[0], signal.SIGKILL)
    toolchain.run(command("a.c"), "compiling a.c", tmp_path)
    assert (tmp_path / "a.c.o").is_file()


def test_a_script_around_it_does_too(tmp_path: Path) -> None:
    script = tmp_path / "clang-of-ours"
    script.write_text('#!/bin/sh\nexec clang-19 "$@"\n')
    script.chmod(0o755)
    (tmp_path / "a.c").write_text(SOURCE)
    toolchain.run([str(script), *command("a.c")[1:]], "compiling a.c", tmp_path)
    assert (tmp_path / "a.c.o").is_file()


def test_a_folder_of_any_name_will_do(tmp_path: Path) -> None:
    folder = tmp_path / "my projects: größer"
    folder.mkdir()
    (folder / "a.c").write_text(SOURCE)
    assert started.run(command("a.c"), folder) == (0, "")
