"""Compile a library's program, for this machine with its installed library, or for another one."""

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from joulemark.catalogue.libraries import LibraryFile
from joulemark.errors import BuildError, ToolError
from joulemark.images import cache, from_source, sysroot, toolchain
from joulemark.images.architectures import Architecture
from joulemark.images.from_source import Source
from joulemark.images.toolchain import Need
from joulemark.project import FIRMWARE, LIBRARIES

_HOST = FIRMWARE / "hal" / "host"
_C = (LIBRARIES / "harness.c", *(_HOST / f"{name}.c" for name in ("clock", "counters", "marker")))
_INCLUDE = f"-I{_HOST}"
_HARNESS = (*_C, *(source.with_suffix(".h") for source in _C))
_FLAGS = ("-O2", "-Wall", "-Wextra")
"""Flags of the calling program; the library was compiled by the makers of its package."""
_STANDARD = {"c": "-std=gnu11", "c++": "-std=c++17"}
_COMPILERS = {"c": "cc", "c++": "c++"}


@dataclass(frozen=True)
class LibraryProgram:
    """A library's program, and how it was built."""

    path: Path
    digest: str
    """SHA-256 of the file."""
    compiler: str
    flags: str
    version: str
    """The library's version, as it reports it."""
    rows: tuple[tuple[str, str], ...]
    """Its pairs of algorithm and operation."""
    objects: tuple[str, ...]
    """Names and digests of the library's files that the program loads; for a program for another
    machine, the packages, or how the library was built."""


def needs(library: LibraryFile) -> Iterator[Need]:
    """Yield checks for a library and for the compilers of its program on this machine."""
    yield from (partial(_compiler, language) for language in ("c", library.language))
    # Only compiling shows that the library is not installed.
    yield partial(build_library, library)


def build_library(library: LibraryFile) -> LibraryProgram:
    """Build a library's program for this machine.

    Raises:
        BuildError: the compiler rejects the program.
        ToolError: a compiler or the library is missing.
    """
    compilers: dict[str, tuple[str, str]] = {n: _compiler(n) for n in ("c", library.language)}
    versions = [f"{name}: {version}" for name, (_, version) in sorted(compilers.items())]
    sources = (*_HARNESS, library.program)
    parts: list[str | bytes] = [*_FLAGS, *library.link, *versions, library.language]
    key = cache.digest(parts + [source.read_bytes() for source in sources])
    with cache.entry("libraries", key) as (folder, work):
        if work is not None:
            _make(library, compilers, work)
    path = folder / "program"
    version, rows = _described([str(path)])
    loaded = _output([str(path)], "", LD_TRACE_LOADED_OBJECTS="1")
    own = {option.removeprefix("-l") for option in library.link}
    found = [Path(p) for p in re.findall(r"=> (/\S+)", loaded)]
    return LibraryProgram(
        path=path,
        version=version,
        rows=rows,
        objects=tuple(
            f"{p.name} {hashlib.sha256(p.read_bytes()).hexdigest()[:16]}"
            for p in found
            if any(p.name.startswith(f"lib{name}.") for name in own)
        ),
        digest=hashlib.sha256(path.read_bytes()).hexdigest(),
        compiler=compilers[library.language][1],
        flags=" ".join((*_FLAGS, _STANDARD[library.language], *library.link)),
    )


def build_watch() -> Path:
    """Build the shared object that measures this machine's clock and opens its counters.

    Raises:
        BuildError: the compiler rejects it.
        ToolError: the compiler is missing.
    """
    path, version = _compiler("c")
    sources = [_HOST / f"{name}.c" for name in ("clock", "counters")]
    key = cache.digest([*_FLAGS, version, *(source.read_bytes() for source in sources)])
    with cache.entry("watch", key) as (folder, work):
        if work is not None:
            command = [path, *_FLAGS, "-shared", "-fPIC", _INCLUDE, *map(str, sources)]
            toolchain.run([*command, "-o", str(work / "watch.so")], "compiling clock.c")
    return folder / "watch.so"


