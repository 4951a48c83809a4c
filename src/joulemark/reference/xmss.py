"""XMSS (RFC 8391) with SHA-256 and SHA-256/192 (SP 800-208): signing, with a tree of few leaves.

Of a tree only the first leaves that are asked for exist; the rest of its nodes are given. Whoever
verifies sees a leaf and its path only, so cannot tell it from a whole tree.
"""

import hashlib
from collections.abc import Sequence
from functools import cached_property

W = 16
TYPES = {(32, 10): 1, (32, 16): 2, (32, 20): 3, (24, 10): 0x0D, (24, 16): 0x0E, (24, 20): 0x0F}
"""By bytes of a hash and height (RFC 8391, section 8; SP 800-208, table 10)."""
_F, _H, _MESSAGE, _PRF = range(4)
_ONE_TIME, _L_TREE, _HASH_TREE = range(3)


def digits(data: bytes) -> list[int]:
    """Return the digits of a hash and their checksum's (RFC 8391, algorithms 1 and 5)."""
    found = [int(digit, 16) for digit in data.hex()]
    checksum = sum(W - 1 - digit for digit in found)
    return [*found, *(checksum >> shift & 15 for shift in (8, 4, 0))]


class Tree:
    """A key pair whose first leaf is `first`, of which 2^`real` leaves exist.

    Args:
        n: bytes of a hash.
        height: of the tree.
        seeds: what all that is secret and the public seed are derived from.
        first: number of the first leaf that exists, a multiple of 2^real.
        real: height of the part of the tree that exists.
        above: the neighbours of that part's nodes up to the root; derived if empty.
    """

    def __init__(
        self,
        n: int,
        height: int,
        seeds: bytes,
        *,
        first: int = 0,
        real: int = 3,
        above: Sequence[bytes] = (),
    ) -> None:
        self._n, self._height, self._first, self._real = n, height, first, real
        self._seeds = seeds
        self._public_seed = self._derived(b"public")
        self._above = above or [self._derived(bytes([i])) for i in range(height - real)]

    def _derived(self, what: bytes) -> bytes:
        return hashlib.shake_256(self._seeds + what).digest(self._n)

    def _hash(self, domain: int, *parts: bytes) -> bytes:
        prefix = domain.to_bytes(4 if self._n == 24 else self._n, "big")
        return hashlib.sha256(prefix + b"".join(parts)).digest()[: self._n]

    def _masked(self, domain: int, address: tuple[int, int, int, int], *inputs: bytes) -> bytes:
        """Return F of one input or H of two (algorithms 2 and 7)."""
        at = bytes(12) + b"".join(number.to_bytes(4, "big") for number in address)
        key, *masks = (
            self._hash(_PRF, self._public_seed, at + which.to_bytes(4, "big"))
            for which in range(1 + len(inputs))
        )
        masked = [
            bytes(a ^ b for a, b in zip(data, mask, strict=True))
            for data, mask in zip(inputs, masks, strict=True)
        ]
        return self._hash(domain, key, *masked)

    def _chain(self, leaf: int, number: int, start: int, end: int, value: bytes) -> bytes:
        for step in range(start, end):
            value = self._masked(_F, (_ONE_TIME, leaf, number, step), value)
        return value

    def _secret(self, leaf: int, number: int) -> bytes:
        return self._derived(f"{leaf} {number}".encode())

    def _leaf(self, leaf: int) -> bytes:
        """Return a leaf: a one-time public key, compressed (algorithm 8)."""
        nodes = [
            self._chain(leaf, i, 0, W - 1, self._secret(leaf, i)) for i in range(2 * self._n + 3)
        ]
        level = 0
        while len(nodes) > 1:
            last = nodes[len(nodes) & ~1 :]
            pairs = zip(nodes[::2], nodes[1::2], strict=False)
            nodes = [
                self._masked(_H, (_L_TREE, leaf, level, i), *pair) for i, pair in enumerate(pairs)
            ]
            nodes += last
            level += 1
        return nodes[0]

    @cached_property
    def _levels(self) -> list[list[bytes]]:
        """The nodes that exist, from the leaves to the root of their part."""
        levels = [[self._leaf(self._first + i) for i in range(1 << self._real)]]
        for level in range(self._real):
            nodes, first = levels[-1], self._first >> (level + 1)
            levels.append(
                [
                    self._masked(_H, (_HASH_TREE, 0, level, first + i), *pair)
                    for i, pair in enumerate(zip(nodes[::2], nodes[1::2], strict=True))
                ]
            )
        return levels

    @cached_property
    def _root(self) -> bytes:
        node, number = self._levels[-1][0], self._first >> self._real
        for level, other in enumerate(self._above, self._real):
            pair = (other, node) if number & 1 else (node, other)
            number >>= 1
            node = self._masked(_H, (_HASH_TREE, 0, level, number), *pair)
        return node

    @property
    def public_key(self) -> bytes:
        """Its type, its root and the public seed (section 4.1.7)."""
        kind = TYPES[self._n, self._height]
        return kind.to_bytes(4, "big") + self._root + self._public_seed

    def sign(self, message: bytes, leaf: int, randomizer: bytes = b"") -> bytes:
        """Sign with a leaf that exists (algorithm 12).

        Args:
            message: the message.
            leaf: number of the leaf, from `first` on.
            randomizer: of the message's hash; derived if empty.
        """
        r = randomizer or self._derived(f"{leaf} r".encode())
        number = leaf.to_bytes(self._n, "big")
        digest = self._hash(_MESSAGE, r, self._root, number, message)
        signed = [
            self._chain(leaf, i, 0, digit, self._secret(leaf, i))
            for i, digit in enumerate(digits(digest))
        ]
        path, position = [], leaf - self._first
        for nodes in self._levels[:-1]:
            path.append(nodes[position ^ 1])
            position //= 2
        return leaf.to_bytes(4, "big") + r + b"".join([*signed, *path, *self._above])
