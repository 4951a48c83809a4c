"""A kind from a user's folder, whose slots are as large as each variant needs."""

import json
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from command import joulemark
from joulemark.catalogue import boards, kinds
from joulemark.catalogue.primitives import Library
from joulemark.errors import BuildError, InputError
from joulemark.images import build_image

KIND = """
title = "Copies"
main_operation = "copy"
functions = ["void p_copy(uint8_t *out, const uint8_t *in)"]
constants = ["block_bytes"]
sizes = ["room_bytes"]

[default]
message_bytes = [0]
trials = 2

[slot]
key = { bytes = "block_bytes" }
copy = { bytes = "block_bytes + 4" }
spare = { bytes = "room_bytes" }

[input]
key = { size = "block_bytes", secret = true }

[operation.copy]
takes = ["key"]
gives = ["copy"]

[[service]]
title = "A copy"
operations = ["copy"]
"""
KIND_C = """
#include "context.h"
static crypto_status check(void) {
    return slot_has(SLOT_KEY, PRIMITIVE_BLOCK_BYTES) ? CRYPTO_OK : CRYPTO_BAD_LENGTH;
}
static crypto_status copy(void) {
    primitive_copy(slots[SLOT_COPY].bytes, slots[SLOT_KEY].bytes);
    return CRYPTO_OK;
}
static void show(void) {
    slots[SLOT_COPY].length = PRIMITIVE_BLOCK_BYTES;
}
const operation kind_operations[OPERATIONS] = {[OPERATION_COPY] = {check, copy, show, false}};
const uint8_t kind_operation_count = OPERATIONS;
"""
PRIMITIVE = """
title = "Copy"
prefix = "plain"
specification = "none: a test's"
year = 2026
status = "research"
status_source = "none: a test's"
[variant.plain-8]
define = { PLAIN_BYTES = 8 }
block_bytes = 8
room_bytes = 1
[variant.plain-long]
define = { PLAIN_BYTES = 70000 }
block_bytes = 70000
room_bytes = 1
"""
WAY = """
description = "byte by byte"
method = "none"
secret_independent = true
word_bits = 8
"""
HEADER = """
#ifndef PLAIN_H
#define PLAIN_H
#include "crypto.h"
typedef struct { uint8_t none; } plain_ctx;
enum { PLAIN_BLOCK_BYTES = PLAIN_BYTES };
void plain_copy(uint8_t *out, const uint8_t *in);
#endif
"""
CODE = """
#include "plain.h"
void plain_copy(uint8_t *out, const uint8_t *in) {
    volatile uint8_t deep[DEEP];
    deep[0] = 0;
    for (size_t i = 0; i < PLAIN_BLOCK_BYTES; i++)
        out[i] = in[i];
    deep[DEEP - 1] = deep[0];
}
"""
ORACLE = """
from joulemark.oracle import Output

def compute(variant, inputs, over):
    return Output(copy=inputs.key)
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    files = {
        "kind.toml": KIND,
        "kind.c": KIND_C,
        "plain/primitive.toml": PRIMITIVE,
        "plain/oracle.py": ORACLE,
        "plain/vectors.toml": '[[vector]]\norigin = "t"\nvariant = "plain-8"\n'
        'key = "0001020304050607"\ncopy = "0001020304050607"\n',
        "plain/ref/implementation.toml": WAY,
        "plain/ref/plain.h": HEADER,
        "plain/ref/plain.c": CODE.replace("DEEP", "(PLAIN_BYTES > 65535 ? 70000 : 8)"),
    }
    for name, text in files.items():
        path = tmp_path / "own" / "copying" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "own"


def test_a_kind_from_outside_is_measured(source: Path, tmp_path: Path) -> None:
    store = str(tmp_path / "s.db")
    told = ["run", "--source", str(source), "--primitive", "plain-8", "--board", "telosb"]
    assert "measured 1" in joulemark(*told, "--store", store).stdout
    assert "plain-8" in joulemark("list", "primitives", "--source", str(source)).stdout


def test_slots_and_stacks_may_be_longer_than_64_kb(source: Path, tmp_path: Path) -> None:
    """The nRF52840's stack of 70 KB is its high-water mark and its paint, and does not wrap."""
    store = str(tmp_path / "s.db")
    told = ["run", "--source", str(source), "--primitive", "plain-long", "--board", "nrf52840-dk"]
    assert "measured 1" in joulemark(*told, "--store", store).stdout
    (record,) = json.loads(joulemark("export", "--store", store, "--format", "json").stdout)
    assert 70_000 < record["stack_bytes"] < 71_000


def test_each_variant_reserves_what_it_needs(source: Path) -> None:
    library = Library.load(sources=[source])
    board = boards.load_board("nrf52840-dk")
    rams = []
    for name in ("plain-8", "plain-long"):
        image = build_image(library.implementation(library[name], "ref"), board, compiler="gcc")
        with image.path.open("rb") as stream:
            (section,) = (s for s in ELFFile(stream).iter_sections() if s.name == ".noinit")
            rams.append(section["sh_size"])
    assert 2 * (70_000 - 8) <= rams[1] - rams[0] < 2 * (70_000 - 8) + 64
    assert library["plain-8"].room("copy") == 12


@pytest.mark.parametrize("size", ["0", "PLAIN_BYTES - 1"])
def test_a_header_has_the_sizes_that_its_file_states(source: Path, size: str) -> None:
    path = source / "copying/plain/ref/plain.h"
    path.write_text(HEADER.replace("= PLAIN_BYTES", f"= {size}"))
    library = Library.load(sources=[source])
    way = library.implementation(library["plain-8"], "ref")
    with pytest.raises(BuildError, match=r"primitive\.toml says 8 for block_bytes"):
        build_image(way, boards.load_board("telosb"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"block_bytes + 4"', '"2*seed_bytes"', "no size seed_bytes; there are block_bytes"),
        ('"block_bytes + 4"', '"block_bytes - 1"', "slot.copy.bytes"),
        ('"block_bytes + 4"', "0", "slot.copy.bytes"),
    ],
)
def test_a_wrong_room_is_refused(source: Path, old: str, new: str, message: str) -> None:
    path = source / "copying" / "kind.toml"
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(InputError, match=message) as refused:
        kinds.load(path.parent)
    assert str(path) in str(refused.value)


def test_a_kind_of_a_name_that_is_taken_is_refused(source: Path) -> None:
    (source / "copying").rename(source / "hash")
    with pytest.raises(InputError, match="hash is also the name of the kind in"):
        Library.load(sources=[source])
