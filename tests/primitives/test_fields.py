"""Fields in assembly on the emulated chips, on operands at which carries change."""

import random
from pathlib import Path

import pytest

from field_fuzz import (
    FIELDS,
    POLYNOMIAL_BYTES,
    STEPS,
    Fuzzed,
    FuzzedInversion,
    FuzzedLadder,
    FuzzedPoints,
    FuzzedPolynomials,
    FuzzedStep,
)

ROUNDS = 16


@pytest.mark.parametrize(("name", "core"), FIELDS)
def test_results(tmp_path: Path, name: str, core: str) -> None:
    field, source = Fuzzed(name, core, tmp_path), random.Random(name)
    for _ in range(ROUNDS):
        field.round(source)


@pytest.mark.parametrize("core", POLYNOMIAL_BYTES)
def test_products_of_polynomials(tmp_path: Path, core: str) -> None:
    field, source = FuzzedPolynomials(core, tmp_path), random.Random(core)
    for _ in range(ROUNDS):
        field.round(source)


@pytest.mark.parametrize("kind", [FuzzedInversion, FuzzedPoints, FuzzedLadder])
def test_points(tmp_path: Path, kind: type[FuzzedInversion | FuzzedPoints | FuzzedLadder]) -> None:
    points, source = kind("armv7em", tmp_path), random.Random(1)
    for _ in range(4):
        points.round(source)


@pytest.mark.parametrize("core", STEPS)
def test_steps_of_the_ladder(tmp_path: Path, core: str) -> None:
    steps, source = FuzzedStep(core, tmp_path), random.Random(core)
    for _ in range(4):
        steps.round(source)


def test_all_are_tried() -> None:
    assert {("secp256k1", "armv7m"), ("p25519", "msp430"), ("p256", "armv7em")} <= set(FIELDS)
