"""Command-line options of meters: each meter declares its own.

A parameter of a meter's `open_meter` is an option of the command line if its annotation carries an
`Option`; it is required if it has no default. The measurement provides the other parameters (see
`surroundings` of `take`).
"""

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from joulemark.errors import InputError


@dataclass(frozen=True)
class Option:
    """An option of the command line.

    Args:
        flag: its name, such as --range.
        help: one sentence.
        example: an example value, for messages.
        unit: unit of a number; "1" for a fraction, "display" for the display's own unit.
        low: least value of a number.
        high: exclusive upper bound of a number.
        identifies: whether another value is a different measurement; a port's name is not.
    """

    flag: str
    help: str
    example: str
    unit: str = ""
    low: float = -math.inf
    high: float = math.inf
    identifies: bool = True

    def check(self, value: float) -> None:
        """Check a number.

        Raises:
            InputError: it is not finite, or out of bounds.
        """
        if not (math.isfinite(value) and self.low <= value < self.high):
            raise InputError(f"{value:g} is out of range", self.flag, f"such as {self.example}")


POSITIVE = math.ulp(0.0)
"""The smallest number above zero."""

Resource = Annotated[
    str,
    Option(
        "--resource",
        "VISA resource name of the instrument.",
        "TCPIP::192.0.2.7::5025::SOCKET",
        identifies=False,
    ),
]
SerialPort = Annotated[
    str, Option("--resource", "Serial port of the meter.", "/dev/ttyACM0", identifies=False)
]
Folder = Annotated[
    str, Option("--resource", "Folder that Linux shows the meter as.", "/sys/...", identifies=False)
]
StatedAccuracy = Annotated[
    float,
    Option(
        "--accuracy",
        "Bound on the meter's error, as a fraction of the reading.",
        "0.005",
        unit="1",
        low=0,
        high=1,
    ),
]
RangeA = Annotated[
    float, Option("--range", "The instrument's current range.", "0.01", unit="A", low=POSITIVE)
]
SUPPLY = Option("--supply-v", "Supply voltage at the board.", "3.0", unit="V", low=POSITIVE)


@dataclass(frozen=True)
class Declared:
    """An option, and the parameter that receives it."""

    parameter: str
    option: Option
    kind: type
    needed: bool


def declared(function: Callable[..., object]) -> list[Declared]:
    """Return the options that a function's parameters declare."""
    hints = get_type_hints(function, include_extras=True)
    found = []
    for name, parameter in inspect.signature(function).parameters.items():
        option = next(
            (e for e in _extras(hints[name]) if isinstance(e, Option)),
            None,
        )
        if option is not None:
            needed = parameter.default is inspect.Parameter.empty
            found.append(Declared(name, option, _kind(hints[name]), needed))
    return found


def _extras(hint: Any) -> list[object]:
    """Return the metadata of an annotation, including those of a union's members."""
    if get_origin(hint) is Annotated:
        return list(hint.__metadata__)
    return [extra for member in get_args(hint) for extra in _extras(member)]


def _kind(hint: Any) -> type:
    if get_origin(hint) is Annotated:
        return _kind(get_args(hint)[0])
    members = [m for m in get_args(hint) if m is not type(None)]
    kind = _kind(members[0]) if members else hint
    assert isinstance(kind, type)  # noqa: S101
    return kind


def take(
    function: Callable[..., object],
    where: str,
    given: Mapping[str, object],
    surroundings: Mapping[str, object],
) -> dict[str, Any]:
    """Return the arguments for a function that declares options.

    Args:
        function: the function to call.
        where: what it is, for messages.
        given: values of its options, by parameter.
        surroundings: further values that it may take, by parameter; None if unknown.

    Raises:
        InputError: an option is missing, unknown or out of range, or the supply voltage is needed.
    """
    options = {d.parameter: d for d in declared(function)}
    if unknown := set(given) - set(options):
        there = ", ".join(d.option.flag for d in options.values())
        raise InputError(f"no such option: {', '.join(sorted(unknown))}", where, f"it has {there}")
    for name, one in options.items():
        value = given.get(name)
        if value is None and one.needed:
            what = f"{one.option.flag} is missing: {one.option.help.rstrip('.')}"
            raise InputError(what, where, f"give {one.option.flag}, such as {one.option.example}")
        if isinstance(value, int | float):
            one.option.check(value)
    taken = {name: value for name, value in given.items() if value is not None}
    for name, parameter in inspect.signature(function).parameters.items():
        if name in options:
            continue
        if surroundings.get(name) is not None:
            taken[name] = surroundings[name]
        elif parameter.default is inspect.Parameter.empty:
            # Of the surroundings, only the supply voltage can be missing.
            raise InputError("the supply voltage is not known", where, f"give {SUPPLY.flag}")
    return taken
