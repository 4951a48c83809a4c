#!/usr/bin/env python3
"""Somebody's code beside ours, as rows of docs/beside-public-code.md.

`.venv/bin/python benches/beside.py --board telosb FOLDER[=ALGORITHM]...` measures implementations
in the layout of SUPERCOP as they stand (docs/own-code.md), and ours of the same algorithms, with
all compilers there are for the board, at each optimisation. A row has the fastest build of each
side; ours is the fastest implementation that claims to be independent of secrets, without an
accelerator. A call of that layout is for a whole message, so ours of one is with its init, where
that is an operation of its own. What each further block costs is the difference of a message and
one twice as long, divided by the blocks between them. Checkouts stay where they are; a commit is
read from git.

Exits with 1 if a folder gives no figure on a board.
"""

import argparse
import datetime
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import joulemark
from joulemark.campaign.versions import commit_of
from joulemark.catalogue import boards, layouts
from joulemark.catalogue.primitives import Algorithm, library
from joulemark.errors import JoulemarkError, ToolError
from joulemark.images import toolchain

if TYPE_CHECKING:
    import pandas as pd

OPTIMISATIONS = ("O2", "O3", "Os")
TRIALS = 4
SEED = 1
PLACEMENTS = 4
"""Places of the code in flash, on chips whose time depends on them: the mean counts."""
MESSAGE_BYTES = 64
"""Of a whole message, or a block if that is longer."""
STEP_BYTES = {"chacha20": 64, "siphash-2-4": 8, "tinyjambu-128": 4, "xoodyak": 24}
"""Bytes of message that a step of an algorithm takes, if its file does not say and it is not 16."""
HEAD = (
    "| primitive | ours | each further | ours | theirs | ratio | bytes | ours | theirs | ratio "
    "| whose |\n|---|---|---|--:|--:|--:|--:|--:|--:|--:|---|"
)


@dataclass(frozen=True)
class Side:
    """The fastest builds of an implementation, in cycles."""

    name: str
    further: float
    """Of each further step."""
    whole: int
    """Of a whole message, with the init that its interface has for one."""
    build: str
    """That of `further`."""


@dataclass(frozen=True)
class Row:
    """An implementation beside ours."""

    algorithm: Algorithm
    ours: Side
    theirs: Side
    whose: str

    @property
    def ratios(self) -> tuple[float, float]:
        """Ours by theirs: each further step, and a whole message."""
        ours, theirs = self.ours, self.theirs
        return ours.further / theirs.further, ours.whole / theirs.whole

    def __str__(self) -> str:
        ours, theirs, ratios = self.ours, self.theirs, self.ratios
        return (
            f"| `{self.algorithm}` | `{ours.name}` | {step_bytes(self.algorithm)} bytes "
            f"| {ours.further:,.0f} | {theirs.further:,.0f} | {ratios[0]:.2f} "
            f"| {message_bytes(self.algorithm)} | {ours.whole:,} | {theirs.whole:,} "
            f"| {ratios[1]:.2f} | {self.whose}, `{theirs.name}` ({theirs.build}) |"
        )


def step_bytes(algorithm: Algorithm) -> int:
    """Return the bytes of a message that a step of an algorithm takes."""
    return STEP_BYTES.get(algorithm.name, algorithm.sizes.get("block_bytes", 16))


def message_bytes(algorithm: Algorithm) -> int:
    """Return the length of a whole message."""
    return max(MESSAGE_BYTES, step_bytes(algorithm))


def needs_init(algorithm: Algorithm) -> bool:
    """Return whether a whole message takes an init besides the kind's main operation."""
    main_operation = str(algorithm.contract.file.main_operation)
    return any(
        {"init", main_operation} <= set(service.operations)
        for service in algorithm.contract.file.service
    )


def compilers(board: boards.Board) -> list[str]:
    """Return the compilers for a board that are installed."""
    found = []
    for name in ("clang", "gcc"):
        try:
            toolchain.find(name, board.core)
        except ToolError:
            continue
        found.append(name)
    return found


def whose(folder: Path) -> str:
    """Return the repository and commit of a checkout, or where a folder lies without one."""
    commit = commit_of(folder)
    if commit is None:
        return "/".join(folder.parts[-3:-1])
    asked = ["git", "-C", str(folder), "remote", "get-url", "origin"]
    url = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    asked = ["git", "-C", str(folder), "rev-parse", "--show-toplevel"]
    top = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    name = "/".join(url.removesuffix(".git").replace(":", "/").split("/")[-2:]) or Path(top).name
    return f"{name} {commit[:7]}" + (" with files that are not in it" * commit.endswith("+dirty"))


