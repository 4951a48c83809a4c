"""The generated pages are what their generator writes."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import generate_docs
import joulemark
from generate_docs import Results
from joulemark.catalogue import boards
from joulemark.project import ROOT
from joulemark.records.record import of_primitives
from joulemark.records.store import Store
from vectors import LIBRARY

TOOL = ROOT / "tools" / "generate_docs.py"


def test_static_pages_are_up_to_date(tmp_path: Path) -> None:
    subprocess.run([sys.executable, TOOL, "--out", tmp_path], check=True)
    for page in tmp_path.iterdir():
        committed = (ROOT / "docs" / page.name).read_text()
        assert page.read_text() == committed, f"run {TOOL.relative_to(ROOT)}"


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("results-*.md")), ids=lambda p: p.name)
def test_results_are_of_one_clean_commit(page: Path) -> None:
    assert re.search(r"^\| commit \| [0-9a-f]{40} \|$", page.read_text(), re.MULTILINE)


def test_the_post_quantum_page_is_of_one_clean_commit() -> None:
    page = (ROOT / "docs" / "post-quantum.md").read_text()
    commits = re.findall(r"^\| commit \| ([0-9a-f]{40}) \|$", page, re.MULTILINE)
    sections = re.findall(r"^## (.*)$", page, re.MULTILINE)
    tables = tomllib.loads((ROOT / generate_docs.POST_QUANTUM).read_text())["primitive"]
    asked = [t["board"] if isinstance(t["board"], list) else [t["board"]] for t in tables]
    measured = {board for some in asked for board in some}
    assert sorted(sections) == sorted([*measured, "Side by side"])
    assert measured <= set(boards.names())
    assert len(commits) == len(measured)
    assert len(set(commits)) == 1


@pytest.mark.slow
@pytest.mark.parametrize("board", ["stm32vldiscovery", "telosb"])
def test_the_post_quantum_page_has_what_is_measured(board: str, tmp_path: Path) -> None:
    tables = tomllib.loads((ROOT / generate_docs.POST_QUANTUM).read_text())["primitive"]
    of_kems = next(t for t in tables if t.get("kind") == "kem" and board in t["board"])
    del of_kems["kind"]
    store = f"sqlite:///{tmp_path / 'store.db'}"
    joulemark.run(**{**of_kems, "board": board, "primitive": "ml-kem-512"}, store=store)
    with Store(store, "read") as found:
        records = of_primitives(found.records())
    # The seed of the matrix is public and differs between trials, and so do their times: only
    # following tells.
    assert all(r.cycles_min != r.cycles_max for r in records)
    assert {r.finding for r in records} == {"independent of data"}
    rows = generate_docs.post_quantum_rows(Results(records, board, LIBRARY))
    page = (ROOT / "docs" / "post-quantum.md").read_text()
    section = page.partition(f"\n## {board}\n")[2].partition("\n## ")[0]
    assert f"| {' | '.join(rows[0])} |" in section
