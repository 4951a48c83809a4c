"""ECDSA over secp160r1, RFC 6979, by their definitions: no library at hand has the curve."""

import hashlib
import hmac

from joulemark.oracle import Compute, Inputs, Output

P = 2**160 - 2**31 - 1
N = 0x0100000000000000000001F4C8F927AED3CA752257
GENERATOR = (
    0x4A96B5688EF573284664698968C38BB913CBFC82,
    0x23A628553168947D59DCC912042351377AC5FB32,
)
SURPLUS = 8 * 21 - 161
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


def _times(k: int) -> tuple[int, int]:
    total: Point = None
    for bit in bin(k)[2:]:
        total = _add(total, total)
        if bit == "1":
            total = _add(total, GENERATOR)
    if total is None:
        raise ValueError("infinity")
    return total


def _nonce(secret: int, hashed: int) -> int:
    """RFC 6979, section 3.2; the first candidate below the order."""

    def mac(key: bytes, data: bytes) -> bytes:
        return hmac.new(key, data, hashlib.sha256).digest()

    value, key = b"\x01" * 32, bytes(32)
    seed = secret.to_bytes(21, "big") + (hashed % N).to_bytes(21, "big")
    for separator in (b"\x00", b"\x01"):
        key = mac(key, value + separator + seed)
        value = mac(key, value)
    while True:
        value = mac(key, value)
        candidate = int.from_bytes(value[:21], "big") >> SURPLUS
        if 0 < candidate < N:
            return candidate
        key = mac(key, value + b"\x00")
        value = mac(key, value)


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Sign a message."""
    secret = int.from_bytes(inputs.secret_key, "big")
    hashed = int.from_bytes(hashlib.sha256(inputs.message).digest(), "big") >> (256 - 161)
    nonce = _nonce(secret, hashed)
    r = _times(nonce)[0] % N
    s = (hashed + r * secret) * pow(nonce, -1, N) % N
    x, y = _times(secret)
    return Output(
        public_key=x.to_bytes(20, "big") + y.to_bytes(20, "big"),
        signature=r.to_bytes(21, "big") + s.to_bytes(21, "big"),
    )
