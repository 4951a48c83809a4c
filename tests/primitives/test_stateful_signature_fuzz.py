"""libFuzzer on LMS and HSS: firmware/fuzz/stateful-signature.c."""

from pathlib import Path

import pytest

from fuzzers import build_fuzzer, run_fuzzer
from vectors import LIBRARY

RUNS = 4000
HARNESS = "firmware/primitives/stateful-signature/kind.c"
FUZZER = "firmware/fuzz/stateful-signature.c"
USED = ("stateful-signature/lms", "hash/sha-256")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["lms-h10-w8", "hss-m24-h5-w8", "hss-h10-w4-h5-w8"])
def test_nothing_is_read_beyond_a_key_or_a_signature(name: str, tmp_path: Path) -> None:
    way = LIBRARY.implementation(LIBRARY[name], "ref")
    run_fuzzer(build_fuzzer(way, HARNESS, FUZZER, USED, tmp_path), RUNS, longest=200)
