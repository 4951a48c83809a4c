"""Keys and signatures that a well-meaning caller does not pass, and special scalars.

Each is refused, or gives what the definition gives.
"""

import hashlib
import itertools
from collections.abc import Iterator
from contextlib import closing
from typing import Any, Literal

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

import curve_constants
import public_key_fuzz
from emulated import ARM, BuildOf
from joulemark.catalogue.primitives import Implementation
from joulemark.images import build_local
from joulemark.oracle import Inputs
from joulemark.reference.curves import P256, SECP160R1, SECP256K1, SECT233R1, Point, PrimeCurve
from joulemark.runners.local import LocalLink
from joulemark.runners.protocol import Device, Status
from vectors import LIBRARY

CURVES = (P256, SECP160R1, SECP256K1, SECT233R1)
AGREEMENTS = {f"ecdh-{curve.name}": curve for curve in CURVES}
SIGNATURES = {f"ecdsa-{curve.name}": curve for curve in CURVES}
CURVE_OF = AGREEMENTS | SIGNATURES
PRIME_SIGNATURES = [f"ecdsa-{curve.name}" for curve in (P256, SECP160R1, SECP256K1)]
ED25519_ORDER = 2**252 + 27742317777372353535851937790883648493
LOW_ORDER = (
    0,
    1,
    2**255 - 19 - 1,
    2**255 - 19,
    2**255 - 19 + 1,
    # RFC 7748, section 7, refers to https://cr.yp.to/ecdh.html#validate for the other two.
    325606250916557431795983626356110631294008115727848805560023387167927233504,
    39382357235489614581723060781553021112529911719440698176882885853963445705823,
)


def portable(name: str) -> Implementation:
    return LIBRARY.implementation(
        LIBRARY[name],
        next(i.name for i in LIBRARY.implementations(LIBRARY[name]) if i.runs_on("host")),
    )


@pytest.fixture(scope="module")
def device(request: pytest.FixtureRequest) -> Iterator[tuple[str, Device]]:
    image = build_local(portable(request.param), sanitize=True)
    with closing(LocalLink(image.path)) as link:
        yield request.param, Device(link)


def pow_of_two(value: int, times: int) -> int:
    """Return an element of GF(2^233) squared this many times."""
    for _ in range(times):
        value = SECT233R1.product(value, value)
    return value


def write(device: Device, **values: bytes) -> None:
    for slot, data in values.items():
        device.write(slot, data)


def agree(device: Device, secret: bytes, peer: bytes, length: int = 32) -> bytes | None:
    """Return the shared secret; None where it is refused."""
    write(device, secret_key=secret, peer_key=peer)
    status = device.run("agree").status
    if status is Status.OK:
        return device.read("shared", length)
    assert status is Status.BAD_TAG
    return None


def test_constants_are_what_the_generator_writes() -> None:
    for name, text in curve_constants.headers().items():
        assert (curve_constants.FOLDER / name).read_text(encoding="utf-8") == text, name


@pytest.mark.parametrize("device", CURVE_OF, indirect=True, scope="module")
def test_scalars_that_meet_themselves(device: tuple[str, Device]) -> None:
    """0 and the order, which are not keys; their neighbours; and sums of equal points."""
    name, board = device
    curve = CURVE_OF[name]
    algorithm = LIBRARY[name]
    length = algorithm.sizes["secret_bytes"]
    limit = min(curve.order, 1 << 8 * length)
    columns = (curve.order.bit_length() + 3) // 4
    comb = [1 << columns * row for row in range(1, 4)]
    peer = curve.public_key(b"\5")
    special = {
        1,
        2,
        3,
        15,
        16,
        17,
        2**64 - 1,
        *comb,
        *(c + 1 for c in comb),
        *(c - 1 for c in comb),
    }
    special |= {limit - 1 - 2 * d for d in range(17)} | {limit - 2 - 2 * d for d in range(17)}
    special |= {curve.order - 2 * c - 2 * d for c in (0, *comb) for d in (-1, 0, 1)}
    # A binary curve's ladder has neither digits nor comb; signatures multiply as agreements do.
    if curve is SECT233R1 or name in SIGNATURES:
        special = {1, 2, 3, limit - 1}
    for secret in sorted(s for s in special if 0 < s < limit):
        key = secret.to_bytes(length, "big")
        write(board, secret_key=key)
        assert board.run("keygen").status is Status.OK
        assert board.read("public_key", 2 * curve.coordinate_bytes) == curve.public_key(key), secret
        if name in AGREEMENTS:
            assert agree(board, key, peer, curve.coordinate_bytes) == curve.shared(key, peer)
    for secret in (0, curve.order, curve.order + 1, (1 << 8 * length) - 1):
        if secret < 1 << 8 * length and not 0 < secret < curve.order:
            write(board, secret_key=secret.to_bytes(length, "big"))
            assert board.run("keygen").status is Status.BAD_TAG, secret


