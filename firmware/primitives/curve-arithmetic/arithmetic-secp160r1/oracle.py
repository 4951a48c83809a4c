"""Points of secp160r1 from the curve's definition."""

from joulemark.oracle import Compute, Inputs, Output
from joulemark.reference.curves import SECP160R1


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Compute two points, and the results of the curve's arithmetic on them and a scalar."""
    first = SECP160R1.public_key(inputs.first_scalar)
    second = SECP160R1.public_key(inputs.second_scalar)
    point = SECP160R1.decoded(first)
    total = SECP160R1.add(point, SECP160R1.decoded(second))
    doubled = SECP160R1.add(point, point)
    multiple = SECP160R1.times(int.from_bytes(inputs.scalar, "big"), point)
    if total is None or doubled is None or multiple is None:
        raise ValueError("infinity has no coordinates")
    return Output(
        first=first,
        second=second,
        sum=SECP160R1.encoded(total),
        doubled=SECP160R1.encoded(doubled),
        multiple=SECP160R1.encoded(multiple),
        base_multiple=SECP160R1.public_key(inputs.scalar),
    )
