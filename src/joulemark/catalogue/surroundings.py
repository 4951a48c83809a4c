"""What surrounds a board, as users write it: a number, an expression of the time, or a file.

The emulator takes points: a time in picoseconds, and a value in millionths of its unit, and draws
straight lines between them.
"""

import ast
import csv
import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from joulemark.errors import InputError

Points = Sequence[tuple[int, int]]
"""Times in picoseconds, and values in millionths."""

STEP_S, LEAST_S = 0.01, 3600.0
"""An expression is worked out so often, for so long at least; then it stays as it is."""
_MOST = 9e12
"""Larger values do not fit the engine's numbers."""
_LIMITS = {
    "_c": (-273.15, 1000.0, "absolute zero, and more than a board withstands"),
    "_percent": (0.0, 100.0, "a part of a whole"),
    "_lux": (0.0, 1e6, "darkness, and several times the sun"),
}
"""Least and most of a quantity by its unit, and why."""
_FUNCTIONS = {"sin", "cos", "exp", "sqrt", "abs", "minimum", "maximum", "floor"}
_NODES = (
    ast.Expression,
    ast.BinOp,
    ast.UnaryOp,
    ast.Add,
    ast.Sub,
    ast.Mult,
    ast.Div,
    ast.Mod,
    ast.Pow,
    ast.USub,
    ast.Compare,
    ast.Lt,
    ast.Gt,
    ast.Load,
)


def surroundings(
    given: Mapping[str, float | str], where: str, folder: Path, until_s: float = 0.0
) -> dict[str, Points]:
    """Return what surrounds a board, as the engine takes it.

    Args:
        given: by quantity, such as `temperature_c`: a number, an expression of `t` in seconds, or
            the name of a .csv file with times in seconds and values.
        where: what an error names.
        folder: the folder that files are relative to.
        until_s: how long the board runs, if that is known: an expression's values must be possible
            until then. Later ones are worked out, and may be anything.

    Raises:
        InputError: a value is none of these.
    """
    found = {}
    for quantity, value in given.items():
        of = f"{where}, {quantity}"
        if isinstance(value, str) and value.endswith(".csv"):
            found[quantity] = _of_file(folder / value)
            _check(quantity, found[quantity], of)
        else:
            found[quantity] = _of_expression(str(value), of, max(until_s, LEAST_S))
            seen = [point for point in found[quantity] if point[0] <= until_s * 1e12]
            _check(quantity, seen, of)
    return found


def named(texts: Sequence[str], where: str, folder: Path) -> dict[str, Points]:
    """Return what surrounds a board, from texts NAME=VALUE; as `surroundings`, which see."""
    given: dict[str, float | str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise InputError(f"{text!r} says nothing of it", where, "write NAME=VALUE")
        if name in given:
            raise InputError(f"{name} is there twice", where, "give one of them")
        given[name] = value
    return surroundings(given, where, folder)


def since(points: Points, start_ps: int) -> Points:
    """Return points as one sees them whose time begins later."""
    behind = [(at - start_ps, value) for at, value in points if at > start_ps]
    times, values = zip(*points, strict=True)
    here = round(float(np.interp(start_ps, times, values)))
    return [(0, here), *behind]


def _check(quantity: str, points: Points, where: str) -> None:
    for unit, (least, most, why) in _LIMITS.items():
        if quantity.endswith(unit):
            at, value = max(points, key=lambda p: max(least - p[1] * 1e-6, p[1] * 1e-6 - most))
            if not least <= value * 1e-6 <= most:
                mend = f"give {least:g} to {most:g}: {why}"
                when = f", at {at * 1e-12:g} s" if at else ""
                raise InputError(f"{value * 1e-6:g} is no value that there is{when}", where, mend)


def _point(time_s: float, value: float, where: str) -> tuple[int, int]:
    if not (math.isfinite(value) and abs(value) <= _MOST):
        raise InputError(f"{value} is no value that can be sensed", where, "check the value")
    if not (math.isfinite(time_s) and 0 <= time_s < 1e7):
        raise InputError(f"{time_s} s is no time of a run", where, "give seconds from its start")
    return round(time_s * 1e12), round(value * 1e6)


def _of_file(path: Path) -> Points:
    """Read times in seconds and values; a first line may name them."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = [(number, row) for number, row in enumerate(csv.reader(file), 1) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(f"cannot be read: {reason}", str(path)) from error
    points = []
    for index, (number, row) in enumerate(rows):
        where = f"{path}, line {number}"
        try:
            time_s, value = map(float, row)
        except ValueError as error:
            if index == 0:
                continue
            raise InputError("has no time and value", where, "write SECONDS,VALUE") from error
        points.append(_point(time_s, value, where))
    if not points:
        raise InputError("has no values", str(path), "write lines of SECONDS,VALUE")
    if any(before[0] >= after[0] for before, after in pairwise(points)):
        raise InputError("its times do not rise", str(path), "sort its lines")
    return points


def _of_expression(text: str, where: str, until_s: float) -> Points:
    mend = "write a number, an expression of t such as '20 + 5 * sin(t / 60)', or a .csv file"
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError) as error:
        raise InputError(f"{text!r} is no expression", where, mend) from error
    varies = False
    for node in ast.walk(tree):
        match node:
            case ast.Name(id="t"):
                varies = True
            case ast.Name(id=name) if name == "pi" or name in _FUNCTIONS:
                pass
            case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
                pass
            case ast.Call(func=ast.Name(id=name), keywords=[]) if name in _FUNCTIONS:
                pass
            case _ if isinstance(node, _NODES):
                pass
            case _:
                what = f"{ast.unparse(node)!r} has no place in {text!r}"
                raise InputError(what, where, mend)
    times = np.arange(0, until_s + STEP_S, STEP_S) if varies else np.zeros(1)
    names: dict[str, Any] = {name: getattr(np, name) for name in _FUNCTIONS}
    names |= {"t": times, "pi": math.pi, "__builtins__": {}}
    try:
        with np.errstate(all="ignore"):
            # Names, calls and operators were checked one by one.
            result = eval(compile(tree, where, "eval"), names)  # noqa: S307
        values = np.broadcast_to(np.asarray(result, dtype=float), times.shape)
    except (ArithmeticError, TypeError, ValueError) as error:
        raise InputError(f"{text!r} has no value: {error}", where, mend) from error
    return [
        _point(at, value, where) for at, value in zip(times.tolist(), values.tolist(), strict=True)
    ]
