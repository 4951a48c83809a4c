"""Differential fuzzing of key agreements and signatures: our C against OpenSSL.

`PYTHONPATH=tests/support python tests/primitives/public_key_fuzz.py --seconds 3600 --seed 7` draws
keys, points, messages and signatures, many of them special or corrupted. It gives them to an
implementation, built with the address and undefined-behaviour sanitizers, and to the cryptography
package (OpenSSL) or, for curves that it lacks, to the curve's definition. With `--boards` it tests
chip-specific implementations on the emulated boards. Any difference ends it with the inputs.
"""

import argparse
import hashlib
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from fnmatch import fnmatchcase

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, x25519
from cryptography.hazmat.primitives.asymmetric.utils import (
    decode_dss_signature,
    encode_dss_signature,
)

from emulated import ARM, BOARD, DSP, BuildOf, is_for
from joulemark.catalogue.primitives import Implementation, Library
from joulemark.images import build_local
from joulemark.reference.curves import P256, SECP160R1, SECP256K1, SECT233R1, Curve
from joulemark.runners.local import LocalLink
from joulemark.runners.protocol import Device, Status
from vectors import CORES, each_part_once

CURVES = {curve.name: curve for curve in (P256, SECP160R1, SECP256K1, SECT233R1)}
OPENSSL: dict[str, ec.EllipticCurve] = {"p256": ec.SECP256R1(), "secp256k1": ec.SECP256K1()}
SLOW = SECP160R1.name, SECT233R1.name
"""Curves without a library, which get a tenth of the rounds."""
X25519_ZERO = 0, 1, 2**255 - 19, 2**255 - 18
Slots = dict[str, bytes]


def structured(source: random.Random, length: int) -> bytes:
    """Draw bytes that are random, made of runs of equal bits, or nearly all 0 or all 1."""
    kind = source.randrange(4)
    if kind == 0:
        return source.randbytes(length)
    value, bits = 0, 8 * length
    if kind == 1:
        while bits > 0:
            run = min(bits, source.choice([1, 3, 16, 32, 33, 64, 90]))
            value = value << run | source.choice([0, (1 << run) - 1])
            bits -= run
    else:
        for _ in range(source.randrange(4)):
            value |= 1 << source.randrange(bits)
        if kind == 2:
            value ^= (1 << 8 * length) - 1
    return value.to_bytes(length, "big")


def flipped(source: random.Random, data: bytes) -> bytes:
    """Return the same with one bit changed."""
    changed = bytearray(data)
    changed[source.randrange(len(data))] ^= 1 << source.randrange(8)
    return bytes(changed)


