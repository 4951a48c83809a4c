"""What claims that its time and addresses do not depend on secrets, held to it on emitted code.

Compilers make and unmake such leaks, so each build is checked by itself: keys and messages change,
everything public stays, and cycles and the digest of all addresses must not move. A branch that
goes the other way once in 65536 times hides from that, though all-zero and all-one secrets are
among those tried: so nothing that decides a branch may look at secrets either.
"""

import itertools
import random
import shutil
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path

import pytest

from branches import WatchedBoard, deciders
from emulated import BOARD, BuildOf, builds
from joulemark._engine import Image
from joulemark.catalogue.kinds import Exchange
from joulemark.catalogue.primitives import Algorithm, Implementation, Library
from joulemark.oracle import Inputs, Output
from joulemark.project import FIRMWARE
from joulemark.runners.protocol import Device, Status
from vectors import IMPLEMENTATIONS, LIBRARY

LEAKY = {
    "primitive.toml": """
        title = "Length of the message's beginning of zeros"
        prefix = "leaky"
        specification = "none: a test's"
        year = 2026
        status = "research"
        status_source = "none: a test's"
        [variant.leaky]
        digest_bytes = 1
        block_bytes = 1
    """,
    "oracle.py": """
from joulemark.oracle import Output

def compute(variant, inputs, over):
    return Output(output=bytes([len(inputs.message) - len(inputs.message.lstrip(bytes(1)))]))
    """,
    "ref/implementation.toml": """
        description = "stops at the first byte that is not zero"
        method = "none"
        secret_independent = true
        word_bits = 8
    """,
    "ref/leaky.h": """
#ifndef LEAKY_H
#define LEAKY_H
#include "hash/hash.h"
typedef struct { uint8_t zeros; uint8_t ended; } leaky_ctx;
enum { LEAKY_DIGEST_BYTES = 1, LEAKY_BLOCK_BYTES = 1 };
void leaky_init(leaky_ctx *ctx);
void leaky_update(leaky_ctx *ctx, const uint8_t *data, size_t length);
void leaky_final(leaky_ctx *ctx, uint8_t *digest);
#endif
    """,
    "ref/leaky.c": """
#include "leaky.h"
void leaky_init(leaky_ctx *ctx) { ctx->zeros = 0; ctx->ended = 0; }
void leaky_update(leaky_ctx *ctx, const uint8_t *data, size_t length) {
    for (size_t i = 0; i < length && !ctx->ended; i++) {
        if (data[i] != 0) ctx->ended = 1;
        else ctx->zeros++;
    }
}
void leaky_final(leaky_ctx *ctx, uint8_t *digest) { digest[0] = ctx->zeros; }
    """,
}
SUMMING = {
    **LEAKY,
    "primitive.toml": LEAKY["primitive.toml"].replace("digest_bytes = 1", "digest_bytes = 4"),
    "oracle.py": """
from joulemark.oracle import Output

def compute(variant, inputs, over):
    return Output(output=sum(inputs.message).to_bytes(4, "little"))
    """,
    "ref/leaky.h": LEAKY["ref/leaky.h"]
    .replace("uint8_t zeros; uint8_t ended;", "uint16_t low, high;")
    .replace("DIGEST_BYTES = 1", "DIGEST_BYTES = 4"),
    "ref/leaky.c": """
#include "leaky.h"
void leaky_init(leaky_ctx *ctx) { ctx->low = ctx->high = 0; }
void leaky_update(leaky_ctx *ctx, const uint8_t *data, size_t length) {
    for (size_t i = 0; i < length; i++) {
        ctx->low += data[i];
        if (ctx->low < data[i]) ctx->high++;
    }
}
void leaky_final(leaky_ctx *ctx, uint8_t *digest) {
    digest[0] = (uint8_t)ctx->low;
    digest[1] = (uint8_t)(ctx->low >> 8);
    digest[2] = (uint8_t)ctx->high;
    digest[3] = (uint8_t)(ctx->high >> 8);
}
    """,
}
RANDOM_TRIALS = 4
MESSAGE_BLOCKS = 2
AD_BYTES = 5

PATTERNS = [b"\x00", b"\xff", b"\xff\x00", b"\x00\xff", b"\xff\xff\x00\x00", b"\xfe\xff", b"\x80"]


def secrets() -> Iterator[tuple[bytes | None, bytes | None]]:
    """What to fill keys and messages with; None is random."""
    yield from itertools.product(PATTERNS[:2], PATTERNS[:2])
    yield from ((pattern, None) for pattern in PATTERNS)
    yield from ((None, pattern) for pattern in PATTERNS)
    yield from [(None, None)] * RANDOM_TRIALS


def fill(patterns: Iterator[bytes | None], source: random.Random, length: int) -> bytes:
    """The next secret."""
    pattern = next(patterns)
    if pattern is None:
        return source.randbytes(length)
    return (pattern * length)[:length]