def build_foreign(
    library: LibraryFile, target: Architecture, source: Source | None = None
) -> LibraryProgram:
    """Build a library's program for another machine.

    Args:
        library: the library that it calls.
        target: the architecture to build for.
        source: the source to build the library from (from_source.py); None for the Debian package
            of that architecture.

    Raises:
        BuildError: the compiler rejects the program or the library.
        InputError: there is no such source.
        ToolError: a compiler, the emulator or the packages are missing.
    """
    built = None if source is None else from_source.build(library, target, source)
    root = sysroot.sysroot(target, library.package)
    compiler = toolchain.find("clang", "host")
    options = sysroot.options(root, target)
    libraries = tuple(library.link)
    if built is not None:
        options = (f"-isystem{built.include}", *options)
        libraries = (str(built.archive),)
    flags = (*_FLAGS, "-static", "-fuse-ld=lld", *options)
    files = (*_HARNESS, library.program)
    parts: list[str | bytes] = [*flags, *libraries, compiler.version, library.language]
    key = cache.digest(parts + [file.read_bytes() for file in files])
    with cache.entry("libraries", key) as (folder, work):
        if work is not None:
            objects = []
            for language, file in _sources(library):
                made = str(work / f"{file.stem}.o")
                command = [compiler.path, _STANDARD[language], "-Wno-unused-command-line-argument"]
                command += [*flags, _INCLUDE, "-c", str(file), "-o", made]
                toolchain.run(command, f"compiling {file.name} of {library.title}")
                objects.append(made)
            link = [compiler.path, *flags, *objects, *libraries, "-lstdc++", "-lm", "-latomic"]
            what = f"linking with {library.title}"
            toolchain.run([*link, "-o", str(work / "program")], what)
    path = folder / "program"
    version, rows = _described([*target.emulator, str(path)])
    return LibraryProgram(
        path=path,
        version=version,
        rows=rows,
        objects=sysroot.packages(root) if built is None else (built.what,),
        digest=hashlib.sha256(path.read_bytes()).hexdigest(),
        compiler=compiler.version,
        flags=" ".join((*_FLAGS, *target.flags, *library.link)),
    )


def _described(command: list[str]) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Ask a program for the library's version and its rows.

    Raises:
        ToolError: the program does not run, or does not answer.
    """
    said = _output(command, "hello\nrows\n").splitlines()
    if len(said) != len(("hello", "rows")):
        raise ToolError("the library's program does not say what it has", " ".join(command))
    rows = (row.partition("/") for row in said[1].split())
    return said[0].partition(" ")[2], tuple((a, o) for a, _, o in rows)


def _output(command: list[str], given: str, **environment: str) -> str:
    """Run a program and return its output.

    Raises:
        ToolError: the program does not run.
    """
    done = subprocess.run(
        command,
        input=given,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )
    if done.returncode != 0:
        what = f"the library's program does not run: {done.stderr.strip()[:200]}"
        raise ToolError(what, command[0], "is the library's package whole?")
    return done.stdout


def _compiler(language: str) -> tuple[str, str]:
    path = shutil.which(_COMPILERS[language])
    if path is None:
        package = {"c": "gcc", "c++": "g++"}[language]
        mend = f"install the Debian package {package}"
        raise ToolError(f"no compiler of {language} ({_COMPILERS[language]})", mend=mend)
    return path, toolchain.version(path)


def _sources(library: LibraryFile) -> list[tuple[str, Path]]:
    """Return the sources of a program, each with its language."""
    return [*(("c", source) for source in _C), (library.language, library.program)]


def _make(library: LibraryFile, compilers: Mapping[str, tuple[str, str]], work: Path) -> None:
    objects = []
    for language, source in _sources(library):
        made = str(work / f"{source.stem}.o")
        command = [compilers[language][0], _STANDARD[language], *_FLAGS, _INCLUDE]
        command += ["-c", str(source)]
        try:
            toolchain.run([*command, "-o", made], f"compiling {source.name} of {library.title}")
        except BuildError as error:
            folder = re.escape(str(Path(library.header).parent))
            # GCC's words, and clang's.
            if re.search(rf"{folder}/\S+: No such file|'{folder}/\S+' file not found", error.what):
                mend = f"install the Debian package {library.package}"
                raise ToolError(f"{library.title} is not installed", mend=mend) from error
            raise
        objects.append(made)
    link = [compilers[library.language][0], *objects, *library.link]
    toolchain.run([*link, "-o", str(work / "program")], f"linking with {library.title}")
