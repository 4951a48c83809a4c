"""`joulemark report`: write the HTML report of a store.

joulemark report --store results/joulemark.db --out report.html
"""

import os
from pathlib import Path
from typing import Annotated

import typer

from joulemark.cli import app
from joulemark.cli._options import DEFAULT_STORE, StoreOption, default_report, to_write


@app.command()
def report(
    store: StoreOption = DEFAULT_STORE,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", callback=to_write, help="The HTML file; beside the store if not given."
        ),
    ] = None,
) -> None:
    """Write the HTML report of a store."""
    from joulemark.records.store import Store
    from joulemark.report import write_report

    with Store(store, "read") as opened:
        path = out or default_report(opened.path)
        write_report(opened, path)
    typer.echo(f"report: {os.fsencode(path).decode('utf-8', 'backslashreplace')}")
