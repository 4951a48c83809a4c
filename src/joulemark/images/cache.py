"""The build cache: what is in it is named by the digest of everything that went into it.

An entry appears whole or not at all (it is renamed into place), so that any number of processes can
share the cache.
"""

import contextlib
import functools
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from joulemark.project import BUILD


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
    """
    folder = BUILD / section / key[:40]
    if folder.exists():
        yield folder, None
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix="making-", dir=folder.parent))
    try:
        yield folder, work
        try:
            work.rename(folder)
        except OSError:
            # Another process made the same entry meanwhile.
            if not folder.exists():
                raise
    finally:
        shutil.rmtree(work, ignore_errors=True)


@functools.lru_cache(maxsize=65536)
def relative(path: Path, to: Path) -> str:
    """Name a path as seen from a folder, so that no command or object holds an absolute path."""
    return os.path.relpath(path, to)
