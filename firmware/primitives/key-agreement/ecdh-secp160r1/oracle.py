"""ECDH over secp160r1 by its definition: no library that is at hand has the curve."""

from joulemark.oracle import Compute, Inputs, Output

P = 2**160 - 2**31 - 1
GENERATOR = (
    0x4A96B5688EF573284664698968C38BB913CBFC82,
    0x23A628553168947D59DCC912042351377AC5FB32,
)

Point = tuple[int, int] | None


def _add(a: Point, b: Point) -> Point:
    if a is None or b is None:
        return a or b
    if a[0] == b[0] and (a[1] + b[1]) % P == 0:
        return None
    if a == b:
        slope = (3 * a[0] * a[0] - 3) * pow(2 * a[1], -1, P)
    else:
        slope = (b[1] - a[1]) * pow(b[0] - a[0], -1, P)
    x = (slope * slope - a[0] - b[0]) % P
    return x, (slope * (a[0] - x) - a[1]) % P


def _times(k: int, point: Point) -> tuple[int, int]:
    total: Point = None
    for bit in bin(k)[2:]:
        total = _add(total, total)
        if bit == "1":
            total = _add(total, point)
    if total is None:
        raise ValueError("infinity")
    return total


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Agree with a peer whose secret key is given."""
    own = int.from_bytes(inputs.secret_key, "big")
    public, peer = (
        _times(k, GENERATOR) for k in (own, int.from_bytes(inputs.peer_secret_key, "big"))
    )

    def encoded(point: tuple[int, int]) -> bytes:
        return point[0].to_bytes(20, "big") + point[1].to_bytes(20, "big")

    return Output(
        public_key=encoded(public),
        peer_key=encoded(peer),
        shared=_times(own, peer)[0].to_bytes(20, "big"),
    )
