"""Ciphertexts and public keys that nobody made as the standard says, and planted leaks."""

import hashlib
import json
import lzma
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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
WYCHEPROOF = Path(__file__).parent / "data/wycheproof/post-quantum.json.xz"
FILES: dict[str, list[dict[str, Any]]] = json.loads(lzma.decompress(WYCHEPROOF.read_bytes()))[
    "files"
]
WYCHEPROOF_COUNTS = 31, 9
"""Of its tests those that are tried, and those whose lengths are wrong; the same for each set."""
ALTERED, MANY_ALTERED = 60, 350_000
"""Altered ciphertexts of each set; the latter with --full, a million in all, without sanitizers."""
Q = 3329


@pytest.fixture(scope="module", params=SETS)
def subject(request: pytest.FixtureRequest) -> Iterator[tuple[Algorithm, ML_KEM, Device]]:
    algorithm = LIBRARY[request.param]
    is_many = request.config.getoption("--full")
    image = build_local(LIBRARY.implementation(algorithm, "ref"), sanitize=not is_many)
    with LocalLink(image.path) as link:
        yield algorithm, SETS[request.param], Device(link)


def decapsulated(device: Device, private: bytes, ciphertext: bytes) -> bytes:
    device.write("key", private)
    device.write("sent", ciphertext)
    assert device.run("decapsulate").status is Status.OK
    return device.read("shared", 32)


def test_a_ciphertext_with_any_bit_altered_gives_what_only_the_key_s_owner_can_know(
    subject: tuple[Algorithm, ML_KEM, Device], request: pytest.FixtureRequest
) -> None:
    algorithm, kem, device = subject
    source = random.Random(algorithm.name)
    public, private = kem.key_derive(source.randbytes(64))
    shared, ciphertext = kem._encaps_internal(public, source.randbytes(32))
    bits = 8 * len(ciphertext)
    assert decapsulated(device, private, ciphertext) == shared
    changes = [[0], [bits - 1], *([bit] for bit in source.sample(range(bits), ALTERED))]
    if request.config.getoption("--full"):
        changes += (source.sample(range(bits), 1 + n % 4) for n in range(MANY_ALTERED))
    for change in changes:
        altered = bytearray(ciphertext)
        for bit in change:
            altered[bit // 8] ^= 1 << bit % 8
        expected = kem._J(private[-32:] + bytes(altered))
        assert decapsulated(device, private, bytes(altered)) == expected, change


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


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_wycheproof(subject: tuple[Algorithm, ML_KEM, Device]) -> None:
    algorithm, _, device = subject
    sizes, tried, wrong_lengths = algorithm.sizes, 0, 0
    name = algorithm.name.replace("ml-kem-", "mlkem_")

    def tests(what: str) -> Iterator[dict[str, Any]]:
        """Yield a file's tests whose inputs have the lengths that an image takes."""
        nonlocal tried, wrong_lengths
        lengths = {
            "seed": "seed",
            "c": "ciphertext",
            "m": "random",
            "dk": "private",
            "ek": "public",
        }
        for test in (t for group in FILES[name + what] for t in group["tests"]):
            given = [key for key in ("seed", "m", "dk", "ek", "c") if key in test]
            # The first keys are inputs; those that a seed gives are outputs, and so are digests.
            given = given[:1] if what == "_keygen_seed" else given
            given = ["m", "ek"] if what == "_encaps" else given
            if any(len(test[key]) // 2 != sizes[f"{lengths[key]}_bytes"] for key in given):
                assert test["result"] == "invalid", test
                wrong_lengths += 1
                continue
            tried += 1
            yield test

    def keys(seed: str) -> tuple[bytes, bytes]:
        device.write("seed", bytes.fromhex(seed))
        assert device.run("keygen").status is Status.OK
        public = device.read("sent", sizes["public_bytes"])
        return public, device.read("key", sizes["private_bytes"])

    for test in tests("_keygen_seed"):
        public, private = keys(test["seed"])
        assert (digest(public), digest(private)) == (test["ek"], test["dk"]), test
    for test in tests("_encaps"):
        device.write("seed", bytes.fromhex(test["m"]))
        device.write("key", bytes.fromhex(test["ek"]))
        status = device.run("encapsulate").status
        assert status is (Status.OK if test["result"] == "valid" else Status.BAD_TAG), test
        if test["result"] == "valid":
            assert digest(device.read("sent", sizes["ciphertext_bytes"])) == test["c"], test
            assert device.read("shared", 32).hex() == test["K"], test
    for test in tests(""):
        public, private = keys(test["seed"])
        assert public.hex() == test["ek"], test
        assert decapsulated(device, private, bytes.fromhex(test["c"])).hex() == test["K"], test
    for test in tests("_semi_expanded_decaps"):
        if "InvalidDecapsulationKey" in test["flags"]:
            continue  # one's own key is not checked: mlkem.h
        shared = decapsulated(device, bytes.fromhex(test["dk"]), bytes.fromhex(test["c"]))
        assert shared.hex() == test["K"], test
    assert (tried, wrong_lengths) == WYCHEPROOF_COUNTS


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


DIVIDED = "((((x << d) + Q / 2) / Q) & (((uint32_t)1 << d) - 1))"
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
