"""SLH-DSA with SHA-2 and with SHAKE by its definition; pqcrypto verifies each signature.

The oracles of its parameter sets are made of this, as no library signs with given seeds.

What is signed takes all trees of FIPS 205: up to two million hashes, seconds of Python. What is
only verified does without them, as verification sees of each tree one leaf and its path. Random
paths therefore do, and random one-time signatures below the top layer: what they lead to is signed
by the layer above. Only the top leaf's number must be that of the digest, for which the randomizer
is tried until it is.
"""

import hashlib
import hmac
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import count

from pqcrypto.sign import (
    slh_dsa_sha2_128f,
    slh_dsa_sha2_128s,
    slh_dsa_sha2_192s,
    slh_dsa_shake_128f,
    slh_dsa_shake_128s,
)

from joulemark.oracle import Inputs, Output

_WOTS_HASH, _WOTS_PK, _TREE, _FORS_TREE, _FORS_ROOTS, _WOTS_PRF, _FORS_PRF = range(7)
_PURE_EMPTY_CONTEXT = bytes(2)


class _Sha2:
    """The hashes of FIPS 205, section 11.2.1."""

    n = 16
    _numbers = struct.Struct(">BIII")

    @classmethod
    def start(cls, seed: bytes, layer: int, tree: int) -> bytes:
        """Return what the hashes of a tree begin with."""
        return seed + bytes(64 - cls.n) + bytes([layer]) + tree.to_bytes(8, "big")

    @classmethod
    def hash(cls, start: bytes, kind: int, numbers: tuple[int, int, int], data: bytes) -> bytes:
        """Return F, H, T_l or PRF."""
        return hashlib.sha256(start + cls._numbers.pack(kind, *numbers) + data).digest()[: cls.n]

    @classmethod
    def digest(cls, randomizer: bytes, public: bytes, message: bytes) -> bytes:
        """Return H_msg, of as many bytes as two hashes have."""
        inner = hashlib.sha256(randomizer + public + message).digest()
        start = randomizer + public[: cls.n] + inner
        return b"".join(hashlib.sha256(start + bytes([0, 0, 0, i])).digest() for i in range(2))

    @classmethod
    def randomizer(cls, key: bytes, random: bytes, message: bytes) -> bytes:
        """Return PRF_msg."""
        return hmac.digest(key, random + message, "sha256")[: cls.n]


class _Sha2Category3(_Sha2):
    """The hashes of FIPS 205, section 11.2.2: SHA-256 of one value, SHA-512 of all else."""

    n = 24

    @classmethod
    def hash(cls, start: bytes, kind: int, numbers: tuple[int, int, int], data: bytes) -> bytes:
        """Return F, H, T_l or PRF."""
        if len(data) == cls.n:
            return super().hash(start, kind, numbers, data)
        wide = start[: cls.n] + bytes(128 - cls.n) + start[64:]
        return hashlib.sha512(wide + cls._numbers.pack(kind, *numbers) + data).digest()[: cls.n]

    @classmethod
    def digest(cls, randomizer: bytes, public: bytes, message: bytes) -> bytes:
        """Return H_msg, of as many bytes as a hash has."""
        inner = hashlib.sha512(randomizer + public + message).digest()
        return hashlib.sha512(randomizer + public[: cls.n] + inner + bytes(4)).digest()

    @classmethod
    def randomizer(cls, key: bytes, random: bytes, message: bytes) -> bytes:
        """Return PRF_msg."""
        return hmac.digest(key, random + message, "sha512")[: cls.n]


class _Shake:
    """The hashes of FIPS 205, section 11.1."""

    n = 16

    _numbers = struct.Struct(">IIII")

    @staticmethod
    def start(seed: bytes, layer: int, tree: int) -> bytes:
        """Return what the hashes of a tree begin with."""
        return seed + layer.to_bytes(4, "big") + tree.to_bytes(12, "big")

    @classmethod
    def hash(cls, start: bytes, kind: int, numbers: tuple[int, int, int], data: bytes) -> bytes:
        """Return F, H, T_l or PRF."""
        return hashlib.shake_256(start + cls._numbers.pack(kind, *numbers) + data).digest(cls.n)

    @staticmethod
    def digest(randomizer: bytes, public: bytes, message: bytes) -> bytes:
        """Return H_msg, of as many bytes as the largest of these sets takes."""
        return hashlib.shake_256(randomizer + public + message).digest(34)

    @classmethod
    def randomizer(cls, key: bytes, random: bytes, message: bytes) -> bytes:
        """Return PRF_msg."""
        return hashlib.shake_256(key + random + message).digest(cls.n)


@dataclass(frozen=True)
class _Set:
    """A parameter set (FIPS 205, table 2)."""

    family: type[_Sha2] | type[_Shake]
    height: int
    layers: int
    fors_height: int
    fors_trees: int

    @property
    def chains(self) -> int:
        """Return how many a one-time signature has: its digits, and three of a checksum."""
        return 2 * self.family.n + 3

    @property
    def layer_height(self) -> int:
        return self.height // self.layers

    @property
    def fors_bits(self) -> int:
        return self.fors_trees * self.fors_height

    def parts(self, digest: bytes) -> tuple[list[int], int, int]:
        """Return a digest's leaves of FORS, and the numbers of a tree and of its leaf."""
        height, bits = self.layer_height, self.fors_bits
        sizes = [(bits + 7) // 8, (self.height - height + 7) // 8, (height + 7) // 8]
        numbers = int.from_bytes(digest[: sizes[0]], "big") >> (8 * sizes[0] - bits)
        shifts = range(bits - self.fors_height, -1, -self.fors_height)
        leaves = [numbers >> shift & ((1 << self.fors_height) - 1) for shift in shifts]
        tree = int.from_bytes(digest[sizes[0] : sizes[0] + sizes[1]], "big")
        leaf = int.from_bytes(digest[sum(sizes[:2]) : sum(sizes)], "big")
        return leaves, tree % (1 << (self.height - height)), leaf % (1 << height)


_SETS = {
    "slh-dsa-sha2-128s": (_Set(_Sha2, 63, 7, 12, 14), slh_dsa_sha2_128s),
    "slh-dsa-sha2-128f": (_Set(_Sha2, 66, 22, 6, 33), slh_dsa_sha2_128f),
    "slh-dsa-sha2-192s": (_Set(_Sha2Category3, 63, 7, 14, 17), slh_dsa_sha2_192s),
    "slh-dsa-shake-128s": (_Set(_Shake, 63, 7, 12, 14), slh_dsa_shake_128s),
    "slh-dsa-shake-128f": (_Set(_Shake, 66, 22, 6, 33), slh_dsa_shake_128f),
}


@dataclass(frozen=True)
class _Place:
    """A public seed and the first part of addresses."""

    family: type[_Sha2] | type[_Shake]
    seed: bytes
    layer: int
    tree: int

    @cached_property
    def _start(self) -> bytes:
        return self.family.start(self.seed, self.layer, self.tree)

    def hash(self, kind: int, numbers: tuple[int, int, int], data: bytes) -> bytes:
        """Return F, H, T_l or PRF."""
        return self.family.hash(self._start, kind, numbers, data)

    def chain(self, key: int, chain: int, value: bytes, steps: range) -> bytes:
        for step in steps:
            value = self.hash(_WOTS_HASH, (key, chain, step), value)
        return value

    def root(self, kind: int, key: int, index: int, node: bytes, path: list[bytes]) -> bytes:
        for height, other in enumerate(path, 1):
            pair = other + node if index & 1 else node + other
            index >>= 1
            node = self.hash(kind, (key, height, index), pair)
        return node


def _digits(message: bytes) -> list[int]:
    """Return a message's digits and its checksum's (algorithm 7, lines 2 to 7)."""
    digits = [digit for byte in message for digit in (byte >> 4, byte & 15)]
    total = sum(15 - digit for digit in digits)
    return [*digits, total >> 8, total >> 4 & 15, total & 15]


def _random(source: bytes, n: int) -> Iterator[bytes]:
    """Yield hashes that nothing is known of."""
    return (hashlib.sha256(source + number.to_bytes(4, "big")).digest()[:n] for number in count())


class _Signer:
    """A secret key whose trees are built as signing needs them."""

    def __init__(self, chosen: _Set, secret_key: bytes) -> None:
        self._set = chosen
        n = chosen.family.n
        self._seed, self._prf, self._public = (secret_key[i * n : (i + 1) * n] for i in range(3))
        self.public_key = self._public + self._built(chosen.layers - 1, 0, 0, None)[0]

    def _secret(self, place: _Place, kind: int, numbers: tuple[int, int, int]) -> bytes:
        return place.hash(kind, numbers, self._seed)

    def _built(
        self, layer: int, tree: int, wanted: int, message: bytes | None
    ) -> tuple[bytes, list[bytes]]:
        """Return a tree's root, and a message signed by one of its leaves (algorithm 10)."""
        place = _Place(self._set.family, self._public, layer, tree)
        digits = [0] * self._set.chains if message is None else _digits(message)
        chains: list[bytes] = []

        def leaf(number: int) -> bytes:
            ends = []
            for i, digit in enumerate(digits):
                value = self._secret(place, _WOTS_PRF, (number, i, 0))
                if number == wanted:
                    value = place.chain(number, i, value, range(digit))
                    chains.append(value)
                    ends.append(place.chain(number, i, value, range(digit, 15)))
                else:
                    ends.append(place.chain(number, i, value, range(15)))
            return place.hash(_WOTS_PK, (number, 0, 0), b"".join(ends))

        def node(height: int, index: int, pair: bytes) -> bytes:
            return place.hash(_TREE, (0, height, index), pair)

        root, path = _tree(leaf, node, self._set.layer_height, 0, wanted)
        return root, [*chains, *path]

    def sign(self, message: bytes, random: bytes) -> bytes:
        """Return a signature of a message that has its prefix (algorithm 19)."""
        randomizer = self._set.family.randomizer(self._prf, random, message)
        digest = self._set.family.digest(randomizer, self.public_key, message)
        leaves, tree, leaf = self._set.parts(digest)
        place, parts, roots = _Place(self._set.family, self._public, 0, tree), [randomizer], []

        def fors_leaf(number: int) -> bytes:
            secret = self._secret(place, _FORS_PRF, (leaf, 0, number))
            return place.hash(_FORS_TREE, (leaf, 0, number), secret)

        def fors_node(height: int, index: int, pair: bytes) -> bytes:
            return place.hash(_FORS_TREE, (leaf, height, index), pair)

        for i, chosen in enumerate(leaves):
            first = i << self._set.fors_height
            root, path = _tree(fors_leaf, fors_node, self._set.fors_height, first, chosen)
            parts += [self._secret(place, _FORS_PRF, (leaf, 0, first + chosen)), *path]
            roots.append(root)
        node = place.hash(_FORS_ROOTS, (leaf, 0, 0), b"".join(roots))
        for layer in range(self._set.layers):
            node, signed = self._built(layer, tree, leaf, node)
            parts += signed
            leaf, tree = tree % (1 << self._set.layer_height), tree >> self._set.layer_height
        return b"".join(parts)


def _tree(
    leaf: Callable[[int], bytes],
    node: Callable[[int, int, bytes], bytes],
    height: int,
    first: int,
    wanted: int,
) -> tuple[bytes, list[bytes]]:
    """Return a tree's root, and the path of a leaf; leaves are numbered from `first` on."""
    row = [leaf(first + number) for number in range(1 << height)]
    path = []
    for level in range(1, height + 1):
        path.append(row[wanted >> (level - 1) ^ 1])
        start = first >> level
        row = [node(level, start + i // 2, row[i] + row[i + 1]) for i in range(0, len(row), 2)]
    return row[0], path


@lru_cache(maxsize=16)
def _signer(variant: str, secret_key: bytes) -> _Signer:
    return _Signer(_SETS[variant][0], secret_key)


def signed(variant: str, inputs: Inputs) -> Output:
    """Derive the public key, and sign the message with an empty context."""
    public_key, signature = _signed(variant, inputs.secret_key, inputs.seed, inputs.message)
    return Output(public_key=public_key, signature=signature)


@lru_cache(maxsize=16)
def _signed(variant: str, secret_key: bytes, seed: bytes, message: bytes) -> tuple[bytes, bytes]:
    signer = _signer(variant, secret_key)
    signature = signer.sign(_PURE_EMPTY_CONTEXT + message, seed)
    _SETS[variant][1].verify(signer.public_key, message, signature)  # raises what is wrong
    return signer.public_key, signature


def to_verify(variant: str, inputs: Inputs) -> Output:
    """Make a public key, and a signature of the message with an empty context that it verifies."""
    chosen, library = _SETS[variant]
    height = chosen.layer_height
    n = chosen.family.n
    values = _random(inputs.secret_key, n)
    seed = inputs.secret_key[-n:]
    # The top layer's leaf, of its own secret keys, and so the root of all.
    top = _Place(chosen.family, seed, chosen.layers - 1, 0)
    top_leaf = next(values)[0] % (1 << height)
    secrets = [next(values) for _ in range(chosen.chains)]
    top_path = [next(values) for _ in range(height)]
    ends = [top.chain(top_leaf, i, secret, range(15)) for i, secret in enumerate(secrets)]
    node = top.hash(_WOTS_PK, (top_leaf, 0, 0), b"".join(ends))
    public = seed + top.root(_TREE, 0, top_leaf, node, top_path)
    for randomizer in _random(inputs.seed + inputs.secret_key, n):
        digest = chosen.family.digest(randomizer, public, _PURE_EMPTY_CONTEXT + inputs.message)
        leaves, tree, leaf = chosen.parts(digest)
        if tree >> (chosen.height - 2 * height) == top_leaf:
            break
    parts = [randomizer]
    place, roots = _Place(chosen.family, seed, 0, tree), []
    for i, fors_leaf in enumerate(leaves):
        index = i << chosen.fors_height | fors_leaf
        secret, path = next(values), [next(values) for _ in range(chosen.fors_height)]
        parts += [secret, *path]
        node = place.hash(_FORS_TREE, (leaf, 0, index), secret)
        roots.append(place.root(_FORS_TREE, leaf, index, node, path))
    node = place.hash(_FORS_ROOTS, (leaf, 0, 0), b"".join(roots))
    for layer in range(chosen.layers - 1):
        place = _Place(chosen.family, seed, layer, tree)
        chains = [next(values) for _ in range(chosen.chains)]
        path = [next(values) for _ in range(height)]
        parts += [*chains, *path]
        ends = [
            place.chain(leaf, i, value, range(digit, 15))
            for i, (value, digit) in enumerate(zip(chains, _digits(node), strict=True))
        ]
        node = place.hash(_WOTS_PK, (leaf, 0, 0), b"".join(ends))
        node = place.root(_TREE, 0, leaf, node, path)
        leaf, tree = tree % (1 << height), tree >> height
    signed = zip(secrets, _digits(node), strict=True)
    parts += [top.chain(top_leaf, i, secret, range(d)) for i, (secret, d) in enumerate(signed)]
    signature = b"".join([*parts, *top_path])
    library.verify(public, inputs.message, signature)  # raises what is wrong
    return Output(public_key=public, signature=signature)
