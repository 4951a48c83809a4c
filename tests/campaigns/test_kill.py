"""Killed at any moment, a campaign keeps what it recorded and goes on where it stopped."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from command import joulemark
from joulemark.records.store import Store

CAMPAIGN = (
    *("run", "--board", "telosb", "--board", "sensortag-cc2650"),
    *("--primitive", "sha-256", "--primitive", "aes-128"),
    *("--opt", "Os", "--seed", "1", "--jobs", "2"),
)
LONG = (*CAMPAIGN, "--size", ",".join(map(str, range(1, 1000))))
"""It cannot finish before it is stopped."""
PATIENCE_S = 600
"""How long to wait before giving up."""


def count(path: Path) -> int:
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            return int(connection.execute("SELECT count(*) FROM records").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def start_and_wait_for(
    path: Path, records: int, campaign: tuple[str, ...] = CAMPAIGN
) -> "subprocess.Popen[bytes]":
    # A shell's background jobs ignore SIGINT, and so would all that they start.
    listening = ["env", "--default-signal=INT"]
    command = [sys.executable, "-c", "from joulemark.cli import main; main()", *campaign]
    process = subprocess.Popen(
        [*listening, *command, "--store", str(path)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + PATIENCE_S
    while count(path) < records:
        assert process.poll() is None, "it ended before it could be stopped"
        assert time.monotonic() < deadline
        time.sleep(0.002)
    return process


def workers(group: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text().rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if stat[0] != "Z" and int(stat[2]) == group:
                found.append(int(entry.name))
    return found


def assert_ended(group: int) -> None:
    """Check that no worker outlives its parent by more than its current case."""
    deadline = time.monotonic() + PATIENCE_S
    while workers(group) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not workers(group), "workers outlived their parent"


def results(path: Path) -> dict[str, tuple[object, ...]]:
    with Store(path) as store:
        history = store.records(history=True)
        assert len({r.key for r in history}) == len(history), "a case was measured twice"
        return {r.case.digest: (r.key, r.cycles, r.energy_net_nj, r.samples) for r in history}


@pytest.mark.slow
def test_kill_9_loses_nothing_and_the_same_command_goes_on(tmp_path: Path) -> None:
    whole = tmp_path / "whole.db"
    joulemark(*CAMPAIGN, "--store", str(whole))
    stopped = tmp_path / "stopped.db"
    kept = 0
    for records in (3, 10):
        process = start_and_wait_for(stopped, records)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        kept = count(stopped)
        assert kept >= records
        assert_ended(process.pid)
    done = joulemark(*CAMPAIGN, "--store", str(stopped))
    assert f"served from the store: {kept} of " in done.stdout
    assert results(stopped) == results(whole)


@pytest.mark.slow
def test_ctrl_c_says_how_to_go_on(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    process = start_and_wait_for(path, 3, LONG)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(timeout=PATIENCE_S) == 130
    assert_ended(process.pid)
    assert count(path) >= 3


# Ctrl-C while `concurrent.futures.wait` holds the locks of all futures, which takes a while with
# thousands of them, and happens twenty times a second.
AT_THE_WORST_MOMENT = """
import signal
from concurrent.futures import _base
from joulemark.cli import main

locks = _base._AcquireFutures
acquire = locks.__enter__
times = 0

def pressed(self):
    global times
    acquire(self)
    times += 1
    if times == 3:
        signal.raise_signal(signal.SIGINT)

locks.__enter__ = pressed
main()
"""


def test_ctrl_c_while_locks_are_held(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    command = ["env", "--default-signal=INT", sys.executable, "-c", AT_THE_WORST_MOMENT, *LONG]
    done = subprocess.run(
        [*command, "--store", str(path)],
        check=False,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 130, done.stderr
