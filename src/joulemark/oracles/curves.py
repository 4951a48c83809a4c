"""ECDSA on curves over prime and binary fields, by affine formulas."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

Point = tuple[int, int] | None
"""Affine coordinates; None is the point at infinity."""


@dataclass(frozen=True)
class Curve(ABC):
    """A curve and its base point."""

    a: int
    b: int
    base: tuple[int, int]
    order: int

    @property
    @abstractmethod
    def field_bytes(self) -> int:
        """Length of a coordinate."""

    @abstractmethod
    def add(self, p: Point, q: Point) -> Point:
        """Sum of two points."""

    def multiply(self, k: int, p: Point) -> Point:
        """Multiply a point by k."""
        total: Point = None
        while k:
            if k & 1:
                total = self.add(total, p)
            p, k = self.add(p, p), k >> 1
        return total

    @cached_property
    def order_bytes(self) -> int:
        """Length of a number below the order."""
        return (self.order.bit_length() + 7) // 8

    def encoded(self, p: Point) -> bytes:
        """Encode a point without compression (SEC 1, 2.3.3)."""
        assert p is not None  # noqa: S101
        return b"\x04" + b"".join(c.to_bytes(self.field_bytes, "big") for c in p)

    def sign(self, secret: int, digest: int, nonce: int) -> bytes:
        """Return ECDSA's r and s (FIPS 186-4, 6.4), each as long as the order."""
        point = self.multiply(nonce, self.base)
        assert point is not None  # noqa: S101
        r = point[0] % self.order
        s = pow(nonce, -1, self.order) * (digest + r * secret) % self.order
        return b"".join(v.to_bytes(self.order_bytes, "big") for v in (r, s))

    def verifies(self, public: Point, digest: int, signature: bytes) -> bool:
        """Return whether a signature is valid."""
        half = len(signature) // 2
        r, s = (int.from_bytes(part, "big") for part in (signature[:half], signature[half:]))
        if half != self.order_bytes or not (0 < r < self.order and 0 < s < self.order):
            return False
        w = pow(s, -1, self.order)
        u, v = digest * w % self.order, r * w % self.order
        point = self.add(self.multiply(u, self.base), self.multiply(v, public))
        return point is not None and point[0] % self.order == r


@dataclass(frozen=True)
class PrimeCurve(Curve):
    """y^2 = x^3 + a x + b over GF(p)."""

    p: int

    @property
    def field_bytes(self) -> int:
        """Bytes of a coordinate."""
        return (self.p.bit_length() + 7) // 8

    def add(self, p: Point, q: Point) -> Point:
        """Sum of two points."""
        if p is None or q is None:
            return q if p is None else p
        if p[0] == q[0]:
            if (p[1] + q[1]) % self.p == 0:
                return None
            slope = (3 * p[0] * p[0] + self.a) * pow(2 * p[1], -1, self.p)
        else:
            slope = (q[1] - p[1]) * pow(q[0] - p[0], -1, self.p)
        x = (slope * slope - p[0] - q[0]) % self.p
        return x, (slope * (p[0] - x) - p[1]) % self.p


@dataclass(frozen=True)
class BinaryCurve(Curve):
    """y^2 + x y = x^3 + a x^2 + b over GF(2^m)."""

    polynomial: int
    """The field's reduction polynomial."""

    @cached_property
    def degree(self) -> int:
        """The exponent m."""
        return self.polynomial.bit_length() - 1

    @property
    def field_bytes(self) -> int:
        """Bytes of a coordinate."""
        return (self.degree + 7) // 8

    def product(self, a: int, b: int) -> int:
        """Multiply two elements of the field."""
        result = 0
        while b:
            if b & 1:
                result ^= a
            a, b = a << 1, b >> 1
            if a >> self.degree:
                a ^= self.polynomial
        return result

    def inverse(self, a: int) -> int:
        """Invert an element by Euclid's algorithm for polynomials."""
        u, v, g, h = a, self.polynomial, 1, 0
        while u != 1:
            shift = u.bit_length() - v.bit_length()
            if shift < 0:
                u, v, g, h, shift = v, u, h, g, -shift
            u, g = u ^ v << shift, g ^ h << shift
        return g

    def add(self, p: Point, q: Point) -> Point:
        """Sum of two points."""
        if p is None or q is None:
            return q if p is None else p
        if p[0] == q[0]:
            if p[1] ^ q[1] == p[0]:
                return None
            slope = p[0] ^ self.product(p[1], self.inverse(p[0]))
            x = self.product(slope, slope) ^ slope ^ self.a
        else:
            slope = self.product(p[1] ^ q[1], self.inverse(p[0] ^ q[0]))
            x = self.product(slope, slope) ^ slope ^ p[0] ^ q[0] ^ self.a
        return x, self.product(slope, p[0] ^ x) ^ x ^ p[1]


# SEC 2, version 2.0, sections 2.4.1 and 3.3.2.
SECP256K1 = PrimeCurve(
    a=0,
    b=7,
    base=(
        0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
        0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8,
    ),
    order=0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141,
    p=2**256 - 2**32 - 977,
)
SECT233R1 = BinaryCurve(
    a=1,
    b=0x0066647EDE6C332C7F8C0923BB58213B333B20E9CE4281FE115F7D8F90AD,
    base=(
        0x00FAC9DFCBAC8313BB2139F1BB755FEF65BC391F8B36F8F8EB7371FD558B,
        0x01006A08A41903350678E58528BEBF8A0BEFF867A7CA36716F7E01F81052,
    ),
    order=0x01000000000000000000000000000013E974E72F8A6922031D2603CFE0D7,
    polynomial=1 << 233 | 1 << 74 | 1,
)
