"""What has passed on this machine with the same image, engine and check.

Checks are deterministic: emulated boards, and random inputs of fixed seeds. A check's result holds
as long as nothing that decides it has changed: the image's bytes, what the engine computes, the
values of the chip's and the board's files, the primitives' oracles, vectors and kinds, and the
syntax of every module of ours that the check imports, directly or not.
"""

import ast
import functools
import hashlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from build_checks import Build, Check
from joulemark import meaning
from joulemark.campaign.versions import engine_digest
from joulemark.catalogue import chips
from joulemark.catalogue.primitives import Algorithm, Implementation
from joulemark.project import BUILD, FIRMWARE, ROOT

FOLDER = BUILD / "passed"
_OF_TESTS = (ROOT / "tests/support", ROOT / "tests/builds")


class Passed:
    """Checks that have passed, in one file for each check of a build.

    Args:
        folder: folder of the files.
        again: take nothing for passed; what passes now is still recorded.
    """

    def __init__(self, folder: Path = FOLDER, *, again: bool = False) -> None:
        self._folder = folder
        self._again = again
        self.ran = 0
        self.known = 0

    def run(self, build: Build, check: Check) -> None:
        """Run a check, unless it has passed with what now decides its result."""
        path = self._path(build, check)
        current = key(build, check)
        if not self._again and path.is_file() and path.read_text() == current:
            self.known += 1
            return
        self.ran += 1
        check.run(build)
        path.parent.mkdir(parents=True, exist_ok=True)
        # Renamed into place: a run may be killed at any moment.
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        temporary.write_text(current)
        temporary.replace(path)

    def _path(self, build: Build, check: Check) -> Path:
        return self._folder / check.name / meaning.of_values(str(build.of))[:40]


def key(build: Build, check: Check) -> str:
    """Return the digest of all that decides a check's result."""
    return meaning.of_values(
        hashlib.sha256(build.made.path.read_bytes()).hexdigest(),
        engine_digest(),
        chips.digest(build.board.chip),
        build.board.digest,
        list(_of_primitives(build.way)),
        of_modules(check.module),
        _of_libraries(),
    )


def of_modules(name: str) -> list[str]:
    """Return the digests of a module, and of those of the tests' that it imports."""
    found: dict[str, str] = {}
    waiting = [name]
    while waiting:
        module = waiting.pop()
        paths = [where.joinpath(*module.split(".")) for where in _OF_TESTS]
        files = [p for path in paths for p in (path.with_suffix(".py"), path / "__init__.py")]
        for file in filter(Path.is_file, files):
            if module not in found:
                found[module] = meaning.of_module(file)
                waiting += _imported(file)
    return [found[module] for module in sorted(found)]


@functools.cache
def _imported(path: Path) -> list[str]:
    tree = ast.parse(path.read_bytes())
    froms = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return [module for module in froms if module is not None]


@functools.cache
def _of_libraries() -> str:
    """Return the digest of the versions of Python and of the libraries that oracles call."""
    return meaning.of_values(sys.version, (ROOT / "requirements.lock").read_text())


def _of_primitives(way: Implementation) -> Iterator[str]:
    """Yield the digests of what says how an implementation must behave."""
    folders = {part.primitive.folder for part in way.parts}
    algorithm: Algorithm | None = way.algorithm
    while algorithm is not None:
        folders.add(algorithm.primitive.folder)
        algorithm = algorithm.over
    for folder in sorted(folders):
        for table in (*sorted(folder.parent.glob("*.toml")), *sorted(folder.rglob("*.toml"))):
            yield _of_table(table)
        for oracle in _oracles(folder / "oracle.py"):
            yield meaning.of_module(oracle)


@functools.cache
def _of_table(path: Path) -> str:
    return meaning.of_table(path)


@functools.cache
def _oracles(own: Path) -> tuple[Path, ...]:
    """Return an oracle; one that runs others by their paths counts with all that there are."""
    if not own.is_file():
        return ()
    runs = "runpy" in own.read_text()
    return (own, *sorted(FIRMWARE.glob("primitives/*/*/oracle.py"))) if runs else (own,)
