"""Instruction sets are found: a made-up one is known where it may be, and else refused clearly."""

from pathlib import Path

import pytest

from joulemark import project
from joulemark.catalogue import instruction_sets
from joulemark.catalogue.chips import load_chip
from joulemark.catalogue.primitives import Library
from joulemark.errors import InputError, ToolError
from joulemark.images import families, toolchain
from joulemark.measure.branches import deciders
from joulemark.project import ROOT

MADE_UP = """
title = "Made-up"
[compilers]
default = "clang"
clang_target = "madeup"
gcc = "madeup-elf-gcc"
get_gcc = "make one"
linker = "lld"
"""
PART = """
description = "none"
method = "none"
secret_independent = false
word_bits = 32
cores = ["{core}"]
"""


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder with an instruction set, one that extends it, and an implementation."""
    folder = tmp_path / "instruction_sets"
    folder.mkdir()
    (folder / "madeup.toml").write_text(MADE_UP)
    (folder / "madeup-x.toml").write_text('title = "X"\nextends = "madeup"\ncpus = ["x1"]\n')
    way = tmp_path / "block-cipher" / "xtea" / "own"
    way.mkdir(parents=True)
    (way / "implementation.toml").write_text(PART.format(core="madeup"))
    monkeypatch.setenv("JOULEMARK_SOURCE", str(tmp_path))
    return tmp_path


def test_a_set_from_outside_is_known_with_what_extends_it(source: Path) -> None:
    assert source in project.sources()
    assert {"madeup", "madeup-x", "armv7m"} < set(instruction_sets.names())
    assert instruction_sets.with_extensions(["madeup"]) == {"madeup", "madeup-x"}
    assert instruction_sets.of_chip("madeup", "x1") == "madeup-x"
    assert instruction_sets.of_chip("madeup", "x0") == "madeup"
    assert instruction_sets.compilers("madeup-x").gcc == "madeup-elf-gcc"
    way = Library.load().implementation(Library.load()["xtea"], "own")
    assert set(way.cores or ()) == {"madeup", "madeup-x"}
    assert way.runs_on("madeup-x")
    assert not way.runs_on("armv7m")


def test_what_does_not_support_it_names_it(source: Path, tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="no clang that makes code for madeup"):
        toolchain.find("clang", "madeup")
    with pytest.raises(ToolError, match="madeup-elf-gcc"):
        toolchain.find("gcc", "madeup")
    with pytest.raises(InputError, match="no firmware for the core madeup"):
        families.load("madeup")
    # Never taken for another core's code.
    with pytest.raises(InputError, match="branch of the core madeup is not known"):
        deciders(tmp_path / "image.elf", "madeup")


def test_a_chip_with_it_is_refused_by_the_engine(source: Path) -> None:
    chips = source / "chips"
    chips.mkdir()
    text = (ROOT / "chips" / "stm32f100rb.toml").read_text()
    text = text.replace('core = "armv7m"', 'core = "madeup"')
    (chips / "madechip.toml").write_text(text.replace('"stm32f100rb"', '"madechip"', 1))
    with pytest.raises(InputError, match=r"madechip\.toml.*madeup"):
        load_chip("madechip")


def test_an_implementation_for_an_unknown_set_is_refused(source: Path) -> None:
    path = source / "block-cipher" / "xtea" / "own" / "implementation.toml"
    path.write_text(PART.format(core="armv7n"))
    with pytest.raises(InputError, match="no instruction set armv7n") as refused:
        Library.load()
    assert str(path) in str(refused.value)
    assert "armv7m" in str(refused.value)


def test_every_file_that_is_wrong_is_named(source: Path) -> None:
    path = source / "instruction_sets" / "madeup.toml"
    path.write_text('title = "Made-up"\nfamily = "x"\n')
    instruction_sets._read.cache_clear()
    with pytest.raises(InputError, match=r"unknown key.*madeup\.toml|madeup\.toml.*unknown key"):
        instruction_sets.load("madeup")
    path.write_text('title = "Made-up"\n')
    instruction_sets._read.cache_clear()
    with pytest.raises(InputError, match="key compilers"):
        instruction_sets.compilers("madeup")
