"""Primitives' files: every shipped one is right, and errors in others name file and key."""

import shutil
from pathlib import Path

import pytest

from joulemark.catalogue import kinds
from joulemark.catalogue.primitives import Library, Primitive
from joulemark.errors import InputError, JoulemarkError
from joulemark.images.headers import alias
from joulemark.oracle import Inputs
from joulemark.project import FIRMWARE
from vectors import LIBRARY

PRIMITIVES = list(LIBRARY.primitives.values())


def test_kinds_headers_say_what_their_files_say() -> None:
    for kind in kinds.load_all().values():
        path = kind.folder / f"{kind.name}.h"
        if not path.exists():
            continue
        header = " ".join(path.read_text().split())
        functions = (*kind.file.functions, *kind.file.optional_functions)
        for text in (*functions, *(f"P_{c.upper()}" for c in kind.file.constants)):
            assert text in header, (kind.name, text)


@pytest.mark.parametrize("primitive", PRIMITIVES, ids=lambda p: p.name)
def test_shipped_primitives(primitive: Primitive) -> None:
    assert primitive.parts, "no implementation"
    algorithms = [a for a in LIBRARY.algorithms.values() if a.primitive is primitive]
    assert algorithms
    for algorithm in algorithms:
        for way in LIBRARY.implementations(algorithm):
            assert LIBRARY.implementation(algorithm, way.name) == way
    if primitive.contract.results:
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
        LIBRARY[name].oracle(inputs).output[:8]
        == LIBRARY["speck-64-128"].oracle(Inputs(key=key, message=block)).output
    )


def test_alias_header_is_what_the_document_shows() -> None:
    document = (FIRMWARE.parent / "docs" / "adding-a-primitive.md").read_text()
    shown = document.partition("```c\n")[2].partition("```")[0].splitlines()
    made = [
        " ".join(line.split())
        for line in alias(LIBRARY["aes-128"].contract, "aes", "block-cipher").splitlines()
    ]
    assert len(shown) > 4
    for line in shown:
        assert " ".join(line.split()) in made, line


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small library to break: a cipher and a mode."""
    for name in ("block-cipher/aes", "mode/ctr"):
        shutil.copytree(FIRMWARE / "primitives" / name, tmp_path / name)
        kind = name.partition("/")[0]
        shutil.copy(FIRMWARE / "primitives" / kind / "kind.toml", tmp_path / kind)
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
        (AES, 'prefix = "aes"', 'prefix = "AES-"', r"key prefix: must match"),
        (AES, 'status = "standard"', 'status = "great"', r"key status: must be"),
        (AES, 'status = "standard"', 'status = "broken"', r"status_reason is required"),
        (AES, "key_bytes = 16", 'key_bytes = "16"', r"key variant.aes-128.key_bytes"),
        (AES, "key_bytes = 16", 'key_bytes = "block_bytes"', r"must be a number without over"),
        (AES, "key_bytes = 16", "key_bytes = -1", r"key variant.aes-128.key_bytes"),
        (AES, "key_bytes = 16", "keybytes = 16", r"key variant.aes-128.keybytes: unknown key"),
        (AES, "[variant.aes-128]", "[variant.AES]", r"variant"),
        (AES, "[variant.aes-192]", "[variant.aes-128-ctr]", r"is also the name of one in|no block"),
        (AES, "title =", "title", r"primitive.toml: is not TOML"),
        (AES, "year = 2001", 'year = 2001\nname = "{over}-x"', r"name needs over"),
        (CTR, 'over = "block-cipher"', 'over = "cipher"', r"no primitive of kind cipher"),
        (CTR, "{over}-ctr", "ctr", r"name must contain|needs name"),
        (CTR, '["aes-128"]', '["des"]', r"key default_over: no block-cipher des"),
        (CTR, '"block_bytes"', '"nonce_bytes"', r"the partner has no nonce_bytes"),
        (CTR, "[sizes]", "[over_requires]\nblock_bytes = [8]\n[sizes]", r"excluded by over_req"),
        (WAY, "secret_independent = false", "secret_independent = 1", r"secret_independent"),
        (WAY, "word_bits = ", "word_bits = 1", r"key word_bits"),
        (WAY, "word_bits", 'cores = ["z80"]\nword_bits', r"key cores.0: no instruction set z80"),
        (WAY, "word_bits", "cores = []\nword_bits", r"key cores: .*is empty"),
        (
            WAY,
            "word_bits",
            'together = { sizes = ["tag_bytes"], bytes_max = 9 }\nword_bits',
            r"has no size tag_b",
        ),
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
        ('key = "', 'key = "0', r"vector.0.key: not hexadecimal"),
        ("[[vector]]", "[[vectors]]", r"vectors"),
        ("origin =", "source =", r"keys: vector.0.origin: this key is missing"),
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


def test_a_folder_without_primitives_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no primitives found"):
        Library.load(tmp_path)


def test_what_a_primitive_uses_must_exist(folder: Path) -> None:
    path = folder / AES
    path.write_text('uses = ["hash/none"]\n' + path.read_text())
    library = Library.load(folder)
    with pytest.raises(JoulemarkError, match="key uses: no primitive hash/none"):
        library.implementations(library["aes-128"])


def test_primitives_that_use_each_other_are_an_error(folder: Path) -> None:
    path = folder / AES
    path.write_text('uses = ["mode/ctr"]\n' + path.read_text().replace("over =", "# over ="))
    other = folder / CTR
    other.write_text('uses = ["block-cipher/aes"]\n' + other.read_text())
    library = Library.load(folder)
    with pytest.raises(InputError, match=r"key uses: is a circle: mode/ctr uses .*; let one"):
        library.implementations(library["aes-128-ctr"])


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("aes-128-eax", "standard"),
        ("skipjack-eax", "deprecated"),
        ("xtea-eax", "research"),
        ("curupira-1-96-ocb3", "research"),
    ],
)
def test_a_composition_is_as_weak_as_what_it_is_built_over(name: str, status: str) -> None:
    assert LIBRARY[name].status == status
