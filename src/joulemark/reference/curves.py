"""Textbook elliptic curves, for constants and for oracles on curves that no library supports.

Slow, and in affine coordinates only, so that no algorithm is shared with the firmware.
"""

import hashlib
from abc import ABC, abstractmethod
from dataclasses import dataclass

from joulemark.reference.hmac_drbg import HmacDrbg

Point = tuple[int, int]
"""Affine coordinates; infinity is None."""


@dataclass(frozen=True)
class Curve(ABC):
    """A curve with a generator of prime order."""

    name: str
    a: int
    b: int
    generator: Point
    order: int

    @property
    @abstractmethod
    def coordinate_bytes(self) -> int:
        """Length of a coordinate."""

    @abstractmethod
    def contains(self, point: Point) -> bool:
        """Whether a point is on the curve."""

    @abstractmethod
    def negative(self, point: Point) -> Point:
        """The point's negative."""

    @abstractmethod
    def add(self, one: Point | None, other: Point | None) -> Point | None:
        """Sum of two points."""

    def times(self, k: int, point: Point | None = None) -> Point | None:
        """Multiply a point, or the generator if none is given."""
        term = point or self.generator
        total: Point | None = None
        for bit in bin(k)[2:]:
            total = self.add(total, total)
            if bit == "1":
                total = self.add(total, term)
        return total

    def public_key(self, secret: bytes) -> bytes:
        """Return the encoded public key of a secret key.

        Raises:
            ValueError: the number is not a valid secret key.
        """
        return self.encoded(self._multiple(int.from_bytes(secret, "big"), None))

    def shared(self, secret: bytes, peer: bytes) -> bytes:
        """Return the ECDH shared secret: x of the multiple of the peer's point.

        Raises:
            ValueError: the number is not a valid secret key.
        """
        point = self.decoded(peer)
        return self.encoded(self._multiple(int.from_bytes(secret, "big"), point))[
            : self.coordinate_bytes
        ]

    def encoded(self, point: Point) -> bytes:
        """Encode a point as x || y."""
        return b"".join(value.to_bytes(self.coordinate_bytes, "big") for value in point)

    def decoded(self, data: bytes) -> Point:
        """Decode x || y to a point."""
        return int.from_bytes(data[: self.coordinate_bytes], "big"), int.from_bytes(
            data[self.coordinate_bytes :], "big"
        )

    def _multiple(self, k: int, point: Point | None) -> Point:
        found = self.times(k, point)
        if not 0 < k < self.order or found is None:
            raise ValueError(f"{k} is no secret key")
        return found

    def sign(self, secret: bytes, message: bytes, seed: bytes = b"") -> bytes:
        """Sign with ECDSA and SHA-256: r and s.

        Args:
            secret: the secret key.
            message: what is signed.
            seed: seed of the nonce's generator; if empty, the nonce is that of RFC 6979.

        Raises:
            ValueError: the number is not a valid secret key.
        """
        d, bits = int.from_bytes(secret, "big"), self.order.bit_length()
        if not 0 < d < self.order:
            raise ValueError(f"{d} is no secret key")
        digest = int.from_bytes(hashlib.sha256(message).digest(), "big") >> max(256 - bits, 0)
        hashed = (digest % self.order).to_bytes(self.order_bytes, "big")
        generator = HmacDrbg(seed + d.to_bytes(self.order_bytes, "big") + hashed)
        nonce = self._from_more_bits(generator) if seed else self._tried(generator)
        return self.signature(d, digest, nonce)

    @property
    def order_bytes(self) -> int:
        """Length of a number below the order."""
        return (self.order.bit_length() + 7) // 8

    def signature(self, secret: int, digest: int, nonce: int) -> bytes:
        """Return ECDSA's r and s (FIPS 186-4, 6.4), each as long as the order.

        Raises:
            ValueError: the nonce is not a valid secret key.
        """
        r = self._multiple(nonce, None)[0] % self.order
        s = (digest + r * secret) * pow(nonce, -1, self.order) % self.order
        return b"".join(number.to_bytes(self.order_bytes, "big") for number in (r, s))

    def verifies(self, public: Point, digest: int, signature: bytes) -> bool:
        """Return whether an ECDSA signature is valid."""
        half = len(signature) // 2
        r, s = (int.from_bytes(part, "big") for part in (signature[:half], signature[half:]))
        if half != self.order_bytes or not (0 < r < self.order and 0 < s < self.order):
            return False
        w = pow(s, -1, self.order)
        u, v = digest * w % self.order, r * w % self.order
        point = self.add(self.times(u), self.times(v, public))
        return point is not None and point[0] % self.order == r

    def _from_more_bits(self, generator: HmacDrbg) -> int:
        """Draw a nonce from 64 bits more than the order's (FIPS 186-5, A.3.1)."""
        bits = self.order.bit_length() + 64
        length = self.order_bytes + 8
        drawn = int.from_bytes(generator.draw(length), "big") >> (8 * length - bits)
        return drawn % (self.order - 1) + 1

    def _tried(self, generator: HmacDrbg) -> int:
        """Draw candidates until one is below the order (RFC 6979, section 3.2, step h)."""
        bits = self.order.bit_length()
        length = self.order_bytes
        while True:
            candidate = int.from_bytes(generator.draw(length), "big") >> (8 * length - bits)
            if 0 < candidate < self.order:
                return candidate
            generator.update()


