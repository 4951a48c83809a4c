"""Run a library's program as a process that answers lines (docs/adding-a-library.md)."""

import contextlib
import os
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

from joulemark import ready
from joulemark.closes import Closes
from joulemark.errors import LinkError, VerificationError
from joulemark.runners.machine import Core, environment

TIMEOUT_S = 30.0
"""Time limit of an answer, beyond the expected time of execution."""


@dataclass(frozen=True)
class Ran:
    """Measurements of one window."""

    wall_ns: int
    cpu_ns: int
    """Time of the process alone, whatever else the core did."""
    cycles: int | None
    """In user mode, by perf_event; None if that does not work."""
    instructions: int | None
    why_not: str = ""
    """Linux's reason if perf_event does not work."""


class LibraryProcess(Closes):
    """A library's program, pinned to a core.

    Args:
        command: the program, after the emulator's command if it is for another machine.
        core: the core to run on; None for any.
        marker: pin that is high during a window.

    Raises:
        LinkError: it cannot be started.
    """

    def __init__(
        self, command: list[str], core: Core | None = None, marker: str | None = None
    ) -> None:
        self._where = command[-1]
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                env=environment(marker),
            )
        except OSError as error:
            raise LinkError(f"cannot be started: {error.strerror}", self._where) from error
        if core is not None:
            core.pin(self._process.pid)
        self.name = self._ask("hello")

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()

    def prepare(self, algorithm: str, operation: str, inputs: Mapping[str, bytes]) -> None:
        """Prepare the execution of a row.

        Raises:
            VerificationError: the library refuses.
        """
        values = " ".join(f"{name}={value.hex()}" for name, value in inputs.items())
        self._accepted(self._ask(f"prepare {algorithm} {operation} {values}"))

    def run(self, count: int, *, quiet_s: float = 0.0, seconds: float = 0.0) -> Ran:
        """Execute the prepared row in one window.

        Args:
            count: number of executions.
            quiet_s: idle time before and after the window.
            seconds: approximate duration of the window.

        Raises:
            VerificationError: executions with equal inputs gave different outputs.
        """
        answer = self._ask(
            f"run {count} {round(quiet_s * 1e3)}", TIMEOUT_S + 3 * (seconds + 2 * quiet_s)
        )
        self._accepted(answer)
        _, wall_ns, cpu_ns, cycles, rest = answer.split(" ", 4)
        if cycles == "-":
            return Ran(int(wall_ns), int(cpu_ns), None, None, rest)
        return Ran(int(wall_ns), int(cpu_ns), int(cycles), int(rest))

    def outputs(self) -> dict[str, bytes]:
        """Return the outputs of the last execution."""
        pairs = (pair.split("=") for pair in self._ask("outputs").split())
        return {name: bytes.fromhex(value) for name, value in pairs}

    def clock_hz(self) -> int:
        """Measure the current clock of its core."""
        return int(self._ask("clock"))

    def _accepted(self, answer: str) -> None:
        word, _, rest = answer.partition(" ")
        if word == "error":
            raise VerificationError(f"the library says: {rest}", self.name)
        if word not in {"ok", "ran"}:
            raise LinkError(f"{answer[:80]!r} is no answer", self._where)

    def _ask(self, line: str, timeout_s: float = TIMEOUT_S) -> str:
        assert self._process.stdin is not None  # noqa: S101
        assert self._process.stdout is not None  # noqa: S101
        data = f"{line}\n".encode()
        with contextlib.suppress(BrokenPipeError):
            while data:
                data = data[os.write(self._process.stdin.fileno(), data) :]
        answer, end_s = b"", time.monotonic() + timeout_s
        while not answer.endswith(b"\n"):
            left_s = end_s - time.monotonic()
            if left_s <= 0 or not ready.to_read(self._process.stdout.fileno(), left_s):
                raise LinkError(f"silent for {timeout_s:g} s", self._where)
            part = os.read(self._process.stdout.fileno(), 65536)
            if not part:
                self._died()
            answer += part
        return answer.decode().strip()

    def _died(self) -> NoReturn:
        _, errors = self._process.communicate()
        said = errors.decode(errors="replace").strip() or "it said nothing"
        what = f"the process ended with code {self._process.returncode}: {said[:400]}"
        raise LinkError(what, self._where)
