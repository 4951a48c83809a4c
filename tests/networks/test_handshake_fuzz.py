"""libFuzzer on EDHOC's messages and its reader of CBOR: firmware/fuzz/handshake.c."""

from pathlib import Path

import pytest

from fuzzers import build_fuzzer, run_fuzzer
from vectors import LIBRARY

RUNS = 20_000
HARNESS = "firmware/primitives/handshake/kind.c"
FUZZER = "firmware/fuzz/handshake.c"
USED = ("hash/sha-256", "aead/ccm", "block-cipher/aes")


def fuzzer(method: int, folder: Path) -> Path:
    """Build the target of a method."""
    # Hash and cipher are the portable handshake's.
    way = LIBRARY.implementation(LIBRARY["edhoc-3-2-aes-128"], "portable")
    return build_fuzzer(way, HARNESS, FUZZER, USED, folder, flags=[f"-DMETHOD={method}"])


@pytest.mark.slow
@pytest.mark.parametrize("method", [0, 3])
def test_no_message_but_the_peers_is_taken(method: int, tmp_path: Path) -> None:
    run_fuzzer(fuzzer(method, tmp_path), RUNS, longest=200)