@lru_cache(maxsize=4096)
def forward(algorithm: Algorithm, inputs: Inputs) -> Output:
    """The oracle's answer, kept for the other operations and builds: some oracles are slow."""
    return algorithm.oracle(inputs)


def trials(implementation: Implementation, name: str) -> Iterator[Exchange]:
    """The same case over and over, with other secrets."""
    algorithm = implementation.algorithm
    operation = algorithm.contract.operation(name)
    length = MESSAGE_BLOCKS * algorithm.sizes.get("block_bytes", 16) if operation.sized else 16
    if algorithm.whole_blocks and not operation.sized:
        length = algorithm.sizes["block_bytes"]
    sizes = {**algorithm.sizes, "message": length, "ad": AD_BYTES if operation.with_ad else 0}
    for number, (key, message) in enumerate(secrets()):
        source = random.Random(f"{algorithm} {number}")
        # Zero, and what is beyond a curve's order, is no secret key.
        with suppress(ValueError):
            yield algorithm.contract.exchange(
                name,
                sizes=sizes,
                forward=partial(forward, algorithm),
                secret=partial(
                    fill, itertools.chain((key, message), itertools.repeat(None)), source
                ),
                public=random.Random(f"{algorithm}").randbytes,
            )


def on_secrets(implementation: Implementation) -> list[str]:
    """The operations that handle secrets."""
    measured = implementation.algorithm.contract.measured
    return [name for name, operation in measured.items() if not operation.public]


def observations(build: BuildOf, operation: str) -> set[tuple[int, str]]:
    """Cycles and address digests over all trials; each output is right."""
    machine, device = build.start()
    seen = set()
    for put in trials(build.implementation, operation):
        for slot, data in put.inputs.items():
            device.write(slot, data)
        assert device.run(operation).status is Status.OK
        for slot, expected in put.expected.items():
            assert device.read(slot, len(expected)) == expected
        window = machine.take_window()
        seen.add((window.cycles, window.addresses))
    return seen


def leaks(build: BuildOf) -> list[str]:
    """Operations whose time or addresses depend on secrets, and how."""
    found = []
    for operation in on_secrets(build.implementation):
        seen = observations(build, operation)
        times = {cycles for cycles, _ in seen}
        if len(times) > 1:
            found.append(f"{operation}: {min(times)} to {max(times)} cycles")
        elif len(seen) > 1:
            found.append(f"{operation}: addresses differ")
    return found


CLAIMING = builds(way for way in IMPLEMENTATIONS if way.secret_independent)


@pytest.mark.parametrize("build", CLAIMING)
def test_claims_hold(build: BuildOf) -> None:
    assert leaks(build) == []


def branches_on_secrets(build: BuildOf) -> list[str]:
    """Instructions that decide a branch by other values when only secrets are others."""
    path = build.build().path
    board = WatchedBoard(Image.load(path), BOARD)
    device = Device(board, attempts=1)
    found = []
    candidates = deciders(path)
    for operation in on_secrets(build.implementation):
        first, second = list(trials(build.implementation, operation))[-2:]
        seen = board.watch(device, operation, first, candidates)
        again = board.watch(device, operation, second, seen)
        found += [f"{operation}: {d}" for d in seen if seen[d] != again[d]]
    return found


@pytest.mark.parametrize(
    "build", builds((way for way in IMPLEMENTATIONS if way.secret_independent), on=[BOARD])
)
def test_no_branch_looks_at_secrets(build: BuildOf) -> None:
    assert branches_on_secrets(build) == []


def leaky(files: dict[str, str], folder: Path) -> Implementation:
    """The one implementation of a primitive whose files these are."""
    for name, text in files.items():
        path = folder / "hash" / "leaky" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for name in ("kind.toml", "kind.c", "hash.h"):
        shutil.copy(FIRMWARE / "primitives" / "hash" / name, folder / "hash")
    library = Library.load(folder)
    (way,) = library.implementations(library["leaky"])
    return way


def test_branches_that_go_one_way_are_found(tmp_path: Path) -> None:
    """A carry of which a branch is made, as compilers do of sums; no message here is so long."""
    build = BuildOf(leaky(SUMMING, tmp_path), "clang", "O2")
    assert leaks(build) == []
    assert branches_on_secrets(build)


def test_addresses_that_depend_on_secrets_are_found() -> None:
    """AES by tables: time is the same whatever is looked up, and where is not."""
    table = LIBRARY.implementation(LIBRARY["aes-128"], "ttable")
    found = leaks(BuildOf(table, "clang", "Os"))
    assert "encrypt: addresses differ" in found


def test_time_that_depends_on_secrets_is_found(tmp_path: Path) -> None:
    """A comparison that stops at the first difference, written as a hash of what it compares."""
    found = leaks(BuildOf(leaky(LEAKY, tmp_path), "clang", "Os"))
    assert any(leak.startswith("hash:") and leak.endswith("cycles") for leak in found), found