def sides(
    frame: "pd.DataFrame", inits: "pd.DataFrame", algorithm: Algorithm, theirs: str
) -> Iterator[Side]:
    """Yield each implementation whose two lengths were measured.

    Theirs sets its key up in the call; ours of the same build needs its init besides.
    """
    short, step = message_bytes(algorithm), step_bytes(algorithm)
    steps = -(-2 * short // step) - -(-short // step)
    for name in sorted(set(frame["implementation"])):
        by_build = frame[frame["implementation"] == name].pivot_table(
            index=["compiler", "optimisation"], columns="message_bytes", values="cycles"
        )
        if not {short, 2 * short} <= set(by_build.columns):
            continue
        by_build = by_build.dropna()
        further = (by_build[2 * short] - by_build[short]) / steps
        best = further.idxmin()
        build = f"{best[0]} -{best[1]}"
        whole = by_build[short]
        if name != theirs and not inits.empty:
            of_name = inits[inits["implementation"] == name]
            whole = whole + of_name.set_index(["compiler", "optimisation"])["cycles"]
        yield Side(name, float(further.min()), round(whole.min()), build)


def beside(
    folder: Path, named: str | None, board: boards.Board, store: Path, campaign: Path
) -> "tuple[Row, pd.DataFrame]":
    """Measure a folder's implementation and ours.

    Raises:
        JoulemarkError: it is none, or gives no figure.
    """
    made = layouts.source(folder, named)
    described = next(made.glob("*/*/*/implementation.toml"))
    algorithm = library()[tomllib.loads(described.read_text())["variants"][0]]
    their_name = described.parent.name
    with_ours = [
        way.name
        for way in library().implementations(algorithm)
        if way.runs_on(board.instruction_set)
        and way.secret_independent
        and way.has(str(algorithm.contract.file.main_operation))
    ]
    length, main_operation = message_bytes(algorithm), algorithm.contract.file.main_operation
    frame = joulemark.run(
        store=store,
        campaign=campaign,
        board=board.name,
        primitive=algorithm.name,
        implementation=[*with_ours, their_name],
        operation=["init", main_operation] if needs_init(algorithm) else main_operation,
        size=[length, 2 * length],
        ad_size=0,
        compiler=compilers(board),
        opt=OPTIMISATIONS,
        trials=TRIALS,
        seed=SEED,
        source=made,
    )
    good, bad = (frame[frame["status"] == status] for status in ("ok", "failed"))
    told: dict[str, set[str]] = {}
    for row in bad.itertuples():
        why = str(row.failure).partition("; repeat it with")[0]
        told.setdefault(f"{row.implementation}: {why}", set()).add(
            f"{row.compiler} -{row.optimisation}"
        )
    for failure, builds in told.items():
        print(f"{board.name}: {', '.join(sorted(builds))}: {failure}", file=sys.stderr)
    of_init = good["operation"] == "init"
    each = sides(good[~of_init], good[of_init], algorithm, their_name)
    found = {side.name: side for side in each}
    theirs = found.pop(their_name, None)
    if theirs is None or not found:
        whose_is_missing = "it" if theirs is None else "ours"
        raise JoulemarkError(f"no build of {whose_is_missing} has a figure", str(folder))
    ours = min(found.values(), key=lambda side: side.further)
    shown = Side(layouts.names(folder)[1], theirs.further, theirs.whole, theirs.build)
    return Row(algorithm, ours, shown, whose(folder)), good


def conditions(frame: "pd.DataFrame") -> str:
    """Return what the rows of a board were measured under."""
    first = frame.iloc[0]
    places = f"; means over {PLACEMENTS} places of the code in flash, 4 bytes apart"
    placed = places if first["memories_keep_state"] else ""
    made_by = " and ".join(sorted(set(frame["compiler_version"])))
    flags = ", ".join(f"-{name}" for name in OPTIMISATIONS)
    return (
        f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}, Joulemark "
        f"{str(first['project_commit'])[:8]}, engine {first['engine_version']}: clock "
        f"{first['clock']} ({first['clock_hz'] / 1e6:g} MHz), emulated, time "
        f"{first['time_error']}; {made_by}; {flags}, the best build of each side, ours and theirs "
        f"in the same windows{placed}; a whole message with its init; without associated data; "
        f"each output of {TRIALS} random inputs verified by the algorithm's oracle; a ratio below "
        "1 means that ours is faster."
    )


def main() -> int:
    """Measure, and print a table for each board."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", nargs="+", metavar="FOLDER[=ALGORITHM]")
    options.add_argument("--board", action="append", required=True)
    options.add_argument("--store", type=Path, help="keep the records in this file")
    given = options.parse_args()
    failed: list[str] = []
    with tempfile.TemporaryDirectory() as temporary:
        store = given.store or Path(temporary) / "beside.db"
        campaign = Path(temporary) / "campaign.toml"
        campaign.write_text(f"placements = {PLACEMENTS}\n")
        for name, board in {name: boards.load_board(name) for name in given.board}.items():
            rows, frame = [], None
            for text in given.folder:
                folder, _, named = text.partition("=")
                try:
                    row, frame = beside(
                        Path(folder).resolve(), named or None, board, store, campaign
                    )
                except JoulemarkError as error:
                    failed.append(f"{name}: {error}")
                    continue
                rows.append(row)
            if frame is None:
                continue
            print(f"## {board.title}\n{conditions(frame)}\n\n{HEAD}")
            print("\n".join(map(str, rows)), end="\n\n")
            for row in rows:
                if max(row.ratios) > 1:
                    print(f"Behind: `{row.algorithm}`, {row.whose}, `{row.theirs.name}`\n")
    for line in failed:
        print(f"no figure: {line}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except JoulemarkError as error:
        sys.exit(f"beside.py: {error}")
