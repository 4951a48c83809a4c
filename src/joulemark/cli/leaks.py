"""`joulemark leaks`: show what time, addresses and branches reveal of secrets, build by build."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from joulemark.cli import app
from joulemark.cli._options import OptimisationsOption, SourceOption
from joulemark.cli._output import Form, FormOption, figures
from joulemark.errors import ClaimError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from joulemark.catalogue.boards import Board
    from joulemark.catalogue.primitives import Implementation
    from joulemark.measure.leaks import Leak


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
    from joulemark.images import build_image, toolchain
    from joulemark.measure.leaks import observe, on_secrets
    from joulemark.records import bounds

    rows: list[dict[str, Any]] = []
    located: list[str] = []
    errors: list[str] = []
    broken = []
    chosen = list(_chosen(primitive, implementation, board))
    for flag in opt or []:
        toolchain.check_optimisation(flag)
    toolchain.refuse_missing(
        need
        for where in {where.name: where for where, _ in chosen}.values()
        for tool in compiler or [where.compiler]
        for need in (
            *toolchain.needs(tool, where.core),
            *([toolchain.find_disassembler] if branches else []),
        )
    )
    for where, way in chosen:
        able = [name for name in on_secrets(way.algorithm) if way.has(name)]
        names = [name for name in able if not operation or name in operation]
        for tool in compiler or [where.compiler]:
            for flag in opt or toolchain.OPTIMISATIONS:
                image = build_image(way, where, compiler=tool, optimisation=flag)
                for name in names:
                    leak = observe(way, where, image, name, special=True, branches=branches)
                    errors.append(bounds.of_board(where, None))
                    rows.append(_row(where, way, f"{tool} -{flag}", leak, branches=branches))
                    located += [
                        f"  {where.name}, {way}, {tool} -{flag}, {name}: {b}" for b in leak.branches
                    ]
                    if leak.any and way.secret_independent:
                        broken.append(f"  {way}, {tool} -{flag}, on {where.name}: {leak}")
    if not rows:
        what = "no implementation of that name, for these boards, with such operations on secrets"
        raise InputError(what, mend="`joulemark list primitives` names implementations")
    typer.echo(_written(rows, errors, form))
    if form is Form.TEXT and located:
        typer.echo("\n".join(["", "branches that depend on secrets:", *located]))
    if broken:
        raise ClaimError("\n".join(["claimed to be independent of secrets, and are not:", *broken]))


def _row(
    board: "Board", way: "Implementation", build: str, leak: "Leak", *, branches: bool
) -> dict[str, Any]:
    """Return a row for programs: names and numbers."""
    row = {
        "board": board.name,
        "implementation": str(way),
        "build": build,
        "operation": leak.operation,
        "trials": leak.trials,
        "cycles": leak.cycles_min,
        "spread": leak.cycles_max - leak.cycles_min,
        "address_traces": leak.address_traces,
        "refusals": leak.refusals,
        "refused_spread": leak.refused_spread,
        "refused_traces": leak.refused_traces,
        "declared_public": [str(declared) for declared in leak.declared],
    }
    return row | ({"branches": [asdict(b) for b in leak.branches]} if branches else {})


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


def _chosen(
    primitives: list[str], implementations: list[str] | None, boards: list[str] | None
) -> "Iterator[tuple[Board, Implementation]]":
    """Yield boards, and the implementations that run on each."""
    from fnmatch import fnmatchcase

    from joulemark.catalogue.boards import load_board
    from joulemark.catalogue.near import near
    from joulemark.catalogue.primitives import Library

    library = Library.load()
    for pattern in primitives:
        if not any(fnmatchcase(name, pattern) for name in library.algorithms):
            mend = near(pattern, library.algorithms)
            raise InputError(f"{pattern} matches nothing", "--primitive", mend)
    for board in map(load_board, boards or ["telosb", "stm32vldiscovery"]):
        for name, algorithm in library.algorithms.items():
            if not any(fnmatchcase(name, pattern) for pattern in primitives):
                continue
            for way in library.implementations(algorithm):
                wanted = implementations or ["*"]
                if way.runs_on(board.instruction_set, board.accelerators) and any(
                    fnmatchcase(way.name, w) for w in wanted
                ):
                    yield board, way
