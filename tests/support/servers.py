"""A PostgreSQL server for one test: a socket in a temporary folder, and nothing else."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def _programs() -> Path:
    """Return Debian's folder for the programs of `postgresql`, which is not on the PATH."""
    found = shutil.which("initdb")
    folders = [*Path("/usr/lib/postgresql").glob("*/bin"), *([Path(found).parent] if found else [])]
    newest = max(
        (folder for folder in folders if (folder / "postgres").exists()),
        key=lambda folder: [int(part) for part in folder.parts if part.isdigit()],
        default=None,
    )
    assert newest is not None, "PostgreSQL is not installed: tools/system-packages.sh test"
    return newest


@contextmanager
def postgresql() -> Iterator[str]:
    """Start a server, and yield the URL of its database except the database's name."""
    programs = _programs()
    # PostgreSQL refuses to run as root; Debian's package creates a user for it.
    root = os.geteuid() == 0
    user = "postgres" if root else None
    # Socket paths must be short, and pytest's folders belong to root alone.
    folder = Path(tempfile.mkdtemp(prefix="joulemark-pg-", dir="/tmp"))
    if user is not None:
        shutil.chown(folder, user)

    def call(*command: str) -> None:
        subprocess.run(
            command, check=True, capture_output=True, text=True, user=user, cwd=folder, env={}
        )

    data = folder / "data"
    server = None
    try:
        call(
            str(programs / "initdb"),
            *("--pgdata", str(data), "--auth", "trust", "--username", "test", "--no-sync"),
            *("--encoding", "UTF8", "--locale", "C"),
        )
        options = f"-c listen_addresses= -c unix_socket_directories={folder} -c fsync=off"
        server = str(programs / "pg_ctl")
        call(server, "--pgdata", str(data), "-w", "-o", options, "-l", str(folder / "log"), "start")
        yield f"postgresql+psycopg://test@/{{}}?host={folder}"
    finally:
        if server is not None:
            call(server, "--pgdata", str(data), "-w", "-m", "immediate", "stop")
        shutil.rmtree(folder)


def new_database(url: str, name: str) -> str:
    """Create an empty database, and return its URL."""
    folder = url.rpartition("host=")[2]
    subprocess.run(
        ["psql", "-h", folder, "-U", "test", "-d", "postgres", "-c", f'CREATE DATABASE "{name}"'],
        check=True,
        capture_output=True,
    )
    return url.format(name)
