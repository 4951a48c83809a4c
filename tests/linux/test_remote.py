"""`joulemark run --host`, against an sshd that the test starts."""

import getpass
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from command import by_itself, joulemark, undisturbed
from joulemark.records.store import Store

SOME = ("--runner", "local", "--library", "openssl", "--runs", "2", "--seconds", "0.02")


@dataclass
class Server:
    """This user's sshd, and an `ssh` that finds it."""

    folder: Path
    process: "subprocess.Popen[bytes]"

    @property
    def path(self) -> str:
        return f"{self.folder}:{os.environ['PATH']}"

    @property
    def command(self) -> str:
        """A command there, with the test's folder as its home."""
        return str(self.folder / "there")


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder, port = tmp_path_factory.mktemp("sshd"), _free_port()
    for key in ("host", "user"):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / key)], check=True
        )
    shutil.copy(folder / "user.pub", folder / "authorized")
    home = folder / "home"
    home.mkdir()
    (folder / "sshd_config").write_text(
        f"ListenAddress 127.0.0.1:{port}\nHostKey {folder}/host\nPidFile none\n"
        f"AuthorizedKeysFile {folder}/authorized\nStrictModes no\nUsePAM no\n"
        "PasswordAuthentication no\n"
        f'ForceCommand cd {home} && PATH={folder}:$PATH sh -c "$SSH_ORIGINAL_COMMAND"\n'
    )
    (folder / "ssh_config").write_text(
        f"Host board raspberrypi\n HostName 127.0.0.1\n Port {port}\n User {getpass.getuser()}\n"
        f" IdentityFile {folder}/user\n UserKnownHostsFile {folder}/known\n"
        " StrictHostKeyChecking accept-new\n BatchMode yes\n"
    )
    ssh = shutil.which("ssh")
    (folder / "ssh").write_text(f'#!/bin/sh\nexec {ssh} -F {folder}/ssh_config "$@"\n')
    start = "from joulemark.cli import main; main()"
    for name in ("there", "joulemark"):
        (folder / name).write_text(f"#!/bin/sh\nexec {sys.executable} -c '{start}' \"$@\"\n")
    for name in ("ssh", "there", "joulemark"):
        (folder / name).chmod(0o755)
    if os.getuid() == 0:
        # sshd needs this folder for privilege separation.
        Path("/run/sshd").mkdir(exist_ok=True)
    process = subprocess.Popen(
        ["/usr/sbin/sshd", "-D", "-e", "-f", str(folder / "sshd_config")],
        stderr=(folder / "log").open("wb"),
    )
    made = Server(folder, process)
    end_s = time.monotonic() + 20
    while subprocess.run(
        [folder / "ssh", "board", "true"], capture_output=True, check=False
    ).returncode:
        assert time.monotonic() < end_s, (folder / "log").read_text()
        time.sleep(0.1)
    yield made
    process.terminate()
    process.wait()


def test_the_records_come_home(server: Server, tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text('algorithm = "md5"\noperation = "hash"\nseed = 1\n')
    command = ("run", "c.toml", *SOME, "--host", "board", "--host-command", server.command)
    done = undisturbed(*command, folder=tmp_path, PATH=server.path)
    assert "measured 1, served from the store: 0 of 1" in done.stdout
    assert "brought from board: 1 records" in done.stdout
    with Store(tmp_path / "results" / "joulemark.db") as store:
        (record,) = store.records()
    assert record.status == "ok"
    # It goes on where it stopped, and transfers nothing twice.
    again = by_itself(*command, folder=tmp_path, PATH=server.path)
    assert "measured 0, served from the store: 1 of 1" in again.stdout
    assert "brought from board: 0 records" in again.stdout


def test_a_command_that_fails_there_fails_here(server: Server, tmp_path: Path) -> None:
    command = ("run", *SOME, "--host", "board", "--host-command", server.command)
    done = by_itself(*command, "--algorithm", "none", folder=tmp_path, code=3, PATH=server.path)
    assert "matches no row" in done.stderr


def test_what_cannot_be_reached(server: Server, tmp_path: Path) -> None:
    nowhere = by_itself(
        "run", *SOME, "--host", "127.0.0.2.invalid", folder=tmp_path, code=10, PATH=server.path
    )
    assert "cannot be reached over SSH" in nowhere.stderr
    missing = ("run", *SOME, "--host", "board", "--host-command", "no-such-command")
    done = by_itself(*missing, folder=tmp_path, code=4, PATH=server.path)
    assert "install it there with pip" in done.stderr
    wrong = joulemark("run", "--host", "board", folder=tmp_path, code=3)
    assert "give --runner local" in wrong.stderr
