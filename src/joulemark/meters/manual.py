"""A meter that a person reads: a USB meter that counts watt-hours or ampere-hours.

As in yilmaz-2018, the reading is typed in when the operation is done. The time that a person takes
to read it is assumed to be at most `REACTION_S`, which is part of the uncertainty.
"""

import math
from collections.abc import Callable
from typing import Annotated

from joulemark.closes import Closes
from joulemark.errors import InputError
from joulemark.meters import Specification
from joulemark.meters.options import POSITIVE, SUPPLY, Option, StatedAccuracy
from joulemark.meters.samples import Counted

UNITS = {"Wh": 3600.0, "mWh": 3.6, "J": 1.0, "Ah": 3600.0, "mAh": 3.6}
"""Joules per unit; for ampere-hours, joules per unit and volt."""
REACTION_S = 1.0
"""Assumed bound on the delay of a reading."""
_WINDOW_S = 100.0


class Manual(Closes):
    """A display that counts energy or charge, read before and after each run.

    Args:
        read_line: shows a question and returns the typed answer; EOFError ends the measurement.
        unit: unit of the display: one of UNITS.
        supply_v: supply voltage, used for ampere-hours.
        resolution: smallest step of the display, in its unit.
        accuracy: relative bound on the display's error.

    Raises:
        InputError: the unit is unknown, or the step is not a positive number.
    """

    def __init__(
        self,
        read_line: Callable[[str], str],
        unit: str,
        supply_v: float,
        resolution: float,
        accuracy: float,
    ) -> None:
        if unit not in UNITS:
            raise InputError(
                f"no such unit: {unit}", "--meter-unit", f"there are {', '.join(UNITS)}"
            )
        if not 0 < resolution < math.inf:
            raise InputError(f"a step of {resolution:g} is none", "--resolution")
        self._read_line = read_line
        self._unit = unit
        self._joule = UNITS[unit] * (supply_v if unit.endswith("Ah") else 1.0)
        self._resolution = resolution
        self._accuracy = accuracy
        self._before = 0.0
        self.specification = Specification(
            title="display read by a person",
            document=f"stated by whoever measured: steps of {resolution:g} {unit}, "
            f"+-{accuracy:.2%}; read at most {REACTION_S:g} s late (assumed)",
            rate_hz=None,
            resolution=f"{resolution:g} {unit}",
            window_s=_WINDOW_S,
            measures_voltage=not unit.endswith("Ah"),
            attended=True,
            step_j=resolution * self._joule,
        )

    def start(self, seconds: float) -> None:
        """Ask for the reading before the run; the run begins when it is typed."""
        question = f"reading now ({self._unit}); about {seconds:.2g} s run then: "
        self._before = self._reading(question, 0.0)

    def finish(self) -> Counted:
        """Ask for the reading after the run.

        Raises:
            InputError: the display moved by less than a step.
        """
        after = self._reading(f"reading at the end ({self._unit}): ", self._before)
        moved = after - self._before
        if moved < self._resolution:
            raise InputError(
                f"the display moved by {moved:g} {self._unit} and its step is {self._resolution:g}",
                "manual meter",
                "repeat the operation more often",
            )
        return Counted(
            moved * self._joule,
            # Two readings, each with a rectangular distribution of one step's width (JCGM
            # 100:2008, 4.3.7).
            self._resolution * self._joule / math.sqrt(6.0),
            self._accuracy,
            edge_bound_s=REACTION_S,
            where="manual meter",
        )

    def _reading(self, question: str, least: float) -> float:
        """Ask until the answer is a finite number that is not below `least`."""
        while True:
            typed = self._read_line(question).strip().replace(",", ".")
            try:
                value = float(typed)
            except ValueError:
                question = f"{typed!r} is not a number; once more: "
                continue
            if math.isfinite(value) and value >= least:
                return value
            question = f"{typed} is below {least:g}, or not finite; once more: "


Unit = Annotated[
    str, Option("--meter-unit", f"Unit of the display: {', '.join(UNITS)}.", example="mWh")
]
Resolution = Annotated[
    float,
    Option(
        "--resolution",
        "Smallest step of the display.",
        example="0.01",
        unit="display",
        low=POSITIVE,
    ),
]


def open_meter(
    resolution: Resolution,
    accuracy: StatedAccuracy,
    unit: Unit = "Wh",
    *,
    supply_v: float | None = None,
    ask: Callable[[str], str],
) -> Manual:
    """Open a display that is described by options.

    Raises:
        InputError: its step or unit is invalid, or the voltage for ampere-hours is missing.
    """
    if unit.endswith("Ah") and supply_v is None:
        raise InputError(
            "ampere-hours need the supply voltage", "--meter manual", f"give {SUPPLY.flag}"
        )
    return Manual(ask, unit, supply_v or 0.0, resolution, accuracy)
