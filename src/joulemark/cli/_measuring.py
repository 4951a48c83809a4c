"""Builds and measures what a command needs, with progress bars; nothing is measured twice."""

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import typer

from joulemark.errors import JoulemarkError
from joulemark.words import counted

if TYPE_CHECKING:
    from rich.progress import Progress

    from joulemark.campaign.job import Job
    from joulemark.campaign.plan import Plan
    from joulemark.catalogue.primitives import Implementation
    from joulemark.measure.conduct import Bench, Workers
    from joulemark.records.record import PrimitiveRecord
    from joulemark.records.store import Store
    from joulemark.subjects.primitive.options import Campaign


class InterruptedRunError(JoulemarkError):
    """Ctrl-C."""

    exit_code = 130


def planned(
    campaign: "Campaign",
    bench: "Bench",
    workers: "Workers",
    able: "Callable[[Implementation], bool]" = lambda _: True,
    *,
    first: bool = False,
) -> "Plan":
    """Build all images of `able` implementations, with a progress bar.

    Args:
        campaign: the cases.
        bench: what they are measured with.
        workers: build the images.
        able: tells which implementations are wanted at all.
        first: say how long a first run takes.
    """
    from joulemark.campaign.plan import plan

    with _progress() as progress:
        task = progress.add_task("building", total=None)

        def building(images: int, cases: int) -> None:
            progress.update(task, total=images)
            if first and cases:
                progress.console.print(_first(images, cases), highlight=False, soft_wrap=True)

        return plan(
            campaign,
            bench.setup,
            builder=workers,
            building=building,
            built=lambda: progress.advance(task),
            able=able,
        )


CORE_S_PER_IMAGE, CORE_S_PER_CASE = 0.15, 0.010
"""Core seconds: the default campaign from an empty cache, 400 images and 7,907 cases, took 139 of
them, 61 to build. The message presents it as a guess."""


def _first(images: int, cases: int) -> str:
    """Return the notice before a first measurement."""
    cores = len(os.sched_getaffinity(0))
    guess_s = (images * CORE_S_PER_IMAGE + cases * CORE_S_PER_CASE) / cores
    long = f"{guess_s / 60:.0f} minutes" if guess_s > 90 else f"{max(5, 5 * round(guess_s / 5))} s"
    return (
        f"first run: {counted(images, 'image')} and {counted(cases, 'case')}, "
        f"about {long} on {cores} cores; "
        "Ctrl-C loses nothing, and the same command again takes seconds"
    )


def measure(
    store: "Store", bench: "Bench", jobs: "Sequence[Job]", workers: "Workers"
) -> "list[PrimitiveRecord]":
    """Measure with a progress bar; store records before waiting for others."""
    from joulemark.measure.conduct import EMULATOR

    measured: list[PrimitiveRecord] = []
    total = sum(len(job.points) for job in jobs)
    emulated = bench.runner == EMULATOR
    try:
        # A progress bar would overwrite questions to a person who reads the meter.
        with _progress(shown=emulated) as progress:
            task = progress.add_task("measuring", total=total)
            for records in bench.measure(jobs, workers, lambda text: typer.echo(text, err=True)):
                store.append(*records)
                measured += records
                progress.advance(task, len(records))
                for record in records if not emulated else ():
                    _tell(record)
    except (KeyboardInterrupt, EOFError):
        raise InterruptedRunError(
            f"interrupted after {len(measured)} of {total} cases, all of them in the store",
            None,
            "give the same command again to go on",
        ) from None
    return measured


def _progress(*, shown: bool = True) -> "Progress":
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
        disable=not (shown and console.is_terminal),
    )


def _tell(record: "PrimitiveRecord") -> None:
    """Print the outcome of a case as soon as it is known."""
    what = record.subject
    name = f"{what.primitive} {what.operation} {what.message_bytes} B"
    if record.status == "failed":
        typer.echo(f"{name}: failed: {record.failure}")
    for note in record.notes[:2]:
        typer.echo(f"{name}: {note}")
