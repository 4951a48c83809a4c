"""Figures from a board's file: currents, loads, the radio, activities; with their sources."""

from collections.abc import Iterator, Sequence
from typing import Literal

from joulemark.catalogue import boards, chips, datafile
from joulemark.catalogue.boards import Activity, Board, Grade
from joulemark.images.toolchain import Need
from joulemark.studies.ways import Answer, Bench


class Asked(datafile.DataModel):
    """One figure of a board's file."""

    board: str
    of: Literal["current", "chip", "load", "radio", "bit-rate", "activity", "supply"]
    name: str = ""
    """The name of the state, load or activity."""
    clock: str = ""
    """The clock profile, for a chip's current."""
    grade: Grade | None = None
    """Take the first figure of this grade; the first of all if not given."""
    metric: Literal["ampere", "time", "energy"] = "ampere"
    """For an activity: cost of one execution."""


def needs(asked: Sequence[Asked], bench: Bench) -> tuple[Need, ...]:
    """Return nothing: a file is only read."""
    return ()


def best(asked: Asked) -> None:
    """Return None: a figure in a file has no better variant."""


def obtain(asked: Sequence[Asked], bench: Bench) -> dict[Asked, Answer]:
    """Look the figures up."""
    return {a: _look_up(a) for a in asked}


def _stated(board: Board, of: str) -> Iterator[tuple[str, float, Grade, str]]:
    """Yield name, ampere, grade and source of each current."""
    if of == "current":
        yield from ((c.state, c.ampere, c.grade, c.source) for c in board.current)
        return
    loads = board.load if of == "load" else board.radio.state if board.radio else []
    yield from ((load.name, load.ampere, load.grade, load.source) for load in loads)


def _look_up(asked: Asked) -> Answer:
    board = boards.load_board(asked.board)
    if asked.of == "supply":
        return Answer(value=board.supply_v.value, how=board.supply_v.source)
    if asked.of == "bit-rate" and board.radio:
        rate = board.radio.bit_rate_hz
        return Answer(value=rate.value, how=rate.source)
    if asked.of == "chip":
        hz = board.clock_profile(asked.clock or None).hz
        stated = chips.load_chip(board.chip).current_a(asked.name, hz, board.supply_v.value)
        where = f"chips/{board.chip}.toml at {hz / 1e6:g} MHz"
        return Answer(
            value=stated.value,
            how=f"{stated.grade}: {stated.source}",
            source=where,
            errors=f"{asked.board}'s file: {stated.grade}",
        )
    found: list[tuple[float, str]]
    if asked.of == "activity":
        found = [
            (_of_activity(activity, asked.metric), f"{activity.grade}: {activity.source}")
            for activity in board.activity
            if activity.name == asked.name and asked.grade in (None, activity.grade)
        ]
    else:
        found = [
            (ampere, f"{grade}: {source}")
            for name, ampere, grade, source in _stated(board, asked.of)
            if name == asked.name and asked.grade in (None, grade)
        ]
    if not found:
        what = f"{asked.of} {asked.name}{f' of grade {asked.grade}' if asked.grade else ''}"
        return Answer(value=None, how=f"the file of {asked.board} states no {what}")
    return Answer(
        value=found[0][0],
        how=found[0][1],
        source=f"boards/{asked.board}.toml",
        errors=f"{asked.board}'s file: {found[0][1].partition(':')[0]}",
    )


def _of_activity(activity: Activity, metric: str) -> float:
    whole = activity.time_s if metric == "time" else activity.energy_j
    return whole / activity.executions
