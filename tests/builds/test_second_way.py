"""What Valgrind's memcheck finds in portable C on this machine, following finds on a board."""

from pathlib import Path

import pytest

import second_way
from test_leaks_are_found import LEAKY, leaky
from vectors import LIBRARY


@pytest.mark.parametrize(
    ("algorithm", "way", "operation", "finds"),
    [
        ("aes-128-ccm", "ref", "decrypt", {"address"}),
        ("ml-kem-512", "ref", "encapsulate", set()),
    ],
)
def test_following_finds_what_memcheck_finds(
    algorithm: str, way: str, operation: str, finds: set[str]
) -> None:
    implementation = LIBRARY.implementation(LIBRARY[algorithm], way)
    puts, refused = second_way.cases(implementation, operation)
    second = second_way.by_memcheck(implementation, operation, puts, refused)
    assert {each.decides for each in second if each.declared is None} == finds
    first = second_way.by_following(implementation, operation, puts, refused)
    assert second_way.missed(second, first) == []


def test_memcheck_finds_a_planted_branch(tmp_path: Path) -> None:
    way = leaky(LEAKY, tmp_path)
    puts, refused = second_way.cases(way, "update")
    second = second_way.by_memcheck(way, "update", puts, refused)
    (line,) = (n for n, text in enumerate(LEAKY["ref/leaky.c"].splitlines(), 1) if "if (d" in text)
    assert [(each.line, each.decides) for each in second] == [(line, "branch")]
    assert second_way.missed(second, []) == sorted(second)
