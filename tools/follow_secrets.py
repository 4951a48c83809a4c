#!/usr/bin/env python3
"""Follows the secrets of all operations of all implementations, for a table of docs/leaks.md.

`tools/follow_secrets.py RECORDS --board telosb --compiler clang --opt Os` appends a line of JSON to
RECORDS for each operation, and goes on where it was interrupted; `--write` makes the table of them.
Trials are not repeated here: `joulemark run` and `joulemark leaks` do both.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from joulemark.catalogue.boards import load_board
from joulemark.catalogue.primitives import Implementation, Library
from joulemark.errors import JoulemarkError
from joulemark.images import BuiltImage, build_image
from joulemark.measure.following import leaking
from joulemark.measure.leaks import follow, on_secrets, refusals, trials
from joulemark.project import ROOT

PAGE = ROOT / "docs" / "leaks.md"
MOST_CYCLES = 2_000_000_000
"""What may take longer by its implementation's file, as signing by hashes, is left out."""
BEGIN, END = "<!-- followed: tools/follow_secrets.py -->\n", "<!-- end -->"


def judged(
    way: Implementation, board_name: str, image: BuiltImage, compiler: str, opt: str
) -> Iterator[dict[str, Any]]:
    """Follow secrets through each operation of a build."""
    board, algorithm = load_board(board_name), way.algorithm
    for operation in filter(way.has, on_secrets(algorithm)):
        row: dict[str, Any] = {
            "board": board_name,
            "build": f"{compiler} -{opt}",
            "implementation": str(way),
            "operation": operation,
            "claim": way.secret_independent,
            "accelerated": bool(way.accelerators),
        }
        if way.cycles_max(operation) > MOST_CYCLES:
            continue
        puts = list(trials(algorithm, operation, special=True))
        if len(puts) < 2:
            continue  # What is secret is what differs between trials.
        found = follow(
            board,
            image,
            operation,
            puts,
            refused=list(refusals(algorithm, operation)),
            wiring=board.wiring if way.accelerators else None,
            budget_cycles=way.cycles_max(operation),
        )
        uses = leaking(found.uses)
        yield row | {
            "leaks": len(uses),
            "first": [str(use) for use in uses[:3]] if way.secret_independent else [],
            "devices": bool(found.devices),
            "lost": len(found.lost),
            "declared": len(found.verdicts),
        }


def judge(records: Path, board_name: str, compiler: str, opt: str) -> None:
    """Append what is not in the records yet."""
    kept = read(records)
    done = {(row["board"], row["build"], row["implementation"]) for row in kept}
    board, library = load_board(board_name), Library.load()
    for algorithm in library.algorithms.values():
        for way in library.implementations(algorithm):
            if (board_name, f"{compiler} -{opt}", str(way)) in done:
                continue
            if not way.runs_on(board.instruction_set, board.accelerators):
                continue
            try:
                image = build_image(way, board, compiler=compiler, optimisation=opt)
                rows = list(judged(way, board_name, image, compiler, opt))
            except JoulemarkError as error:
                print(f"{way}: {error}")
                continue
            with records.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(row) + "\n" for row in rows)


def read(records: Path) -> list[dict[str, Any]]:
    """Return what was recorded."""
    if not records.exists():
        return []
    return [json.loads(line) for line in records.read_text(encoding="utf-8").splitlines()]


def table(rows: list[dict[str, Any]]) -> str:
    """Return the table: a row for each board and build."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[row["board"], row["build"]].append(row)
    lines = [
        "| run on | build | implementations | operations | nothing decided | claimed, and leak "
        "| leak, and claim nothing | by trials only |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    for (board, build), some in sorted(groups.items()):
        by_trials = [row for row in some if row["devices"] or row["lost"] or row["accelerated"]]
        followed = [row for row in some if row not in by_trials]
        leaks = [row for row in followed if row["leaks"]]
        numbers = (
            len({row["implementation"] for row in some}),
            len(some),
            len(followed) - len(leaks),
            sum(row["claim"] is True for row in leaks),
            sum(row["claim"] is not True for row in leaks),
            len(by_trials),
        )
        lines.append(f"| {board} | {build} | {' | '.join(f'{n:,}' for n in numbers)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Judge, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", type=Path)
    parser.add_argument("--board", action="append", default=[])
    parser.add_argument("--compiler", action="append", default=[])
    parser.add_argument("--opt", action="append", default=[])
    parser.add_argument("--write", action="store_true", help="write the table of docs/leaks.md")
    arguments = parser.parse_args()
    for board in arguments.board:
        for compiler in arguments.compiler:
            for opt in arguments.opt:
                judge(arguments.records, board, compiler, opt)
    if arguments.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        _, _, after = rest.partition(END)
        if not after:
            raise SystemExit(f"{PAGE} has no place for the table")
        made = f"{before}{BEGIN}{table(read(arguments.records))}{END}{after}"
        PAGE.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    main()
