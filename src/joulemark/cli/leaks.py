"""`joulemark leaks`: show what time, addresses and branches reveal of secrets, build by build.

joulemark leaks --primitive aes-128 --board telosb --branches
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from joulemark.cli import app
from joulemark.cli._github import annotate
from joulemark.cli._options import (
    AlgorithmOption,
    LayoutOption,
    OptimisationsOption,
    SourceOption,
    refuse_left_out,
)
from joulemark.cli._output import Form, FormOption, figures, say, without_boards
from joulemark.cli._power import refuse_power, refuse_trials, show_power
from joulemark.cli._secrets import MOST_SECRETS, named_bytes, refuse_failed, refuse_with_program
from joulemark.errors import ClaimError, InputError, JoulemarkError
from joulemark.project import ROOT
from joulemark.words import counted

if TYPE_CHECKING:
    from joulemark.measure.following import Called, Followed, Use
    from joulemark.measure.survey import Surveyed

_OF_FOLLOWING = (
    "decided_by_secrets",
    "agreement",
    "followed_runs",
    "reached",
    "one_way_branches",
    "devices",
    "lost",
)
_OF_DEVICES = "secrets went to device registers, and what comes of them is not followed:"
_MOST_LINES = 12
"""Source lines that are named for an operation of a build."""
_OF_SELECTS = "select: either way takes as long, so this is no leak"
_MOST_IN_ALL = 60
"""Lines of one kind below the table; --primitive, --implementation and --operation choose."""


@app.command()
def leaks(
    image: Annotated[
        Path | None,
        typer.Argument(metavar="[ELF]", help="A program of your own, instead of primitives."),
    ] = None,
    primitive: Annotated[
        list[str] | None,
        typer.Option("--primitive", metavar="NAME", help="Primitive, or a glob; repeatable."),
    ] = None,
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
        bool,
        typer.Option("--branches", help="Also check by trials what branches depend on (slow)."),
    ] = False,
    one_way: Annotated[
        bool,
        typer.Option(
            "--one-way", help="Name the branches that went one way: code behind them was not seen."
        ),
    ] = False,
    cover: Annotated[
        bool,
        typer.Option(
            "--cover",
            help="Follow secrets through other inputs too (sizes, values, changed bits that must "
            "be refused), and name those that reached more.",
        ),
    ] = False,
    follow: Annotated[
        bool,
        typer.Option("--follow/--no-follow", help="Follow secrets too, or show trials alone."),
    ] = True,
    call: Annotated[
        str | None,
        typer.Option(
            "--call", metavar="SYMBOL", help="With ELF: the function to follow, until it returns."
        ),
    ] = None,
    secret: Annotated[
        list[str] | None,
        typer.Option(
            "--secret",
            metavar="SYMBOL:BYTES",
            help="With ELF: what is secret when the function is called; repeatable. With "
            "--power also A^B:BYTES, in shares.",
        ),
    ] = None,
    max_cycles: Annotated[
        int | None,
        typer.Option(
            "--max-cycles",
            metavar="N",
            min=1,
            max=10**18,
            help="With ELF: cycles until the call, and until it returns.",
        ),
    ] = None,
    power: Annotated[
        bool,
        typer.Option("--power", help="Model the core's power instead: what toggles in each cycle."),
    ] = False,
    traces: Annotated[
        int | None,
        typer.Option("--traces", metavar="N", help="With --power: traces; 400 if not given."),
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(
            "--weights",
            metavar="NAME",
            help="With --power: equal, elmo-m0, elmo-m3, or a .npz of traces to fit them to.",
        ),
    ] = None,
    fresh: Annotated[
        list[str] | None,
        typer.Option(
            "--random",
            metavar="SYMBOL:BYTES",
            help="With --power and ELF: what is random in each trace, as masks; repeatable.",
        ),
    ] = None,
    plaintext: Annotated[
        str | None,
        typer.Option(
            "--plaintext",
            metavar="SYMBOL",
            help="With --power and ELF: AES's block, to attack the first --secret as its key.",
        ),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option("--save", metavar="FILE", help="With --power: modelled traces, as .npz."),
    ] = None,
    source: SourceOption = None,
    layout: LayoutOption = None,
    as_algorithm: AlgorithmOption = None,
    form: FormOption = Form.TEXT,
) -> None:
    """Show what each build reveals of its secrets: one row per operation.

    Runs on emulated boards with random and special secrets (1, the order less 1, sparse and dense
    ones), all outputs verified. Spread is the difference between the longest and the shortest time.
    Refusals are of invalid secret keys, and of points of low order beside several secrets.
    Secrets are also followed through the machine, bit by bit: what they decide is named below.
    A build that leaks what it claims to keep ends the command with exit code 12, as does a program
    of your own in which secrets decide something.
    With --power, a model of the core's power says which instructions tell secrets apart.
    """
    if power:
        refuse_trials(
            {
                "--branches": branches,
                "--one-way": one_way,
                "--cover": cover,
                "--no-follow": not follow,
            }
        )
        show_power(
            image,
            {
                "primitive": primitive or [],
                "implementation": implementation or [],
                "operation": operation or [],
                "board": board or [],
                "compiler": compiler or [],
                "opt": opt or [],
            },
            {
                "call": call,
                "secret": secret,
                "random": fresh,
                "plaintext": plaintext,
                "max-cycles": max_cycles,
            },
            traces=traces,
            weights=weights,
            save=save,
            form=form,
        )
        return
    refuse_power(
        secret or [],
        {
            "--traces": traces,
            "--weights": weights,
            "--random": fresh,
            "--plaintext": plaintext,
            "--save": save,
        },
    )
    if image is not None:
        refuse_with_program(
            image,
            {
                "--primitive": primitive,
                "--implementation": implementation,
                "--operation": operation,
                "--compiler": compiler,
                "--opt": opt,
                "--branches": branches,
                "--cover": cover,
                "--no-follow": not follow,
            },
        )
        _own_program(image, board or [], call, secret or [], max_cycles, one_way=one_way, form=form)
        return
    for name, is_set in {"--cover": cover, "--one-way": one_way}.items():
        if is_set and not follow:
            raise InputError("nothing is followed", name, "leave it or --no-follow out")
    of_program = {"--call": call, "--secret": secret, "--max-cycles": max_cycles}
    if given := [name for name, value in of_program.items() if value]:
        raise InputError("needs a program", given[0], "give an ELF file, as in leaks app.elf")
    if not primitive:
        raise InputError("says what to look at", "--primitive", "give it, or an ELF file")
    refuse_left_out(layout, primitive)
    from joulemark.measure.following import leaking
    from joulemark.measure.survey import survey
    from joulemark.records import bounds

    failed: list[JoulemarkError] = []
    found = list(
        survey(
            primitive,
            implementation=implementation or (),
            operation=operation or (),
            board=tuple(dict.fromkeys(board or ())),
            compiler=tuple(dict.fromkeys(compiler or ())),
            opt=tuple(dict.fromkeys(opt or ())),
            branches=branches,
            one_way=one_way,
            following=follow,
            cover=cover,
            failed=failed,
        )
    )
    if not found:
        refuse_failed(failed)
    rows = [one.row for one in found]
    for row in rows:
        for name in (
            *([] if branches else ["branches"]),
            *([] if one_way and follow else ["one_way"]),
            *([] if cover and follow else ["widened"]),
            *([] if follow else _OF_FOLLOWING),
        ):
            del row[name]
    typer.echo(_written(rows, [bounds.of_board(one.board, None) for one in found], form))
    if form in {Form.TEXT, Form.MARKDOWN}:
        _say(
            [
                f"tried: {_tried(found)}; cycles: with the empty window's, which run takes off",
                *_named(found),
            ],
            form,
        )
    contradict = [one for one in found if one.contradicts]
    claims = "\n".join(
        [
            "claimed to be independent of secrets, and are not:",
            *(f"  {_place(one)}: {one.leak}" for one in contradict),
        ]
    )
    if form is Form.TEXT:
        annotate(leaking(use for one in contradict for use in one.leak.followed.uses))
    refuse_failed(failed, claims if contradict else "")
    if contradict:
        raise ClaimError(claims)


def _say(lines: Iterable[str], form: Form) -> None:
    """Print what is named below a table: titles, builds indented, findings indented twice."""
    for line in lines:
        text = line.strip()
        if form is Form.TEXT:
            say(line)
        elif line.startswith("    "):
            typer.echo(f"  - {text}")
        elif line.startswith("  "):
            typer.echo(f"- {text}")
        else:
            typer.echo(f"\n{text}\n" if text.endswith(":") else f"{text}\n")


_FIRST_LEFT_OUT = ("refusals", "board", "build", "operation", "cycles")
"""Columns that a narrow terminal omits, in this order; what explains a leak stays."""


def _tried(found: "list[Surveyed]") -> str:
    """Return how many trials there were, and of which sizes, of each operation."""
    sized: dict[str, list[str]] = {}
    for leak in (one.leak for one in found):
        size = (
            ""
            if leak.message_bytes is None
            else f", a message of {counted(leak.message_bytes, 'byte')}"
        )
        size += f", {leak.ad_bytes} of associated data" if leak.ad_bytes else ""
        names = sized.setdefault(f"{leak.trials} secrets{size}", [])
        if leak.operation not in names:
            names.append(leak.operation)
    return "; ".join(f"{', '.join(names)}: {text}" for text, names in sized.items())


def _own_program(
    image: Path,
    boards: list[str],
    call: str | None,
    secrets: list[str],
    max_cycles: int | None,
    *,
    one_way: bool,
    form: Form,
) -> None:
    """Follow the secrets of somebody's own program through one call."""
    from joulemark.catalogue.boards import load_board
    from joulemark.catalogue.kinds import BUDGET_CYCLES
    from joulemark.measure.following import follow_call, leaking
    from joulemark.records import bounds

    if len(boards) != 1:
        raise InputError("says what to emulate", "--board", "give one with an ELF file")
    if call is None:
        raise InputError(
            "says what to follow", "--call", "give a function, as in --call aes_encrypt"
        )
    if not secrets:
        raise InputError("says what is secret", "--secret", "give it, as in --secret key:16")
    board = load_board(boards[0])
    if len(secrets) > MOST_SECRETS:
        what = f"{len(secrets)} secrets are more than {MOST_SECRETS}"
        raise InputError(what, "--secret", "name fewer, or longer ones")
    pieces = [named_bytes(text) for text in secrets]
    done = follow_call(image, board, call, pieces, max_cycles=max_cycles or BUDGET_CYCLES)
    found = done.followed
    row: dict[str, Any] = {
        "board": board.name,
        "function": done.function,
        "cycles": done.cycles,
        "declared_public": [*map(str, done.declared), *map(str, found.verdicts)],
        "decided_by_secrets": [use.row for use in found.uses],
        "reached": found.reached,
        "returned": done.unfinished is None,
        "one_way_branches": len(found.one_way),
        "one_way": [branch.row for branch in found.one_way] if one_way else [],
        "devices": list(found.devices),
        "lost": len(found.lost),
    }
    if form in {Form.JSON, Form.CSV}:
        typer.echo(_flat([row], [bounds.of_board(board, None)], form))
    else:
        _say(_about_program(done, row, bounds.of_board(board, None), one_way=one_way), form)
        newer = sorted(_newer(image, found))
        if newer:
            say(
                f"\nnewer than {image}: {', '.join(newer)}; what is declared is read there as it "
                "is now: build the program again"
            )
    if leaking(found.uses):
        if form is Form.TEXT:
            annotate(leaking(found.uses))
        raise ClaimError(f"secrets decide something in {call} of {image}")
    if done.unfinished is not None:
        raise done.unfinished


def _about_program(
    done: "Called", row: dict[str, Any], error: str, *, one_way: bool
) -> Iterator[str]:
    """Yield what secrets decide in a call, and what was not seen."""
    from joulemark.measure.following import leaking
    from joulemark.records import bounds

    found = done.followed
    to_devices = ", and went to device registers" if found.devices else ""
    yield (
        f"{done.function} on {row['board']}, its first call: {counted(done.cycles, 'cycle')}, "
        f"{counted(found.reached, 'instruction')} reached; "
        f"secrets decide {_decided(row['decided_by_secrets'])}{to_devices}"
    )
    if done.unfinished is not None:
        yield f"until then: {done.unfinished}"
    yield from bounds.lines([error])
    if count := len(found.one_way):
        what = "1 branch went" if count == 1 else f"{count} branches went"
        which = "it" if count == 1 else "them"
        hint = "" if one_way else f"; --one-way names {which}"
        yield f"{what} one way: nothing is known of the code behind {which}{hint}"
    if any(not use.leaks for use in found.uses):
        yield _OF_SELECTS
    for title, lines in (
        ("declared public:", row["declared_public"]),
        ("decided by secrets:", _grouped(leaking(found.uses))),
        ("branches that went one way:", found.one_way if one_way else ()),
        (_OF_DEVICES, found.devices),
        ("not followed further:", _lost(found)),
    ):
        for number, line in enumerate(lines):
            if number == 0:
                yield f"\n{title}"
            yield f"  {line}"


def _newer(image: Path, found: "Followed") -> Iterator[str]:
    """Yield the sources of declared verdicts that have changed since a program was linked."""
    built = image.stat().st_mtime
    for file in {verdict.place.file for verdict in found.verdicts if verdict.place.file}:
        path = ROOT / file
        if path.is_file() and path.stat().st_mtime > built:
            yield file


def _named(found: "list[Surveyed]") -> Iterator[str]:
    """Yield lines that name what secrets decide, and what was not seen; each build is said once."""
    from joulemark.measure.following import leaking

    if any(not use.leaks for one in found for use in one.leak.followed.uses):
        yield _OF_SELECTS
    for title, named in (
        ("declared public:", _declared),
        ("branches that depend on secrets:", lambda one: one.leak.branches),
        ("decided by secrets:", lambda one: _grouped(leaking(one.leak.followed.uses))),
        (
            "branches that went one way:",
            lambda one: one.leak.followed.one_way if one.one_way else (),
        ),
        ("reached by other inputs alone:", lambda one: one.leak.followed.widened),
        (_OF_DEVICES, lambda one: one.leak.followed.devices),
        (
            "secrets were lost, so that trials alone speak for these:",
            lambda one: _lost(one.leak.followed),
        ),
    ):
        lines = [
            (_place(one), f"{one.leak.operation}: {line}") for one in found for line in named(one)
        ]
        for number, (build, line) in enumerate(lines[:_MOST_IN_ALL]):
            if number == 0:
                yield f"\n{title}"
            if number == 0 or build != lines[number - 1][0]:
                yield f"  {build}"
            yield f"    {line}"
        if len(lines) > _MOST_IN_ALL:
            yield f"  and {len(lines) - _MOST_IN_ALL} more; --format json has all"


def _declared(one: "Surveyed") -> Iterator[str]:
    yield from map(str, (*one.leak.declared, *one.leak.followed.verdicts))


def _lost(found: "Followed") -> Iterator[str]:
    if count := len(found.lost):
        goes = "store goes" if count == 1 else "stores go"
        yield f"{count} {goes} to secret addresses too far apart to follow all of them"


def _grouped(uses: "Sequence[Use]") -> Iterator[str]:
    """Yield uses, those of one source line together."""
    from joulemark.measure.following import together

    lines: dict[tuple[Any, ...], list[Use]] = {}
    for use in uses:
        place = use.place
        where = place.line if place.line is not None else use.address
        cost = use.costs_time
        lines.setdefault((use.decides, cost, place.function, place.file, where), []).append(use)
    for number, alike in enumerate(lines.values()):
        if number == _MOST_LINES:
            yield f"and {counted(len(lines) - number, 'more line')}; --format json has all"
            return
        more = f" and {counted(len(alike) - 1, 'more instruction')} there" if alike[1:] else ""
        yield f"{together(alike)}{more}"


def _place(one: "Surveyed") -> str:
    return f"{one.implementation}, {one.build}, on {one.board.name}"


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row for people."""
    spread, traces = row["spread"], row["address_traces"]
    refused = f"{row['refusals']} alike" if row["refusals"] else "-"
    if row["refused_spread"] or row["refused_traces"] > 1:
        cycles = counted(row["refused_spread"], "cycle")
        differ = f"differ by {cycles}, {counted(row['refused_traces'], 'trace')}"
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
    if "agreement" in row:
        shown["declared public"] = shown["declared public"] or "-"
        decided = _decided(row["decided_by_secrets"]) if row["followed_runs"] else "not followed"
        shown |= {"secrets decide": decided, "both": row["agreement"]}
    return shown | ({"branches": str(len(row["branches"]) or "none")} if "branches" in row else {})


def _flat(rows: list[dict[str, Any]], errors: list[str], form: Form) -> str:
    """Return rows of numbers; lists are JSON text where a table cannot hold them."""
    if form is not Form.JSON:
        lists = {name for name, value in rows[0].items() if isinstance(value, list)}
        rows = [r | {name: json.dumps(r[name]) for name in lists} for r in rows]
    return figures(rows, errors, form)


def _decided(uses: list[dict[str, Any]]) -> str:
    """Return how many instructions secrets decide, by what they decide."""
    counts = Counter(use["decides"] for use in uses)
    return ", ".join(f"{count} x {name}" for name, count in sorted(counts.items())) or "nothing"


def _written(rows: list[dict[str, Any]], errors: list[str], form: Form) -> str:
    """Return the table: numbers in JSON and CSV, where lists are JSON text, and else words."""
    if form in {Form.JSON, Form.CSV}:
        return _flat(rows, errors, form)
    shown = [_shown(row) for row in rows]
    # Text names it below the table.
    if form is Form.TEXT or not any(row["declared public"] for row in shown):
        for row in shown:
            del row["declared public"]
    return figures(shown, errors, form, without_boards(_FIRST_LEFT_OUT, shown))
