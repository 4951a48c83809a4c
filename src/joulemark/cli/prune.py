"""`joulemark prune`: delete the failed records of a store."""

import typer

from joulemark.cli import app
from joulemark.cli._options import DEFAULT_STORE, StoreOption


@app.command()
def prune(store: StoreOption = DEFAULT_STORE) -> None:
    """Delete the failed records of a store; the numbers stay."""
    from joulemark.records.store import Store

    with Store(store, "write") as opened:
        count = opened.prune()
        records = "record" if count == 1 else "records"
        typer.echo(f"{count} failed {records} deleted: {opened.name}")
