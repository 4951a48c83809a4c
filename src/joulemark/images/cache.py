"""The build cache, whose entries are named by the digest of everything that went into them.

An entry appears whole or not at all (it is renamed into place), so any number of processes can
share the cache. An entry that was damaged later, by a full disk or by hand, is made anew.
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
"""Longer than any command that fills a folder takes."""
_one_at_a_time: dict[Path, threading.Lock] = defaultdict(threading.Lock)
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM}


def digest(parts: Iterable[str | bytes]) -> str:
    """Return the digest of a sequence, including the boundaries of its elements."""
    encoded = [part.encode() if isinstance(part, str) else part for part in parts]
    lengths = ",".join(str(len(data)) for data in encoded).encode()
    return hashlib.sha256(b"\0".join([lengths, *encoded])).hexdigest()


@contextlib.contextmanager
def entry(section: str, key: str) -> Iterator[tuple[Path, Path | None]]:
    """Look an entry up, or let the caller make it.

    Yields:
        The entry's folder, and None; or, if the entry does not exist yet, an empty folder whose
        contents become the entry when the block ends without an exception.

    Raises:
        ToolError: the build folder cannot be written, or there is no room in it.
    """
    folder = BUILD / section / key[:40]
    if is_whole(folder):
        yield folder, None
        return
    # Two threads often need the same source: one compiles it, the other waits.
    with _one_at_a_time[folder]:
        if is_whole(folder):
            yield folder, None
        else:
            with _made(folder) as work:
                yield folder, work


@contextlib.contextmanager
def _made(folder: Path) -> Iterator[Path]:
    """Yield an empty folder that becomes an entry."""
    with _written():
        folder.parent.mkdir(parents=True, exist_ok=True)
        _sweep(folder.parent)
        # Not tempfile.mkdtemp: other users may read the cache, so the umask decides.
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
    """Return whether an entry exists and all of its files have their original sizes."""
    try:
        lines = (folder / _MANIFEST).read_text().splitlines()
        return all(
            (folder / name).stat().st_size == int(size)
            for size, _, name in (line.partition(" ") for line in lines)
        )
    except (OSError, ValueError):
        return False


def _put(work: Path, folder: Path) -> None:
    """Rename a folder to an entry, replacing a damaged one."""
    for _ in range(2):
        try:
            work.rename(folder)
        except OSError:
            # Another process has made the same entry meanwhile, or the existing one is damaged.
            if is_whole(folder):
                return
            shutil.rmtree(folder, ignore_errors=True)
        else:
            return
    work.rename(folder)


@functools.cache
def _sweep(section: Path) -> None:
    """Remove leftovers of killed builds, once per process."""
    for path in section.glob(f"{_WORK}*"):
        pid = path.name.removeprefix(_WORK).partition("-")[0]
        with contextlib.suppress(OSError):
            # The process may run on another machine or in another container.
            idle_s = time.time() - path.stat().st_mtime
            if idle_s > _IDLE_S and not (pid.isdigit() and _is_running(int(pid))):
                shutil.rmtree(path, ignore_errors=True)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # Another user's process.
        pass
    return True


@contextlib.contextmanager
def _written() -> Iterator[None]:
    """Turn an OSError into a clear message if the build folder cannot be written."""
    try:
        yield
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        raise unwritable(error.strerror or str(error)) from error


def unwritable(reason: str) -> ToolError:
    """Return the error for a build folder that cannot be written."""
    mend = "make room there, or let this user write there"
    return ToolError(f"the build's folder cannot be written: {reason}", str(BUILD), mend)


@functools.lru_cache(maxsize=65536)
def relative(path: Path, to: Path) -> str:
    """Return a path relative to a folder, so that no command or object has an absolute path."""
    return os.path.relpath(path, to)
