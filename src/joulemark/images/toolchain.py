"""Finding compilers, and running them so that a failure gives one clear message."""

import errno
import functools
import os
import re
import shlex
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from joulemark.errors import BuildError, InputError, ToolError
from joulemark.images import cache, families, started
from joulemark.project import ROOT

FAMILIES = tuple(families.names())
OPTIMISATIONS = ("O3", "O2", "Os")
"""Those that are measured where nobody names one."""
ALL_OPTIMISATIONS = (*OPTIMISATIONS, "O0")
"""Others' code was built without optimisation, and is to be compared with."""
_REASON = re.compile(r"(?<!collect2: )error|undefined reference|overflowed|will not fit", re.I)
_LLVM = re.compile("clang|lld")
_CLANGS = ("clang-19", "clang-20", "clang-21", "clang-18", "clang-17", "clang")


Need = Callable[[], object]
"""Finds a tool that is needed; raises a ToolError where it is missing."""


@dataclass(frozen=True)
class Compiler:
    """A compiler that makes code for a family of chips."""

    name: str
    """`clang` or `gcc`."""
    path: str
    version: str
    """First line of what `--version` says."""


def _output(path: str, *arguments: str) -> str:
    """Return a tool's output, remembered for as long as the tool does not change."""
    real = Path(path).resolve()
    stat = real.stat()
    key = cache.digest([str(real), str(stat.st_mtime_ns), str(stat.st_size), *arguments])
    with cache.entry("tools", key) as (folder, work):
        if work is not None:
            command = [path, *arguments]
            text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            (work / "output").write_text(text)
            return text
    return (folder / "output").read_text()


def version(path: str) -> str:
    """First line of what a tool says to `--version`."""
    return _output(path, "--version").splitlines()[0]


@functools.cache
def find(name: str, family: str) -> Compiler:
    """Find a compiler: `clang`, `gcc`, or the name of a clang or gcc program.

    Raises:
        ToolError: there is none that makes code for the family.
        InputError: no such compiler.
    """
    module = families.load(family)
    if name == "clang":
        candidates: tuple[str, ...] = _CLANGS
    elif name == "gcc":
        candidates = (module.GCC,)
    elif re.fullmatch(r"clang-\d+", name):
        candidates = (name,)
    else:
        raise InputError(f"no such compiler: {name}", mend="use clang, clang-NUMBER or gcc")
    for candidate in candidates:
        path = shutil.which(candidate)
        if path is None:
            continue
        if "clang" in candidate and module.CLANG_TARGET is not None:
            targets = _output(path, "--print-targets")
            if not re.search(rf"^\s+{module.CLANG_TARGET}\s", targets, re.MULTILINE):
                continue
        return Compiler("clang" if "clang" in candidate else "gcc", path, version(path))
    wanted = "clang-19" if name == "clang" else name
    mend = f"install the Debian packages {wanted} and lld-19"
    if name == "gcc":
        mend = f"put {module.GCC} on the PATH: {module.GET_GCC}"
    raise ToolError(f"no {name} that makes code for {family}", mend=mend)


def find_linker() -> Compiler:
    """Find LLVM's linker.

    Raises:
        ToolError: it is not installed.
    """
    for name in ("ld.lld-19", "ld.lld-20", "ld.lld-21", "ld.lld-18", "ld.lld-17", "ld.lld"):
        path = shutil.which(name)
        if path is not None:
            return Compiler("lld", path, version(path))
    raise ToolError("no ld.lld", mend="install the Debian package lld-19")


def check_optimisation(name: str) -> None:
    """Refuse what no compiler is asked for.

    Raises:
        InputError: it is not one of ALL_OPTIMISATIONS.
    """
    if name not in ALL_OPTIMISATIONS:
        mend = f"use one of {', '.join(ALL_OPTIMISATIONS)}"
        raise InputError("no such optimisation", name, mend)


def needs(name: str, family: str) -> Iterator[Need]:
    """What a compiler takes to make images for a family of chips.

    Args:
        name: of the compiler; the family's own if empty.
        family: of the chips.
    """
    module = families.load(family)
    yield partial(find, name or module.DEFAULT_COMPILER, family)
    if module.LINKER is None:
        return
    # The images that are known are told by it, whatever links them.
    yield find_linker
    if module.LINKER == "gcc":
        yield partial(find, "gcc", family)


def refuse_missing(needed: Iterable[Need], where: str | None = None) -> None:
    """Refuse to begin where tools are missing, and name all of them.

    Args:
        needed: what finds each; one that is needed several times is named once.
        where: for the message.

    Raises:
        InputError: no tool has such a name.
        ToolError: some are missing.
    """
    by_mend: dict[str | None, dict[str, None]] = defaultdict(dict)
    for need in needed:
        try:
            need()
        except ToolError as error:
            by_mend[error.mend][error.what] = None
    if len(by_mend) == 1:
        ((mend, missing),) = by_mend.items()
        raise ToolError(", ".join(missing), where, mend)
    if by_mend:
        said = (
            ", ".join(missing) + (f" ({mend})" if mend else "") for mend, missing in by_mend.items()
        )
        raise ToolError("; ".join(said), where)


def run(command: list[str], what: str, folder: Path = ROOT, kept: Path | None = None) -> None:
    """Run a compiler or linker in a folder.

    Args:
        command: with `-o`.
        what: is done.
        folder: to run in.
        kept: where the folder's contents are kept when it fails, so that the command can be
            repeated.

    Raises:
        BuildError: it fails; the message has its first error and the command.
    """
    is_llvm = _LLVM.search(Path(command[0]).name)
    done = started.run(command, folder) if is_llvm else None
    code, printed = done or _run(command, folder)
    if code != 0:
        full = os.strerror(errno.ENOSPC)
        if full.lower() in printed.lower():
            raise cache.unwritable(full)
        lines = [line for line in printed.splitlines() if _REASON.search(line)]
        first = (lines or printed.splitlines() or [f"exit code {code}"])[0]
        if kept is not None:
            shutil.copytree(folder, kept, dirs_exist_ok=True)
        again = list(command)
        again[again.index("-o") + 1] = "/dev/null"
        repeat = f"cd {shlex.quote(str(kept or folder))} && {shlex.join(again)}"
        raise BuildError(first, what, f"repeat it with: {repeat}")


def _run(command: list[str], folder: Path) -> tuple[int, str]:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr
