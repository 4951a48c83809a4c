"""`joulemark leaks`: show what time, addresses and branches reveal of secrets, build by build.

joulemark leaks --primitive aes-128 --board telosb --branches
"""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from joulemark.cli import app
from joulemark.cli._options import OptimisationsOption, SourceOption
from joulemark.cli._output import Form, FormOption, figures
from joulemark.errors import ClaimError

if TYPE_CHECKING:
    from joulemark.measure.survey import Surveyed


@app.command()
def leaks(
    primitive: Annotated[
        list[str],
        typer.Option("--primitive", metavar="NAME", help="Primitive, or a glob; repeatable."),
    ],
    implementation: Annotated[
        list[str] | None,
        typer.Option(
            "--implementation",
            metavar="NAME",
            help="Implementation, or a glob; repeatable; all if not given.",
        ),
    ] = None,
    operation: Annotated[
        list[str] | None,
        typer.Option(
            "--operation",
            metavar="NAME",
            help="Operation; repeatable; all that handle a secret if not given.",
        ),
    ] = None,
    board: Annotated[
        list[str] | None,
        typer.Option(
            "--board",
            metavar="NAME",
            help="Board; repeatable; telosb and stm32vldiscovery if not given.",
        ),
    ] = None,
    compiler: Annotated[
        list[str] | None,
        typer.Option(
            "--compiler",
            metavar="NAME",
            help="Compiler; repeatable; the core's first if not given.",
        ),
    ] = None,
    opt: OptimisationsOption = None,
    branches: Annotated[
        bool, typer.Option("--branches", help="Also check what branches depend on (slow).")
    ] = False,
    source: SourceOption = None,
    form: FormOption = Form.TEXT,
) -> None:
    """Show what each build reveals of its secrets: one row per operation.

    Runs on emulated boards with random and special secrets (1, the order less 1, sparse and dense
    ones), all outputs verified. Spread is the difference between the longest and the shortest time.
    Refusals are of invalid secret keys, and of points of low order beside several secrets.
    A build that leaks what it claims to keep ends the command with exit code 12.
    """
    from joulemark.measure.survey import survey
    from joulemark.records import bounds

    found = list(
        survey(
            primitive,
            implementation=implementation or (),
            operation=operation or (),
            board=board or (),
            compiler=compiler or (),
            opt=opt or (),
            branches=branches,
        )
    )
    rows = [one.row for one in found]
    for row in rows if not branches else ():
        del row["branches"]
    typer.echo(_written(rows, [bounds.of_board(one.board, None) for one in found], form))
    if form is Form.TEXT and any(one.leak.branches for one in found):
        typer.echo("\nbranches that depend on secrets:")
        for one in found:
            for branch in one.leak.branches:
                typer.echo(f"  {_place(one)}, {one.leak.operation}: {branch}")
    if broken := [f"  {_place(one)}: {one.leak}" for one in found if one.contradicts]:
        raise ClaimError("\n".join(["claimed to be independent of secrets, and are not:", *broken]))


def _place(one: "Surveyed") -> str:
    return f"{one.implementation}, {one.build}, on {one.board.name}"


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row for people."""
    spread, traces = row["spread"], row["address_traces"]
    refused = f"{row['refusals']} alike" if row["refusals"] else "-"
    if row["refused_spread"] or row["refused_traces"] > 1:
        differ = f"differ by {row['refused_spread']:,} cycles, {row['refused_traces']} traces"
        refused = f"{row['refusals']}, {differ}"
    shown = {
        name: row[name] for name in ("board", "implementation", "build", "operation", "cycles")
    }
    shown |= {
        "spread": f"{spread:,} ({spread / row['cycles']:.2%})" if spread else "none",
        "addresses": "same" if traces == 1 else f"{traces} of {row['trials']} traces",
        "refusals": refused,
        "declared public": "; ".join(row["declared_public"]),
    }
    return shown | ({"branches": str(len(row["branches"]) or "none")} if "branches" in row else {})


def _written(rows: list[dict[str, Any]], errors: list[str], form: Form) -> str:
    """Return the table: numbers in JSON and CSV, where lists are JSON text, and else words."""
    if form is Form.JSON:
        return figures(rows, errors, form)
    if form is Form.CSV:
        lists = {name for name, value in rows[0].items() if isinstance(value, list)}
        flat = [r | {name: json.dumps(r[name]) for name in lists} for r in rows]
        return figures(flat, errors, form)
    shown = [_shown(row) for row in rows]
    if not any(row["declared public"] for row in shown):
        for row in shown:
            del row["declared public"]
    return figures(shown, errors, form)
