"""What an AEAD must refuse, in the manner of Wycheproof: lengths, emptiness, changed bytes.

Every rule holds for every scheme, and no scheme is named here. Each implementation is built for
this machine with sanitizers and tested over the image's protocol. test_vectors.py shows that random
forgeries are refused.
"""

import random
from collections.abc import Iterator

import pytest

from joulemark.catalogue.primitives import Implementation
from joulemark.errors import InputError
from joulemark.images import build_local
from joulemark.oracle import Inputs, Output
from joulemark.runners.local import LocalLink
from joulemark.runners.protocol import Device, Flag, Status
from vectors import LIBRARY

LONGEST_NONCE = 40
LONGEST_TAG = 20


def implementations() -> list[Implementation]:
    """Return what runs here of what is measured by default."""
    found: list[Implementation] = []
    for algorithm in LIBRARY.algorithms.values():
        if algorithm.kind == "aead" and algorithm.is_default:
            try:
                found += LIBRARY.implementations(algorithm)
            except InputError:
                continue  # test_vectors.py says what is wrong with it
    return [i for i in found if i.runs_on("host")]


class Aead:
    """An implementation in its image."""

    def __init__(self, implementation: Implementation, device: Device) -> None:
        self.algorithm = implementation.algorithm
        self._device = device

    def _load(self, inputs: Inputs, message: bytes, tag: bytes) -> None:
        self._device.write("key", inputs.key)
        self._device.write("nonce", inputs.nonce)
        self._device.write("ad", inputs.ad)
        self._device.write("message", message)
        self._device.write("tag", tag)

    def encrypt(self, inputs: Inputs) -> tuple[Status, Output]:
        self._load(inputs, inputs.message, bytes(inputs.tag_bytes))
        status = self._device.run("encrypt").status
        data = self._device.read("output", len(inputs.message))
        return status, Output(output=data, tag=self._device.read("tag", inputs.tag_bytes))

    def decrypt(self, inputs: Inputs, sealed: Output, flags: Flag) -> tuple[Status, bytes]:
        self._load(inputs, sealed.output, sealed.tag)
        status = self._device.run("decrypt", flags).status
        return status, self._device.read("output", len(sealed.output))

    def usual(self, *, ad: bytes, message: bytes, seed: int = 0) -> Inputs:
        source = random.Random(f"{self.algorithm.name} {seed}")
        sizes = self.algorithm.sizes
        return Inputs(
            key=source.randbytes(sizes["key_bytes"]),
            nonce=source.randbytes(sizes["nonce_bytes"]),
            ad=ad,
            message=message,
            tag_bytes=sizes["tag_bytes"],
        )

    def refuses(self, inputs: Inputs, sealed: Output) -> None:
        for flags in (Flag.NONE, Flag.IN_PLACE):
            status, plaintext = self.decrypt(inputs, sealed, flags)
            assert status is Status.BAD_TAG
            assert plaintext == bytes(len(plaintext)), "plaintext was released"


@pytest.fixture(scope="module", params=implementations(), ids=str)
def aead(request: pytest.FixtureRequest) -> Iterator[Aead]:
    image = build_local(request.param, sanitize=True)
    with LocalLink(image.path) as link:
        yield Aead(request.param, Device(link))


def flips(data: bytes) -> Iterator[bytes]:
    for bit in range(8 * len(data)):
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        yield bytes(changed)


def test_every_bit_counts(aead: Aead) -> None:
    inputs = aead.usual(ad=b"header of 17 byte", message=b"a message that is longer than one block")
    _, sealed = aead.encrypt(inputs)
    for tag in flips(sealed.tag):
        aead.refuses(inputs, Output(output=sealed.output, tag=tag))
    for data in flips(sealed.output):
        aead.refuses(inputs, Output(output=data, tag=sealed.tag))
    for nonce in flips(inputs.nonce):
        aead.refuses(inputs.replaced(nonce=nonce), sealed)
    for ad in flips(inputs.ad):
        aead.refuses(inputs.replaced(ad=ad), sealed)


def test_special_tags_are_refused(aead: Aead) -> None:
    for seed, message in enumerate((b"", b"x", bytes(64))):
        inputs = aead.usual(ad=b"", message=message, seed=seed)
        _, sealed = aead.encrypt(inputs)
        length = len(sealed.tag)
        inverted = bytes(b ^ 0xFF for b in sealed.tag)
        one_bit_in_each = bytes(b ^ 0x80 for b in sealed.tag)
        for tag in (bytes(length), b"\xff" * length, inverted, one_bit_in_each, sealed.tag[::-1]):
            aead.refuses(inputs, Output(output=sealed.output, tag=tag))


