"""Start LLVM's programs once, and fork them for each command.

Clang takes 22 ms of processor time to start before it reads its source, as long as most of our
sources take to compile. `started.c` explains how it is started only once.
"""

import atexit
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

from joulemark.closes import Closes
from joulemark.errors import ToolError
from joulemark.images import cache

_SOURCE = Path(__file__).with_suffix(".c")
_FLAGS = ("-O2", "-std=c11", "-shared", "-fPIC")
_LIBRARY = "started.so"
_HEADER = struct.Struct("=II")
_STATUS = struct.Struct("=i")


class _EndedError(Exception):
    """The program has exited, or never stopped before its main function."""


class _Started(Closes):
    """A program that waits for commands."""

    def __init__(self, path: str, library: Path) -> None:
        self._printed = tempfile.TemporaryFile()  # noqa: SIM115
        # LD_PRELOAD is a list, and a folder's name may contain its separators, so the path is
        # relative.
        self._process = subprocess.Popen(
            [path],
            cwd=library.parent,
            env={**os.environ, "LD_PRELOAD": f"./{library.name}"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._printed,
            bufsize=0,
        )

    @property
    def pid(self) -> int:
        """Its process ID."""
        return self._process.pid

    def run(self, arguments: Sequence[str], folder: Path) -> tuple[int, str]:
        """Run the program; return its exit code and its output.

        Raises:
            _EndedError: the program cannot be run in this way.
        """
        assert self._process.stdin is not None  # noqa: S101
        assert self._process.stdout is not None  # noqa: S101
        strings = [os.fsencode(text) + b"\0" for text in (str(folder.resolve()), *arguments)]
        data = b"".join(strings)
        try:
            self._process.stdin.write(_HEADER.pack(len(data), len(strings)) + data)
        except BrokenPipeError as error:
            raise _EndedError from error
        answer = self._process.stdout.read(_STATUS.size)
        if len(answer) != _STATUS.size:
            raise _EndedError
        # The program shares this open file and its offset.
        self._printed.seek(0)
        printed = self._printed.read().decode(errors="replace")
        self._printed.seek(0)
        self._printed.truncate()
        return os.waitstatus_to_exitcode(_STATUS.unpack(answer)[0]), printed

    def close(self) -> None:
        """End the program."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._process.wait()
        self._printed.close()


_Key = tuple[int, str, frozenset[tuple[str, str]]]
_waiting: dict[_Key, list[_Started]] = {}
"""Idle programs. Each runs one command at a time, so every thread takes its own."""
_lock = threading.Lock()
unseen: set[str] = set()
"""Environment variables that no compiler reads; changing them restarts no program."""
_unfit: set[str] = set()
"""Programs that cannot be started in this way: static, or for another machine."""


def run(command: Sequence[str], folder: Path) -> tuple[int, str] | None:
    """Run a command of LLVM in a folder.

    Args:
        command: the program's path and its arguments.
        folder: the folder to run it in.

    Returns:
        Its exit code and output; None if it must be run as an ordinary process.
    """
    path, *arguments = command
    library = None if path in _unfit else _library()
    if library is None:
        return None
    # A started program keeps the environment of its start, and a fork of this process must not use
    # its parent's programs.
    environment = frozenset(item for item in os.environ.items() if item[0] not in unseen)
    key = (os.getpid(), path, environment)
    with _lock:
        idle = _waiting.get(key)
        started = idle.pop() if idle else None
        changed = [k for k in _waiting if k[0] == key[0] and k[2] != environment]
        outdated = [program for k in changed for program in _waiting.pop(k)]
    for program in outdated:
        program.close()
    started = started or _Started(path, library)
    try:
        done = started.run(arguments, folder)
    except _EndedError:
        _unfit.add(path)
        started.close()
        return None
    with _lock:
        _waiting.setdefault(key, []).append(started)
    return done


def _library() -> Path | None:
    """Build the library that is loaded into the programs; None if that is not possible."""
    compiler = shutil.which("cc")
    if sys.platform != "linux" or compiler is None or "LD_PRELOAD" in os.environ:
        return None
    key = cache.digest([_SOURCE.read_bytes(), *_FLAGS, os.uname().machine])
    try:
        with cache.entry("tools", key) as (made, work):
            if work is not None:
                command = [compiler, *_FLAGS, str(_SOURCE), "-o", str(work / _LIBRARY), "-ldl"]
                subprocess.run(command, capture_output=True, check=True)
    except (ToolError, subprocess.CalledProcessError):
        return None
    return made / _LIBRARY


@atexit.register
def close() -> None:
    """End the idle programs that this process has started."""
    for (pid, *_), idle in list(_waiting.items()):
        if pid == os.getpid():
            while idle:
                idle.pop().close()
