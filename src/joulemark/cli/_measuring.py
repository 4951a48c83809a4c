"""Building and measuring what a command needs, with progress bars; nothing is measured twice."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import typer

from joulemark.errors import JoulemarkError

if TYPE_CHECKING:
    from rich.progress import Progress

    from joulemark.campaign.campaign import Campaign
    from joulemark.campaign.job import Job
    from joulemark.campaign.plan import Plan
    from joulemark.catalogue.primitives import Implementation
    from joulemark.measure.conduct import Bench
    from joulemark.records.record import PrimitiveRecord
    from joulemark.records.store import Store


class InterruptedRunError(JoulemarkError):
    """Ctrl-C."""

    exit_code = 130


def planned(
    campaign: "Campaign",
    bench: "Bench",
    processes: int,
    able: "Callable[[Implementation], bool]" = lambda _: True,
) -> "Plan":
    """Build all images, with a progress bar; those of `able` implementations."""
    from joulemark.campaign.plan import plan

    with _progress() as progress:
        task = progress.add_task("building", total=None)
        return plan(
            campaign,
            bench.setup,
            processes=processes,
            building=lambda count: progress.update(task, total=count),
            built=lambda: progress.advance(task),
            able=able,
        )


def measure(
    store: "Store", bench: "Bench", jobs: "Sequence[Job]", processes: int
) -> "list[PrimitiveRecord]":
    """Measure with a progress bar; each record is in the store before the next is awaited."""
    from joulemark.measure.conduct import EMULATOR

    measured: list[PrimitiveRecord] = []
    total = sum(len(job.points) for job in jobs)
    emulated = bench.runner == EMULATOR
    try:
        # A person who is asked for readings is not to be written over.
        with _progress(shown=emulated) as progress:
            task = progress.add_task("measuring", total=total)
            for record in bench.measure(jobs, processes):
                store.append(record)
                measured.append(record)
                progress.advance(task)
                if not emulated:
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

    return Progress(
        TextColumn("{task.description:9}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=not shown,
    )


def _tell(record: "PrimitiveRecord") -> None:
    """What came of a case, as soon as it is there."""
    what = record.subject
    name = f"{what.primitive} {what.operation} {what.message_bytes} B"
    if record.status == "failed":
        typer.echo(f"{name}: failed: {record.failure}")
    for note in record.notes[:2]:
        typer.echo(f"{name}: {note}")
