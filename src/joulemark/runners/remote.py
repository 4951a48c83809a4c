"""Run Joulemark over SSH on another machine on which it is installed, to measure that machine."""

import io
import shlex
import shutil
import subprocess
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from joulemark.errors import LinkError, ToolError

FOLDER = ".cache/joulemark"
"""Folder in the remote user's home."""
STORE = "remote.db"
"""The remote store, which stays there so that an interrupted campaign can be resumed."""
_UNREACHABLE, _NO_COMMAND = 255, 127


@dataclass(frozen=True)
class Host:
    """A remote machine and its command.

    Args:
        address: an address for ssh: user@name, or a name in its configuration.
        command: the command that starts Joulemark there.
    """

    address: str
    command: str = "joulemark"

    def run(self, arguments: Sequence[str]) -> int:
        """Run Joulemark there, attached to this terminal, and return its exit code.

        Raises:
            LinkError: the machine cannot be reached.
            ToolError: ssh is missing here, or Joulemark is missing there.
        """
        command = f"{self.command} {shlex.join(arguments)}"
        code = subprocess.run([*self._ssh(), self.address, command], check=False).returncode
        if code == _NO_COMMAND:
            mend = "install it there with pip, or name it with --host-command"
            raise ToolError(f"there is no {self.command}", self.address, mend)
        self._refuse_unreachable(code)
        return code

    def put(self, name: str, data: bytes) -> str:
        """Write a file into FOLDER there, and return its path.

        Raises:
            LinkError: the machine cannot be reached, or the file cannot be written.
        """
        path = f"{FOLDER}/{name}"
        self._output(f"mkdir -p {FOLDER} && cat > {shlex.quote(path)}", data)
        return path

    def fetch_store(self, folder: Path) -> Path | None:
        """Copy the remote store into a local folder; None if there is no store.

        Raises:
            LinkError: the machine cannot be reached, or the store cannot be read.
        """
        data = self._output(
            f"if test -e {FOLDER}/{STORE}; then cd {FOLDER} && tar -cf - {STORE}*; fi"
        )
        if not data:
            return None
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            archive.extractall(folder, filter="data")
        return folder / STORE

    def _output(self, command: str, given: bytes = b"") -> bytes:
        done = subprocess.run(
            [*self._ssh(), self.address, command], input=given, capture_output=True, check=False
        )
        self._refuse_unreachable(done.returncode)
        if done.returncode != 0:
            said = done.stderr.decode(errors="replace").strip()
            raise LinkError(f"it says: {said[:200]}", self.address)
        return done.stdout

    def _ssh(self) -> list[str]:
        path = shutil.which("ssh")
        if path is None:
            raise ToolError("no ssh", mend="install the Debian package openssh-client")
        # Without "--", a name that begins with a hyphen would be an option.
        return [path, "--"]

    def _refuse_unreachable(self, code: int) -> None:
        if code == _UNREACHABLE:
            mend = f"try `ssh {self.address} true`; what was measured there is kept there"
            raise LinkError("cannot be reached over SSH, or was lost", self.address, mend)
