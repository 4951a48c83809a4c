"""Tables as commands print them: for a terminal, or as Markdown, CSV or JSON."""

import csv
import io
import json
import os
import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any

import typer


class Form(StrEnum):
    """Output formats."""

    TEXT = "text"
    MARKDOWN = "markdown"
    CSV = "csv"
    JSON = "json"


FormOption = Annotated[Form, typer.Option("--format", help="Output format.")]


def cell(value: object) -> str:
    """Format a value for people: at least three significant digits, thousands separated."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def width() -> int | None:
    """Return the columns of the terminal; None for a pipe or a file, which have none to fit."""
    if "COLUMNS" not in os.environ and not sys.stdout.isatty():
        return None
    return max(shutil.get_terminal_size().columns, 40)


def say(text: str) -> None:
    """Print lines, those of a table as they are, others wrapped at the terminal's width."""
    most = width()
    for line in text.split("\n"):
        is_cells = "  " in line or line.startswith("|")
        wrapped = [line] if most is None or is_cells else textwrap.wrap(line, most)
        typer.echo("\n".join(wrapped))


def table(rows: Sequence[Mapping[str, Any]], form: Form, first_left_out: Sequence[str] = ()) -> str:
    """Return rows as text in a form.

    Args:
        rows: values by column; all rows have the same columns.
        form: CSV and JSON have the values as they are, the others as `cell` formats them.
        first_left_out: columns that a narrow terminal omits, in this order.
    """
    if form is Form.JSON:
        return json.dumps(list(rows), indent=1, ensure_ascii=False)
    names = list(rows[0]) if rows else []
    if form is Form.CSV:
        buffer = io.StringIO()
        writer = csv.DictWriter(buffer, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return buffer.getvalue().rstrip("\n")
    texts = [names, *([cell(row[name]) for name in names] for row in rows)]
    right = [
        any(isinstance(row[name], int | float) and not isinstance(row[name], bool) for row in rows)
        for name in names
    ]
    if form is Form.MARKDOWN:
        lines = [
            "|".join(["", *(f" {t.replace('|', chr(92) + '|')} " for t in row), ""])
            for row in texts
        ]
        rule = "|".join(["", *("--:" if r else "---" for r in right), ""])
        return "\n".join([lines[0], rule, *lines[1:]])
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    kept, most = list(range(len(names))), width()
    for name in first_left_out:
        if most is None or sum(widths[i] + 2 for i in kept) - 2 <= most:
            break
        kept = [i for i in kept if names[i] != name]
    lines = [
        "  ".join(
            row[i].rjust(widths[i]) if right[i] else row[i].ljust(widths[i]) for i in kept
        ).rstrip()
        for row in texts
    ]
    if len(kept) < len(names):
        omitted = ", ".join(name for i, name in enumerate(names) if i not in kept)
        lines.append(f"too narrow for: {omitted}; --format csv has all")
    return "\n".join(lines)


def figures(
    rows: Sequence[Mapping[str, Any]],
    errors: Sequence[str],
    form: Form,
    first_left_out: Sequence[str] = (),
) -> str:
    """Return a table of figures with how far they may be off.

    Args:
        rows: as in `table`.
        errors: of each row, as `bounds` says them: a column for programs, lines below for people.
        form: as in `table`.
        first_left_out: as in `table`.
    """
    from joulemark.records import bounds

    if form in {Form.JSON, Form.CSV}:
        told = zip(rows, errors, strict=True)
        return table([{**row, "errors": error} for row, error in told], form)
    between = [""] if form is Form.MARKDOWN else []
    return "\n".join([table(rows, form, first_left_out), *between, *bounds.lines(errors)])
