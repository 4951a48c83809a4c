"""Flashing, with fake programs that record how they are called."""

import os
import stat
from pathlib import Path

import pytest

from command import by_itself
from joulemark._engine import Image, Machine
from joulemark.catalogue import boards, chips
from joulemark.catalogue.primitives import Library
from joulemark.images import build_image
from joulemark.runners.flash import intel_hex

CASE = (
    *("--primitive", "sha-256", "--implementation", "ref", "--operation", "hash"),
    *("--size", "64", "--opt", "Os"),
    *("--runner", "serial", "--port", "/dev/nowhere", "--flash"),
    *("--meter", "manual", "--resolution", "1", "--accuracy", "0.02"),
)


def fake(folder: Path, name: str, code: int = 0) -> None:
    """Make a program on the PATH that records its arguments."""
    path = folder / name
    path.write_text(
        "#!/bin/sh\n"
        f'printf "%s\\n" "$@" > {folder}/arguments\n'
        f"[ {code} = 0 ] || echo no sync with the boot loader >&2\n"
        f"exit {code}\n"
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def path_with(folder: Path) -> str:
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


@pytest.mark.parametrize("name", boards.names())
def test_each_board_is_flashed_as_its_file_says(name: str, tmp_path: Path) -> None:
    board = boards.load_board(name)
    assert board.flash is not None
    fake(tmp_path, board.flash.command[0])
    # The board does not answer then, so its case fails.
    failed = by_itself(
        *("run", "--board", name, *CASE), code=6, folder=tmp_path, PATH=path_with(tmp_path)
    )
    assert "/dev/nowhere: cannot be opened" in failed.stderr
    called = (tmp_path / "arguments").read_text().splitlines()
    assert len(called) == len(board.flash.command) - 1
    for argument, template in zip(called, board.flash.command[1:], strict=True):
        assert "{" not in argument
        if "{" not in template:
            assert argument == template
        if template == "{port}":
            assert argument == "/dev/nowhere"


def test_a_missing_program_says_how_to_get_it(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for tool in ("clang-19", "ld.lld-19", "git"):
        for folder in os.environ["PATH"].split(os.pathsep):
            if (Path(folder) / tool).exists() and not (tmp_path / "bin" / tool).exists():
                (tmp_path / "bin" / tool).symlink_to(Path(folder) / tool)
    refused = by_itself(
        *("run", "--board", "telosb", *CASE), code=4, folder=tmp_path, PATH=str(tmp_path / "bin")
    )
    assert "msp430-bsl-telosb is not installed; pip install python-msp430-tools" in refused.stderr


def test_a_program_that_fails_is_quoted(tmp_path: Path) -> None:
    fake(tmp_path, "msp430-bsl-telosb", code=3)
    failed = by_itself(
        *("run", "--board", "telosb", *CASE), code=10, folder=tmp_path, PATH=path_with(tmp_path)
    )
    assert "not flashed: exit code 3: no sync with the boot loader; check cable" in failed.stderr


@pytest.mark.parametrize("name", ["telosb", "sensortag-cc2650"])
def test_hex_boots_as_the_elf_does(name: str, tmp_path: Path) -> None:
    """The engine reads Intel HEX itself."""
    library = Library.load()
    board = boards.load_board(name)
    compiler = "clang" if board.core == "msp430" else "gcc"
    built = build_image(library.implementation(library["sha-256"], "ref"), board, compiler=compiler)
    path = tmp_path / "image.hex"
    path.write_text(intel_hex(built.path))
    ends = []
    for image in (built.path, path):
        machine = Machine(
            chips.load_chip(board.chip), Image.load(image), marker=board.marker.pin, trace=True
        )
        stop = machine.run(until_asleep=True, max_cycles=20_000_000)
        ends.append((stop.reason, stop.address, machine.cycles, machine.instructions))
    assert ends[0] == ends[1]
    assert ends[0][0] == "asleep"
