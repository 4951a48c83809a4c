"""A campaign on Dask's workers: the same results, whichever worker dies meanwhile."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import distributed
import pytest

import command
import joulemark
from joulemark import project
from joulemark.campaign.job import Job, Setup
from joulemark.campaign.options import checked
from joulemark.campaign.plan import plan
from joulemark.campaign.versions import engine_digest
from joulemark.errors import InputError, LinkError, ToolError
from joulemark.images import BuiltImage
from joulemark.measure import cluster
from joulemark.measure.cluster import Cluster
from joulemark.subjects.primitive.options import PrimitiveOptions
from servers import new_database, postgresql

CASES = {
    "board": ["telosb", "stm32vldiscovery"],
    "primitive": "siphash-2-4",
    "size": list(range(100)),
    "opt": "Os",
    "trials": 1,
    "seed": 1,
}


@contextmanager
def scheduler(workers: int = 1) -> Iterator[Any]:
    """A lab's scheduler: at an address, with workers in separate processes."""
    lab: Any = distributed.LocalCluster(  # type: ignore[no-untyped-call]
        n_workers=workers, threads_per_worker=1, dashboard_address=":0", silence_logs="CRITICAL"
    )
    try:
        yield lab
    finally:
        lab.close()


def figures(store: object) -> dict[str, tuple[object, ...]]:
    with joulemark.open_store(str(store)) as opened:
        history = opened.records(history=True)
    assert len({r.key for r in history}) == len(history), "a case was measured twice"
    assert all(r.status == "ok" for r in history)
    return {r.key: (str(r.case), r.quantities, r.samples, r.provenance) for r in history}


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of the same campaign, run with processes of this machine."""
    store = tmp_path_factory.mktemp("here") / "here.db"
    joulemark.run(store=store, **CASES)  # type: ignore[arg-type]
    return store


@pytest.mark.slow
def test_a_worker_that_is_killed_loses_nothing(here: Path, tmp_path: Path) -> None:
    store = tmp_path / "lab.db"
    killed: list[int] = []

    def kill_one() -> None:
        """Kill one as soon as the first records are there; Dask starts another in its place."""
        while not killed:
            time.sleep(0.01)
            try:
                with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as opened:
                    (count,) = opened.execute("SELECT count(*) FROM records").fetchone()
            except sqlite3.OperationalError:
                continue
            if count:
                nanny = next(iter(lab.workers.values()))
                os.kill(nanny.pid, signal.SIGKILL)
                killed.append(count)

    with scheduler(workers=2) as lab:
        killer = threading.Thread(target=kill_one, daemon=True)
        killer.start()
        frame = joulemark.run(store=store, cluster=lab.scheduler_address, **CASES)  # type: ignore[arg-type]
        killer.join(timeout=60)
    expected = figures(here)
    assert killed
    assert killed[0] < len(expected), "it was killed in the midst of it"
    assert len(frame) == len(expected)
    assert figures(store) == expected
    # A repeated request, with a cluster or without, is served from the store.
    asked = ("--board", "telosb", "--primitive", "siphash-2-4", "--opt", "Os", "--size", "0,99")
    again = command.joulemark("run", *asked, "--trials", "1", "--seed", "1", "--store", str(store))
    assert "measured 0," in again.stdout


@pytest.mark.slow
def test_records_go_to_a_database_server() -> None:
    asked = (
        "--board",
        "telosb",
        "--primitive",
        "xtea",
        "--opt",
        "Os",
        "--size",
        "8",
        "--seed",
        "1",
    )
    with postgresql() as url:
        store = new_database(url, "lab")
        done = command.joulemark("run", *asked, "--cluster", "local:1", "--store", store)
        assert "measured 6, served from the store: 0 of 6" in done.stdout
        assert len(figures(store)) == 6


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--cluster", "lab"), 3, "write local:2, or a scheduler's address"),
        (("--cluster", "local:0"), 3, "names no cluster"),
        (("--cluster", "local:2", "--jobs", "2"), 3, "--jobs: the cluster says how many"),
        (
            ("--cluster", "local:2", "--runner", "local", "--meter", "powercap"),
            3,
            "workers emulate",
        ),
        (("--cluster", "tcp://127.0.0.1:9"), 10, "start `dask scheduler` there"),
    ],
)
def test_bad_input_is_refused_before_anything_is_built(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    code: int,
    message: str,
) -> None:
    monkeypatch.setattr(cluster, "_ANSWER_S", 0.2)
    done = command.joulemark("run", *arguments, "--store", str(tmp_path / "s.db"), code=code)
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_without_dask_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ToolError, match=r"pip install 'joulemark\[dask\]'"):
        Cluster("local:1")


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> cluster.Conductor:
    """What a worker that is this very process would be told."""
    monkeypatch.setattr(project, "set_sources", lambda _: None)
    return cluster.Conductor("t", engine_digest(), cluster._own_tree(), ())


def test_a_worker_of_another_version_refuses(told: cluster.Conductor) -> None:
    cluster._prepared(told)
    for other in ({"engine": "0"}, {"tree": "0"}):
        with pytest.raises(ToolError, match="another version"):
            cluster._prepared(replace(told, **other))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="is no folder there"):
        cluster._prepared(replace(told, sources=(Path("/nowhere"),)))


def test_a_worker_that_builds_something_else_refuses(told: cluster.Conductor) -> None:
    asked = {**CASES, "board": "telosb", "size": [8]}
    job: Job = plan(checked(PrimitiveOptions, asked), Setup()).jobs[0]
    assert len(cluster._measure(told, job)) == len(job.points)
    assert isinstance(job.image, BuiltImage)
    other = replace(job, image=replace(job.image, build_id="0" * 40))
    with pytest.raises(ToolError, match=r"its compiler is .*; install the same"):
        cluster._measure(told, other)


def test_where_all_workers_are_gone_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_LOOK_S", 0.05)
    monkeypatch.setattr(cluster, "_PATIENCE_S", 0.2)
    with scheduler() as lab, Cluster(lab.scheduler_address) as workers:
        workers._client.submit(time.sleep, 0).result()
        lab.scale(0)
        with pytest.raises(LinkError, match="all workers are gone"):
            for _ in workers._answers(_never, iter([(1, 2)])):
                pass


def _never(_told: object, _asked: object) -> None:
    time.sleep(60)


def test_nothing_of_a_local_cluster_outlives_a_command_that_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from joulemark.cli import main; main()", "run"]
    command += ["--cluster", "local:1", "--board", "telosb", "--primitive", "siphash-2-4"]
    command += ["--size", ",".join(map(str, range(1000))), "--store", str(tmp_path / "s.db")]
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    deadline = time.monotonic() + 120
    while len(_group(process.pid)) < 3:  # The command, the watcher of its children, the worker.
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.kill()
    process.wait()
    while _group(process.pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not _group(process.pid)


def _group(group: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and os.getpgid(int(entry.name)) == group:
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
                found += [int(entry.name)] if state != "Z" else []
        except (OSError, ProcessLookupError):
            continue
    return found
