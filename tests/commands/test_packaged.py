"""The package as in a wheel: data inside, no checkout near, an empty folder to work in."""

import json
import os
import platform
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import build_backend
from command import joulemark
from joulemark import _engine
from joulemark.project import ROOT

CASE = ("--board", "telosb", "--primitive", "aes-128", "--implementation", "ref", "--size", "16")


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The copy of the tree that a wheel is made from, with the engine already built."""
    folder = tmp_path_factory.mktemp("package")
    build_backend.copy_tree(folder)
    shutil.copy(str(_engine.__file__), folder / "src/joulemark")
    return folder / "src"


def command(package: Path, folder: Path, *arguments: str) -> str:
    folder.mkdir(exist_ok=True)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("JOULEMARK")}
    environment |= {"PYTHONPATH": str(package), "XDG_CACHE_HOME": str(folder / "cache")}
    code = "import joulemark.cli as c, sys; print(c.__file__, file=sys.stderr); c.main()"
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith(str(package))
    return done.stdout


def test_the_package_has_all_data_and_the_commit(package: Path) -> None:
    data = package / "joulemark/data"
    for name in build_backend.DATA:
        here = {p.relative_to(ROOT) for p in (ROOT / name).rglob("*") if _counts(p)}
        there = {p.relative_to(data) for p in (data / name).rglob("*") if _counts(p)}
        assert here == there
    assert (data / "commit").is_file()


def _counts(path: Path) -> bool:
    return path.is_file() and path.suffix != ".pyc"


def test_what_it_measures_is_what_the_checkout_measures(package: Path, tmp_path: Path) -> None:
    command(package, tmp_path / "empty", "run", *CASE, "--seed", "1")
    store = str(tmp_path / "checkout.db")
    joulemark("run", *CASE, "--seed", "1", "--store", store)
    text = command(package, tmp_path / "empty", "export", "--format", "json")
    packaged, checkout = (
        {r["operation"]: (r["image_digest"], r["cycles"], r["flash_bytes"]) for r in json.loads(t)}
        for t in (text, joulemark("export", "--format", "json", "--store", store).stdout)
    )
    assert packaged == checkout
    # Nothing was written into the package.
    assert not (package / "joulemark/data/build").exists()


def test_its_images_are_profiled_and_executed_anywhere(package: Path, tmp_path: Path) -> None:
    command(package, tmp_path, "run", *CASE, "--operation", "encrypt", "--seed", "1")
    elf = next(p for p in (tmp_path / "cache").rglob("image.elf") if b"aes-128" in p.read_bytes())
    profiled = command(package, tmp_path, "profile", str(elf), "--board", "telosb", "--top", "3")
    assert "cycles" in profiled
    executed = command(
        package, tmp_path, "exec", str(elf), "--chip", "msp430f1611", "--max-cycles", "1000"
    )
    assert "stop" in executed


def oldest_rust() -> dict[str, str]:
    """Return the environment in which the oldest Rust that is promised compiles.

    It is empty where rustup cannot fetch that Rust.
    """
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]
    oldest = workspace["package"]["rust-version"]
    fetch = ["rustup", "toolchain", "install", oldest, "--profile", "minimal"]
    try:
        done = subprocess.run(fetch, capture_output=True, timeout=300, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return {}
    return {"RUSTUP_TOOLCHAIN": oldest} if done.returncode == 0 else {}


@pytest.mark.slow
def test_the_script_makes_a_wheel_that_measures_where_no_checkout_is() -> None:
    """With the oldest Rust; the script itself installs it in an empty folder and measures there."""
    quick = {
        **oldest_rust(),
        "CARGO_PROFILE_RELEASE_LTO": "off",
        "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "256",
        "CARGO_PROFILE_RELEASE_OPT_LEVEL": "0",
        "CARGO_PROFILE_RELEASE_DEBUG": "false",
    }
    done = subprocess.run(
        [ROOT / "tools/build-wheels.sh"],
        env=os.environ | quick,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert f"manylinux_2_28_{platform.machine()}.whl" in done.stdout
