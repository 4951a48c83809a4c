"""Implementation of `joulemark run --library`."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from joulemark.cli._output import Form, table
from joulemark.errors import InputError, VerificationError
from joulemark.words import counted

if TYPE_CHECKING:
    from joulemark.measure.conduct import Bench
    from joulemark.records.record import Record
    from joulemark.subjects.library import LibrarySubject
    from joulemark.subjects.primitive.options import Campaign


def run_libraries(campaign: "Campaign", bench: "Bench", location: str, *, fresh: bool) -> None:
    """Measure the rows of a campaign's libraries on this machine, and show all of them.

    Raises:
        VerificationError: a case failed.
    """
    from joulemark.cli._measuring import InterruptedRunError
    from joulemark.records.store import Store
    from joulemark.subjects.library import plan as libraries

    if campaign.primitive or campaign.implementation:
        raise InputError("a campaign is of libraries or of primitives", "--library, --primitive")
    jobs = libraries.plan(campaign, bench.setup)
    points = [point for job in jobs for point in job.points]
    with Store(location) as store:
        served = {} if fresh else store.served(p.key for p in points)
        left = libraries.without(jobs, served)
        measured: list[Record[LibrarySubject]] = []
        total = sum(len(job.points) for job in left)
        try:
            for record in bench.measure_libraries(left, _tell) if left else ():
                store.append(record)
                measured.append(record)
                if record.status == "failed":
                    _tell(f"{record.subject}: failed: {record.failure}")
                else:
                    _tell(f"[{len(measured)}/{total}] {line(record)}")
        except (KeyboardInterrupt, EOFError):
            raise InterruptedRunError(
                f"interrupted after {len(measured)} of {total} cases, all of them in the store",
                None,
                "give the same command again to go on",
            ) from None
        kept = store.load(s.id for s in served.values())
        good = [r for r in (*kept, *measured) if r.status == "ok"]
        typer.echo(
            f"measured {len(measured)}, served from the store: {len(served)} of {len(points)}"
            + ("; --fresh measures again" if served else "")
        )
        show(good)  # type: ignore[arg-type]
        typer.echo(f"store:  {store.name}")
    failed = Counter(r.failure for r in measured if r.status == "failed")
    if failed:
        lines = "\n".join(f"  {count} x {why}" for why, count in failed.most_common())
        raise VerificationError(
            f"{counted(failed.total(), 'case')} failed, without a number:\n{lines}"
        )


def _tell(text: str) -> None:
    # A person who is asked for readings must see each line before the next question.
    typer.echo(text, err=True)


def line(record: "Record[LibrarySubject]") -> str:
    """Return a row's price in words."""
    from joulemark.subjects.library.price import price

    found = price(record)
    text = f"{record.subject}: {found.per_second:,.2f} {found.per}/s"
    if found.gross_uwh is not None:
        text += f", {found.gross_uwh:.4g} µWh/{found.per} gross"
    return text


def show(records: "Sequence[Record[LibrarySubject]]", form: Form = Form.TEXT) -> None:
    """Print the tables: algorithms that take bytes, then those counted in operations.

    As JSON they are one list.
    """
    from joulemark.subjects.library.price import price

    ordered = sorted(records, key=lambda record: record.order)
    everything = []
    for per, cycles in (("MiB", "cycles/B"), ("operation", "cycles")):
        rows = []
        for record in ordered:
            subject = record.subject
            if bool(subject.message_bytes) != (per == "MiB"):
                continue
            found = price(record)
            row: dict[str, object] = {
                "library": f"{subject.library} {subject.version}",
                "algorithm": subject.algorithm,
                "operation": subject.operation,
                f"{per}/s": found.per_second,
                cycles: found.cycles,
            }
            if found.gross_uj is not None:
                row |= {
                    f"µWh/{per}": found.gross_uwh,
                    f"µJ/{per}": found.gross_uj,
                    "±": None if found.half_width is None else f"{found.half_width:.1%}",
                    f"net µJ/{per}": found.net_uj,
                }
            rows.append(row)
        everything += rows
        if rows and form is not Form.JSON:
            typer.echo(table(rows, form))
            typer.echo("")
    if form is Form.JSON:
        typer.echo(table(everything, form))
