"""`joulemark report`: write the HTML report of a store."""

from pathlib import Path
from typing import Annotated

import typer

from joulemark.cli import app
from joulemark.cli._options import DEFAULT_REPORT, DEFAULT_STORE, StoreOption


@app.command()
def report(
    store: StoreOption = DEFAULT_STORE,
    out: Annotated[Path, typer.Option("--out", help="The HTML file to write.")] = DEFAULT_REPORT,
) -> None:
    """Write the HTML report of a store."""
    from joulemark.records.store import Store
    from joulemark.report import write_report

    with Store(store, "read") as opened:
        write_report(opened, out)
    typer.echo(f"report: {out}")
