"""A release gathers what changed, and is refused where something is wrong."""

import subprocess
import sys
from pathlib import Path

import pytest

import release
from joulemark.project import ROOT

CHANGELOG = """# Changelog

## Unreleased
### Fixed
- One that was there.

## 0.2.0 (2026-01-01)
- Old.
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "changes").mkdir()
    (tmp_path / "changes" / "b.md").write_text("- B.\n")
    (tmp_path / "changes" / "a.md").write_text("- A.\n- More.\n")
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    (tmp_path / "Cargo.toml").write_text('[workspace.package]\nversion = "0.2.0"\n')
    (tmp_path / "CITATION.cff").write_text("cff-version: 1.2.0\nversion: 0.2.0\nlicense: MIT\n")
    return tmp_path


def test_fragments_stand_under_the_version_and_are_gone(tree: Path) -> None:
    release.gather(tree, "0.3.0", "2026-11-26")
    text = (tree / "CHANGELOG.md").read_text()
    assert text.index("## Unreleased") < text.index("## 0.3.0 (2026-11-26)") < text.index("- A.")
    assert text.index("- More.") < text.index("- B.") < text.index("- One that was there.")
    assert text.index("- One that was there.") < text.index("## 0.2.0 (2026-01-01)")
    assert not list((tree / "changes").iterdir())


def test_nothing_is_released_twice_and_nothing_of_nothing(tree: Path) -> None:
    release.gather(tree, "0.3.0", "2026-11-26")
    with pytest.raises(release.RefusedError, match=r"0\.3\.0 already"):
        release.gather(tree, "0.3.0", "2026-11-26")
    with pytest.raises(release.RefusedError, match="nothing changed"):
        release.gather(tree, "0.4.0", "2026-11-26")


@pytest.mark.parametrize("version", ["0.2.0", "0.1.9", "0.3", "v0.3.0", ""])
def test_a_version_is_three_numbers_and_later(tree: Path, version: str) -> None:
    with pytest.raises(release.RefusedError):
        release.set_version(tree, version)
    assert '"0.2.0"' in (tree / "Cargo.toml").read_text()


def test_the_version_stands_where_it_is_built_from_and_where_it_is_cited(tree: Path) -> None:
    release.set_version(tree, "0.10.0")
    assert 'version = "0.10.0"' in (tree / "Cargo.toml").read_text()
    cited = (tree / "CITATION.cff").read_text()
    assert cited == "cff-version: 1.2.0\nversion: 0.10.0\nlicense: MIT\n"


def test_the_citation_is_valid_and_of_this_version() -> None:
    path = ROOT / "CITATION.cff"
    check = [sys.executable, "-m", "check_jsonschema", str(path)]
    kind = ["--builtin-schema", "vendor.citation-file-format"]
    subprocess.run([*check, *kind], check=True, capture_output=True)
    (version,) = release.VERSION.findall((ROOT / "Cargo.toml").read_text())
    assert f"\nversion: {version}\n" in path.read_text()
