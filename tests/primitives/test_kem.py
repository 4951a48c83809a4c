"""Ciphertexts and public keys that nobody made as the standard says, and planted leaks."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from kyber_py.ml_kem import ML_KEM_512, ML_KEM_768, ML_KEM_1024
from kyber_py.ml_kem.ml_kem import ML_KEM

from joulemark.catalogue import boards
from joulemark.catalogue.primitives import Algorithm, Implementation, Library
from joulemark.images import build_image, build_local
from joulemark.measure.leaks import Leak, observe
from joulemark.runners.local import LocalLink
from joulemark.runners.protocol import Device, Status
from vectors import LIBRARY

SETS = {"ml-kem-512": ML_KEM_512, "ml-kem-768": ML_KEM_768, "ml-kem-1024": ML_KEM_1024}
ALTERED = 60
Q = 3329


@pytest.fixture(scope="module", params=SETS)
def subject(request: pytest.FixtureRequest) -> Iterator[tuple[Algorithm, ML_KEM, Device]]:
    algorithm = LIBRARY[request.param]
    image = build_local(LIBRARY.implementation(algorithm, "ref"), sanitize=True)
    with LocalLink(image.path) as link:
        yield algorithm, SETS[request.param], Device(link)


def decapsulated(device: Device, private: bytes, ciphertext: bytes) -> bytes:
    device.write("key", private)
    device.write("sent", ciphertext)
    assert device.run("decapsulate").status is Status.OK
    return device.read("shared", 32)


def test_a_ciphertext_with_any_bit_altered_gives_what_only_the_key_s_owner_can_know(
    subject: tuple[Algorithm, ML_KEM, Device],
) -> None:
    algorithm, kem, device = subject
    source = random.Random(algorithm.name)
    public, private = kem.key_derive(source.randbytes(64))
    shared, ciphertext = kem._encaps_internal(public, source.randbytes(32))
    bits = 8 * len(ciphertext)
    assert decapsulated(device, private, ciphertext) == shared
    for bit in (0, bits - 1, *source.sample(range(bits), ALTERED)):
        altered = bytearray(ciphertext)
        altered[bit // 8] ^= 1 << bit % 8
        expected = kem._J(private[-32:] + bytes(altered))
        assert decapsulated(device, private, bytes(altered)) == expected, bit


@pytest.mark.parametrize("value", [Q, Q + 1, 4095])
def test_a_public_key_with_a_coefficient_that_is_too_large_is_refused(
    subject: tuple[Algorithm, ML_KEM, Device], value: int
) -> None:
    algorithm, kem, device = subject
    source = random.Random(f"{algorithm.name} {value}")
    public, _ = kem.key_derive(source.randbytes(64))
    coefficients = 256 * kem.k
    for at in (0, coefficients - 1, source.randrange(coefficients)):
        packed = int.from_bytes(public[:-32], "little") & ~(0xFFF << 12 * at) | value << 12 * at
        key = packed.to_bytes(len(public) - 32, "little") + public[-32:]
        device.write("key", key)
        device.write("seed", source.randbytes(32))
        assert device.run("encapsulate").status is Status.BAD_TAG
        for slot, size in (("shared", 32), ("sent", algorithm.sizes["ciphertext_bytes"])):
            assert device.read(slot, size) == bytes(size)


def with_change(folder: Path, file: str, old: str, new: str) -> Implementation:
    """Return an implementation of a user's that is ARM's with one change."""
    algorithm = LIBRARY["ml-kem-512"]
    shipped, own = algorithm.primitive.folder, folder / "kem" / "ml-kem" / "changed"
    own.mkdir(parents=True)
    for path in (shipped / "armv7m").iterdir():
        (own / path.name).write_text(path.read_text())
    text = (shipped / file).read_text()
    assert text.count(old) == 1
    (own / f"changed-{file}").write_text(text.replace(old, new))
    main = own / "mlkem.c"
    main.write_text(main.read_text().replace(f"kem/ml-kem/{file}", f"changed-{file}"))
    library = Library.load(sources=[folder])
    return library.implementation(library["ml-kem-512"], "changed")


def leak(
    way: Implementation,
    operation: str,
    *,
    board: str = "stm32vldiscovery",
    compiler: str = "gcc",
) -> Leak:
    found = boards.load_board(board)
    image = build_image(way, found, compiler=compiler, optimisation="Os")
    return observe(way, found, image, operation)


DIVIDED = "(((x << d) + Q / 2) / Q)"
MULTIPLIED = "((x * 1290167u + (x * 3 >> 3) + ((uint32_t)1 << (31 - d))) >> (32 - d))"


@pytest.mark.slow
def test_a_division_of_a_secret_is_found(tmp_path: Path) -> None:
    way = with_change(tmp_path, "mlkem-arithmetic.h", MULTIPLIED, DIVIDED)
    for operation in ("encapsulate", "decapsulate"):
        found = leak(way, operation)
        assert found.cycles_max > found.cycles_min, operation


@pytest.mark.slow
@pytest.mark.parametrize(
    ("board", "implementation", "compiler"),
    [("stm32vldiscovery", "armv7m", "gcc"), ("telosb", "msp430", "clang")],
)
@pytest.mark.parametrize("name", SETS)
def test_a_ciphertext_is_rejected_as_quickly_as_another_is_accepted(
    name: str, board: str, implementation: str, compiler: str
) -> None:
    way = LIBRARY.implementation(LIBRARY[name], implementation)
    accepted, rejected = (
        leak(way, operation, board=board, compiler=compiler)
        for operation in ("decapsulate", "reject")
    )
    assert {accepted.cycles_min, accepted.cycles_max} == {rejected.cycles_min, rejected.cycles_max}
    assert not accepted.any
    assert not rejected.any
