"""Remember the images that were built from the current state of the tree.

An image's name in the build cache is the digest of everything that goes into it. Computing that
digest for hundreds of images takes longer than everything else in a repeated campaign.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from joulemark.catalogue import chips
from joulemark.catalogue.boards import Board
from joulemark.images import cache, toolchain
from joulemark.images.built import BuiltImage
from joulemark.project import BOARDS, BUILD, CHIPS, FIRMWARE

_FILE = "known.json"
_HERE = Path(__file__).parent
_OF = (BOARDS, CHIPS, FIRMWARE, _HERE, _HERE.parent / "catalogue")
"""Folders of everything that determines an image, except the compilers."""


class Known:
    """Images known for one state of the tree. See `known_images`."""

    def __init__(self, entries: dict[str, dict[str, Any]]) -> None:
        self.entries = entries
        self.is_changed = False

    def get(self, key: str) -> BuiltImage | None:
        """Return the image of a key, or None if there is none or it is damaged."""
        found = self.entries.get(key)
        if found is None:
            return None
        path = BUILD / found["path"]
        stand_in = BUILD / found["stand_in"]
        if not (cache.is_whole(path.parent) and cache.is_whole(stand_in.parent)):
            return None
        return BuiltImage(**{**found, "path": path, "stand_in": stand_in, "cached": True})

    def put(self, key: str, image: BuiltImage) -> None:
        """Record an image that has a stand-in."""
        assert image.stand_in is not None  # noqa: S101
        image = replace(image, description=dict(image.description))
        paths = {
            "path": cache.relative(image.path, BUILD),
            "stand_in": cache.relative(image.stand_in, BUILD),
        }
        self.entries[key] = asdict(image) | paths
        self.is_changed = True


def key_of(board: Board, clock: str, compiler: str, *names: str) -> str:
    """Return an image's key: everything that determines it besides the state of the tree.

    Raises:
        ToolError: the compiler or the linker is missing.
    """
    tools = (toolchain.find(compiler, board.core), toolchain.find_linker())
    # The state of the tree does not include a user's own boards and chips.
    described = (board.digest, chips.digest(board.chip))
    return cache.digest(
        [board.name, *described, clock, *names, *(f"{t.path} {t.version}" for t in tools)]
    )


@contextlib.contextmanager
def known_images() -> Iterator[Known]:
    """Yield the images known for the current state of the tree, and save new ones at the end.

    They are not saved if the tree was edited meanwhile.
    """
    state = _state()
    images = Known(_kept(state))
    try:
        yield images
    finally:
        if images.is_changed and _state() == state:
            # Another process may have saved some meanwhile.
            text = json.dumps({"state": state, "images": _kept(state) | images.entries})
            # The file only saves time: if there is no room, do without it.
            with contextlib.suppress(OSError):
                BUILD.mkdir(exist_ok=True)
                temporary = BUILD / f".{_FILE}.{os.getpid()}"
                temporary.write_text(text)
                temporary.replace(BUILD / _FILE)


def _kept(state: str) -> dict[str, dict[str, Any]]:
    try:
        kept = json.loads((BUILD / _FILE).read_text())
        images: dict[str, dict[str, Any]] = kept["images"] if kept["state"] == state else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return images


def _state() -> str:
    return state_of(_OF)


def state_of(folders: Iterable[Path]) -> str:
    """Return a digest of the names and contents of all files in folders, wherever those lie."""
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.suffix not in {".pyc", ".so"}:
                data = path.read_bytes()
                digest.update(f"{path.relative_to(folder.parent)} {len(data)}\n".encode())
                digest.update(data)
    return digest.hexdigest()
