"""`joulemark prune`: delete the failed records of a store.

joulemark prune
"""

import typer

from joulemark.cli import app
from joulemark.cli._options import DEFAULT_STORE, StoreOption
from joulemark.words import counted


@app.command()
def prune(store: StoreOption = DEFAULT_STORE) -> None:
    """Delete the failed records of a store; the numbers stay."""
    from joulemark.records.store import Store

    with Store(store, "write") as opened:
        count = opened.prune()
        typer.echo(f"{counted(count, 'failed record')} deleted: {opened.name}")
