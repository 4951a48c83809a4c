"""XTR (Lenstra and Verheul, "The XTR public key system", CRYPTO 2000).

An element of GF(p^2), p = 2 mod 3, is a pair (x1, x2) that represents x1 a + x2 a^2 with
a^2 + a + 1 = 0; raising it to the power p swaps the pair.
"""

from dataclasses import dataclass

from Crypto.Util.number import getPrime, isPrime

from joulemark.oracles import Random

Element = tuple[int, int]


@dataclass(frozen=True)
class Group:
    """The traces of the powers of an element of order q in GF(p^6)."""

    p: int
    q: int
    g: Element
    """Trace of the generator."""

    def power(self, n: int, c: Element | None = None) -> Element:
        """Return the trace of the n-th power of the element with trace c, or of the generator.

        This is algorithm 2.3.4.
        """
        return _power(n, self.g if c is None else c, self.p)


def _times(a: Element, b: Element, p: int) -> Element:
    cross = a[0] * b[1] + a[1] * b[0]
    return (a[1] * b[1] - cross) % p, (a[0] * b[0] - cross) % p


def _plus(a: Element, b: Element, p: int, factor: int = 1) -> Element:
    return (a[0] + factor * b[0]) % p, (a[1] + factor * b[1]) % p


def _conjugate(a: Element) -> Element:
    return a[1], a[0]


def _power(n: int, c: Element, p: int) -> Element:
    """Compute c_n from (c_(k-1), c_k, c_(k+1)) for the leading bits k of n (corollary 2.3.5)."""

    def double(x: Element) -> Element:
        return _plus(_times(x, x, p), _conjugate(x), p, -2)

    def odd(here: Element, there: Element, by: Element, before: Element) -> Element:
        moved = _times(by, _conjugate(here), p)
        return _plus(_plus(_times(there, here, p), moved, p, -1), _conjugate(before), p)

    low, middle, high = (-3 % p, -3 % p), c, double(c)
    for bit in f"{n:b}"[1:]:
        below = odd(middle, low, _conjugate(c), high)
        above = odd(middle, high, c, low)
        if bit == "0":
            low, middle, high = below, double(middle), above
        else:
            low, middle, high = double(middle), above, double(high)
    return middle


def group(p_bits: int, q_bits: int, draw: Random) -> Group:
    """Generate a group (sections 3.1 and 3.2)."""
    half = q_bits // 2
    while True:
        r = int.from_bytes(draw((half + 7) // 8), "big") % (1 << half)
        q = r * r - r + 1
        if q.bit_length() == q_bits and isPrime(q, randfunc=draw):
            break
    base = (1 << (p_bits - 1)) // q
    while True:
        k = base + int.from_bytes(draw((p_bits - q_bits) // 8), "big")
        p = r + k * q
        if p % 3 == 2 and p.bit_length() == p_bits and isPrime(p, randfunc=draw):
            break
    cofactor = (p * p - p + 1) // q
    while True:
        c = (getPrime(p_bits - 1, draw), getPrime(p_bits - 2, draw))
        # F(c, X) is irreducible if c_(p+1) is not in GF(p) (lemma 2.3.2.iv); the elements of GF(p)
        # are the pairs with equal halves.
        tried = _power(p + 1, c, p)
        if tried[0] == tried[1]:
            continue
        g = _power(cofactor, c, p)
        if g != (-3 % p, -3 % p) and _power(q, g, p) == (-3 % p, -3 % p):
            return Group(p, q, g)
