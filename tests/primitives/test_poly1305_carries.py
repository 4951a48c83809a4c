"""Poly1305's carries: keys and messages of words that random ones never are."""

import random

import pytest

from emulated import ARM, BOARD, COMPILERS, DSP, PICO_2, BuildOf, is_for
from joulemark.oracle import Inputs
from vectors import IMPLEMENTATIONS, Subject

MIXED = 100
WORDS = [0, 1, 2, 0xFFFF, 0x10000, 0x80008000, 0xFFFF0000, 0xFFFEFFFE, 0xFFFFFFFE, 0xFFFFFFFF]
BUILDS = [
    pytest.param(BuildOf(way, COMPILERS[board.core][0], "Os", board), id=f"{way}-{board.name}")
    for way in IMPLEMENTATIONS
    for board in (BOARD, ARM, DSP, PICO_2)
    if way.algorithm.name == "poly1305" and is_for(way, board)
]


@pytest.mark.parametrize("build", BUILDS)
def test_carries(build: BuildOf) -> None:
    source = random.Random(1)
    same = [([word] * 8, [message] * 20) for word in WORDS for message in WORDS]
    mixed = [
        (source.choices(WORDS, k=8), source.choices(WORDS, k=4 * source.randrange(1, 9)))
        for _ in range(MIXED)
    ]
    subject = Subject(build.implementation, build.start()[1])
    for key, message in same + mixed:
        inputs = Inputs(key=_bytes(key), message=_bytes(message))
        values = {**subject.algorithm.oracle(inputs), **inputs}
        subject.gives("mac", subject.contract.put("mac", values))


def _bytes(words: list[int]) -> bytes:
    return b"".join(word.to_bytes(4, "little") for word in words)
