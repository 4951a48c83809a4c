"""libFuzzer on EDHOC's messages and its reader of CBOR: firmware/fuzz/handshake.c."""

import subprocess
from pathlib import Path

import pytest

from joulemark.catalogue.primitives import Library
from joulemark.images import build_local
from joulemark.project import ROOT

RUNS = 20_000
HARNESS = "firmware/primitives/handshake/kind.c"
FUZZER = "firmware/fuzz/handshake.c"
USED = ("hash/sha-256", "aead/ccm", "block-cipher/aes")


def build_fuzzer(method: int, folder: Path) -> Path:
    """Build the fuzzer for a method's messages; hash and cipher are the portable handshake's."""
    library = Library.load()
    way = library.implementation(library["edhoc-3-2-aes-128"], "portable")
    image = build_local(way, compiler="clang", sanitize=True)
    objects: list[str] = []
    for command in image.commands:
        if "-c" not in command:
            continue
        source = command[command.index("-c") + 1]
        if source != HARNESS and not any(f"/{used}/" in source for used in USED):
            continue
        made = [FUZZER if word == HARNESS else word for word in command]
        objects.append(str(folder / f"{len(objects)}.o"))
        made[made.index("-o") + 1] = objects[-1]
        made[1:1] = ["-fsanitize=fuzzer-no-link", f"-DMETHOD={method}"]
        subprocess.run(made, cwd=ROOT, check=True)
    fuzzer = folder / "fuzzer"
    sanitizers = "-fsanitize=fuzzer,address,undefined"
    subprocess.run([image.commands[0][0], sanitizers, *objects, "-o", fuzzer], check=True)
    return fuzzer


@pytest.mark.slow
@pytest.mark.parametrize("method", [0, 3])
def test_no_message_but_the_peers_is_taken(method: int, tmp_path: Path) -> None:
    fuzzer = build_fuzzer(method, tmp_path)
    options = [f"-runs={RUNS}", "-max_len=200", "-len_control=0", "-seed=1"]
    done = subprocess.run(
        [fuzzer, *options], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
