"""A meter that a person reads: a USB meter that counts watt-hours or ampere-hours."""

import math
from collections.abc import Callable

from joulemark.errors import InputError

UNITS = {"Wh": 3600.0, "mWh": 3.6, "J": 1.0, "Ah": 3600.0, "mAh": 3.6}
"""Joule per unit; ampere-hours are per volt."""


def ask(
    read_line: Callable[[str], str], unit: str, supply_v: float, resolution: float
) -> tuple[float, float]:
    """Ask for the readings before and after a run.

    Args:
        read_line: shows a question and returns what was typed.
        unit: of the display: one of UNITS.
        supply_v: for ampere-hours.
        resolution: smallest step of the display, in its unit.

    Returns:
        Energy in joule, and its standard uncertainty from the display's steps: two readings,
        rectangular (JCGM 100:2008, 4.3.7).

    Raises:
        InputError: the unit is not known, or the display did not move far enough to say anything.
    """
    if unit not in UNITS:
        raise InputError(f"no such unit: {unit}", "--unit", f"there are {', '.join(UNITS)}")
    before = _reading(read_line, f"reading before the run ({unit}): ", 0.0)
    after = _reading(read_line, f"reading after the run ({unit}): ", before)
    if after - before < resolution:
        raise InputError(
            f"the display moved by {after - before:g} {unit} and its step is {resolution:g}",
            "manual meter",
            "repeat the operation more often",
        )
    joule = UNITS[unit] * (supply_v if unit.endswith("Ah") else 1.0)
    return (after - before) * joule, resolution * joule / math.sqrt(6.0)


def _reading(read_line: Callable[[str], str], question: str, least: float) -> float:
    """A number that is not below another; asked for until it is one."""
    while True:
        typed = read_line(question).strip().replace(",", ".")
        try:
            value = float(typed)
        except ValueError:
            question = f"{typed!r} is not a number; once more: "
            continue
        if math.isfinite(value) and value >= least:
            return value
        question = f"{typed} is below {least:g}, or not finite; once more: "
