"""Fetch packages of Debian and Ubuntu for another architecture, or of an earlier compiler.

They are fetched with apt-get, without touching its system-wide state, and unpacked into the build
cache.
"""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from joulemark.errors import InputError, ToolError
from joulemark.images import cache
from joulemark.images.architectures import Architecture

_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_UBUNTU_KEYRING = (
    "pool/main/u/ubuntu-keyring/ubuntu-keyring_2018.02.28_all.deb",
    "c0763889cec4196839354d99b71f3c369dfa51ff17f59cabea87d1c7d55fe5e0",
)
"""Package with the keys of Ubuntu's archive, which Debian does not provide, and its SHA-256."""


class Release(NamedTuple):
    """A release of a distribution."""

    name: str
    mirrors: tuple[str, ...] = ("http://deb.debian.org/debian", "http://archive.debian.org/debian")
    """Its mirror, and the archive that it moves to when it is no longer supported."""
    components: str = "main"
    keyring: tuple[str, str] | None = None
    """Package with its keys and that package's SHA-256; None for Debian's keys."""
    also: tuple[str, ...] = ()
    """Libraries that its compilers need and newer releases lack."""

    def cross_compiler(self, target: Architecture, number: str) -> tuple[str, ...]:
        """Return the packages of a cross GCC for an architecture."""
        programs = (f"{part}-{number}-{target.triple}" for part in ("cpp", "gcc", "g++"))
        parts = (f"{part}-{number}-dev-{target.debian}-cross" for part in _GCC_PARTS)
        return (*programs, *parts, *self.also)


_UBUNTU = ("http://archive.ubuntu.com/ubuntu", "http://old-releases.ubuntu.com/ubuntu")
_BOOKWORM = Release("bookworm")
RELEASE = _BOOKWORM.name
OLDER_COMPILERS = {
    "gcc-6": Release("bionic", _UBUNTU, "main universe", _UBUNTU_KEYRING, ("libisl19",)),
    "gcc-9": Release("bullseye"),
}
"""Earlier compilers, and a release that contains each.

GCC 6 built Debian 9 and Raspbian of 2017. On ARM, GCC 10 was the first to split 64-bit integers
early, so newer versions do not reproduce code that was built before 2020.
"""
_GCC = "12"
_GCC_PARTS = ("libstdc++", "libgcc")
_BASE = (*(f"{part}-{_GCC}-dev" for part in _GCC_PARTS), "libc6-dev", "linux-libc-dev")
_PACKAGES = "packages"
_NETWORK_S = 300


def sysroot(target: Architecture, package: str) -> Path:
    """Return a folder with a library's package and what a C++ compiler needs, fetched once.

    Raises:
        ToolError: apt-get is missing or cannot fetch the packages.
    """
    wanted = (*_BASE, package)
    with cache.entry("sysroots", cache.digest([RELEASE, target.debian, *wanted])) as found:
        folder, work = found
        if work is not None:
            _fetch(target.debian, wanted, work)
    return folder


class OlderCompiler(NamedTuple):
    """An earlier cross GCC for C++."""

    command: tuple[str, ...]
    libraries: Path
    """Folder of the shared libraries that it needs, for LD_LIBRARY_PATH."""


def older_compiler(target: Architecture, name: str) -> OlderCompiler:
    """Return an earlier cross GCC for C++, fetched once.

    It uses the binutils and C library headers of the installed release (`g++-TRIPLE`).

    Raises:
        InputError: no such compiler.
        ToolError: apt-get is missing or cannot fetch it.
    """
    release = OLDER_COMPILERS.get(name)
    if release is None:
        raise InputError(f"no such compiler: {name}", mend=f"use {', '.join(OLDER_COMPILERS)}")
    number = name.removeprefix("gcc-")
    wanted = release.cross_compiler(target, number)
    with cache.entry("compilers", cache.digest([release.name, *wanted])) as (folder, work):
        if work is not None:
            _fetch(None, wanted, work, release)
    path = folder / "usr" / "bin" / f"{target.triple}-g++-{number}"
    theirs = Path("/usr") / target.triple
    # C++ headers come before C headers, and both before this machine's native ones.
    standard = folder / "usr" / target.triple / "include" / "c++" / number
    headers = (standard, standard / target.triple, standard / "backward", theirs / "include")
    searched = (word for header in headers for word in ("-isystem", str(header)))
    command = (str(path), f"-B{theirs / 'bin'}/", "-nostdinc++", *searched)
    return OlderCompiler(command, folder / "usr" / "lib" / "x86_64-linux-gnu")


def packages(root: Path) -> tuple[str, ...]:
    """Return the names and versions of a sysroot's packages."""
    return tuple((root / _PACKAGES).read_text(encoding="utf-8").split())


