"""Primitives' files: every shipped one is right, and a wrong one is named with its key."""

import shutil
from pathlib import Path

import pytest

from joulemark.catalogue.kinds import OPERATIONS
from joulemark.catalogue.primitives import SIZES, Library, Primitive, kinds, operations
from joulemark.errors import InputError, JoulemarkError
from joulemark.images.headers import CONSTANTS, FUNCTIONS, alias
from joulemark.oracle import Inputs
from joulemark.project import FIRMWARE

LIBRARY = Library.load()
PRIMITIVES = list(LIBRARY.primitives.values())
NEEDED = {
    "block-cipher": {"key_bytes", "block_bytes"},
    "stream-cipher": {"key_bytes", "nonce_bytes"},
    "hash": {"digest_bytes", "block_bytes"},
    "mac": {"key_bytes", "tag_bytes"},
    "mode": {"key_bytes", "block_bytes", "iv_bytes"},
    "aead": {"key_bytes", "nonce_bytes", "tag_bytes"},
    "identity": set(),
}


def test_kinds_are_the_same_everywhere() -> None:
    """The harness, the build, the measuring and the folders speak of the same kinds."""
    assert set(kinds()) == set(FUNCTIONS) == set(CONSTANTS) == set(OPERATIONS) == set(NEEDED)
    assert {p.kind for p in PRIMITIVES} <= set(kinds())
    for kind in kinds():
        measured = tuple(o.name for o in OPERATIONS[kind])
        assert operations(kind)[: len(measured)] == measured


def test_kinds_headers_name_their_functions() -> None:
    for kind in set(kinds()) - {"identity"}:
        header = (FIRMWARE / "primitives" / kind / f"{kind}.h").read_text()
        for name in (*(f"p_{f}(" for f in FUNCTIONS[kind]), *(f"P_{c}" for c in CONSTANTS[kind])):
            assert name in header, (kind, name)


@pytest.mark.parametrize("primitive", PRIMITIVES, ids=lambda p: p.name)
def test_shipped_primitives(primitive: Primitive) -> None:
    assert primitive.parts, "no implementation"
    algorithms = [a for a in LIBRARY.algorithms.values() if a.primitive is primitive]
    assert algorithms
    for algorithm in algorithms:
        assert NEEDED[primitive.kind] <= set(algorithm.sizes), algorithm
        for way in LIBRARY.implementations(algorithm):
            assert way is not None
            assert LIBRARY.implementation(algorithm, way.name) == way
    if primitive.kind != "identity":
        assert LIBRARY.vectors(primitive)
    assert any(way.runs_on("host") for a in algorithms for way in LIBRARY.implementations(a))
    for part in primitive.parts:
        assert part.sources
        header = f"{primitive.file.prefix}.h"
        assert any((folder / header).is_file() for folder in part.include_folders)


def test_implementations_have_names_of_their_own() -> None:
    for algorithm in LIBRARY.algorithms.values():
        names = [way.name for way in LIBRARY.implementations(algorithm)]
        assert len(set(names)) == len(names)


def test_composition_is_named_after_its_partner() -> None:
    algorithm = LIBRARY["aes-128-ctr"]
    assert algorithm.over == LIBRARY["aes-128"]
    assert algorithm.sizes["key_bytes"] == 16
    assert algorithm.sizes["iv_bytes"] == 16
    assert algorithm.defines["AES_KEY_BITS"] == 128
    ways = {way.name for way in LIBRARY.implementations(algorithm)}
    assert ways == {way.name for way in LIBRARY.implementations(LIBRARY["aes-128"])}


def test_oracle_of_a_composition_asks_its_partner() -> None:
    name, key, block = "speck-64-128-ecb", bytes(range(16)), b"12345678"
    inputs = Inputs(key=key, message=block * 2)
    assert (
        LIBRARY[name].oracle(inputs).data[:8]
        == LIBRARY["speck-64-128"].oracle(Inputs(key=key, message=block)).data
    )


