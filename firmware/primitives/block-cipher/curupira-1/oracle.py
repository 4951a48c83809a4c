"""Curupira-1 written from the paper; no library has it."""

from joulemark.oracle import Compute, Inputs, Output
from joulemark.reference.curupira import encrypt, round_keys


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Encrypt whole blocks."""
    keys = round_keys(inputs.key)
    blocks = (inputs.message[i : i + 12] for i in range(0, len(inputs.message), 12))
    return Output(output=b"".join(encrypt(keys, block) for block in blocks))
