"""Builds wheels with maturin, including the data that the command needs without a checkout.

Chips, boards, firmware and the like are beside `src` in the tree, but in the package in a wheel.
"""

import contextlib
import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import maturin
from maturin import (
    build_editable,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

_ROOT = Path(__file__).resolve().parents[1]
_FILES = ("pyproject.toml", "Cargo.toml", "Cargo.lock", "README.md", "LICENSE")
_FOLDERS = ("engine", "src")
DATA = (
    *("chips", "boards", "firmware", "scenarios"),
    *("machines", "libraries", "networks", "studies"),
)
_IGNORED = shutil.ignore_patterns("__pycache__", "*.so", "target")


def build_wheel(
    wheel_directory: str,
    config_settings: Mapping[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    """Build a wheel from a copy of the tree that has the data in the package."""
    folder = str(Path(wheel_directory).resolve())
    with _staged():
        name: str = maturin.build_wheel(folder, config_settings, metadata_directory)
    return name


def build_sdist(sdist_directory: str, config_settings: Mapping[str, Any] | None = None) -> str:
    """Pack what a wheel is built from, with the commit that it is of."""
    with tempfile.TemporaryDirectory() as folder:
        described = maturin.prepare_metadata_for_build_wheel(folder, config_settings)
        metadata = Path(folder, described, "METADATA").read_text(encoding="utf-8")
        version = next(
            v for k, _, v in (x.partition(": ") for x in metadata.split("\n")) if k == "Version"
        )
        top = Path(folder, f"joulemark-{version}")
        for name in (*_FOLDERS, *DATA, "tools"):
            shutil.copytree(_ROOT / name, top / name, ignore=_IGNORED)
        for name in _FILES:
            shutil.copy2(_ROOT / name, top)
        (top / "PKG-INFO").write_text(metadata, encoding="utf-8")
        (top / "commit").write_text(_commit())
        name = f"{top.name}.tar.gz"
        with tarfile.open(Path(sdist_directory, name), "w:gz", format=tarfile.PAX_FORMAT) as packed:
            packed.add(top, top.name)
    return name


@contextlib.contextmanager
def _staged() -> Iterator[None]:
    """Work in the copy; always the same folder, so that cargo recognises what it has built."""
    stage = _ROOT / "build/wheel"
    shutil.rmtree(stage, ignore_errors=True)
    copy_tree(stage)
    os.environ.setdefault("CARGO_TARGET_DIR", str(_ROOT / "target"))
    with contextlib.chdir(stage):
        yield


def copy_tree(stage: Path) -> None:
    """Copy what a wheel is built from, with the data inside the package."""
    data = stage / "src/joulemark/data"
    stage.mkdir(parents=True, exist_ok=True)
    for name in _FOLDERS:
        shutil.copytree(_ROOT / name, stage / name, ignore=_IGNORED)
    for name in DATA:
        shutil.copytree(_ROOT / name, data / name, ignore=_IGNORED)
    for name in _FILES:
        shutil.copy2(_ROOT / name, stage)
    shutil.copytree(_ROOT / "tools", stage / "tools", ignore=_IGNORED)
    (data / "commit").write_text(_commit())


def _commit() -> str:
    """Return the commit, with "+dirty" if files differ; empty if it cannot be told."""
    if (_ROOT / "commit").is_file():  # In an sdist.
        return (_ROOT / "commit").read_text()

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(_ROOT), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        return git("rev-parse", "HEAD") + ("+dirty" if git("status", "--porcelain") else "")
    except (OSError, subprocess.CalledProcessError):
        return ""
