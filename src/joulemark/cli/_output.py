"""Tables as commands print them: for a terminal, or as Markdown, CSV or JSON."""

import csv
import io
import json
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


def table(rows: Sequence[Mapping[str, Any]], form: Form) -> str:
    """Return rows as text in a form.

    Args:
        rows: values by column; all rows have the same columns.
        form: CSV and JSON have the values as they are, the others as `cell` formats them.
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
    return "\n".join(
        "  ".join(
            text.rjust(width) if to_right else text.ljust(width)
            for text, width, to_right in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in texts
    )


def figures(rows: Sequence[Mapping[str, Any]], errors: Sequence[str], form: Form) -> str:
    """Return a table of figures with how far they may be off.

    Args:
        rows: as in `table`.
        errors: of each row, as `bounds` says them: a column for programs, lines below for people.
        form: as in `table`.
    """
    from joulemark.records import bounds

    if form in {Form.JSON, Form.CSV}:
        told = zip(rows, errors, strict=True)
        return table([{**row, "errors": error} for row, error in told], form)
    between = [""] if form is Form.MARKDOWN else []
    return "\n".join([table(rows, form), *between, *bounds.lines(errors)])
