"""The interface for notebooks: docs/python.md as a reader would run it, from the top."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import joulemark
from emulated import BOARD
from joulemark import interface, project
from joulemark.catalogue import skeletons
from joulemark.catalogue.primitives import Library
from joulemark.images import build_image
from joulemark.project import ROOT

EXAMPLES = re.findall(r"```python\n(.*?)```", (ROOT / "docs/python.md").read_text(), re.DOTALL)


def _own(folder: Path) -> None:
    """Write what a reader has: a scenario, and another implementation of XTEA."""
    (skeleton,) = skeletons.scenario("device", None).values()
    text = skeleton.partition("[what_if]")[0].replace('source = ""', 'source = "assumed"')
    (folder / "device.toml").write_text(text)
    shutil.copytree(
        ROOT / "firmware/primitives/block-cipher/xtea/ref", folder / "own/block-cipher/xtea/mine"
    )


def test_every_example_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    library = Library.load()
    way = library.implementation(library["xtea"], "ref")
    shutil.copy(build_image(way, BOARD).path, tmp_path / "firmware.elf")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    _own(tmp_path)
    assert len(EXAMPLES) == 14
    for number, example in enumerate(EXAMPLES):
        exec(compile(example, f"docs/python.md, example {number + 1}", "exec"), names)  # noqa: S102
    shown = capsys.readouterr().out
    assert "aes-128/ref encrypt 16 B" in shown
    assert "did you mean telosb?" in shown
    assert set(names["steps"]["operation"]) >= {"message-1", "finish"}  # type: ignore[index]
    assert names["builds"].loc[0, "implementation"] == "ttable"  # type: ignore[attr-defined]
    assert names["builds"]["errors"].str.contains("time exact").all()  # type: ignore[index]
    assert names["functions"]["self cycles"].is_monotonic_decreasing  # type: ignore[index]
    assert "years" in shown
    assert "contradicted by the paper itself" in shown
    assert not project.sources(), "a source is for one call"
    changes = names["changes"]
    assert isinstance(changes, interface.compare("results.db", "results.db").__class__)
    assert set(changes["state"]) >= {"missing"}


def test_an_image_that_is_none_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    for name, message in (("empty", "the file is empty"), ("none.elf", "cannot be read")):
        with pytest.raises(joulemark.JoulemarkError, match=message):
            joulemark.machine(tmp_path / name, board="telosb")


def test_what_it_offers_is_there_and_documented() -> None:
    for name in joulemark.__all__:
        assert getattr(joulemark, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = joulemark.nothing


def test_importing_it_takes_nothing_with_it() -> None:
    code = "import joulemark, sys; print(any(m in sys.modules for m in ('pandas', 'sqlalchemy')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