@dataclass(frozen=True)
class PrimeCurve(Curve):
    """y^2 = x^3 + a x + b modulo a prime p."""

    p: int

    @property
    def coordinate_bytes(self) -> int:
        """Length of a coordinate."""
        return (self.p.bit_length() + 7) // 8

    def contains(self, point: Point) -> bool:
        """Whether a point is on the curve."""
        x, y = point
        return (y * y - x**3 - self.a * x - self.b) % self.p == 0

    def negative(self, point: Point) -> Point:
        """The point's negative."""
        return point[0], -point[1] % self.p

    def add(self, one: Point | None, other: Point | None) -> Point | None:
        """Sum of two points."""
        if one is None or other is None:
            return one or other
        (x1, y1), (x2, y2) = one, other
        if x1 == x2 and (y1 + y2) % self.p == 0:
            return None
        if one == other:
            slope = (3 * x1 * x1 + self.a) * pow(2 * y1, -1, self.p)
        else:
            slope = (y2 - y1) * pow(x2 - x1, -1, self.p)
        x = (slope * slope - x1 - x2) % self.p
        return x, (slope * (x1 - x) - y1) % self.p


@dataclass(frozen=True)
class BinaryCurve(Curve):
    """y^2 + x y = x^3 + a x^2 + b over GF(2^degree); bit i of a number stands for z^i."""

    degree: int
    polynomial: int

    @property
    def coordinate_bytes(self) -> int:
        """Length of a coordinate."""
        return (self.degree + 7) // 8

    def product(self, one: int, other: int) -> int:
        """Product of two elements of the field."""
        total = 0
        while other:
            if other & 1:
                total ^= one
            one <<= 1
            if one >> self.degree:
                one ^= self.polynomial
            other >>= 1
        return total

    def inverse(self, value: int) -> int:
        """Inverse of an element that is not 0, by Euclid's algorithm."""
        u, v, g, h = value, self.polynomial, 1, 0
        while u != 1:
            shift = u.bit_length() - v.bit_length()
            if shift < 0:
                u, v, g, h, shift = v, u, h, g, -shift
            u ^= v << shift
            g ^= h << shift
        return g

    def contains(self, point: Point) -> bool:
        """Whether a point is on the curve."""
        x, y = point
        square = self.product(x, x)
        left = self.product(y, y) ^ self.product(x, y)
        return left == self.product(square, x ^ self.a) ^ self.b

    def negative(self, point: Point) -> Point:
        """The point's negative."""
        return point[0], point[0] ^ point[1]

    def add(self, one: Point | None, other: Point | None) -> Point | None:
        """Sum of two points."""
        if one is None or other is None:
            return one or other
        (x1, y1), (x2, y2) = one, other
        if x1 == x2 and y2 == x1 ^ y1:
            return None
        if one == other:
            slope = x1 ^ self.product(y1, self.inverse(x1))
        else:
            slope = self.product(y1 ^ y2, self.inverse(x1 ^ x2))
        x = self.product(slope, slope) ^ slope ^ x1 ^ x2 ^ self.a
        return x, self.product(slope, x1 ^ x) ^ x ^ y1


P256 = PrimeCurve(
    # SP 800-186, section 3.2.1.3.
    name="p256",
    p=2**256 - 2**224 + 2**192 + 2**96 - 1,
    a=-3,
    b=0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B,
    generator=(
        0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
        0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
    ),
    order=0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551,
)
SECP160R1 = PrimeCurve(
    # SEC 2, version 1.0, section 2.4.2.
    name="secp160r1",
    p=2**160 - 2**31 - 1,
    a=-3,
    b=0x1C97BEFC54BD7A8B65ACF89F81D4D4ADC565FA45,
    generator=(
        0x4A96B5688EF573284664698968C38BB913CBFC82,
        0x23A628553168947D59DCC912042351377AC5FB32,
    ),
    order=0x0100000000000000000001F4C8F927AED3CA752257,
)
SECP256K1 = PrimeCurve(
    # SEC 2, version 2.0, section 2.4.1.
    name="secp256k1",
    p=2**256 - 2**32 - 977,
    a=0,
    b=7,
    generator=(
        0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
        0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8,
    ),
    order=0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141,
)
SECT233R1 = BinaryCurve(
    # SEC 2, version 2.0, section 3.3.2; SP 800-186 calls it B-233.
    name="sect233r1",
    degree=233,
    polynomial=1 << 233 | 1 << 74 | 1,
    a=1,
    b=0x0066647EDE6C332C7F8C0923BB58213B333B20E9CE4281FE115F7D8F90AD,
    generator=(
        0x00FAC9DFCBAC8313BB2139F1BB755FEF65BC391F8B36F8F8EB7371FD558B,
        0x01006A08A41903350678E58528BEBF8A0BEFF867A7CA36716F7E01F81052,
    ),
    order=0x01000000000000000000000000000013E974E72F8A6922031D2603CFE0D7,
)
