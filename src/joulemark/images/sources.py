"""Find everything that a source file includes, with digests of the contents."""

import hashlib
import os
import re
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any, TypeVar

Made = TypeVar("Made")

_NAME = rb'(?:"([^"\n]+)"|<([^>\n]+)>)'
_INCLUDE = re.compile(
    rb"^[ \t]*#[ \t]*include[ \t]*"
    + _NAME
    + rb'|^[ \t]*\.inc(?:lude|bin)[ \t]+"([^"\n]+)"'
    + rb"|\b__has_include[ \t]*\([ \t]*"
    + _NAME,
    re.MULTILINE,
)


class Sources:
    """Source files as they were when first read.

    Many images share the same files: one instance for all of them reads each file once.
    """

    def __init__(self) -> None:
        self._paths: dict[str, str | None] = {}
        self._files: dict[str, tuple[str, tuple[str, ...]]] = {}
        self._made: dict[Hashable, Any] = {}

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return the value that was made under this key; make it if there is none yet."""
        if key not in self._made:
            self._made[key] = make()
        made: Made = self._made[key]
        return made

    def _find(self, path: str) -> str | None:
        """Return a file's real path, or None if there is no such file."""
        if path not in self._paths:
            self._paths[path] = os.path.realpath(path) if Path(path).is_file() else None
        return self._paths[path]

    def _read(self, path: str) -> tuple[str, tuple[str, ...]]:
        """Return a file's digest, and the names that it includes or tests for."""
        if path not in self._files:
            data = Path(path).read_bytes()
            names = tuple(b"".join(groups).decode() for groups in _INCLUDE.findall(data))
            self._files[path] = hashlib.sha256(data).hexdigest(), names
        return self._files[path]

    def closure(self, source: Path, includes: tuple[Path, ...]) -> list[tuple[str, str]]:
        """Return a source and all that it includes: names as included, and digests of contents.

        A header in none of the folders belongs to the compiler or the system; the compiler's
        version stands for it.
        """
        reached = self._reached(source, includes).items()
        return sorted((name, self._read(path)[0]) for path, name in reached)

    def say(self, source: Path, includes: tuple[Path, ...], what: re.Pattern[str]) -> bool:
        """Return whether a source, or a file that it includes, has such a text."""
        return any(self._says(path, what) for path in self._reached(source, includes))

    def _says(self, path: str, what: re.Pattern[str]) -> bool:
        def look() -> bool:
            return what.search(Path(path).read_text(encoding="utf-8", errors="replace")) is not None

        return self.once((path, what), look)

    def _reached(self, source: Path, includes: tuple[Path, ...]) -> dict[str, str]:
        """Return the names, as included, of a source and all that it includes, by path."""
        folders = [str(folder) for folder in includes]
        found: dict[str, str] = {}
        waiting = [(source.name, str(source))]
        while waiting:
            name, path = waiting.pop()
            if path in found:
                continue
            found[path] = name
            own = path.rpartition("/")[0]
            for other in self._read(path)[1]:
                for folder in (own, *folders):
                    real = self._find(f"{folder}/{other}")
                    if real is not None:
                        waiting.append((other, real))
                        break
        return found