def test_nothing_can_be_sealed_and_opened(aead: Aead) -> None:
    inputs = aead.usual(ad=b"", message=b"")
    status, sealed = aead.encrypt(inputs)
    assert status is Status.OK
    assert sealed == aead.algorithm.oracle(inputs)
    assert aead.decrypt(inputs, sealed, Flag.NONE) == (Status.OK, b"")
    aead.refuses(inputs.replaced(ad=b"\0"), sealed)
    aead.refuses(inputs, Output(output=b"\0", tag=sealed.tag))


@pytest.mark.parametrize("length", [0, 1, 3, 4, 11, 12, 15, 16, 23, 24, 31, 32, 43, 44, 64])
def test_a_byte_more_or_less_is_refused(aead: Aead, length: int) -> None:
    """Padding distinguishes a short last block from a longer one that ends like the padding."""
    inputs = aead.usual(ad=bytes(length), message=bytes(length), seed=length)
    _, sealed = aead.encrypt(inputs)
    for more in (b"\0", b"\x80", b"\1"):
        aead.refuses(inputs.replaced(ad=inputs.ad + more), sealed)
        aead.refuses(inputs, Output(output=sealed.output + more, tag=sealed.tag))
    if length > 0:
        aead.refuses(inputs.replaced(ad=inputs.ad[:-1]), sealed)
        aead.refuses(inputs, Output(output=sealed.output[:-1], tag=sealed.tag))


def test_bytes_do_not_move_between_header_and_message(aead: Aead) -> None:
    inputs = aead.usual(ad=b"0123456789abcdef", message=b"0123456789abcdef")
    _, sealed = aead.encrypt(inputs)
    for count in (1, 8, 16):
        ad = inputs.ad + sealed.output[:count]
        aead.refuses(inputs.replaced(ad=ad), Output(output=sealed.output[count:], tag=sealed.tag))
        ad, data = inputs.ad[:-count], inputs.ad[-count:] + sealed.output
        aead.refuses(inputs.replaced(ad=ad), Output(output=data, tag=sealed.tag))


def test_other_lengths_are_refused_whole_or_right(aead: Aead) -> None:
    """Another length of nonce or tag gives only BAD_LENGTH, or what the oracle gives."""
    usual = aead.usual(ad=b"header", message=b"seventeen bytes..")
    lengths = [(n, usual.tag_bytes) for n in range(LONGEST_NONCE + 1)]
    lengths += [(len(usual.nonce), t) for t in range(LONGEST_TAG + 1)]
    allowed = set()
    for nonce_bytes, tag_bytes in lengths:
        inputs = usual.replaced(nonce=bytes(range(nonce_bytes)), tag_bytes=tag_bytes)
        status, sealed = aead.encrypt(inputs)
        assert status in {Status.OK, Status.BAD_LENGTH}
        if status is Status.OK:
            allowed.add((nonce_bytes, tag_bytes))
            assert sealed == aead.algorithm.oracle(inputs), (nonce_bytes, tag_bytes)
            for flags in (Flag.NONE, Flag.IN_PLACE):
                assert aead.decrypt(inputs, sealed, flags) == (Status.OK, inputs.message)
            continue
        assert sealed == Output(output=bytes(len(inputs.message)), tag=bytes(tag_bytes))
        unopened = Output(output=b"\xa5" * len(inputs.message), tag=bytes(tag_bytes))
        status, written = aead.decrypt(inputs, unopened, Flag.IN_PLACE)
        assert status is Status.BAD_LENGTH
        assert written == unopened.output, "something was written"
    assert (len(usual.nonce), usual.tag_bytes) in allowed
    # No tag at all: only if a standard has published a vector without one.
    published = {len(vector.values["tag"]) for vector in LIBRARY.vectors(aead.algorithm.primitive)}
    assert 0 in published or not any(tag_bytes == 0 for _, tag_bytes in allowed)


def test_short_tags_are_compared_whole(aead: Aead) -> None:
    for tag_bytes in range(1, aead.algorithm.sizes["tag_bytes"] + 1):
        inputs = aead.usual(ad=b"a", message=b"m").replaced(tag_bytes=tag_bytes)
        status, sealed = aead.encrypt(inputs)
        if status is Status.OK:
            for tag in flips(sealed.tag):
                aead.refuses(inputs, Output(output=sealed.output, tag=tag))


def test_every_nonce_gives_another_result(aead: Aead) -> None:
    """Nonces of different lengths too: padding must not make two of them equal."""
    usual = aead.usual(ad=b"", message=bytes(16))
    seen: dict[bytes, bytes] = {}
    for length in range(LONGEST_NONCE + 1):
        for nonce in (
            bytes(length),
            bytes(length - 1) + b"\1" if length else b"",
            b"\x80" * length,
        ):
            status, sealed = aead.encrypt(usual.replaced(nonce=nonce))
            if status is Status.OK:
                result = sealed.output + sealed.tag
                assert seen.setdefault(result, nonce) == nonce
    assert len(seen) > 1
