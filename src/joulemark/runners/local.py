"""Run an image as a program on this machine."""

import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from joulemark import ready
from joulemark.closes import Closes
from joulemark.errors import LinkError
from joulemark.runners.machine import Core, environment

NAME = "local"
_QUIET_S = 0.005


class LocalLink(Closes):
    """Standard input and output of an image's process.

    Args:
        path: the program.
        timeout_s: time limit of an answer.
        through: the emulator's command, for a program for another machine.
        core: the core to run on; None for any.
        marker: pin that is high during a window.

    Raises:
        LinkError: it cannot be started.
    """

    def __init__(
        self,
        path: Path,
        timeout_s: float = 20,
        through: Sequence[str] = (),
        *,
        core: Core | None = None,
        marker: str | None = None,
    ) -> None:
        self._path = path
        self.timeout_s = timeout_s
        self._end: LinkError | None = None
        try:
            self._process = subprocess.Popen(
                [*through, str(path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                env=environment(marker),
            )
        except OSError as error:
            raise LinkError(f"cannot be started: {error.strerror}", str(path)) from error
        if core is not None:
            core.pin(self._process.pid)

    @property
    def process(self) -> int:
        """The process ID."""
        return self._process.pid

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        if self._end is None:
            self._process.communicate()

    def finish(self) -> None:
        """Close the process's input, and wait for it to end by itself.

        Raises:
            LinkError: it does not end in time.
        """
        try:
            self._process.communicate(timeout=self.timeout_s)
        except subprocess.TimeoutExpired as error:
            raise LinkError(f"does not end in {self.timeout_s:g} s", str(self._path)) from error
        self._end = LinkError("has ended", str(self._path))

    def send(self, data: bytes) -> None:
        """Write to the process."""
        assert self._process.stdin is not None  # noqa: S101
        try:
            self._process.stdin.write(data)
        except (BrokenPipeError, ValueError):  # ValueError: its end was noticed before.
            self._died()

    def receive(self) -> bytes:
        """Read up to a zero byte.

        Raises:
            LinkError: the process ended, or its answer did not arrive in time.
        """
        assert self._process.stdout is not None  # noqa: S101
        data = b""
        deadline = time.monotonic() + self.timeout_s
        while not data.endswith(b"\0"):
            left_s = deadline - time.monotonic()
            if left_s <= 0 and data:
                raise LinkError("what comes does not end", str(self._path))
            if left_s <= 0 or not ready.to_read(self._process.stdout.fileno(), left_s):
                raise LinkError(f"silent for {self.timeout_s:g} s", str(self._path))
            part = os.read(self._process.stdout.fileno(), 4096)
            if not part:
                self._died()
            data += part
        return data

    def settle(self) -> None:
        """Discard output until there is none for some milliseconds.

        Raises:
            LinkError: the process ended, or its output does not end.
        """
        assert self._process.stdout is not None  # noqa: S101
        if self._end is not None:
            self._died()
        deadline = time.monotonic() + self.timeout_s
        while ready.to_read(self._process.stdout.fileno(), _QUIET_S):
            if time.monotonic() > deadline:
                raise LinkError("what comes does not end", str(self._path))
            if not os.read(self._process.stdout.fileno(), 4096):
                self._died()

    def _died(self) -> NoReturn:
        if self._end is None:
            _, errors = self._process.communicate()
            said = errors.decode(errors="replace").strip() or "it said nothing"
            what = f"the process ended with code {self._process.returncode}: {said[:4000]}"
            self._end = LinkError(what, str(self._path))
        raise self._end