def test_alias_header_is_what_the_document_shows() -> None:
    document = (FIRMWARE.parent / "docs" / "adding-a-primitive.md").read_text()
    shown = document.partition("```c\n")[2].partition("```")[0].splitlines()
    made = [
        " ".join(line.split()) for line in alias("block-cipher", "aes", "block-cipher").splitlines()
    ]
    assert len(shown) > 4
    for line in shown:
        assert " ".join(line.split()) in made, line


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small library to break: a cipher and a mode."""
    for name in ("block-cipher/aes", "mode/ctr"):
        shutil.copytree(FIRMWARE / "primitives" / name, tmp_path / name)
    return tmp_path


AES = "block-cipher/aes/primitive.toml"
CTR = "mode/ctr/primitive.toml"
WAY = "block-cipher/aes/ref/implementation.toml"
VECTORS = "block-cipher/aes/vectors.toml"


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        (AES, 'title = "AES"', 'title = "AES"\ncolour = "red"', r"key colour: unknown key"),
        (AES, 'prefix = "aes"\n', "", r"key prefix: this key is missing"),
        (AES, 'prefix = "aes"', 'prefix = "AES-"', r"key prefix: String should match"),
        (AES, 'status = "standard"', 'status = "great"', r"key status: Input should be"),
        (AES, 'status = "standard"', 'status = "broken"', r"status_reason is required"),
        (AES, "key_bytes = 16", 'key_bytes = "16"', r"key variant.aes-128.key_bytes"),
        (AES, "key_bytes = 16", 'key_bytes = "block_bytes"', r"must be a number without over"),
        (AES, "key_bytes = 16", "key_bytes = -1", r"key variant.aes-128.key_bytes"),
        (AES, "key_bytes = 16", "keybytes = 16", r"key variant.aes-128.keybytes: unknown key"),
        (AES, "[variant.aes-128]", "[variant.AES]", r"variant"),
        (AES, "[variant.aes-128]", "[variant.aes-128-ctr]", r"is also the name of one in|no block"),
        (AES, "title =", "title", r"primitive.toml: is not TOML"),
        (AES, "year = 2001", 'year = 2001\nname = "{over}-x"', r"name needs over"),
        (CTR, 'over = "block-cipher"', 'over = "cipher"', r"no primitive of kind cipher"),
        (CTR, "{over}-ctr", "ctr", r"name must contain|needs name"),
        (CTR, '["aes-128"]', '["des"]', r"key default_over: no block-cipher des"),
        (CTR, '"block_bytes"', '"nonce_bytes"', r"the partner has no nonce_bytes"),
        (CTR, "[sizes]", "[over_requires]\nblock_bytes = [8]\n[sizes]", r"excluded by over_req"),
        (WAY, "secret_independent = false", "secret_independent = 1", r"secret_independent"),
        (WAY, "word_bits = ", "word_bits = 1", r"key word_bits"),
        (WAY, "word_bits", 'cores = ["z80"]\nword_bits', r"key cores.0: Input should be"),
        (WAY, "word_bits", "cores = []\nword_bits", r"key cores: .*is empty"),
    ],
)
def test_errors_name_file_and_key(
    folder: Path, file: str, old: str, new: str, message: str
) -> None:
    path = folder / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(InputError, match=message) as caught:
        Library.load(folder)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('key = "', 'key = "0', r"vector.0.key: Value error, not hexadecimal"),
        ("[[vector]]", "[[vectors]]", r"vectors"),
        ("origin =", "source =", r"key vector.0"),
        ('variant = "aes-128"', 'variant = "aes-129"', r"no variant aes-129"),
        ("output =", "result =", r"unknown key|needs output or tag"),
    ],
)
def test_errors_in_vectors_name_the_vector(folder: Path, old: str, new: str, message: str) -> None:
    path = folder / VECTORS
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    library = Library.load(folder)
    with pytest.raises(InputError, match=message):
        library.vectors(library["aes-128"].primitive)


def test_unknown_names_are_answered_with_near_ones() -> None:
    with pytest.raises(InputError, match="did you mean aes-128"):
        _ = LIBRARY["aes128"]
    with pytest.raises(InputError, match="has no implementation fast; there are"):
        LIBRARY.implementation(LIBRARY["aes-128"], "fast")
    with pytest.raises(InputError, match="no such kind"):
        operations("cipher")


def test_a_folder_without_primitives_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no primitives found"):
        Library.load(tmp_path)


def test_what_a_primitive_uses_must_exist(folder: Path) -> None:
    path = folder / AES
    path.write_text('uses = ["hash/none"]\n' + path.read_text())
    library = Library.load(folder)
    with pytest.raises(JoulemarkError, match="key uses: no primitive hash/none"):
        library.implementations(library["aes-128"])


def test_sizes_are_those_of_the_document() -> None:
    document = (FIRMWARE.parent / "docs" / "adding-a-primitive.md").read_text()
    assert all(f"`{size}`" in document for size in SIZES if size != "security_bits")
