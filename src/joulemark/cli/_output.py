"""Tables as commands print them: for a terminal, or as Markdown, CSV or JSON."""

import csv
import io
import json
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
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


def entry(head: str, text: str) -> None:
    """Print a line of a list; what does not fit the terminal goes on below its text."""
    most = width()
    inner = len(head) if most is None or len(head) <= most // 2 else 4
    if most is not None and len(head) + len(text) > most:
        wrap = textwrap.TextWrapper(most, initial_indent=" " * inner, subsequent_indent=" " * inner)
        wrap.break_on_hyphens = False
        lines = wrap.wrap(text)
        if inner == len(head):
            lines[0] = head + lines[0].lstrip()
        else:
            lines.insert(0, head.rstrip())
        text = "\n".join(lines)
        head = ""
    typer.echo(head + text)


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


_NARROWEST = 8
"""To which a column of words is wrapped before another is left out, if no name is cut so."""
_LONGEST_KEPT_WHOLE = 20
_MAY_BREAK = re.compile(r"(?<=\s)|(?<=\w[/+-])(?=\w)")
"""Where a line may end: behind a space, or behind a sign that joins parts of a name."""


def wrapped(text: str, most: int) -> list[str]:
    """Return text as lines, which end within a word only if that is longer than a line."""
    lines, line = [], ""
    for piece in _MAY_BREAK.split(text):
        if line and len((line + piece).rstrip()) > most:
            lines.append(line.rstrip())
            line = ""
        line += piece
        while len(line.rstrip()) > most:
            lines.append(line[:most])
            line = line[most:]
    return [*lines, line.rstrip()]


def narrowest(texts: Iterable[str]) -> int:
    """Return the width to which a column of words may be wrapped."""
    pieces = (len(piece.rstrip()) for text in texts for piece in _MAY_BREAK.split(text))
    return max(_NARROWEST, min(max(pieces), _LONGEST_KEPT_WHOLE))


def _fitted(texts: list[list[str]], right: Sequence[bool], first_left_out: Sequence[str]) -> str:
    """Return cells as lines that fit the terminal: columns are left out, and words wrapped.

    What is the same in each row is said below instead, and what tells rows apart stays.
    """
    names, rows, most = texts[0], texts[1:], width()
    columns = list(zip(*texts, strict=True))
    widths = [max(map(len, column)) for column in columns]
    floors = [
        wide if numbers else min(wide, narrowest(column))
        for wide, numbers, column in zip(widths, right, columns, strict=True)
    ]
    kept, same = list(range(len(names))), []
    labels = set(range(right.index(True) if True in right else len(names)))
    may_go = [names.index(name) for name in first_left_out if name in names]

    def excess(of: Sequence[int]) -> int:
        return 0 if most is None else sum(of[i] + 2 for i in kept) - 2 - most

    def tells_apart(column: int) -> bool:
        others = sorted(labels.intersection(kept) - {column})
        alike = {tuple(row[i] for i in others) for row in rows}
        return len(alike) < len({tuple(row[i] for i in (*others, column)) for row in rows})

    # All that says the same, where words that are wrapped do not fit either.
    for i, wide in [*((i, widths) for i in may_go), *((i, floors) for i in reversed(kept[1:]))]:
        once = len(set(columns[i][1:])) == 1 and (wide is widths or len(rows) > 1)
        if once and excess(wide) > 0 and i in kept[len(kept) == 1 :]:
            kept.remove(i)
            same.append(i)
    for i in may_go:
        if excess(widths) > 0 and i in kept and not (i in labels and tells_apart(i)):
            kept.remove(i)
    while excess(floors) > 0 and len(kept) > 1:
        kept.pop()
    lines = _laid_out(texts, right, kept, _narrowed(widths, floors, kept, excess))
    if same:
        told = "; ".join(f"{names[i]} {rows[0][i] or '-'}" for i in sorted(same))
        lines.append(prose(f"in each row: {told}"))
    if omitted := [names[i] for i in range(len(names)) if i not in {*kept, *same}]:
        lines.append(prose(f"too narrow for: {', '.join(omitted)}; CSV or JSON has all"))
    return "\n".join(lines)


def _narrowed(
    widths: Sequence[int],
    floors: Sequence[int],
    kept: Sequence[int],
    excess: Callable[[Sequence[int]], int],
) -> list[int]:
    """Return the widths to which columns of words are wrapped, the widest first."""
    now = list(widths)
    while excess(now) > 0 and (words := [i for i in kept if now[i] > floors[i]]):
        widest = max(words, key=lambda i: now[i])
        # Not narrower than the next: all long columns give way alike.
        least = max([floors[widest], *(now[i] for i in words if now[i] < now[widest])])
        now[widest] = max(least, now[widest] - excess(now))
    return now


def _laid_out(
    texts: Sequence[Sequence[str]],
    right: Sequence[bool],
    kept: Sequence[int],
    widths: Sequence[int],
) -> list[str]:
    lines = []
    for row in texts:
        cells = {i: wrapped(row[i], widths[i]) for i in kept}
        for n in range(max(map(len, cells.values()))):
            line = ((i, cells[i][n] if n < len(cells[i]) else "") for i in kept)
            padded = (c.rjust(widths[i]) if right[i] else c.ljust(widths[i]) for i, c in line)
            lines.append("  ".join(padded).rstrip())
    return lines


def without_boards(first_left_out: Iterable[str], rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the columns that a narrow terminal omits: not the boards, where there are several."""
    several = len({row["board"] for row in rows}) > 1
    return [name for name in first_left_out if name != "board" or not several]


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
