"""Compute nothing, as the identity does."""

from joulemark.oracle import Compute, Inputs, Output


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Return nothing, whatever the input."""
    return Output()
