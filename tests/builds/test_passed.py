"""A check runs again when the image, the engine, the check or what it asks for has changed."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import passed
from build_checks import Build, Check
from emulated import BuildOf
from joulemark.project import ROOT
from passed import Passed
from vectors import LIBRARY

AES = LIBRARY.implementation(LIBRARY["aes-128"], "ref")


def build(optimisation: str = "Os") -> Build:
    return Build(BuildOf(AES, "clang", optimisation))


class Counting:
    """A check in a module of its own, which counts how often it runs."""

    def __init__(self) -> None:
        self.count = 0
        self.check = Check("counting", self, lambda _: True, "counting")

    def __call__(self, _: Build) -> None:
        self.count += 1

    def runs(self, folder: Path, of: Build, *, again: bool = False) -> bool:
        before = self.count
        Passed(folder, again=again).run(of, self.check)
        return self.count > before


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Modules of tests: a check, and one that it imports."""
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / "counting.py").write_text("from helping import LIMIT\n")
    (folder / "helping.py").write_text("LIMIT = 3\n")
    monkeypatch.setattr(passed, "_OF_TESTS", (folder,))
    passed._imported.cache_clear()
    return folder


def test_what_has_passed_is_not_run_again(tmp_path: Path, tree: Path) -> None:
    counting, own = Counting(), build()
    assert counting.runs(tmp_path, own)
    assert not counting.runs(tmp_path, own)
    assert counting.runs(tmp_path, own, again=True)
    results = Passed(tmp_path)
    results.run(own, counting.check)
    assert (results.ran, results.known) == (0, 1)


def test_another_image_is_checked(tmp_path: Path, tree: Path) -> None:
    counting, own = Counting(), build()
    assert counting.runs(tmp_path, own)
    # The same build from a source that was changed.
    own.made = build("O3").made
    assert counting.runs(tmp_path, own)


def test_another_engine_is_checked(
    tmp_path: Path, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counting, own = Counting(), build()
    assert counting.runs(tmp_path, own)
    monkeypatch.setattr(passed, "engine_digest", lambda: "another")
    assert counting.runs(tmp_path, own)


@pytest.mark.parametrize("module", ["counting", "helping"])
def test_a_changed_check_runs_and_a_comment_changes_nothing(
    tmp_path: Path, tree: Path, module: str
) -> None:
    counting, own, path = Counting(), build(), tree / f"{module}.py"
    assert counting.runs(tmp_path, own)
    path.write_text(f"# why\n{path.read_text()}")
    assert not counting.runs(tmp_path, own)
    path.write_text(f"{path.read_text()}MORE = 4\n")
    assert counting.runs(tmp_path, own)


def test_another_vector_and_another_oracle_are_checked(tmp_path: Path, tree: Path) -> None:
    library = tmp_path / "primitives"
    shutil.copytree(AES.algorithm.primitive.folder.parents[1], library)
    loaded = type(LIBRARY).load(library)
    own = build()
    own.way = loaded.implementation(loaded["aes-128"], "ref")
    counting = Counting()
    assert counting.runs(tmp_path, own)
    oracle = library / "block-cipher/aes/oracle.py"
    oracle.write_text(f"{oracle.read_text()}\nMORE = 4\n")
    assert counting.runs(tmp_path, own)
    vectors = library / "block-cipher/aes/vectors.toml"
    vectors.write_text(vectors.read_text().replace("[[vector]]", "[[vector]]\nmore = 1", 1))
    passed._of_table.cache_clear()
    assert counting.runs(tmp_path, own)
    assert not counting.runs(tmp_path, own)


def test_what_fails_is_not_taken_for_passed(tmp_path: Path, tree: Path) -> None:
    def fails(_: Build) -> None:
        raise AssertionError

    failing = Check("failing", fails, lambda _: True, "counting")
    own = build()
    for _ in range(2):
        with pytest.raises(AssertionError):
            Passed(tmp_path).run(own, failing)


@pytest.mark.slow
def test_the_summary_says_what_was_not_run() -> None:
    def summary(*options: str) -> str:
        one = ("-k", "aes-128/ref-telosb-clang-Os", "tests/builds/test_every_build.py")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, *one]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        (line,) = (x for x in done.stdout.splitlines() if x.startswith("checks of builds: "))
        return line

    assert "1 ran, 0 passed before" in summary("--again")
    assert "0 ran, 1 passed before with the same image, engine and check" in summary()
