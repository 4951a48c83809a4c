"""Arithmetic in a study's file: names stand for quantities in SI units, or for series of them."""

import ast
import copy
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from joulemark.errors import InputError

Value = float | npt.NDArray[np.float64]
"""A number, or a series of them: one for each message size, say."""

PAPER = "paper"
"""`paper.NAME` is the paper's value of an item; a bare name is ours."""


class MissingError(Exception):
    """A name has no value; the message says what is missing."""


def _first_above(sizes: Value, left: Value, right: Value) -> float:
    """Return the least size from which the left series stays above the right one."""
    above = np.asarray(left) > np.asarray(right)
    stays = np.logical_and.accumulate(above[::-1])[::-1]
    if not stays.any():
        raise MissingError("the two lines do not cross at any size that was measured")
    return float(np.asarray(sizes)[int(np.argmax(stays))])


def _slope(sizes: Value, costs: Value) -> float:
    """Return the cost of one more byte: the slope of the least-squares line through all points."""
    return float(np.polyfit(np.asarray(sizes), np.asarray(costs), 1)[0])


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "min": lambda *v: float(np.min(np.concatenate([np.atleast_1d(x) for x in v]))),
    "max": lambda *v: float(np.max(np.concatenate([np.atleast_1d(x) for x in v]))),
    "mean": lambda *v: float(np.mean(np.concatenate([np.atleast_1d(x) for x in v]))),
    "sum": lambda *v: float(np.sum(np.concatenate([np.atleast_1d(x) for x in v]))),
    "count": lambda v: float(np.count_nonzero(v)),
    "abs": np.abs,
    "round": lambda v, digits=0: np.round(v, int(digits)),
    "first_above": _first_above,
    "slope": _slope,
}
_OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
}


@cache
def _parse(text: str) -> ast.expr:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise InputError(f"is no expression: {error.msg}", text) from error


class _Listed(ast.NodeTransformer):
    """Replaces names of lists by the lists."""

    def __init__(self, lists: Mapping[str, Sequence[str]]) -> None:
        self._lists = lists

    def visit_Name(self, node: ast.Name) -> ast.expr:
        found = self._lists.get(node.id)
        return node if found is None else ast.List([ast.Name(name) for name in found])

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        found = self._lists.get(node.attr)
        if found is None:
            return node
        return ast.List([ast.Attribute(node.value, name) for name in found])


def expanded(text: str, lists: Mapping[str, Sequence[str]]) -> str:
    """Return an expression with each name of a list replaced by the names in the list.

    Raises:
        InputError: it is not a valid expression.
    """
    if not any(name in text for name in lists):
        return text
    return ast.unparse(_Listed(lists).visit(copy.deepcopy(_parse(text))))


def names(text: str) -> Iterator[tuple[bool, str]]:
    """Yield the names in an expression, each with True if it stands for the paper's value.

    Raises:
        InputError: it is not a valid expression, or uses syntax that no study needs.
    """
    yield from _names(_parse(text), text)


def _names(node: ast.expr, text: str) -> Iterator[tuple[bool, str]]:
    children: list[ast.expr] = []
    match node:
        case ast.Name(id=name):
            yield False, name
        case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name == PAPER:
            yield True, attribute
        case ast.Constant(value=bool() | int() | float()):
            pass
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            children = [left, right]
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _OPERATORS:
            children = [operand]
        case ast.Compare(left=left, ops=ops, comparators=rest) if {type(o) for o in ops} <= set(
            _OPERATORS
        ):
            children = [left, *rest]
        case ast.BoolOp(op=ast.And(), values=values):
            children = values
        case ast.List(elts=elements):
            children = elements
        case ast.Call(func=ast.Name(id=function), args=arguments, keywords=[]) if (
            function in _FUNCTIONS
        ):
            children = arguments
        case _:
            mend = f"there are + - * / **, comparisons, `and`, and {', '.join(_FUNCTIONS)}"
            raise InputError(f"{ast.unparse(node)!r} is not arithmetic", text, mend)
    for child in children:
        yield from _names(child, text)


def evaluate(text: str, ours: Mapping[str, Value], paper: Mapping[str, Value]) -> Any:
    """Return the value of an expression: a number, a series, or whether something holds.

    Raises:
        MissingError: a name has no value.
        InputError: it is not a valid expression.
    """
    list(names(text))
    return _evaluate(_parse(text), ours, paper)


def _look(values: Mapping[str, Value], name: str) -> Value:
    try:
        return values[name]
    except KeyError:
        raise MissingError(name) from None


def _evaluate(node: ast.expr, ours: Mapping[str, Value], paper: Mapping[str, Value]) -> Any:
    def value(of: ast.expr) -> Any:
        return _evaluate(of, ours, paper)

    result: Any
    match node:
        case ast.Name(id=name):
            result = _look(ours, name)
        case ast.Attribute(attr=name):
            result = _look(paper, name)
        case ast.Constant(value=constant):
            result = constant
        case ast.BinOp(left=left, op=op, right=right):
            result = _OPERATORS[type(op)](value(left), value(right))
        case ast.UnaryOp(op=op, operand=operand):
            result = _OPERATORS[type(op)](value(operand))
        case ast.Compare(left=left, ops=ops, comparators=rest):
            sides = [value(left), *map(value, rest)]
            pairs = zip(ops, sides, sides[1:], strict=False)
            result = np.logical_and.reduce([_OPERATORS[type(op)](a, b) for op, a, b in pairs])
        case ast.BoolOp(values=values):
            result = all(bool(np.all(value(v))) for v in values)
        case ast.List(elts=elements):
            result = np.array([value(e) for e in elements], dtype=float)
        case ast.Call(func=ast.Name(id=function), args=arguments):
            result = _FUNCTIONS[function](*map(value, arguments))
        case _:
            raise AssertionError(ast.dump(node))
    return result