def test_scalars_at_which_a_ladder_could_fail() -> None:
    """Those with which curve/ladder.h meets infinity, chooses a multiple, and their neighbours."""
    way = LIBRARY.implementation(LIBRARY["ecdh-p256"], "armv7m-lean")
    _, board = BuildOf(way, "gcc", "Os", ARM).start()
    zero_x = pow(P256.b, (P256.p + 1) // 4, P256.p).to_bytes(64, "big")
    peers = (zero_x, P256.public_key(b"\5"))
    edges = (0, 1 << 255, (1 << 256) - P256.order, P256.order // 2, P256.order)
    near = {(edge + d) % P256.order for edge in edges for d in (-2, -1, 0, 1, 2)} - {0}
    for number, secret in enumerate(sorted(near)):
        key, peer = secret.to_bytes(32, "big"), peers[number % 2]
        write(board, secret_key=key)
        assert board.run("keygen").status is Status.OK
        assert board.read("public_key", 64) == P256.public_key(key), secret
        assert agree(board, key, peer) == P256.shared(key, peer), secret
    for key in (bytes(32), P256.order.to_bytes(32, "big")):
        write(board, secret_key=key)
        assert board.run("keygen").status is Status.BAD_TAG


@pytest.mark.parametrize("device", CURVE_OF, indirect=True, scope="module")
def test_points_that_are_none(device: tuple[str, Device]) -> None:
    """Off the curve, coordinates from p up, zero: refused by agreement and verification."""
    name, board = device
    curve = CURVE_OF[name]
    secret, length = LIBRARY[name].sizes["secret_bytes"], curve.coordinate_bytes
    (x, y), p = curve.generator, curve.p if isinstance(curve, PrimeCurve) else 1 << 233
    wrong = [(x, y + 1), (x + 1, y), (0, 0), (x, 0), (p, y), (x, p), (x, p - y - 1)]
    wrong += [(x + p, y), (x, y + p), ((1 << 8 * length) - 1, (1 << 8 * length) - 1)]
    if curve is SECT233R1:
        root = pow_of_two(curve.b, 232)
        wrong += [(0, root), curve.add(curve.generator, (0, root)) or (0, 0)]  # not in the subgroup
        assert all(curve.contains(point) for point in wrong[-2:])
    for one in (c for c in wrong if max(c) < 1 << 8 * length):
        key = one[0].to_bytes(length, "big") + one[1].to_bytes(length, "big")
        if name in AGREEMENTS:
            assert agree(board, bytes([*bytes(secret - 1), 7]), key) is None, one
        else:
            size = LIBRARY[name].sizes["signature_bytes"]
            signature = bytes([*bytes(size // 2 - 1), 1]) * 2
            write(board, public_key=key, message=b"m", signature=signature)
            assert board.run("verify").status is Status.BAD_TAG, one


@pytest.mark.parametrize("device", [*SIGNATURES, "ed25519"], indirect=True, scope="module")
def test_signatures_beyond_their_range(device: tuple[str, Device]) -> None:
    """R and s are above 0 and below the order, S below it: no other number is an equivalent."""
    name, board = device
    algorithm = LIBRARY[name]
    secret, half = algorithm.sizes["secret_bytes"], algorithm.sizes["signature_bytes"] // 2
    inputs = Inputs(secret_key=bytes(range(1, secret + 1)), message=b"range", seed=b"")
    made = algorithm.oracle(inputs)
    first, second = made["signature"][:half], made["signature"][half:]
    order: Literal["big", "little"] = "big" if name in SIGNATURES else "little"
    count = SIGNATURES[name].order if name in SIGNATURES else ED25519_ORDER
    if name in SIGNATURES:
        zero = bytes(half)
        changed = [zero + second, first + zero, zero + zero]
        changed += [count.to_bytes(half, order) + second, first + count.to_bytes(half, order)]
    else:
        changed = [first + (int.from_bytes(second, "little") + count).to_bytes(half, "little")]
    for signature in changed:
        write(board, public_key=made["public_key"], message=b"range", signature=signature)
        assert board.run("verify").status is Status.BAD_TAG, signature.hex()
    write(board, public_key=made["public_key"], message=b"range", signature=made["signature"])
    assert board.run("verify").status is Status.OK


def recovered(curve: PrimeCurve, point: tuple[int, int], r: int, s: int, e: int) -> Point:
    """Return the key under which r and s sign a hash e, where verification finds that point."""
    inverse = pow(r, -1, curve.order)
    right = curve.times(-e * inverse % curve.order)
    key = curve.add(curve.times(s * inverse % curve.order, point), right)
    assert key is not None
    return key


@pytest.mark.parametrize("device", PRIME_SIGNATURES, indirect=True, scope="module")
def test_what_verification_finds_is_special(device: tuple[str, Device]) -> None:
    """Verification finds an x above the order or infinity; keys are small multiples of G."""
    name, board = device
    curve = CURVE_OF[name]
    assert isinstance(curve, PrimeCurve)
    half, shift = (
        LIBRARY[name].sizes["signature_bytes"] // 2,
        max(0, 256 - curve.order.bit_length()),
    )
    e = (int.from_bytes(hashlib.sha256(b"special").digest(), "big") >> shift) % curve.order

    def side(x: int) -> int:
        return (x**3 + curve.a * x + curve.b) % curve.p

    def status(key: Point, r: int, s: int) -> Status:
        signature = r.to_bytes(half, "big") + s.to_bytes(half, "big")
        write(board, public_key=curve.encoded(key), message=b"special", signature=signature)
        return board.run("verify").status

    for first in {curve.p - 301, min(curve.order + 1, curve.p - 301)}:
        x = next(x for x in range(first, curve.p) if pow(side(x), (curve.p - 1) // 2, curve.p) == 1)
        point = x, pow(side(x), (curve.p + 1) // 4, curve.p)
        assert curve.contains(point)
        r = x % curve.order
        key = recovered(curve, point, r, 12345, e)
        assert status(key, r, 12345) is Status.OK
        assert status(key, r + 1, 12345) is Status.BAD_TAG
    # u G + v Q = 0: the discrete logarithm of the key is -e / r.
    infinity = curve.times(-e * pow(7, -1, curve.order) % curve.order)
    assert infinity is not None
    assert status(infinity, 7, 9) is Status.BAD_TAG
    for d in (*range(1, 40), *range(curve.order - 40, curve.order)):
        near = curve.times(d)
        assert near is not None
        for k in (1, 2, 3, 31, curve.order - 5, 0x123456789ABCDEF):
            found = curve.times(k)
            assert found is not None
            r = found[0] % curve.order
            s = pow(k, -1, curve.order) * (e + r * d) % curve.order
            assert status(near, r, s) is Status.OK, (d, k)
            assert status(near, r, s ^ 1) is Status.BAD_TAG, (d, k)


@pytest.mark.parametrize("device", ["x25519"], indirect=True, scope="module")
def test_x25519_refuses_points_of_low_order(device: tuple[str, Device]) -> None:
    """They give zeros, whatever the secret key is."""
    _, board = device
    for u in LOW_ORDER:
        assert agree(board, bytes(range(32)), u.to_bytes(32, "little")) is None, u


def small_order() -> Iterator[bytes]:
    """Yield the encodings of edwards25519's eight points of small order (RFC 7748, section 4.1)."""
    p = 2**255 - 19
    ys = [1, *((u - 1) * pow(u + 1, -1, p) % p for u in (LOW_ORDER[i] for i in (0, 1, -2, -1)))]
    for y in ys:
        for sign in (0,) if y in {1, p - 1} else (0, 1):
            yield (y | sign << 255).to_bytes(32, "little")


@pytest.mark.parametrize("device", ["ed25519"], indirect=True, scope="module")
def test_ed25519_takes_keys_of_small_order_as_its_header_says(device: tuple[str, Device]) -> None:
    """Their signatures are judged as OpenSSL judges them; under the identity, all messages pass."""
    _, board = device
    points = list(small_order())
    assert len(set(points)) == 8
    verified = 0
    for key, r in itertools.product(points, points):
        signature = r + bytes(32)
        for message in (b"one", b"two"):
            write(board, public_key=key, message=message, signature=signature)
            good = board.run("verify").status is Status.OK
            try:
                Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
            except InvalidSignature:
                assert not good, (key, r)
            else:
                assert good, (key, r)
            verified += good
            assert good or (key, r) != (points[0], points[0])
    assert 2 <= verified < 128


@pytest.mark.parametrize("device", ["ed25519"], indirect=True, scope="module")
def test_ed25519_refuses_keys_that_are_not_canonical(device: tuple[str, Device]) -> None:
    """Y from p up, and -0; RFC 8032, section 5.1.3."""
    _, board = device
    for y in (2**255 - 19, 2**255 - 19 + 1, 2**255 - 1, 1 | 1 << 255, 2):
        key = y.to_bytes(32, "little")
        write(board, public_key=key, message=b"", signature=bytes([1, *bytes(63)]))
        assert board.run("verify").status is Status.BAD_TAG, hex(y)


def test_the_same_as_openssl() -> None:
    """A short run of tests/primitives/public_key_fuzz.py, on every key agreement and signature."""
    ends = public_key_fuzz.fuzz(1, 1)
    assert all(any(e.startswith(f"{name}/") for e in ends) for name in CURVE_OF if "p256" in name)
    assert {e.split()[-1] for e in ends} == {"agreed", "verified", "refused"}


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"names": "p256"}, "--names p256 matches none of .*ecdh-p256, .*x25519"),
        ({"names": "x25519", "seconds": 0}, "--seconds 0 is too short"),
    ],
)
def test_fuzzing_of_nothing_is_an_error(asked: dict[str, Any], message: str) -> None:
    """Trying nothing is not a pass."""
    with pytest.raises(public_key_fuzz.NothingTriedError, match=message):
        public_key_fuzz.fuzz(**{"seconds": 1, "seed": 1, **asked})
