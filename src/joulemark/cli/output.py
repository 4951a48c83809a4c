"""`joulemark report` and `joulemark export`: what a store holds, for people and for tools."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from joulemark.cli import app

DEFAULT_STORE = "results/joulemark.db"
DEFAULT_REPORT = Path("results/report.html")

StoreOption = Annotated[
    str,
    typer.Option(
        "--store",
        metavar="URL",
        help="Results store: a file, or an SQLAlchemy URL.",
        envvar="JOULEMARK_STORE",
    ),
]


class Format(StrEnum):
    """What `export` writes."""

    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


@app.command()
def report(
    store: StoreOption = DEFAULT_STORE,
    out: Annotated[Path, typer.Option("--out", help="The HTML file to write.")] = DEFAULT_REPORT,
) -> None:
    """Write the HTML report of a store."""
    from joulemark.records.store import Store
    from joulemark.report import write_report

    with Store(store, create=False) as opened:
        write_report(opened, out)
    typer.echo(f"report: {out}")


@app.command()
def export(
    form: Annotated[Format, typer.Option("--format", help="Of the file.")],
    store: StoreOption = DEFAULT_STORE,
    out: Annotated[
        Path | None, typer.Option("--out", help="The file; the standard output when not given.")
    ] = None,
    history: Annotated[
        bool, typer.Option("--history", help="All records, not the last one of each case.")
    ] = False,
) -> None:
    """Write the records of a store as CSV, JSON or Parquet."""
    from joulemark.records.export import export as write
    from joulemark.records.store import Store

    with Store(store, create=False) as opened:
        count = write(opened, form.value, out, history=history)
    if out is not None:
        typer.echo(f"{count} records: {out}")
