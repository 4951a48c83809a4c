"""A result is kept as long as nothing that made it has changed: text does not count, values do."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from joulemark import meaning
from joulemark.measure import estimated, scheduled
from joulemark.project import ROOT

TABLES = sorted(
    path
    for folder in ("boards", "chips", "machines", "networks", "firmware", "engine")
    for path in (ROOT / folder).rglob("*.toml")
    if path.name not in {"Cargo.toml", "vectors.toml"} and "target" not in path.parts
)
MODULES = [
    *sorted((ROOT / "firmware").rglob("*.py")),
    Path(estimated.__file__),
    Path(scheduled.__file__),
]


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of all values that are not text for readers."""
    if isinstance(value, dict):
        for key, of in value.items():
            if key not in meaning.TEXT:
                yield from leaves(of, (*path, key))
    elif isinstance(value, list):
        for number, of in enumerate(value):
            yield from leaves(of, (*path, number))
    else:
        yield path


def changed(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int | float) else f"{value}x"


@given(st.data())
def test_every_value_of_a_data_file_counts(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(TABLES))
    table = tomllib.loads(path.read_text())
    before = meaning.of_values(table)
    place = data.draw(st.sampled_from([*leaves(table)]))
    at = table
    for key in place[:-1]:
        at = at[key]
    at[place[-1]] = changed(at[place[-1]])
    assert meaning.of_values(table) != before


@pytest.mark.parametrize("folder", ["boards", "chips", "machines", "networks", "firmware"])
def test_text_in_a_data_file_does_not_count(folder: str, tmp_path: Path) -> None:
    files = [path for path in TABLES if path.is_relative_to(ROOT / folder)]
    assert files
    for path in files:
        before = meaning.of_table(path)
        edited = tmp_path / "edited.toml"
        lines = path.read_text().splitlines()
        texts = [
            re.sub(r'((?:source|note|title|description) = ")', r"\1other ", line) for line in lines
        ]
        # A text of several lines has no room for comments.
        between = "\n" if '"""' in path.read_text() else "\n# a comment\n"
        edited.write_text(between.join(["", *texts, ""]))
        assert meaning.of_table(edited) == before, path


def test_every_number_of_a_chip_is_a_value() -> None:
    """No key with a number is named like text."""
    for path in TABLES:
        for key, value in tomllib.loads(path.read_text()).items():
            assert key not in meaning.TEXT or not isinstance(value, int | float), path


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_comments_and_layout_of_a_module_do_not_count(path: Path, tmp_path: Path) -> None:
    edited = tmp_path / path.name
    # What is written anew from the tree has no comments and another layout.
    tree = ast.parse(path.read_text())
    tree.body.insert(0, ast.Expr(ast.Constant("Another docstring.")))
    edited.write_text(ast.unparse(tree))
    assert meaning.of_file(edited) == meaning.of_file(path)


@given(st.data())
def test_every_constant_of_a_module_counts(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(MODULES))
    tree = ast.parse(path.read_text())
    before = meaning.of_tree(tree)  # Which takes the docstrings away.
    constants = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, int | str | bytes)
    ]
    assume(constants)
    node = data.draw(st.sampled_from(constants))
    node.value = node.value + b"x" if isinstance(node.value, bytes) else changed(node.value)
    assert meaning.of_tree(tree) != before


def test_what_an_oracle_imports_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "joulemark"
    package.mkdir()
    monkeypatch.setattr(meaning, "_PACKAGE", package)
    (package / "deep.py").write_text("NUMBER = 1\n")
    (package / "curves.py").write_text("from joulemark.deep import NUMBER\n")
    oracle = tmp_path / "oracle.py"
    oracle.write_text("from joulemark import curves\nfrom os import path\n")
    before = meaning.of_module(oracle)
    (package / "deep.py").write_text("# A comment.\nNUMBER = 1\n")
    assert meaning.of_module(oracle) == before
    (package / "deep.py").write_text("NUMBER = 2\n")
    os.utime(package / "deep.py", ns=(1, 1))
    assert meaning.of_module(oracle) != before


@pytest.mark.parametrize(
    "path", sorted((ROOT / "firmware").rglob("*.py")), ids=lambda path: path.parent.name
)
def test_an_oracle_runs_no_code_that_its_digest_does_not_follow(path: Path) -> None:
    names = {
        node.id for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Name)
    }
    assert not names & {"runpy", "importlib", "import_module", "exec", "eval", "__import__"}


Edit = Callable[[str], str]
BOARD, PRIMITIVE = "stm32vldiscovery", "firmware/primitives/block-cipher/xtea"
COMMENTS: dict[str, Edit] = {
    "chips/stm32f100rb.toml": lambda text: f"# A comment.\n{text}",
    f"boards/{BOARD}.toml": lambda text: text.replace('source = "', 'source = "other: '),
    "firmware/primitives/block-cipher/kind.toml": lambda text: f"{text}\n# A comment.\n",
    f"{PRIMITIVE}/primitive.toml": lambda text: f"# A comment.\n\n{text}",
    f"{PRIMITIVE}/oracle.py": lambda text: f'"""Other text."""\n# A comment.\n\n{text}',
    f"{PRIMITIVE}/ref/xtea.c": lambda text: f"/* A comment.\n\n*/\n{text}",
    "firmware/harness/harness.c": lambda text: f"// A comment.\n\n{text}",
    "firmware/hal/armv7m/hal.c": lambda text: f"// A comment.\n\n{text}",
}
CONSTANTS: dict[str, Edit] = {
    "chips/stm32f100rb.toml": lambda text: re.sub(
        r"constant_a = \{ value = ([0-9.e-]+)", r"constant_a = { value = 1\1", text, count=1
    ),
    f"boards/{BOARD}.toml": lambda text: text.replace("slow_ppm = ", "slow_ppm = 1", 1),
    "firmware/primitives/block-cipher/kind.toml": lambda text: text.replace(
        "secret = true", "secret = false", 1
    ),
    f"{PRIMITIVE}/oracle.py": lambda text: f"{text}\nANOTHER = 1\n",
    f"{PRIMITIVE}/ref/xtea.c": lambda text: f"{text}\nint another = 1;\n",
}


@pytest.mark.slow
def test_no_comment_anywhere_makes_anything_measured_again(tmp_path: Path) -> None:
    """In a tree of its own, with a store of its own; then each constant does."""
    root = tmp_path / "tree"
    for folder in ("boards", "chips", "firmware", "machines", "networks", "libraries"):
        shutil.copytree(ROOT / folder, root / folder)
    for folder in ("scenarios", "studies", "src", "engine"):
        (root / folder).symlink_to(ROOT / folder)
    environment = {**os.environ, "JOULEMARK_ROOT": str(root), "NO_COLOR": "1"}
    command = ["run", "--board", BOARD, "--primitive", "xtea", "--implementation", "ref"]
    command += ["--operation", "encrypt", "--size", "8", "--store", str(tmp_path / "store.db")]

    def measured() -> str:
        done = subprocess.run(
            [sys.executable, "-c", "from joulemark.cli import main; main()", *command],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        line: str = next(line for line in done.stdout.splitlines() if "measured" in line)
        return line.partition(",")[0]

    assert measured() == "measured 1"
    for name, edit in COMMENTS.items():
        path = root / name
        text = path.read_text()
        assert edit(text) != text, name
        path.write_text(edit(text))
    assert measured() == "measured 0"
    for name, edit in CONSTANTS.items():
        path = root / name
        text = path.read_text()
        assert edit(text) != text, name
        path.write_text(edit(text))
        assert measured() == "measured 1", name
