"""What code declares public is no leak; whatever else depends on a secret still is."""

from pathlib import Path

import pytest

from joulemark.catalogue import boards
from joulemark.catalogue.primitives import Implementation
from joulemark.images import build_image
from joulemark.measure.following import leaking
from joulemark.measure.leaks import Leak, at_random, follow, observe
from test_leaks_are_found import LEAKY, leaky
from vectors import LIBRARY

FUNCTION = """
#include "leaky.h"
#include "declared-public.h"
void leaky_init(leaky_ctx *ctx) { ctx->zeros = 0; ctx->ended = 0; }
void leaky_update(leaky_ctx *ctx, const uint8_t *data, size_t length) {
    for (size_t i = 0; i < length; i++) {
        ctx->zeros ^= data[i];
        ctx->ended |= data[i];
    }
}
void leaky_final(leaky_ctx *ctx, uint8_t *digest) {
    DECLARE
    volatile uint8_t tries = 0;
    for (uint8_t i = 0; i < (ctx->zeros & 15); i++) tries++;
    OTHER
    digest[0] = ctx->zeros;
    __asm__ volatile("" : : : "memory");
}
"""
ORACLE = """
from functools import reduce
from operator import xor
from joulemark.oracle import Output

def compute(variant, inputs, over):
    return Output(output=bytes([reduce(xor, inputs.message, 0)]))
"""
DECLARED = "crypto_public(&ctx->zeros, 1);"
BESIDE = "if ((ctx->ended & 1) != 0) tries++;"


def way(folder: Path, declare: str, other: str = "") -> Implementation:
    text = FUNCTION.replace("DECLARE", declare).replace("OTHER", other)
    return leaky({**LEAKY, "oracle.py": ORACLE, "ref/leaky.c": text}, folder)


def leak(implementation: Implementation, board: str, *, branches: bool = False) -> Leak:
    found = boards.load_board(board)
    image = build_image(implementation, found, compiler=found.compiler, optimisation="O2")
    return observe(implementation, found, image, "hash", branches=branches)


@pytest.mark.parametrize("board", ["telosb", "stm32vldiscovery"])
def test_a_declared_value_is_no_leak_and_is_shown(board: str, tmp_path: Path) -> None:
    assert leak(way(tmp_path / "without", ""), board).cycles_max > 0
    without = leak(way(tmp_path / "without", ""), board)
    assert without.cycles_max > without.cycles_min
    assert without.declared == ()
    found = leak(way(tmp_path / "with", DECLARED), board, branches=True)
    assert not found.any, found
    assert [str(d) for d in found.declared] == ["1 byte in leaky_final"]


@pytest.mark.parametrize("board", ["telosb", "stm32vldiscovery"])
def test_what_else_depends_on_the_secret_is_found(board: str, tmp_path: Path) -> None:
    found = leak(way(tmp_path, DECLARED, BESIDE), board)
    assert found.cycles_max > found.cycles_min


def test_what_is_declared_is_seen_in_a_build_of_clang_for_riscv() -> None:
    """Its debug information must survive the linker, or the line that declares is not known."""
    board = boards.load_board("raspberry-pi-pico-2")
    implementation = LIBRARY.implementation(LIBRARY["ml-kem-512"], "ref")
    image = build_image(implementation, board, compiler="clang", optimisation="O3")
    puts = at_random(implementation.algorithm, "encapsulate", 2)
    found = follow(board, image, "encapsulate", puts)
    assert not leaking(found.uses)
    assert [verdict.why for verdict in found.verdicts] == ["whether the public key is valid"]
