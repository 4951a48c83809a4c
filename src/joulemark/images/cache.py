"""The build cache: what is in it is named by the digest of everything that went into it.

An entry appears whole or not at all (it is renamed into place), so that any number of processes can
share the cache. What was damaged since, by a full disk or by hand, is made anew.
"""

import contextlib
import errno
import functools
import hashlib
import os
import secrets
import shutil
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from joulemark.errors import ToolError
from joulemark.project import BUILD

_MANIFEST = "entry"
"""Names and sizes of an entry's files."""
_WORK = "making-"
_IDLE_S = 600
"""Longer than any command takes that fills a folder."""
_one_at_a_time: dict[Path, threading.Lock] = defaultdict(threading.Lock)
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM}


def digest(parts: Iterable[str | bytes]) -> str:
    """Digest of a sequence: its elements and where they end."""
    encoded = [part.encode() if isinstance(part, str) else part for part in parts]
    lengths = ",".join(str(len(data)) for data in encoded).encode()
    return hashlib.sha256(b"\0".join([lengths, *encoded])).hexdigest()


@contextlib.contextmanager
def entry(section: str, key: str) -> Iterator[tuple[Path, Path | None]]:
    """Give an entry's folder, and where to make it when it is not there yet.

    Yields:
        The folder, and None or an empty folder whose contents become the entry's when the block
        ends without an exception.

    Raises:
        ToolError: the build's folder cannot be written, or there is no room in it.
    """
    folder = BUILD / section / key[:40]
    if is_whole(folder):
        yield folder, None
        return
    # Two threads often come to the same source: one compiles it, the other waits.
    with _one_at_a_time[folder]:
        if is_whole(folder):
            yield folder, None
        else:
            with _made(folder) as work:
                yield folder, work


@contextlib.contextmanager
def _made(folder: Path) -> Iterator[Path]:
    """Give an empty folder that becomes an entry."""
    with _written():
        folder.parent.mkdir(parents=True, exist_ok=True)
        _sweep(folder.parent)
        # As the umask says, and not for this user alone: others read what is made here.
        work = folder.parent / f"{_WORK}{os.getpid()}-{secrets.token_hex(4)}"
        work.mkdir()
    try:
        with _written():
            yield work
            files = sorted(path for path in work.rglob("*") if path.is_file())
            lines = [f"{path.stat().st_size} {path.relative_to(work)}\n" for path in files]
            (work / _MANIFEST).write_text("".join(lines))
            _put(work, folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def is_whole(folder: Path) -> bool:
    """Tell whether an entry is there with all of its files as long as they were."""
    try:
        lines = (folder / _MANIFEST).read_text().splitlines()
        return all(
            (folder / name).stat().st_size == int(size)
            for size, _, name in (line.partition(" ") for line in lines)
        )
    except (OSError, ValueError):
        return False


def _put(work: Path, folder: Path) -> None:
    """Make a folder an entry, in place of a damaged one."""
    for _ in range(2):
        try:
            work.rename(folder)
        except OSError:
            # Another process made the same entry meanwhile, or what is there is damaged.
            if is_whole(folder):
                return
            shutil.rmtree(folder, ignore_errors=True)
        else:
            return
    work.rename(folder)


@functools.cache
def _sweep(section: Path) -> None:
    """Remove what builds that were killed have left, once in a process."""
    for path in section.glob(f"{_WORK}*"):
        pid = path.name.removeprefix(_WORK).partition("-")[0]
        with contextlib.suppress(OSError):
            # The process may be another machine's, or another container's.
            idle_s = time.time() - path.stat().st_mtime
            if idle_s > _IDLE_S and not (pid.isdigit() and _is_running(int(pid))):
                shutil.rmtree(path, ignore_errors=True)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # It is somebody else's.
        pass
    return True


@contextlib.contextmanager
def _written() -> Iterator[None]:
    """Say clearly why the build's folder cannot be written."""
    try:
        yield
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        raise unwritable(error.strerror or str(error)) from error


def unwritable(reason: str) -> ToolError:
    """The error of a build that finds no room."""
    mend = "make room there, or let this user write there"
    return ToolError(f"the build's folder cannot be written: {reason}", str(BUILD), mend)


@functools.lru_cache(maxsize=65536)
def relative(path: Path, to: Path) -> str:
    """Name a path as seen from a folder, so that no command or object holds an absolute path."""
    return os.path.relpath(path, to)