class Curved:
    """What a Weierstrass or binary curve's key agreement and signature must give."""

    def __init__(self, curve: Curve, secret_bytes: int) -> None:
        self._curve = curve
        self._openssl = OPENSSL.get(curve.name)
        self._secret_bytes = secret_bytes

    def secret(self, source: random.Random) -> bytes:
        """Draw a secret key, rarely an invalid one."""
        near = source.randrange(-40, 3)
        if source.randrange(8) == 0:
            value = (self._curve.order if near < 0 else 0) + near
            return (value % (1 << 8 * self._secret_bytes)).to_bytes(self._secret_bytes, "big")
        return structured(source, self._secret_bytes)

    def is_secret(self, secret: bytes) -> bool:
        """Return whether a number is above 0 and below the order."""
        return 0 < int.from_bytes(secret, "big") < self._curve.order

    def good_secret(self, source: random.Random) -> bytes:
        """Draw a valid secret key."""
        return next(s for s in iter(lambda: self.secret(source), b"") if self.is_secret(s))

    def public(self, secret: bytes) -> bytes:
        """Return its public key."""
        if self._openssl is None:
            return self._curve.public_key(secret)
        key = ec.derive_private_key(int.from_bytes(secret, "big"), self._openssl).public_key()
        numbers = key.public_numbers()
        return self._curve.encoded((numbers.x, numbers.y))

    def peer(self, source: random.Random) -> bytes:
        """Draw a public key, or an invalid one."""
        made = self.public(self.good_secret(source))
        kind = source.randrange(6)
        if kind == 0:
            return flipped(source, made)
        if kind == 1:
            return structured(source, len(made))
        return made

    def is_public(self, peer: bytes) -> bool:
        """Return whether it is a point of the generator's subgroup, with coordinates in range."""
        curve, (x, y) = self._curve, self._curve.decoded(peer)
        if max(x, y) >= (1 << 233 if curve is SECT233R1 else curve.p):  # type: ignore[attr-defined]
            return False
        if not curve.contains((x, y)):
            return False
        return curve is not SECT233R1 or curve.times(curve.order, (x, y)) is None

    def shared(self, secret: bytes, peer: bytes) -> bytes | None:
        """Return the shared secret, or None."""
        if not self.is_secret(secret) or not self.is_public(peer):
            return None
        if self._openssl is None:
            return self._curve.shared(secret, peer)
        key = ec.derive_private_key(int.from_bytes(secret, "big"), self._openssl)
        point = ec.EllipticCurvePublicKey.from_encoded_point(self._openssl, b"\4" + peer)
        return key.exchange(ec.ECDH(), point)

    def sign(self, secret: bytes, message: bytes, seed: bytes) -> bytes:
        """Return the signature, which is deterministic without a seed."""
        if self._openssl is None or seed:
            return self._curve.sign(secret, message, seed)
        key = ec.derive_private_key(int.from_bytes(secret, "big"), self._openssl)
        how = ec.ECDSA(hashes.SHA256(), deterministic_signing=True)
        return self._curve.encoded(decode_dss_signature(key.sign(message, how)))

    def verifies(self, signature: bytes, public: bytes, message: bytes) -> bool:
        """Return whether a signature is valid."""
        half, order = len(signature) // 2, self._curve.order
        r, s = (int.from_bytes(part, "big") for part in (signature[:half], signature[half:]))
        if not (0 < r < order and 0 < s < order and self.is_public(public)):
            return False
        if self._openssl is not None:
            key = ec.EllipticCurvePublicKey.from_encoded_point(self._openssl, b"\4" + public)
            try:
                key.verify(encode_dss_signature(r, s), message, ec.ECDSA(hashes.SHA256()))
            except InvalidSignature:
                return False
            return True
        digest = int.from_bytes(hashlib.sha256(message).digest(), "big")
        digest >>= max(256 - order.bit_length(), 0)
        curve, inverse = self._curve, pow(s, -1, order)
        first = curve.times(digest * inverse % order)
        total = curve.add(first, curve.times(r * inverse % order, curve.decoded(public)))
        return total is not None and total[0] % order == r


class Montgomery:
    """What X25519 must give."""

    def secret(self, source: random.Random) -> bytes:
        """Draw any bytes."""
        return structured(source, 32)

    def public(self, secret: bytes) -> bytes:
        """Return its public key."""
        return x25519.X25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw()

    def peer(self, source: random.Random) -> bytes:
        """Draw any bytes: all are public keys."""
        if source.randrange(10) == 0:
            return source.choice(X25519_ZERO).to_bytes(32, "little")
        return structured(source, 32)

    def shared(self, secret: bytes, peer: bytes) -> bytes | None:
        """Return the shared secret, or None where it would be zeros."""
        key = x25519.X25519PrivateKey.from_private_bytes(secret)
        try:
            return key.exchange(x25519.X25519PublicKey.from_public_bytes(peer))
        except ValueError:
            return None


class Edwards:
    """What Ed25519 must give; non-canonical points are left to other tests."""

    def good_secret(self, source: random.Random) -> bytes:
        """Draw any bytes."""
        return structured(source, 32)

    def public(self, secret: bytes) -> bytes:
        """Return its public key."""
        return ed25519.Ed25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw()

    def sign(self, secret: bytes, message: bytes, seed: bytes) -> bytes:
        """Return the signature."""
        return ed25519.Ed25519PrivateKey.from_private_bytes(secret).sign(message)

    def verifies(self, signature: bytes, public: bytes, message: bytes) -> bool:
        """Return whether a signature is valid."""
        try:
            ed25519.Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
        except InvalidSignature:
            return False
        return True


Round = Callable[[Device, random.Random], str]


def run(device: Device, operation: str, slots: Slots) -> Status:
    """Run an operation on these slots."""
    for name, data in slots.items():
        device.write(name, data)
    return device.run(operation).status


def agreement(reference: "Curved | Montgomery") -> Round:
    """Return a round of a key agreement."""

    def one(device: Device, source: random.Random) -> str:
        secret, peer = reference.secret(source), reference.peer(source)
        expected = reference.shared(secret, peer)
        slots = {"secret_key": secret, "peer_key": peer}
        status = run(device, "agree", slots)
        wanted = Status.OK if expected is not None else Status.BAD_TAG
        assert status is wanted, ("agree", slots, status)
        if expected is None:
            return "refused"
        assert device.read("shared", len(expected)) == expected, ("agree", slots)
        status = run(device, "keygen", {"secret_key": secret})
        public = reference.public(secret)
        assert (status, device.read("public_key", len(public))) == (Status.OK, public), slots
        return "agreed"

    return one


