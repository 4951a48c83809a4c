"""`joulemark site`: write a site of results, boards, primitives, studies and method.

joulemark site --store results/joulemark.db --out site
"""

from pathlib import Path
from typing import Annotated

import typer

from joulemark.cli import app
from joulemark.cli._options import DEFAULT_STORE, SourceOption, StoreOption
from joulemark.words import counted


@app.command()
def site(
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Where to write it.")] = Path(
        "site"
    ),
    source: SourceOption = None,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Write a site of static files, with a permanent address for each number.

    The address is n/AB.html#KEY, where the key begins with AB: the digest of everything that the
    number depends on. There stand its conditions and the command that makes it again.
    """
    from joulemark.records.store import Store
    from joulemark.report.site import write_site

    with Store(store, "read") as opened:
        pages = write_site(opened, out)
    typer.echo(f"{counted(pages, 'page')}: {out / 'index.html'}")
