"""Points of P-256 from the curve's definition."""

from joulemark.oracle import Compute, Inputs, Output
from joulemark.reference.curves import P256


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Compute two points, and the results of the curve's arithmetic on them and a scalar."""
    first = P256.public_key(inputs.first_scalar)
    second = P256.public_key(inputs.second_scalar)
    point = P256.decoded(first)
    total = P256.add(point, P256.decoded(second))
    doubled = P256.add(point, point)
    multiple = P256.times(int.from_bytes(inputs.scalar, "big"), point)
    if total is None or doubled is None or multiple is None:
        raise ValueError("infinity has no coordinates")
    return Output(
        first=first,
        second=second,
        sum=P256.encoded(total),
        doubled=P256.encoded(doubled),
        multiple=P256.encoded(multiple),
        base_multiple=P256.public_key(inputs.scalar),
    )
