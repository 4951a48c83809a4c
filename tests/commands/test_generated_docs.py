"""The generated pages are what their generator writes."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from joulemark.project import ROOT

TOOL = ROOT / "tools" / "generate_docs.py"


def test_static_pages_are_up_to_date(tmp_path: Path) -> None:
    subprocess.run([sys.executable, TOOL, "--out", tmp_path], check=True)
    for page in tmp_path.iterdir():
        committed = (ROOT / "docs" / page.name).read_text()
        assert page.read_text() == committed, f"run {TOOL.relative_to(ROOT)}"


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("results-*.md")), ids=lambda p: p.name)
def test_results_are_of_one_clean_commit(page: Path) -> None:
    assert re.search(r"^\| commit \| [0-9a-f]{40} \|$", page.read_text(), re.MULTILINE)
