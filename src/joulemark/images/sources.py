"""The includes of a source file, and all of that in a digest."""

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
    """Source files as they are when they are first looked at.

    Many images are made of the same files; one of these for all of them looks at each file once.
    """

    def __init__(self) -> None:
        self._paths: dict[str, str | None] = {}
        self._files: dict[str, tuple[str, tuple[str, ...]]] = {}
        self._made: dict[Hashable, Any] = {}

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Value made of these files under this key, made now if it was not before."""
        if key not in self._made:
            self._made[key] = make()
        made: Made = self._made[key]
        return made

    def _find(self, path: str) -> str | None:
        """The file's own path, where there is one."""
        if path not in self._paths:
            self._paths[path] = os.path.realpath(path) if Path(path).is_file() else None
        return self._paths[path]

    def _read(self, path: str) -> tuple[str, tuple[str, ...]]:
        """A file's digest, and what it includes or asks for."""
        if path not in self._files:
            data = Path(path).read_bytes()
            names = tuple(b"".join(groups).decode() for groups in _INCLUDE.findall(data))
            self._files[path] = hashlib.sha256(data).hexdigest(), names
        return self._files[path]

    def closure(self, source: Path, includes: tuple[Path, ...]) -> list[tuple[str, str]]:
        """A source and all that it includes: names as included, and digests of the contents.

        A header between angle brackets that is in none of the folders is the compiler's or the
        system's own: the compiler's version stands for it.
        """
        folders = [str(folder) for folder in includes]
        found: dict[str, tuple[str, str]] = {}
        waiting = [(source.name, str(source))]
        while waiting:
            name, path = waiting.pop()
            if path in found:
                continue
            digest, included = self._read(path)
            found[path] = (name, digest)
            own = path.rpartition("/")[0]
            for other in included:
                for folder in (own, *folders):
                    real = self._find(f"{folder}/{other}")
                    if real is not None:
                        waiting.append((other, real))
                        break
        return sorted(found.values())
