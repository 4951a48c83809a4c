"""libFuzzer on every AEAD: firmware/fuzz/aead.c with the implementation's own compile commands."""

import subprocess
from pathlib import Path

import pytest

from joulemark.catalogue.primitives import Implementation
from joulemark.errors import InputError
from joulemark.images import build_local
from joulemark.project import ROOT
from vectors import LIBRARY

RUNS = 4000
"""In ten fuzzers that were examined, more runs covered no more edges; the seed fixes the runs."""
HARNESS = "firmware/primitives/aead/kind.c"
FUZZER = "firmware/fuzz/aead.c"


def implementations() -> list[Implementation]:
    """Return what runs here: all that is measured by default, and the plainest of the rest."""
    found: list[Implementation] = []
    for algorithm in LIBRARY.algorithms.values():
        if algorithm.kind == "aead":
            try:
                ways = LIBRARY.implementations(algorithm)
            except InputError:
                continue  # test_vectors.py says what is wrong with it
            found += (
                w for w in ways if algorithm.is_default or {p.name for p in w.parts} == {"ref"}
            )
    return [i for i in found if i.runs_on("host")]


def build_fuzzer(implementation: Implementation, folder: Path) -> Path:
    image = build_local(implementation, compiler="clang", sanitize=True)
    objects: list[str] = []
    for command in image.commands:
        if "-c" not in command:
            continue
        source = command[command.index("-c") + 1]
        made = command[command.index("-o") + 1]
        if source == HARNESS:
            made = str(folder / "fuzzer.o")
            own = [FUZZER if word == HARNESS else word for word in command]
            own[own.index("-o") + 1] = made
            subprocess.run(own, cwd=ROOT, check=True)
        elif not source.startswith("firmware/primitives/"):
            continue
        objects.append(made)
    fuzzer = folder / "fuzzer"
    compiler = image.commands[0][0]
    sanitizers = "-fsanitize=fuzzer,address,undefined"
    subprocess.run([compiler, sanitizers, *objects, "-o", fuzzer], cwd=ROOT, check=True)
    return fuzzer


@pytest.mark.slow
@pytest.mark.parametrize("implementation", implementations(), ids=str)
def test_decrypts_anything_safely(implementation: Implementation, tmp_path: Path) -> None:
    fuzzer = build_fuzzer(implementation, tmp_path)
    options = [f"-runs={RUNS}", "-max_len=400", "-len_control=0", "-seed=1"]
    done = subprocess.run(
        [fuzzer, *options], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
