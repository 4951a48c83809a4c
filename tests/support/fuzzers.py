"""libFuzzer targets that take the place of an image's harness, with its own compile commands."""

import subprocess
from collections.abc import Collection
from pathlib import Path

from joulemark.catalogue.primitives import Implementation
from joulemark.images import build_local
from joulemark.project import ROOT


def build_fuzzer(
    way: Implementation,
    harness: str,
    fuzzer: str,
    used: Collection[str],
    folder: Path,
    *,
    flags: Collection[str] = (),
) -> Path:
    """Build a fuzzer with sanitizers; all of its code guides it.

    Args:
        way: the implementation whose image it is made like.
        harness: the source that it takes the place of.
        fuzzer: its source.
        used: the folders below `firmware/primitives` whose sources it needs.
        folder: where to build.
        flags: further flags.
    """
    image = build_local(way, compiler="clang", sanitize=True)
    objects: list[str] = []
    for command in image.commands:
        if "-c" not in command:
            continue
        source = command[command.index("-c") + 1]
        if source != harness and not any(f"/{each}/" in source for each in used):
            continue
        made = [fuzzer if word == harness else word for word in command]
        objects.append(str(folder / f"{len(objects)}.o"))
        made[made.index("-o") + 1] = objects[-1]
        made[1:1] = ["-fsanitize=fuzzer-no-link", *flags]
        subprocess.run(made, cwd=ROOT, check=True)
    sanitizers = "-fsanitize=fuzzer,address,undefined"
    linked = folder / "fuzzer"
    subprocess.run([image.commands[0][0], sanitizers, *objects, "-o", linked], check=True)
    return linked


def run_fuzzer(fuzzer: Path, runs: int, longest: int) -> None:
    """Run a fuzzer from one seed; what it finds fails the test."""
    options = [f"-runs={runs}", f"-max_len={longest}", "-len_control=0", "-seed=1"]
    done = subprocess.run(
        [fuzzer, *options], cwd=fuzzer.parent, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