def signature(reference: "Curved | Edwards", seed_bytes: int) -> Round:
    """Return a round of a signature."""

    def one(device: Device, source: random.Random) -> str:
        secret, message = reference.good_secret(source), source.randbytes(source.randrange(200))
        seed = structured(source, seed_bytes) if seed_bytes else b""
        made, public = reference.sign(secret, message, seed), reference.public(secret)
        slots = {"secret_key": secret, "public_key": public, "seed": seed, "message": message}
        assert run(device, "sign", {**slots, "signature": bytes(len(made))}) is Status.OK, slots
        assert device.read("signature", len(made)) == made, ("sign", slots)
        given = {"signature": made, "public_key": public, "message": message}
        spoilt = source.choice(["", "", "signature", "public_key", "message", "shape"])
        if spoilt == "shape":
            given["signature"] = structured(source, len(made))
        elif spoilt and given[spoilt]:
            given[spoilt] = flipped(source, given[spoilt])
        good = reference.verifies(given["signature"], given["public_key"], given["message"])
        status = run(device, "verify", given)
        assert status is (Status.OK if good else Status.BAD_TAG), ("verify", given, status)
        return "verified" if good else "refused"

    return one


def rounds() -> Iterator[tuple[Implementation, Round]]:
    """Yield implementations, each with its round."""
    library = Library.load()
    for algorithm in library.algorithms.values():
        if algorithm.kind not in {"key-agreement", "signature"}:
            continue
        curve = CURVES.get(algorithm.name.removesuffix("-seeded").partition("-")[2])
        if curve is None and not algorithm.name.endswith("25519"):
            continue  # over no curve: test_ml_dsa.py
        curved = Curved(curve, algorithm.sizes["secret_bytes"]) if curve else None
        one = (
            agreement(curved or Montgomery())
            if algorithm.kind == "key-agreement"
            else signature(curved or Edwards(), algorithm.sizes["seed_bytes"])
        )
        for way in each_part_once(library.implementations(algorithm)):
            yield way, one


def starts(way: Implementation, stack: ExitStack, *, boards: bool) -> Iterator[tuple[str, Device]]:
    """Yield an implementation on this machine, or on each board that it is written for."""
    if way.runs_on("host"):
        if not boards:
            link = LocalLink(build_local(way, sanitize=True).path)
            yield str(way), Device(stack.enter_context(closing(link)))
    elif boards and "host" not in (way.parts[0].file.cores or CORES):
        for board, compiler in ((BOARD, "clang"), (ARM, "gcc"), (DSP, "gcc")):
            if is_for(way, board):
                _, device = BuildOf(way, compiler, "Os", board).start()
                yield f"{way} on {board.name}", device


class NothingTriedError(ValueError):
    """Nothing was tried, and silence would look like a pass."""


def fuzz(seconds: float, seed: int, *, names: str = "*", boards: bool = False) -> Counter[str]:
    """Try all in turn until the time is over.

    Args:
        seconds: of wall-clock time.
        seed: of the inputs.
        names: a glob of what to try.
        boards: try chip-specific implementations on emulated boards, not those that run here.

    Returns:
        How often each came to which end.

    Raises:
        AssertionError: something differs; it holds the inputs.
        NothingTriedError: this selects nothing to try.
    """
    known = list(rounds())
    chosen = [(way, one) for way, one in known if fnmatchcase(way.algorithm.name, names)]
    if not chosen:
        all_names = ", ".join(sorted({way.algorithm.name for way, _ in known}))
        raise NothingTriedError(f"--names {names} matches none of {all_names}")
    ends = Counter[str]()
    source = random.Random(seed)
    with ExitStack() as stack:
        devices = []
        for way, one in chosen:
            found = starts(way, stack, boards=boards)
            devices += [(name, device, one) for name, device in found]
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            for name, device, one in devices:
                if not boards and any(slow in name for slow in SLOW) and source.randrange(10):
                    continue
                ends[f"{name} {one(device, source)}"] += 1
    if not ends:
        raise NothingTriedError(f"--seconds {seconds:g} is too short for one round: give more")
    return ends


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--names", default="*", help="algorithms, a glob")
    parser.add_argument("--boards", action="store_true", help="assembly, on emulated boards")
    given = parser.parse_args()
    try:
        tried = fuzz(given.seconds, given.seed, names=given.names, boards=given.boards)
    except NothingTriedError as error:
        parser.error(str(error))
    for name, count in sorted(tried.items()):
        sys.stdout.write(f"{count:9,}  {name}\n")
