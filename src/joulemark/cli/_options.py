"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

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
