"""The identity computes nothing."""

from joulemark.oracle import Compute, Inputs, Output


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Return nothing, whatever comes in."""
    return Output()
