"""`joulemark export`: write the records of a store as CSV, JSON or Parquet.

joulemark export --format csv --out results.csv
"""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from joulemark.cli import app
from joulemark.cli._options import DEFAULT_STORE, StoreOption, to_write
from joulemark.words import counted


class Format(StrEnum):
    """Output formats of `export`."""

    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"
    ACTION = "customSmallerIsBetter"
    BENCHER = "bencher"


@app.command()
def export(
    form: Annotated[Format, typer.Option("--format", help="Output format.")],
    store: StoreOption = DEFAULT_STORE,
    out: Annotated[
        Path | None,
        typer.Option("--out", callback=to_write, help="Output file; standard output if not given."),
    ] = None,
    history: Annotated[
        bool, typer.Option("--history", help="All records, not only the latest of each case.")
    ] = False,
    long: Annotated[
        bool, typer.Option("--long", help="One row per quantity instead of per record.")
    ] = False,
) -> None:
    """Write the records of a store as CSV, JSON or Parquet, or for services that track them.

    customSmallerIsBetter is what github-action-benchmark takes, bencher Bencher's metric format.
    """
    from joulemark.records.export import export as write
    from joulemark.records.store import Store

    with Store(store, "read") as opened:
        count = write(opened, form.value, out, history=history, long=long)
    if out is not None:
        what = f"{count:,} quantities" if long else counted(count, "record")
        typer.echo(f"{what}: {out}")
