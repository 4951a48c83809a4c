"""How far a figure may be off, and on what that rests: in words beside every figure.

Of time it is what the chip's emulated cycles were compared with; of energy the weakest grade of the
currents. What was measured on hardware carries its own interval.
"""

from collections.abc import Iterable
from contextlib import suppress

from joulemark.campaign.estimates import ESTIMATE
from joulemark.catalogue import accuracy
from joulemark.catalogue.boards import Board, Grade, load_board
from joulemark.catalogue.primitives import library
from joulemark.errors import InputError
from joulemark.meters.power import weakest
from joulemark.records.record import Quantity, Record, ResultGrade
from joulemark.subjects import Subject
from joulemark.subjects.primitive import PrimitiveSubject

_TIME = frozenset({"cycles", "ps"})
_ENERGY = frozenset({"nJ", "nW"})
_CURRENTS: dict[ResultGrade | None, str] = {
    "measured": "currents measured",
    "datasheet": "currents from the data sheet, typical",
    "inferred": "currents inferred",
    "estimated": "estimated",
}
_EMULATED = frozenset({"emulator", "network"})
"""Runners whose time is the engine's."""


def _currents(grade: ResultGrade, chip: str) -> str:
    """Return what energies rest on whose weakest current has this grade."""
    factor = None
    if grade == "inferred":
        # A record's chip may be of a folder that is not given now.
        with suppress(InputError):
            factor = accuracy.of_chip(chip).currents_factor
    told = _CURRENTS[grade]
    return told if factor is None else f"{told}, estimated within a factor of {factor:g}"


def of_time(record: Record[Subject]) -> str:
    """Return the error of a record's cycles and times, as it was known when it was made."""
    where = record.conditions
    if where.runner == ESTIMATE or where.runner in _EMULATED:
        # Records of earlier versions have none.
        return record.provenance.timing_note or str(accuracy.of_chip(record.provenance.chip))
    return "measured on hardware, with its range or 95% interval"


def interval_of_time(record: Record[Subject]) -> tuple[float, float] | None:
    """Return the lowest and highest relative error of a record's emulated times, if any was seen.

    It is that of its cycles and of its board's clock together.
    """
    if record.conditions.runner not in _EMULATED:
        return None
    found = accuracy.of_chip(record.provenance.chip)
    if found.lowest is None or found.highest is None:
        return None
    slow = fast = 0.0
    # A record's board may be of a folder that is not given now.
    with suppress(InputError):
        board = load_board(record.conditions.board)
        tolerance = board.clock_profile(record.conditions.clock).tolerance
        slow, fast = tolerance.slow_ppm * 1e-6, tolerance.fast_ppm * 1e-6
    return (1 + found.lowest) * (1 - slow) - 1, (1 + found.highest) * (1 + fast) - 1


def of_energy(record: Record[Subject]) -> str:
    """Return the error of a record's energies; empty if it has none."""
    energies = [q for q in record.quantities if q.unit in _ENERGY]
    if any(q.bounds == "interval" for q in energies):
        return "measured, with its 95% interval"
    grades: list[Grade] = [q.grade for q in energies if q.grade and q.grade != "estimated"]
    if any(q.grade == "estimated" for q in energies):
        return _CURRENTS["estimated"]
    if not energies:
        return ""
    if not grades:
        return "measured, without an interval"
    return _currents(weakest(grades), record.provenance.chip) + _left_out(record)


def _left_out(record: Record[Subject]) -> str:
    """Return whose current is not in a record's modelled energies."""
    subject = record.subject
    if record.conditions.runner not in _EMULATED or not isinstance(subject, PrimitiveSubject):
        return ""
    # A record's board or primitive may be of a folder that is not given now.
    with suppress(InputError):
        unknown = {
            a.name: a.description
            for a in load_board(record.conditions.board).accelerator
            if not a.current_known
        }
        if unknown:
            known = library()
            way = known.implementation(known[subject.primitive], subject.implementation)
            names = sorted(unknown[name] for name in way.accelerators & unknown.keys())
            if names:
                return f", {subject.implementation} without that of {', '.join(names)}, not known"
    return ""


def of_quantity(record: Record[Subject], quantity: Quantity) -> str:
    """Return the error of one of a record's quantities."""
    if quantity.bounds == "interval":
        return "95% interval"
    if quantity.unit in _TIME:
        return of_time(record)
    if quantity.unit in _ENERGY:
        if quantity.grade is None:
            return of_energy(record)
        return _currents(quantity.grade, record.provenance.chip) + _left_out(record)
    return "exact" if record.conditions.runner in _EMULATED else "counted"


def of_record(record: Record[Subject]) -> str:
    """Return the errors of a record's time and energy in a line that names its board."""
    energy = of_energy(record)
    told = f"{record.conditions.board}: time {of_time(record)}"
    return f"{told}; energy: {energy}" if energy else told


def of_board(board: Board, clock: str | None, grade: Grade | None = None) -> str:
    """Return the same line for what ran on an emulated board without a record.

    Args:
        board: the board.
        clock: its clock profile; None for its default.
        grade: the weakest grade of the currents; None if no energy is shown.
    """
    told = f"{board.name}: time {accuracy.of_clock(board, clock)}"
    return told if grade is None else f"{told}; energy: {of_grade(board, grade)}"


def of_program(board: Board, grade: Grade | None = None) -> str:
    """Return the same line for a program that is not this project's, and sets the clock itself."""
    told = f"{board.name}: time {accuracy.of_program(board)}"
    return told if grade is None else f"{told}; energy: {of_grade(board, grade)}"


def of_grade(board: Board, grade: Grade) -> str:
    """Return what a board's energies rest on whose weakest current has this grade."""
    return _currents(grade, board.chip)


def lines(errors: Iterable[str]) -> list[str]:
    """Return different errors as the lines that stand below figures, one for each error of time."""
    energies: dict[str, dict[str, None]] = {}
    for told in errors:
        time, _, energy = told.partition("; energy: ")
        energies.setdefault(time, {}).update({energy: None} if energy else {})
    return [
        f"errors, {time}" + (f"; energy: {', or '.join(found)}" if found else "")
        for time, found in energies.items()
    ]
