"""Tables as commands print them: for a terminal, or as Markdown, CSV or JSON."""

import csv
import io
import json
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
    if not sys.stdout.isatty():
        return None
    return max(shutil.get_terminal_size().columns, 40)


def prose(text: str) -> str:
    """Return lines, those of a table as they are, others wrapped at the terminal's width."""
    most, lines = width(), []
    for line in text.split("\n"):
        is_cells = "  " in line.strip() or line.startswith("|")
        inner = " " * (len(line) - len(line.lstrip()))
        if most is None or is_cells or len(line) <= most:
            lines.append(line)
        else:
            # Paths and options stay whole.
            lines += textwrap.wrap(line, most, subsequent_indent=inner, break_on_hyphens=False)
    return "\n".join(lines)


def say(text: str) -> None:
    """Print lines as `prose` returns them."""
    typer.echo(prose(text))


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
    return _fitted(texts, right, first_left_out)


_NARROWEST = 12
"""To which a column of words is wrapped before another is left out."""


def _fitted(texts: list[list[str]], right: Sequence[bool], first_left_out: Sequence[str]) -> str:
    """Return cells as lines that fit the terminal: columns are left out, and words wrapped."""
    names, most = texts[0], width()
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    kept = list(range(len(names)))

    def excess() -> int:
        return 0 if most is None else sum(widths[i] + 2 for i in kept) - 2 - most

    for name in first_left_out:
        if excess() > 0:
            kept = [i for i in kept if names[i] != name]
    while excess() > 0:
        words = [i for i in kept if not right[i] and widths[i] > _NARROWEST]
        if words:
            widest = max(words, key=lambda i: widths[i])
            # Not narrower than the next: all long columns give way alike.
            others = [widths[i] for i in words if i != widest]
            least = max([_NARROWEST, *(w for w in others if w < widths[widest])])
            widths[widest] = max(least, widths[widest] - excess())
        elif len(kept) > 1:
            kept.pop()
        else:
            break
    lines = []
    for row in texts:
        wrapped = {i: textwrap.wrap(row[i], widths[i]) or [""] for i in kept}
        for n in range(max(map(len, wrapped.values()))):
            cells = ((i, wrapped[i][n] if n < len(wrapped[i]) else "") for i in kept)
            padded = (c.rjust(widths[i]) if right[i] else c.ljust(widths[i]) for i, c in cells)
            lines.append("  ".join(padded).rstrip())
    if len(kept) < len(names):
        omitted = ", ".join(name for i, name in enumerate(names) if i not in kept)
        lines.append(prose(f"too narrow for: {omitted}; CSV or JSON has all"))
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
        beside = zip(rows, errors, strict=True)
        return table([{**row, "errors": error} for row, error in beside], form)
    told = bounds.lines(errors)
    if form is Form.MARKDOWN:
        return "\n".join([table(rows, form), "", *told])
    return "\n".join([table(rows, form, first_left_out), *map(prose, told)])
