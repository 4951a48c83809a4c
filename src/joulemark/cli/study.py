"""`joulemark study`: set a paper's numbers and claims beside ours, with a verdict on each.

joulemark study shibata-2018 --item table-i
joulemark list studies
"""

import json
import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from joulemark.cli import app
from joulemark.cli._options import DEFAULT_STORE, SourceOption, StoreOption, to_write
from joulemark.cli._output import say

if TYPE_CHECKING:
    from collections.abc import Iterable

    from joulemark.studies.conduct import Conducted

_LIST, _TODAY = "list", "today"


@app.command()
def study(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="A folder of studies/, here or of yours; `list` lists them; `today` writes a page"
            " of what security costs on each board, from the store's records.",
        ),
    ],
    item: Annotated[
        list[str] | None,
        typer.Option("--item", metavar="TABLE", help="A table, section or item; repeatable."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, and write no page.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", callback=to_write, help="The HTML page; beside the store if not given."
        ),
    ] = None,
    short: Annotated[
        bool,
        typer.Option(
            "--short",
            help="Only the items that the study marks as short; no causes, no best of today.",
        ),
    ] = False,
    pin: Annotated[
        bool, typer.Option("--pin", help="Pin today's verdicts: later runs must give the same.")
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, help="Number of processes; one per core if not given."),
    ] = None,
    source: SourceOption = None,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Reproduce a paper's results and give a verdict on each.

    Verdicts: reproduced, differs (explained, explained in part, or cause unknown), contradicted
    by the paper itself, not built (what ours would take could be had), untestable (it cannot; and
    what is missing). Arithmetic on a paper's own numbers, and what nobody has transcribed, is not
    counted. A verdict that is not the one pinned in the study's verdicts.toml fails.
    """
    if name == _LIST:
        _list()
        return
    if name == _TODAY:
        _today(store, out)
        return
    from joulemark.measure.pool import Processes
    from joulemark.records.store import Store
    from joulemark.studies import pins
    from joulemark.studies.conduct import judged
    from joulemark.studies.output import document
    from joulemark.studies.study import load
    from joulemark.studies.ways import Bench

    chosen = load(name)
    with Store(store) as opened:
        bench = Bench(store=opened, workers=Processes(jobs or len(os.sched_getaffinity(0))))
        conducted, found = judged(chosen, item or [], bench, short=short)
        beside = opened.path.parent if opened.path else Path(DEFAULT_STORE).parent
    if as_json:
        typer.echo(json.dumps(document(conducted, found), indent=1, ensure_ascii=False))
    else:
        _show(conducted)
    if out is not None or not as_json:
        from joulemark.report.study import write_page

        page = out or beside / f"study-{name}.html"
        write_page(conducted, found, page)
        typer.echo(f"page: {page}", err=as_json)
    if pin:
        pins.write(conducted)
    pins.compare(conducted)


def _list() -> None:
    from joulemark.studies import pins
    from joulemark.studies.output import heads, held
    from joulemark.studies.study import load, names

    for name in names():
        found = load(name)
        pinned = pins.read(pins.path(found)).values()
        say(f"{name}: {found.file.title}")
        say(f"  {heads(pinned) if pinned else 'no verdict is pinned'}")
        say(f"  {held(found)}")


def _today(store: str, out: Path | None) -> None:
    """Write the page over all boards."""
    from datetime import UTC, datetime

    from joulemark.errors import InputError
    from joulemark.records.record import of_primitives
    from joulemark.records.store import Store
    from joulemark.report.price import write_page
    from joulemark.words import counted

    with Store(store, "read") as opened:
        records = of_primitives(opened.records())
        beside = opened.path.parent if opened.path else Path(DEFAULT_STORE).parent
    if not records:
        raise InputError("there is no record of a primitive", store, "give `joulemark run`")
    page = out or beside / "today.html"
    for place in write_page(records, datetime.now(UTC).year, page):
        told = f"{counted(place.records, 'record')}, {counted(len(place.services()), 'service')}"
        typer.echo(f"{place.name}: {told}")
        for line in place.errors:
            typer.echo(f"  {line}")
    typer.echo(f"page: {page}")


def _show(conducted: "Conducted") -> None:
    from rich.console import Console
    from rich.table import Table

    from joulemark.studies.output import (
        counts,
        errors,
        left_out,
        ours_text,
        paper_text,
        ratio_text,
    )

    console = Console(markup=False, emoji=False)
    if not console.is_terminal:
        console.width = 160
    file = conducted.study.file
    typer.echo(f"{file.title}\n{file.authors}, {file.published}\n{counts(conducted)}\n")
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("item", "what", "paper", "ours", "ratio", "today", "verdict"):
        right = column in ("paper", "ours", "ratio", "today")
        table.add_column(column, justify="right" if right else "left")
    noted = _noted(result.reason for result in conducted.results)
    for result in conducted.results:
        mark = noted.get(result.reason)
        table.add_row(
            result.item.id,
            result.item.what,
            paper_text(result),
            ours_text(result.ours, result.item.unit),
            ratio_text(result),
            ours_text(result.best, result.item.unit),
            f"{result.outcome}: {result.reason}" if mark is None else f"{result.outcome} ({mark})",
        )
    console.print(table, highlight=False)
    for reason, mark in noted.items():
        say(f"({mark}) {reason}")
    for line in (*left_out(conducted), *errors(conducted)):
        typer.echo(line)


_LONG_REASON = 32
"""Characters; a shorter reason takes no more than its line."""


def _noted(reasons: "Iterable[str]") -> dict[str, int]:
    """Return the numbers of long reasons that several rows have: they are told once, below."""
    counts = Counter(reason for reason in reasons if len(reason) > _LONG_REASON)
    several = [reason for reason, count in counts.items() if count > 1]
    return {reason: number for number, reason in enumerate(several, 1)}
