"""Build a library from source for another machine, and keep it in the build cache.

Debian compiles its packages for the oldest processor that a release supports: armel's for ARMv5TE.
The cost on a newer processor, of another release of the library, or with another compiler shows
only when the library is built for it. The compiler is Debian's GCC for the architecture, which also
builds its packages, or an earlier one (sysroot.older_compiler).
"""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from joulemark.catalogue.libraries import FromSource, LibraryFile
from joulemark.errors import BuildError, InputError, ToolError
from joulemark.images import cache, sysroot, toolchain
from joulemark.images.architectures import Architecture

DEBIAN = "debian"
"""Place that stands for the source package of Debian's release."""
TAG = "tag:"
"""Prefix of a tag in the library's repository."""
_FLAGS = ("-O2", "-DNDEBUG", "-fPIC", "-std=gnu++11", "-w")
"""Crypto++'s own flags, and a dialect that suits its releases from 5.6 to 8.9."""
_LOG = "build.log"
_ARCHIVE = "library.a"


@dataclass(frozen=True)
class Built:
    """A built library."""

    include: Path
    archive: Path
    what: str
    """How it was built, in words."""


@dataclass(frozen=True)
class Source:
    """The source that a library is built from, and how."""

    place: str
    """`debian`, `tag:` and a tag of the library's repository, or a folder with a release."""
    flags: tuple[str, ...] = ()
    """Compiler flags after the usual ones."""
    compiler: str = ""
    """A compiler other than Debian's current GCC (sysroot.older_compiler)."""


def build(library: LibraryFile, target: Architecture, source: Source) -> Built:
    """Build a library for another machine, once.

    Args:
        library: the library, whose `[from_source]` says how.
        target: the architecture to build for.
        source: the source to build from.

    Raises:
        BuildError: the library does not compile.
        InputError: the library has no `[from_source]`, or the folder is not its source.
        ToolError: a compiler is missing, or the source cannot be fetched.
    """
    how = library.from_source
    if how is None:
        what = f"{library.title} is not built from source"
        raise InputError(what, "--library-source", "its library.toml has no [from_source]")
    older = sysroot.older_compiler(target, source.compiler) if source.compiler else None
    if source.place == DEBIAN:
        path = _debian(how)
    elif source.place.startswith(TAG):
        path = _release(how, source.place.removeprefix(TAG))
    else:
        path = Path(source.place)
    if not (path / how.makefile).is_file():
        mend = f"give {DEBIAN}, {TAG} and a tag of its repository, or the folder of a release"
        raise InputError(f"there is no {how.makefile}", str(path), mend)
    compiler = older.command if older else (_tool(target, "g++"),)
    environment = {**os.environ, **({"LD_LIBRARY_PATH": str(older.libraries)} if older else {})}
    version = toolchain.version(compiler[0])
    flags = (*_FLAGS, *target.flags, *source.flags)
    own = sorted(p for p in path.iterdir() if p.is_file() and p.name != _LOG)
    parts: list[str | bytes] = [version, *compiler[1:], *flags]
    parts += [how.makefile, how.target, how.archive]
    key = cache.digest([*parts, *(part for p in own for part in (p.name, p.read_bytes()))])
    with cache.entry("from-source", key) as (folder, work):
        if work is not None:
            tools = {"AR": _tool(target, "ar"), "RANLIB": _tool(target, "ranlib")}
            tools |= {"CXX": " ".join(compiler), "CXXFLAGS": " ".join(flags)}
            _make(how, tools, environment, (path, own), work)
    more = f" with {' '.join(source.flags)}" if source.flags else ""
    what = f"{path.name}, built for {target.name} by {version}{more}"
    return Built(folder / "include", folder / _ARCHIVE, what)


def _make(
    how: FromSource,
    variables: dict[str, str],
    environment: dict[str, str],
    source: tuple[Path, list[Path]],
    work: Path,
) -> None:
    path, own = source
    made, include = work / "source", work / "include" / how.include
    made.mkdir()
    include.mkdir(parents=True)
    for one in own:
        shutil.copy(one, made)
        if one.suffix == ".h":
            shutil.copy(one, include)
    command = ["make", f"-j{os.cpu_count() or 1}", "-f", how.makefile, how.target]
    command += [f"{name}={value}" for name, value in variables.items()]
    done = subprocess.run(
        command, cwd=made, env=environment, capture_output=True, text=True, check=False
    )
    archives = list(made.glob(how.archive))
    if done.returncode != 0 or len(archives) != 1:
        log = path / _LOG if os.access(path, os.W_OK) else Path(_LOG).resolve()
        log.write_text(done.stdout + done.stderr, encoding="utf-8")
        said = (line for line in done.stderr.splitlines() if "rror" in line or "***" in line)
        first = next(said, f"it makes {len(archives)} files {how.archive}")
        raise BuildError(first, f"building {path}", f"all of it is in {log}")
    shutil.move(archives[0], work / _ARCHIVE)
    shutil.rmtree(made)


def _tool(target: Architecture, name: str) -> str:
    program = f"{target.triple}-{name}"
    path = shutil.which(program)
    if path is None:
        raise ToolError(f"no {program}", mend=f"install the Debian package g++-{target.triple}")
    return path


def _debian(how: FromSource) -> Path:
    """Return the folder of Debian's source package, fetched once and unpacked."""
    with cache.entry("sources", cache.digest([sysroot.RELEASE, how.package])) as (folder, work):
        if work is not None:
            sysroot.fetch_source(how.package, work)
    return next(path for path in folder.iterdir() if path.is_dir())


def _release(how: FromSource, tag: str) -> Path:
    """Return the folder of a release from the library's repository, fetched once."""
    if how.repository is None:
        raise InputError("its library.toml has no repository", f"--library-source {TAG}{tag}")
    with cache.entry("sources", cache.digest([how.repository, tag])) as (folder, work):
        if work is not None:
            command = ["git", "clone", "-q", "--depth=1", "--branch", tag, "--", how.repository]
            made = work / tag
            try:
                done = subprocess.run(
                    [*command, str(made)], capture_output=True, text=True, check=False
                )
            except FileNotFoundError as error:
                raise ToolError("no git", mend="install the Debian package git") from error
            if done.returncode != 0:
                said = next(iter(done.stderr.strip().splitlines()[-1:]), "git clone failed")
                raise ToolError(said, f"fetching {tag} of {how.repository}", "is there a network?")
            shutil.rmtree(made / ".git")
    return next(path for path in folder.iterdir() if path.is_dir())
