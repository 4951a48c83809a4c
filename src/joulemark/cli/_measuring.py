"""Builds and measures what a command needs, with progress bars; nothing is measured twice."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

import typer

from joulemark.errors import JoulemarkError
from joulemark.words import counted

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

    from joulemark.conduct import Found, Means, Records, Work
    from joulemark.measure.bench import Bench, Workers
    from joulemark.records.store import Store


class InterruptedRunError(JoulemarkError):
    """Ctrl-C."""

    exit_code = 130


@contextmanager
def means(bench: "Bench", workers: "Workers", store: "Store | None" = None) -> "Iterator[Means]":
    """Yield means whose building has a progress bar.

    Args:
        bench: what cases are measured with.
        workers: build and emulate.
        store: where a first run says how much there is to do.
    """
    from joulemark.campaign.options import EMULATOR
    from joulemark.conduct import Means
    from joulemark.conduct import Progress as Told

    with _progress() as progress:
        task = progress.add_task("building", total=None)
        planned = 0

        def building(images: int, cases: int, long: int) -> None:
            # Each table of a campaign adds to what there is to build.
            nonlocal planned
            planned += images
            progress.update(task, total=planned)
            if store is not None and store.is_empty and cases:
                cores = _cores(workers) if bench.runner == EMULATOR else None
                told = _first(images, cases, long, cores)
                progress.console.print(told, highlight=False, soft_wrap=True)

        yield Means(
            workers=workers,
            bench=bench,
            tell=lambda text: typer.echo(text, err=True),
            progress=Told(building=building, built=lambda: progress.advance(task)),
        )


CORE_S_PER_IMAGE, CORE_S_PER_CASE = 0.3, 0.02
"""Core seconds: the default campaign from an empty cache, 425 images and 9,252 cases, took 322 of
them, some 120 to build. The message presents it as a guess."""


def _cores(workers: "Workers") -> int | None:
    """Return the number of this machine's cores that work; None where others do."""
    from joulemark.measure.pool import Processes

    if not isinstance(workers, Processes):
        return None
    return min(workers.count, len(os.sched_getaffinity(0)))


def _first(images: int, cases: int, long: int, cores: int | None) -> str:
    """Return the notice before a first measurement.

    Args:
        images: how many are built.
        cases: how many are measured.
        long: how many of them take a time that is not known before: from milliseconds to minutes.
        cores: how many emulate; None if the time is not known.
    """
    told = f"first run: {counted(images, 'image')} and {counted(cases, 'case')}"
    if cores is not None and long < cases:
        guess_s = (images * CORE_S_PER_IMAGE + (cases - long) * CORE_S_PER_CASE) / cores
        minutes = f"{guess_s / 60:.0f} minutes"
        time_told = minutes if guess_s > 90 else f"{max(5, 5 * round(guess_s / 5))} s"
        told += f", about {time_told} on {counted(cores, 'core')}"
    if long:
        which = "" if long == cases else f" {long:,} of the cases"
        told += f",{which} from milliseconds to minutes each"
    return f"{told}; Ctrl-C loses nothing, and the same command again takes seconds"


def conducted(
    store: "Store",
    work: "Work",
    *,
    fresh: bool = False,
    shown: bool = True,
    told: "Callable[[Records, str], None]" = lambda _records, _count: None,
) -> "Found":
    """Measure what a store does not have, with a progress bar.

    Args:
        store: serves records and receives the new ones.
        work: the cases.
        fresh: measure everything again.
        shown: whether the progress bar is: it would overwrite questions to a person.
        told: called with new records, after they are stored, and their count, as in "[3/12]".
    """
    from joulemark.conduct import conduct

    done = total = 0
    try:
        with _progress(shown=shown) as progress:
            task = progress.add_task("measuring", total=None)

            def begun(left: int) -> None:
                nonlocal total
                total = left
                progress.update(task, total=left)

            def made(records: "Records") -> None:
                nonlocal done
                done += len(records)
                progress.advance(task, len(records))
                told(records, f"[{done}/{total}]")

            return conduct(work, store, fresh=fresh, begun=begun, made=made)
    except (KeyboardInterrupt, EOFError):
        raise InterruptedRunError(
            f"interrupted after {done} of {total} cases, all of them in the store",
            None,
            "give the same command again to go on",
        ) from None


LINE_EVERY_S = 10.0
"""Without a terminal, a line that says how far it is comes this often."""


class _Lines:
    """As much of a progress bar as is used here, in lines for what is no terminal."""

    def __init__(self, console: "Console", *, shown: bool) -> None:
        self.console = console
        self._shown = shown
        self._tasks: list[tuple[str, int, int | None]] = []
        self._told_s = self._begun_s = time.monotonic()

    def __enter__(self) -> "_Lines":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def add_task(self, description: str, total: int | None = None) -> "TaskID":
        """Begin a task, and return its number."""
        self._tasks.append((description, 0, total))
        return cast("TaskID", len(self._tasks) - 1)

    def update(self, task: "TaskID", total: int) -> None:
        """Say how much there is to do."""
        description, done, _ = self._tasks[task]
        self._tasks[task] = description, done, total

    def advance(self, task: "TaskID", by: int = 1) -> None:
        """Say how much was done."""
        description, done, total = self._tasks[task]
        self._tasks[task] = description, done + by, total
        now_s = time.monotonic()
        if self._shown and now_s - self._told_s >= LINE_EVERY_S:
            self._told_s = now_s
            of = f" of {total:,}" if total else ""
            passed = f"{now_s - self._begun_s:.0f} s"
            self.console.print(f"{description}: {done + by:,}{of}, {passed}", highlight=False)


def _progress(*, shown: bool = True) -> "Progress | _Lines":
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    if not console.is_terminal:
        return _Lines(console, shown=shown)
    return Progress(
        TextColumn("{task.description:9}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        refresh_per_second=4,
        disable=not shown,
    )
