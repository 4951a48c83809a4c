"""`make setup` in a copied checkout."""

import shutil
import subprocess
from pathlib import Path

import pytest

from joulemark.project import ROOT


@pytest.mark.parametrize("copied", [False, True])
def test_a_copied_checkout_gets_an_environment_of_its_own(tmp_path: Path, copied: bool) -> None:
    for name in ("Makefile", "Cargo.toml", "Cargo.lock", "pyproject.toml", "requirements.lock"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "engine").mkdir()
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools/system-packages.sh", tmp_path / "tools")
    environment = tmp_path / ".venv"
    (environment / "bin").mkdir(parents=True)
    made_in = Path("/elsewhere/.venv") if copied else environment.resolve()
    (environment / "bin/activate").write_text(f'VIRTUAL_ENV="{made_in}"\n')
    for stamp in (".system", ".python", ".engine"):
        (environment / stamp).touch()
    done = subprocess.run(
        ["make", "--dry-run", "setup"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert ("python3 -m venv --clear .venv" in done.stdout) == copied
    assert ("--editable ." in done.stdout) == copied
