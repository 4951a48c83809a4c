"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

DEFAULT_STORE = "results/joulemark.db"
DEFAULT_REPORT = Path("results/report.html")


def default_report(store: Path | None) -> Path:
    """Where a store's report is written: beside it and named after it, so stores share a folder.

    Args:
        store: its file; None where it is a server's. A store of the default name has report.html.
    """
    if store is None:
        return DEFAULT_REPORT
    if store.name == Path(DEFAULT_STORE).name:
        return store.with_name(DEFAULT_REPORT.name)
    return store.with_name(f"{store.name.removesuffix('.db')}-{DEFAULT_REPORT.name}")


def _own_sources(folders: list[Path] | None) -> list[Path] | None:
    from joulemark import project

    if folders:
        project.set_sources(folders)
    return folders


SourceOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--source",
        metavar="FOLDER",
        callback=_own_sources,
        is_eager=True,
        help="Your own primitives and implementations (`joulemark new primitive`); repeatable.",
    ),
]

StoreOption = Annotated[
    str,
    typer.Option(
        "--store",
        metavar="URL",
        help="Results store: a file, or an SQLAlchemy URL.",
        envvar="JOULEMARK_STORE",
    ),
]
