"""SLH-DSA signatures that pqcrypto verifies, without the trees that signing builds.

Verification sees of each tree one leaf and its path. Random paths therefore do, and random one-time
signatures below the top layer: what they lead to is signed by the layer above. Only the top leaf's
number must be that of the digest, for which the randomizer is tried until it is. One function here
computes what a node leads to (FIPS 205, algorithms 8, 11 and 17); the library has the last word.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from pqcrypto.sign import slh_dsa_sha2_128f, slh_dsa_sha2_128s

from joulemark.oracle import Compute, Inputs, Output

_N = 16
_CHAINS = 35
_WOTS_HASH, _WOTS_PK, _TREE, _FORS_TREE, _FORS_ROOTS = range(5)


@dataclass(frozen=True)
class _Set:
    """A parameter set (FIPS 205, table 2)."""

    height: int
    layers: int
    fors_height: int
    fors_trees: int

    @property
    def layer_height(self) -> int:
        return self.height // self.layers


_SETS = {
    "slh-dsa-sha2-128s": (_Set(63, 7, 12, 14), slh_dsa_sha2_128s),
    "slh-dsa-sha2-128f": (_Set(66, 22, 6, 33), slh_dsa_sha2_128f),
}


@dataclass(frozen=True)
class _Place:
    """A public seed and the first part of addresses."""

    seed: bytes
    layer: int
    tree: int

    def hash(self, kind: int, numbers: tuple[int, int, int], data: bytes) -> bytes:
        """Return F, H or T_l (FIPS 205, section 11.2.1)."""
        address = bytes([self.layer]) + self.tree.to_bytes(8, "big") + bytes([kind])
        address += b"".join(number.to_bytes(4, "big") for number in numbers)
        return hashlib.sha256(self.seed + bytes(64 - _N) + address + data).digest()[:_N]

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


def _random(source: bytes) -> Iterator[bytes]:
    """Yield hashes that nothing is known of."""
    return (hashlib.sha256(source + number.to_bytes(4, "big")).digest()[:_N] for number in count())


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Make a public key, and a signature of the message with an empty context that it verifies."""
    chosen, library = _SETS[variant]
    height, bits = chosen.layer_height, chosen.fors_trees * chosen.fors_height
    values = _random(inputs.secret_key)
    seed = inputs.secret_key[-_N:]
    # The top layer's leaf, of its own secret keys, and so the root of all.
    top = _Place(seed, chosen.layers - 1, 0)
    top_leaf = next(values)[0] % (1 << height)
    secrets = [next(values) for _ in range(_CHAINS)]
    top_path = [next(values) for _ in range(height)]
    ends = [top.chain(top_leaf, i, secret, range(15)) for i, secret in enumerate(secrets)]
    node = top.hash(_WOTS_PK, (top_leaf, 0, 0), b"".join(ends))
    public = seed + top.root(_TREE, 0, top_leaf, node, top_path)
    sizes = [(bits + 7) // 8, (chosen.height - height + 7) // 8, (height + 7) // 8]
    for randomizer in _random(inputs.seed + inputs.secret_key):
        start = randomizer + seed
        inner = hashlib.sha256(randomizer + public + bytes(2) + inputs.message).digest()
        blocks = (hashlib.sha256(start + inner + bytes([0, 0, 0, i])).digest() for i in range(2))
        digest = b"".join(blocks)[: sum(sizes)]
        tree = int.from_bytes(digest[sizes[0] : sizes[0] + sizes[1]], "big")
        tree %= 1 << (chosen.height - height)
        if tree >> (chosen.height - 2 * height) == top_leaf:
            break
    leaf = int.from_bytes(digest[sum(sizes[:2]) :], "big") % (1 << height)
    parts = [randomizer]
    place, roots = _Place(seed, 0, tree), []
    numbers = int.from_bytes(digest[: sizes[0]], "big") >> (8 * sizes[0] - bits)
    for i in range(chosen.fors_trees):
        shift = bits - (i + 1) * chosen.fors_height
        index = i << chosen.fors_height | numbers >> shift & ((1 << chosen.fors_height) - 1)
        secret, path = next(values), [next(values) for _ in range(chosen.fors_height)]
        parts += [secret, *path]
        node = place.hash(_FORS_TREE, (leaf, 0, index), secret)
        roots.append(place.root(_FORS_TREE, leaf, index, node, path))
    node = place.hash(_FORS_ROOTS, (leaf, 0, 0), b"".join(roots))
    for layer in range(chosen.layers - 1):
        place = _Place(seed, layer, tree)
        chains, path = [next(values) for _ in range(_CHAINS)], [next(values) for _ in range(height)]
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
