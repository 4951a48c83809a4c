"""The signatures of updates: what verifies them on a device, and who signs for tests.

Signers are deterministic. Their keys are made up here and secure nothing.
"""

import hashlib
import random
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from statistics import fmean
from typing import NamedTuple

from pyhsslms import pyhsslms

from joulemark.catalogue.primitives import STATUSES, Status, library
from joulemark.errors import InputError, VerificationError
from joulemark.oracle import Inputs
from joulemark.reference import xmss

_ROOM_BYTES = {
    "ecdsa-p256": 17_200,
    "ed25519": 20_600,
    "lms": 9_000,
    "ml-dsa": 17_200,
    "slh-dsa": 9_000,
    "xmss": 9_000,
    "ecdsa-p256-and-lms": 18_700,
    "ecdsa-p256-and-ml-dsa": 27_000,
}


_CLASSICAL = frozenset({"ecdsa-p256", "ed25519"})
"""What Shor's algorithm breaks."""


class Chains(NamedTuple):
    """Winternitz chains of a one-time signature, and how many of those a message decides."""

    digest_bytes: int
    w: int
    """Bits of a digit."""
    signatures: int = 1
    fixed: int = 0
    """Others of the kind, whose message is always the same."""

    def steps(self, digest: bytes) -> int:
        """Return the hashes from the values that a signature of this digest has to the ends."""
        most = (1 << self.w) - 1
        left = [most - (byte >> at & most) for byte in digest for at in range(0, 8, self.w)]
        total = sum(left)
        # The digits of the checksum, which is this very sum (RFC 8554, section 4.4).
        digits = -(-(len(left) * most).bit_length() // self.w)
        return total + sum(most - (total >> self.w * i & most) for i in range(digits))


@cache
def _spread(chains: tuple[Chains, ...]) -> tuple[float, float] | None:
    if not chains:
        return None
    (one,) = chains
    drawn = random.Random(0)
    steps = sorted(
        sum(one.steps(drawn.randbytes(one.digest_bytes)) for _ in range(one.signatures))
        for _ in range(_DRAWN)
    )
    mean = fmean(steps)
    # What is fixed counts as the mean.
    whole = mean * (one.signatures + one.fixed) / one.signatures
    low, high = steps[_DRAWN // 40], steps[-1 - _DRAWN // 40]
    return 1 + (low - mean) / whole, 1 + (high - mean) / whole


_DRAWN = 2000
"""Digests that the spread is taken from."""


class Signer(ABC):
    """A key pair."""

    public_key: bytes

    @abstractmethod
    def sign(self, message: bytes, number: int) -> bytes:
        """Sign a message; a stateful scheme signs each with another number, from 0 to 7."""


@dataclass(frozen=True)
class Signature:
    """A way to sign updates."""

    name: str
    algorithm: str
    """The primitive that verifies it, by its name in the library."""
    part: str
    """The folder of `firmware/update/verify` that calls it."""
    cose: int
    """COSE's number of the algorithm."""
    define: Mapping[str, int] = field(default_factory=dict, hash=False)
    """Macros that differ from the primitive's."""
    tree: tuple[int, int] = (0, 0)
    """Of XMSS: bytes of a hash, and the height."""
    levels: tuple[tuple[int, int], ...] = ()
    """Of HSS: the types of each level's tree and one-time signatures, from the top down."""
    chains: Chains | None = None
    """The hash chains of which a message decides how far they are followed, if there are any."""
    bits: int = 0
    """Security strength where it differs from the primitive's."""
    note: str = ""
    second: "Signature | None" = None
    """Another signature that has to be valid, too."""

    @property
    def parts(self) -> "tuple[Signature, ...]":
        """The signatures that have to be valid."""
        return (self,) if self.second is None else (self, self.second)

    @property
    def status(self) -> Status:
        """The status of its weakest algorithm."""
        found = (library()[one.algorithm].primitive.file.status for one in self.parts)
        return max(found, key=STATUSES.index)

    @property
    def security_bits(self) -> int:
        """Its security strength: of two signatures both have to be forged."""
        own = self.bits or library()[self.algorithm].sizes["security_bits"]
        return own if self.second is None else max(own, self.second.security_bits)

    @property
    def is_post_quantum(self) -> bool:
        """Whether a quantum computer is not known to forge it."""
        return any(one.algorithm not in _CLASSICAL for one in self.parts)

    @property
    def has_state(self) -> bool:
        """Whether its signer must keep a state, which it may never use twice (SP 800-208)."""
        return any(library()[one.algorithm].kind == "stateful-signature" for one in self.parts)

    @property
    def spread(self) -> tuple[float, float] | None:
        """What 95 % of messages take of the mean number of hashes in chains; None without chains.

        A chain is followed from the signature's value to its end, so the message's digits say
        how many hashes a verification takes (RFC 8554, algorithm 4b; RFC 8391, algorithm 6).
        """
        return _spread(tuple(one.chains for one in self.parts if one.chains is not None))

    @property
    def room_bytes(self) -> int:
        """About the room that a bootloader needs: a guess, so that most are built once."""
        return _ROOM_BYTES[self.part]

    @property
    def public_keys(self) -> bytes:
        """Its public key, and that of the second signature."""
        rest = b"" if self.second is None else self.second.public_keys
        return self.signer.public_key + rest

    @property
    def signer(self) -> Signer:
        """Its key pair."""
        return _signer(self)


def _h(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


class _Oracle(Signer):
    """Signs by the primitive's oracle."""

    def __init__(self, signature: Signature) -> None:
        self._algorithm = library()[signature.algorithm]
        sizes = self._algorithm.sizes
        text = f"update {signature.name}".encode()
        self._secret = hashlib.shake_256(text).digest(sizes["secret_bytes"])
        self._seed = hashlib.shake_256(text + b" seed").digest(sizes["seed_bytes"])
        self.public_key = self._output(b"")["public_key"]

    def _output(self, message: bytes) -> Mapping[str, bytes]:
        inputs = Inputs(secret_key=self._secret, seed=self._seed, message=message)
        cheaply = self._algorithm.is_made_to_verify(["verify"])
        return self._algorithm.oracle(inputs, to_verify=cheaply)

    def sign(self, message: bytes, number: int) -> bytes:
        made = self._output(message)
        if made["public_key"] != self.public_key:
            raise VerificationError("the signer's key changed", self._algorithm.name)
        return made["signature"]


class _Tree:
    """A tree of LMS of which eight leaves exist; the rest of its nodes are random.

    Whoever verifies sees a leaf and its path only, so cannot tell it from a whole tree, which
    would take minutes to build.
    """

    _REAL = 3
    """Height of the part that exists."""

    def __init__(self, types: tuple[int, int], seed: bytes) -> None:
        self.type, self._ots_type = (number.to_bytes(4, "big") for number in types)
        _, self._n, self._height = pyhsslms.lms_params[self.type]
        self._identifier, self._seed = _h(seed, b"I")[:16], _h(seed, b"S")[: self._n]
        nodes = [
            self._node(number, pyhsslms.D_LEAF, self._one_time(leaf).publicKey().K)
            for leaf, number in enumerate(range(1 << self._height, (1 << self._height) + 8))
        ]
        self._levels, first = [nodes], 1 << self._height
        for _ in range(self._REAL):
            first //= 2
            pairs = zip(nodes[::2], nodes[1::2], strict=True)
            nodes = [self._inner(first + i, a, b) for i, (a, b) in enumerate(pairs)]
            self._levels.append(nodes)
        self._above = [_h(seed, bytes([i]))[: self._n] for i in range(self._height - self._REAL)]
        (root,) = nodes
        for other in self._above:
            first //= 2
            root = self._inner(first, root, other)
        self.public = pyhsslms.LmsPublicKey(self._identifier, root, self.type, self._ots_type)

    def _node(self, number: int, domain: bytes, content: bytes) -> bytes:
        return _h(self._identifier, number.to_bytes(4, "big"), domain, content)[: self._n]

    def _inner(self, number: int, left: bytes, right: bytes) -> bytes:
        return self._node(number, pyhsslms.D_INTR, left + right)

    def _one_time(self, leaf: int) -> pyhsslms.LmotsPrivateKey:
        number = leaf.to_bytes(4, "big")
        return pyhsslms.LmotsPrivateKey(self._identifier, number, self._seed, self._ots_type)

    def sign(self, message: bytes, leaf: int) -> bytes:
        """Sign with a leaf; the randomizer is not random (RFC 8554, algorithm 3)."""
        _, n, chains, w, shift = pyhsslms.lmots_params[self._ots_type]
        number = leaf.to_bytes(4, "big")
        start = self._identifier + number
        randomizer = _h(self._seed, number, b"C", message)[:n]
        digest = _h(start, pyhsslms.D_MESG, randomizer, message)[:n]
        digits = digest + pyhsslms.checksum(digest, w, shift)
        hashes = []
        for i in range(chains):
            at = start + i.to_bytes(2, "big")
            value = _h(at, pyhsslms.D_PRG, self._seed)[:n]
            for step in range(pyhsslms.coef(digits, i, w)):
                value = _h(at, bytes([step]), value)[:n]
            hashes.append(value)
        path, position = [], leaf
        for nodes in self._levels[:-1]:
            path.append(nodes[position ^ 1])
            position //= 2
        one_time = self._ots_type + randomizer + b"".join(hashes)
        signature = number + one_time + self.type + b"".join([*path, *self._above])
        if not self.public.verify(message, signature):
            raise VerificationError("pyhsslms does not verify what was signed", "LMS")
        return signature


class _Hss(Signer):
    """HSS (RFC 8554, section 6) of a level or several; the upper ones sign once."""

    def __init__(self, signature: Signature) -> None:
        seed = f"update {signature.name}".encode()
        trees = [_Tree(t, seed + bytes([i])) for i, t in enumerate(signature.levels)]
        below = [tree.public.serialize() for tree in trees]
        self._tree = trees[-1]
        self._start = (len(trees) - 1).to_bytes(4, "big")
        for upper, key in zip(trees[:-1], below[1:], strict=True):
            self._start += upper.sign(key, 0) + key
        self.public_key = len(trees).to_bytes(4, "big") + below[0]

    def sign(self, message: bytes, number: int) -> bytes:
        return self._start + self._tree.sign(message, number)


class _Xmss(Signer):
    """XMSS with a tree of which eight leaves exist."""

    def __init__(self, signature: Signature) -> None:
        self._tree = xmss.Tree(*signature.tree, f"update {signature.name}".encode())
        self.public_key = self._tree.public_key

    def sign(self, message: bytes, number: int) -> bytes:
        return self._tree.sign(message, number)


@cache
def _signer(signature: Signature) -> Signer:
    if signature.tree[0]:
        return _Xmss(signature)
    return _Hss(signature) if signature.levels else _Oracle(signature)


def _hss(name: str, levels: tuple[tuple[int, int], ...], note: str) -> Signature:
    hash_bytes = 24 if levels[0][0] >= 10 else 32
    # RFC 8778: LMS alone is HSS with one level.
    define = {"LMS_IS_HSS": 1, "LMS_PUBLIC": 28 + hash_bytes}
    bits = 8 * hash_bytes
    return Signature(
        name,
        "lms-h10-w8",
        "lms",
        -46,
        define=define,
        levels=levels,
        chains=Chains(hash_bytes, 8, fixed=len(levels) - 1),
        bits=bits,
        note=note,
    )


def _both(first: Signature, second: Signature) -> Signature:
    name, part = f"{first.name}+{second.name}", f"{first.part}-and-{second.part}"
    return replace(first, name=name, part=part, second=second, note="both have to be valid")


_PRIVATE = "COSE has no number for it yet; one for private use is taken"


def _xmss(name: str, bits: int) -> Signature:
    note = f"height 10, 1,024 signatures; {_PRIVATE}"
    algorithm = f"xmss-sha2-10-{bits}"
    return Signature(
        name,
        algorithm,
        "xmss",
        -65537 - bits,
        tree=(bits // 8, 10),
        chains=Chains(bits // 8, 4),
        note=note,
    )


def _slh(name: str, number: int, layers: int) -> Signature:
    """Return SLH-DSA: other messages are signed with other keys, whose roots differ (FIPS 205)."""
    algorithm = name.replace("slh-dsa", "slh-dsa-sha2")
    chains = Chains(16, 4, signatures=layers)
    return Signature(name, algorithm, "slh-dsa", number, chains=chains, note=_PRIVATE)


_ONE = {
    one.name: one
    for one in (
        Signature("ecdsa-p256", "ecdsa-p256", "ecdsa-p256", -9, note="ESP256, RFC 9864"),
        Signature("ed25519", "ed25519", "ed25519", -19, note="RFC 9864"),
        _hss("lms", ((6, 4),), "height 10, W 8, 1,024 signatures; HSS with one level, RFC 8778"),
        _hss("lms-192", ((11, 8),), "the same with hashes of 192 bits, SP 800-208"),
        _hss("hss", ((5, 4), (5, 4)), "two levels of height 5, W 8, 1,024 signatures; RFC 8778"),
        Signature("ml-dsa-44", "ml-dsa-44", "ml-dsa", -48, note="RFC 9964"),
        Signature("ml-dsa-65", "ml-dsa-65", "ml-dsa", -49, note="RFC 9964"),
        _xmss("xmss", 256),
        _xmss("xmss-192", 192),
        _slh("slh-dsa-128s", -65537, 7),
        _slh("slh-dsa-128f", -65538, 22),
    )
}
_BOTH = [_both(_ONE["ecdsa-p256"], _ONE[name]) for name in ("lms", "ml-dsa-44")]
ALL = _ONE | {one.name: one for one in _BOTH}
"""By name."""


def signature(name: str) -> Signature:
    """Return a signature.

    Raises:
        InputError: there is none of this name.
    """
    if name not in ALL:
        mend = f"there are {', '.join(ALL)}"
        raise InputError("no such signature", f"--signature {name}", mend)
    return ALL[name]