def options(root: Path, target: Architecture) -> tuple[str, ...]:
    """Return options that make clang use a sysroot's headers and libraries."""
    gcc = next((root / "usr" / "lib" / "gcc").glob(f"*/{_GCC}"))
    return (
        f"--target={target.triple}",
        f"--sysroot={root}",
        f"--gcc-install-dir={gcc}",
        *target.flags,
    )


def fetch_source(package: str, folder: Path) -> None:
    """Fetch and unpack a Debian source package.

    Raises:
        ToolError: apt-get or dpkg-source is missing, or the package cannot be fetched.
    """
    if shutil.which("dpkg-source") is None:
        raise ToolError("no dpkg-source", mend="install the Debian package dpkg-dev")
    what = f"cannot fetch the source of {package}"
    work = _apt(folder, None, "deb-src", what)
    _run(["apt-get", "source", "-qq", "--download-only", package], work, what)
    (described,) = (work / "debs").glob("*.dsc")
    unpacked = folder / described.stem
    command = ["dpkg-source", "--no-check", "-x", described.name, str(unpacked)]
    _run(command, work, f"cannot unpack {described.name}")
    shutil.rmtree(work)


def _fetch(
    debian: str | None, wanted: Sequence[str], root: Path, release: Release = _BOOKWORM
) -> None:
    what = f"cannot fetch {debian or release.name}'s {wanted[0 if debian is None else -1]}"
    work = _apt(root, debian, "deb", what, release)
    _run(["apt-get", "download", "-qq", *wanted], work, what)
    archives = sorted((work / "debs").glob("*.deb"))
    for archive in archives:
        _run(["dpkg-deb", "-x", str(archive), str(root)], work, f"cannot unpack {archive.name}")
    shutil.rmtree(work)
    names = "\n".join(archive.stem for archive in archives)
    (root / _PACKAGES).write_text(f"{names}\n", encoding="utf-8")


def _apt(
    folder: Path, debian: str | None, kind: str, what: str, release: Release = _BOOKWORM
) -> Path:
    """Set up separate apt state with a release's package lists, for `debian` or this machine."""
    if shutil.which("apt-get") is None or not _KEYRING.is_file():
        mend = "it takes Debian's apt-get, and the package debian-archive-keyring"
        raise ToolError("cannot fetch another architecture's packages", mend=mend)
    work = folder / "apt"
    for name in ("state/lists/partial", "cache/archives/partial", "debs"):
        (work / name).mkdir(parents=True)
    (work / "status").touch()
    settings = {
        **({"APT::Architecture": debian, "APT::Architectures::": debian} if debian else {}),
        "APT::Sandbox::User": "root",
        "Dir::State": work / "state",
        "Dir::State::status": work / "status",
        "Dir::Cache": work / "cache",
        "Dir::Etc::SourceList": work / "sources",
        "Dir::Etc::SourceParts": "/dev/null",
    }
    text = "".join(f'{name} "{value}";\n' for name, value in settings.items())
    (work / "conf").write_text(text, encoding="utf-8")
    for mirror in release.mirrors:
        try:
            keyring = _keyring(release, mirror, work, what)
            source = f"{kind} [signed-by={keyring}] {mirror} {release.name} {release.components}\n"
            (work / "sources").write_text(source, encoding="utf-8")
            _run(["apt-get", "update", "-qq", "--error-on=any"], work, what)
        except ToolError:
            if mirror == release.mirrors[-1]:
                raise
        else:
            break
    return work


def _keyring(release: Release, mirror: str, work: Path, what: str) -> Path:
    """Return the keyring that a release is signed with."""
    if release.keyring is None:
        return _KEYRING
    path, sha256 = release.keyring
    package = work / "keyring.deb"
    fetch = ["/usr/lib/apt/apt-helper", "download-file", f"{mirror}/{path}", str(package)]
    _run([*fetch, f"SHA256:{sha256}"], work, what)
    unpacked = work / "keyring"
    _run(["dpkg-deb", "-x", str(package), str(unpacked)], work, f"cannot unpack {package.name}")
    return unpacked / "usr" / "share" / "keyrings" / "ubuntu-archive-keyring.gpg"


def _run(command: list[str], work: Path, what: str) -> None:
    environment = {**os.environ, "APT_CONFIG": str(work / "conf")}
    try:
        done = subprocess.run(
            command,
            cwd=work / "debs",
            env=environment,
            capture_output=True,
            text=True,
            timeout=_NETWORK_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ToolError(f"{what}: silent for {_NETWORK_S} s", command[0]) from error
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or ["it said nothing"]
        raise ToolError(f"{what}: {said[0]}", command[0], "is its mirror within reach?")
