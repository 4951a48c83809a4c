"""Find compilers, and run them so that a failure gives one clear message."""

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

from joulemark.catalogue import instruction_sets
from joulemark.errors import BuildError, InputError, ToolError
from joulemark.images import cache, started
from joulemark.project import ROOT

OPTIMISATIONS = ("O3", "O2", "Os")
"""Levels that are measured by default."""
ALL_OPTIMISATIONS = (*OPTIMISATIONS, "O0")
"""Includes `O0` for comparison with others' code that was built without optimisation."""
_REASON = re.compile(r"(?<!collect2: )error|undefined reference|overflowed|will not fit", re.I)
_STATED = re.compile(r'error: (?:#error )?"(.+)"$')
"""What a source of ours says of a program that cannot be, by `#error`; of clang, or of GCC."""
_TOO_LARGE = re.compile(r"region [`'](\w+)':? overflowed by (\d+) bytes")
"""What a linker says of an image that the chip has no room for; of LLVM, or of GNU."""
_MEMORY = {"ram": "RAM"}
_NO_STACK = re.compile(r"fewer than \d+ bytes of RAM are left for the stack")
"""What our linker scripts say of it."""
_NO_HEAP = re.compile(r"undefined (?:reference to|symbol:) [`']?(?:_sbrk|malloc|calloc|realloc)\b")
"""What a linker says of code that allocates memory: newlib's needs `_sbrk`."""
_LLVM = re.compile("clang|lld")
_CLANGS = ("clang-19", "clang-20", "clang-21", "clang-18", "clang-17", "clang")


Need = Callable[[], object]
"""Finds a required tool; raises a ToolError if it is missing."""


@dataclass(frozen=True)
class Compiler:
    """A compiler for a family of chips."""

    name: str
    """`clang` or `gcc`."""
    path: str
    version: str
    """First line of the output of `--version`."""


def _output(path: str, *arguments: str) -> str:
    """Return a tool's output, cached until the tool changes."""
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
    """Return the first line of a tool's output of `--version`."""
    return _output(path, "--version").splitlines()[0]


@functools.cache
def find(name: str, family: str) -> Compiler:
    """Find a compiler: `clang`, `gcc`, or `clang-NUMBER`.

    Raises:
        ToolError: no such compiler for the family is installed.
        InputError: the name is not one of these.
    """
    made_by = instruction_sets.compilers(family)
    if name == "clang":
        candidates: tuple[str, ...] = _CLANGS
    elif name == "gcc":
        candidates = (made_by.gcc,)
    elif re.fullmatch(r"clang-\d+", name):
        candidates = (name,)
    else:
        raise InputError(f"no such compiler: {name}", mend="use clang, clang-NUMBER or gcc")
    for candidate in candidates:
        path = shutil.which(candidate)
        if path is None:
            continue
        if "clang" in candidate and made_by.clang_target is not None:
            targets = _output(path, "--print-targets")
            if not re.search(rf"^\s+{made_by.clang_target}\s", targets, re.MULTILINE):
                continue
        return Compiler("clang" if "clang" in candidate else "gcc", path, version(path))
    wanted = "clang-19" if name == "clang" else name
    mend = f"install the Debian packages {wanted} and lld-19"
    if name == "gcc":
        mend = f"put {made_by.gcc} on the PATH: {made_by.get_gcc}"
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


def find_disassembler() -> Compiler:
    """Find LLVM's disassembler.

    Raises:
        ToolError: it is not installed.
    """
    for name in ("llvm-objdump-19", "llvm-objdump-20", "llvm-objdump-21", "llvm-objdump"):
        path = shutil.which(name)
        if path is not None:
            return Compiler("llvm-objdump", path, version(path))
    raise ToolError("no llvm-objdump", mend="install the Debian package llvm-19")


def check_optimisation(name: str) -> None:
    """Check an optimisation level.

    Raises:
        InputError: it is not one of ALL_OPTIMISATIONS.
    """
    if name not in ALL_OPTIMISATIONS:
        mend = f"use one of {', '.join(ALL_OPTIMISATIONS)}"
        raise InputError("no such optimisation", name, mend)


def needs(name: str, family: str) -> Iterator[Need]:
    """Yield checks for the tools that build images for a family of chips.

    Args:
        name: name of the compiler; the family's default if empty.
        family: family of the chips.
    """
    made_by = instruction_sets.compilers(family)
    yield partial(find, name or made_by.default, family)
    if made_by.linker is None:
        return
    # LLVM's linker is part of the key of every known image, whichever linker is used.
    yield find_linker
    if made_by.linker == "gcc":
        yield partial(find, "gcc", family)


def missing(needed: Iterable[Need]) -> str:
    """Return the required tools that are not installed, and how to get them; empty if all are."""
    try:
        refuse_missing(needed)
    except ToolError as error:
        return str(error)
    return ""


def refuse_missing(needed: Iterable[Need], where: str | None = None) -> None:
    """Check that all required tools are installed, and name all that are missing.

    Args:
        needed: checks for tools; a tool that is needed several times is named once.
        where: location for the message.

    Raises:
        InputError: no tool has such a name.
        ToolError: tools are missing.
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
        command: the command, which must contain `-o`.
        what: what it does, for the message.
        folder: the folder to run it in.
        kept: folder to copy that folder's contents to on failure, so that the command can be
            repeated.

    Raises:
        BuildError: the command fails; the message has its first error and the command, or how many
            bytes the chip lacks.
        ToolError: there is no room for its output.
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
        stated = _STATED.search(first)
        if stated is not None:
            raise BuildError(stated[1], what)
        missing: dict[str, int] = {}
        for region, size in _TOO_LARGE.findall(printed):
            missing[region] = max(int(size), missing.get(region, 0))
        if missing:
            sizes = " and ".join(
                f"{size:,} bytes of {_MEMORY.get(region, region)}"
                for region, size in missing.items()
            )
            raise BuildError(f"it does not fit: {sizes} are missing", what)
        no_stack = _NO_STACK.search(printed)
        if no_stack is not None:
            raise BuildError(f"it does not fit: {no_stack[0]}", what)
        if _NO_HEAP.search(printed):
            raise BuildError("it allocates memory (malloc or the like), and there is no heap", what)
        if kept is not None:
            shutil.copytree(folder, kept, dirs_exist_ok=True)
        again = list(command)
        again[again.index("-o") + 1] = "/dev/null"
        repeat = f"cd {shlex.quote(str(kept or folder))} && {shlex.join(again)}"
        raise BuildError(first, what, f"repeat it with: {repeat}")


def _run(command: list[str], folder: Path) -> tuple[int, str]:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr
