"""What `joulemark leaks --power` shows: modelled power of builds, or of a program's call."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from joulemark.cli._github import annotate
from joulemark.cli._output import Form, prose, table, without_boards
from joulemark.cli._secrets import named_bytes, refuse_failed, refuse_with_program
from joulemark.errors import ClaimError, InputError, JoulemarkError
from joulemark.words import counted

if TYPE_CHECKING:
    from joulemark.measure.power import Leaking, Modelled
    from joulemark.measure.weights import Fitted

MOST_LINES = 12
"""Source lines that are named for an operation of a build."""


def refuse_power(secrets: Sequence[str], given: Mapping[str, object]) -> None:
    """Refuse options of modelled power where it was not asked for."""
    for name, value in given.items():
        if value is not None:
            raise InputError("is of modelled power", name, "give --power too")
    if shared := [text for text in secrets if "^" in text]:
        raise InputError(f"shares ({shared[0]}) need modelled power", "--secret", "give --power")


def refuse_trials(given: Mapping[str, bool]) -> None:
    """Refuse options of trials and following where modelled power was asked for."""
    for name, is_set in given.items():
        if is_set:
            raise InputError("is not of modelled power", name, "leave it or --power out")


def show_power(
    image: Path | None,
    chosen: dict[str, list[str]],
    of_program: dict[str, Any],
    *,
    traces: int | None,
    weights: str | None,
    save: Path | None,
    form: Form,
) -> None:
    """Show what modelled power reveals of builds, or of a call in somebody's own program."""
    from joulemark.measure import power
    from joulemark.measure.survey import Wanted, survey_power

    options: dict[str, Any] = {
        "traces": power.TRACES if traces is None else traces,
        "weights": power.weights_of(weights),
        "save": save,
    }
    failed: list[JoulemarkError] = []
    if image is None:
        given = [f"--{name}" for name, value in of_program.items() if value]
        if given:
            raise InputError("needs a program", given[0], "give an ELF file, as in leaks app.elf")
        if not chosen["primitive"]:
            raise InputError("says what to look at", "--primitive", "give it, or an ELF file")
        found = list(survey_power(Wanted(**chosen), **options, failed=failed))
        if not found:
            refuse_failed(failed)
    else:
        boards = chosen.pop("board")
        refuse_with_program(image, {f"--{name}": value for name, value in chosen.items()})
        found = [_power_of_program(image, boards, of_program, options)]
    _show_power([named for named, _ in found], [each for _, each in found], form)
    refuse_failed(failed)
    if image is not None and found[0][1].leaking1 and any("^" in s for s in of_program["secret"]):
        if form is Form.TEXT:
            annotate(found[0][1].instructions)
        raise ClaimError(
            f"{of_program['call']} of {image} has its secret in shares, and modelled power shows it"
        )


def _power_of_program(
    image: Path,
    boards: list[str],
    of_program: dict[str, Any],
    options: dict[str, Any],
) -> "tuple[dict[str, str], Modelled]":
    from joulemark.catalogue.boards import load_board
    from joulemark.catalogue.kinds import BUDGET_CYCLES
    from joulemark.measure import power

    call = of_program["call"]
    if len(boards) != 1:
        raise InputError("says what to emulate", "--board", "give one with an ELF file")
    if call is None:
        raise InputError(
            "says what to model", "--call", "give a function, as in --call aes_encrypt"
        )
    if not of_program["secret"]:
        raise InputError("says what is secret", "--secret", "give it, as in --secret key:16")
    pieces = [named_bytes(text) for text in of_program["secret"]]
    secrets = [power.Shared(tuple(name.split("^")), length) for name, length in pieces]
    board = load_board(boards[0])
    target = power.OfProgram(
        image,
        board,
        call,
        secrets,
        fresh=[named_bytes(text, "--random") for text in of_program["random"] or []],
        plaintext=of_program["plaintext"],
        max_cycles=of_program["max-cycles"] or BUDGET_CYCLES,
    )
    return {"board": board.name, "function": call}, power.model(target, call, **options)


_FIRST_LEFT_OUT_OF_POWER = ("grade", "board", "cycles", "2nd order", "modelled t", "key bytes")
"""Columns that a narrow terminal omits, in this order; what leaks stays."""


def _show_power(named: list[dict[str, str]], found: "list[Modelled]", form: Form) -> None:
    if form in {Form.JSON, Form.CSV}:
        rows = [names | each.row for names, each in zip(named, found, strict=True)]
        if form is Form.CSV:
            nested = {name for name, value in rows[0].items() if isinstance(value, list | dict)}
            nested |= {"attack", "diverges", "fit"}
            rows = [r | {name: json.dumps(r[name]) for name in nested} for r in rows]
        typer.echo(table(rows, form))
        return
    shown = []
    for names, each in zip(named, found, strict=True):
        attack = "-"
        if each.key_bytes:
            attack = f"{each.recovered} of {len(each.key_bytes)}"
            attack += f" after {each.attack_needs}" if each.attack_needs else ""
        shown.append(
            {
                **names,
                **({} if "function" in names else {"operation": each.operation}),
                "cycles": each.cycles if each.diverges is None else f"{each.cycles:,}, then parts",
                "modelled t": f"{each.t1:.1f}",
                "leaking": each.leaking1,
                "instructions": len(each.instructions),
                "2nd order": f"{each.t2:.1f}",
                "key bytes": attack,
                "grade": "model",
            }
        )
    typer.echo(table(shown, form, without_boards(_FIRST_LEFT_OUT_OF_POWER, shown)))
    if form is Form.TEXT:
        for line in _about_power(named, found):
            typer.echo(line)


def _about_power(named: list[dict[str, str]], found: "list[Modelled]") -> Iterator[str]:
    """Yield what a table of modelled power means, and the instructions that leak."""
    first = found[0]
    yield prose(
        f"\nmodel, not measured: switching in the core alone, no noise; weights {first.weights}; "
        f"{first.traces} traces, half with random secrets; |t| of 4.5 or more tells them from "
        "fixed ones, in the table that of the weighted sum, below that of what is named alone; "
        "grade: model"
    )
    if any(each.key_bytes for each in found):
        attacks = {each.attack_traces for each in found if each.key_bytes}
        counts = ", ".join(map(str, sorted(attacks)))
        yield prose(
            "key bytes: AES's, of which the right value is first in a correlation attack (first "
            f"round, weight of the S-box's output, {counts} traces), and after how many; it fits "
            "code with tables or byte by byte: few or none say nothing of bit-sliced or fixsliced "
            "code"
        )
    for names, each in zip(named, found, strict=True):
        what = [value for name, value in names.items() if name != "board"]
        what += [] if "function" in names else [each.operation]
        where = f"{', '.join(what)}, on {names['board']}"
        if each.fitted is not None:
            yield from _about_fit(each.fitted)
        if each.diverges is not None:
            yield prose(
                f"\n{where}: time or path depends on secrets; modelled until traces part, after "
                f"{each.diverges}"
            )
        for number, line in enumerate(_by_line(each.instructions)):
            if number == 0:
                yield f"\nleaks by modelled power: {where}"
            yield prose(f"  {line}")


def _about_fit(fitted: "Fitted") -> Iterator[str]:
    row = fitted.row
    before, after = row["correlation_with_equal_weights"], row["correlation"]
    yield prose(
        f"\n{row['file']}: {row['traces']} traces, {row['cycles']} cycles from sample "
        f"{row['first_sample']} on, {row['stall_cycles']} cycles of waiting more than emulated"
    )
    yield prose(
        f"correlation of recorded and modelled samples, in the half of the traces that was not "
        f"fitted, over {row['varying_cycles']} cycles that vary: median {after['median']}, ninth "
        f"decile {after['ninth_decile']}, largest {after['largest']} (equal weights: "
        f"{before['median']}, {before['ninth_decile']}, {before['largest']}; by chance below "
        f"{row['correlation_by_chance']} in 999 of 1,000 cycles)"
    )
    kept = (f"{name} {weight}" for name, weight in row["weights"].items() if weight)
    yield prose(f"weights: {', '.join(kept)}")


def _by_line(found: "Sequence[Leaking]") -> Iterator[str]:
    """Yield instructions that leak, those of one source line together."""
    lines: dict[tuple[Any, ...], list[Leaking]] = {}
    for each in found:
        place = each.place
        where = place.line if place.line is not None else place.address
        lines.setdefault((place.function, place.file, where), []).append(each)
    for number, alike in enumerate(lines.values()):
        if number == MOST_LINES:
            yield f"and {counted(len(lines) - number, 'more line')}; --format json has all"
            return
        more = f" and {counted(len(alike) - 1, 'more instruction')} there" if alike[1:] else ""
        yield f"{alike[0]}{more}"
