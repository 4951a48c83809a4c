"""Leaks of time, addresses and branches are found and shown."""

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from build_checks import Build
from build_checks.secret_independence import leaks
from command import joulemark
from emulated import ARM, BuildOf
from joulemark.catalogue import boards
from joulemark.catalogue.primitives import Implementation, Library
from joulemark.cli import app
from joulemark.errors import ClaimError
from joulemark.measure.leaks import Leak, observe, refusals, trials
from joulemark.project import FIRMWARE, ROOT
from joulemark.reference.curves import P256
from vectors import LIBRARY

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
SILENT = """
def compute(variant, inputs, over):
    raise ValueError(f"{variant}: no oracle")
"""
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


ODD = {
    **LEAKY,
    "oracle.py": """
from functools import reduce
from operator import xor

from joulemark.oracle import Output

def compute(variant, inputs, over):
    return Output(output=bytes([reduce(xor, inputs.message, 0)]))
    """,
    "ref/leaky.c": """
#include "leaky.h"
void leaky_init(leaky_ctx *ctx) { ctx->zeros = 0; }
void leaky_update(leaky_ctx *ctx, const uint8_t *data, size_t length) {
    for (size_t i = 0; i < length; i++) ctx->zeros ^= data[i];
    if ((length & 1) != 0 && ctx->zeros == 9) __asm__ volatile("nop");
}
void leaky_final(leaky_ctx *ctx, uint8_t *digest) { digest[0] = ctx->zeros; }
    """,
}


def written(files: dict[str, str], folder: Path) -> Path:
    """Write a primitive `leaky` into a folder of one's own, and return that folder."""
    for name, text in files.items():
        path = folder / "hash" / "leaky" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def leaky(files: dict[str, str], folder: Path) -> Implementation:
    """Return the one implementation of the primitive in these files."""
    written(files, folder)
    for name in ("kind.toml", "kind.c", "hash.h"):
        shutil.copy(FIRMWARE / "primitives" / "hash" / name, folder / "hash")
    library = Library.load(folder)
    (way,) = library.implementations(library["leaky"])
    return way


def test_branches_that_go_one_way_are_found(tmp_path: Path) -> None:
    """A carry turned into a branch, as compilers do with sums; no message here is long enough."""
    build = Build(BuildOf(leaky(SUMMING, tmp_path), "clang", "O2"))
    looked = observe(build.way, build.board, build.made, "update", branches=True, following=False)
    assert looked.branches
    found = observe(build.way, build.board, build.made, "update")
    assert not found.shown_by_trials
    assert {use.decides for use in found.followed.uses} == {"branch"}
    assert found.agreement == "following alone"


def test_what_only_another_size_reaches_is_found_where_that_is_asked_for(tmp_path: Path) -> None:
    build = Build(BuildOf(leaky(ODD, tmp_path), "clang", "Os"))
    assert not observe(build.way, build.board, build.made, "hash").any
    found = observe(build.way, build.board, build.made, "hash", cover=True).followed
    assert {use.decides for use in found.uses} == {"branch"}
    assert any(one.startswith("1 byte: ") for one in found.widened)


def test_a_refusal_reaches_what_no_size_does() -> None:
    """What is done with a message whose tag is wrong."""
    way = LIBRARY.implementation(LIBRARY["aes-128-gcm"], "ref+bitslice")
    build = Build(BuildOf(way, "clang", "Os"))
    widened = observe(build.way, build.board, build.made, "decrypt", cover=True).followed.widened
    assert any(one.startswith("a changed bit of key: ") for one in widened), widened


def test_addresses_that_depend_on_secrets_are_found() -> None:
    """Table-based AES: the time is the same whatever is looked up, but the addresses are not."""
    table = LIBRARY.implementation(LIBRARY["aes-128"], "ttable")
    found = leaks(Build(BuildOf(table, "clang", "Os")))
    assert "encrypt: addresses differ" in found


def test_time_that_depends_on_secrets_is_found(tmp_path: Path) -> None:
    """A comparison that stops at the first difference, written as a hash of its operands."""
    found = leaks(Build(BuildOf(leaky(LEAKY, tmp_path), "clang", "Os")))
    assert any(leak.startswith("hash:") and leak.endswith("cycles") for leak in found), found


def test_branches_on_a_cortex_m_are_looked_at(tmp_path: Path) -> None:
    """A carry that decides a branch; and a MAC, whose branches count bytes."""
    leaking = leaky(SUMMING, tmp_path)
    mac = LIBRARY.implementation(LIBRARY["siphash-2-4"], "ref")
    for way, operation, decides in ((leaking, "update", True), (mac, "mac", False)):
        build = Build(BuildOf(way, "gcc", "Os", ARM))
        found = observe(way, ARM, build.made, operation, branches=True, following=False)
        assert bool(found.branches) is decides


CACHED = boards.load_board("launchxl-cc26x2r1")


def test_a_cache_that_replaces_at_random_tells_nothing_of_what_ran_before() -> None:
    """A signature is longer than the cache; its trials' data come over a line that knows them."""
    way = LIBRARY.implementation(LIBRARY["ecdsa-p256"], "armv7em+armv7m")
    image = BuildOf(way, "gcc", "O3", CACHED).build()
    # GCC counts from a register that it knows to be 0, since it decided a branch that is declared
    # public; who follows secrets does not know that, and alarms.
    tried = observe(way, CACHED, image, "sign", special=True, following=False)
    assert str(tried) == "sign: nothing"


def test_a_leak_beside_a_cache_is_found(tmp_path: Path) -> None:
    found = leaks(Build(BuildOf(leaky(LEAKY, tmp_path), "gcc", "Os", CACHED)))
    assert any(leak.startswith("hash:") and leak.endswith("cycles") for leak in found), found


def test_an_operation_that_is_not_there_is_named() -> None:
    asked = ("--primitive", "aes-128", "--board", "telosb", "--operation", "encode")
    done = joulemark("leaks", *asked, code=3)
    assert "--operation: encode: no such operation on secrets; " in done.stderr


def test_what_has_no_result_is_named_and_the_others_have_theirs() -> None:
    """ML-DSA needs more stack than this board has."""
    asked = ["--primitive", "ml-dsa-44", "--primitive", "sha-256", "--implementation", "ref"]
    asked += ["--board", "stm32vldiscovery", "--opt", "O2", "--no-follow"]
    done = joulemark("leaks", *asked, "--format", "json", code=6)
    assert {row["implementation"] for row in json.loads(done.stdout)} == {"sha-256/ref"}
    assert "2 cases failed, without a result:\n" in done.stderr
    for operation in ("keygen", "sign"):
        named = f"  ml-dsa-44/ref, gcc -O2, on stm32vldiscovery: {operation}: stack-overflow: "
        assert named in done.stderr
    alone = ["--primitive", "ml-dsa-44", *asked[4:], "--operation", "keygen"]
    assert "1 case failed, without a result:\n" in joulemark("leaks", *alone, code=6).stderr


def test_what_is_refused_before_its_window_begins_is_no_trial() -> None:
    """An earlier message of a handshake, which is not measured, refuses a key that is none."""
    way = LIBRARY.implementation(LIBRARY["edhoc-3-2-aes-128"], "armv7m")
    image = BuildOf(way, "gcc", "O2", CACHED).build()
    assert list(refusals(way.algorithm, "update"))
    tried = observe(way, CACHED, image, "update", special=True, following=False)
    assert (tried.refusals, str(tried)) == (0, "update: nothing")


def test_what_has_no_oracle_cannot_be_tried(tmp_path: Path) -> None:
    own = written(LEAKY | {"oracle.py": SILENT}, tmp_path)
    asked = ("--source", str(own), "--primitive", "leaky", "--opt", "Os")
    done = joulemark("leaks", "--board", "telosb", *asked, "--compiler", "clang", code=3)
    assert "leaky init: nothing to try: leaky: no oracle" in done.stderr


def test_leaks_are_shown_build_by_build() -> None:
    chosen = ["--board", "stm32vldiscovery", "--opt", "Os", "--operation", "encrypt"]
    chosen += ["--implementation", "ttable", "--implementation", "armv7m-fixslice"]
    done = CliRunner().invoke(app, ["leaks", "--primitive", "aes-128", *chosen])
    assert done.exit_code == 0, done.output
    lines = {line.split()[1]: line for line in done.output.splitlines()[1:3]}
    table = lines["aes-128/ttable"].split()
    assert "traces" in table
    assert table[-4:] == ["32", "x", "address", "agree"]
    # A build is named once, above what leaks in it.
    assert done.output.count("aes-128/ttable, gcc -Os, on stm32vldiscovery") == 1
    assert "    encrypt: address by key[0..15]" in done.output
    fixsliced = ["none", "same", "-", "nothing", "agree"]
    assert lines["aes-128/armv7m-fixslice"].split()[-5:] == fixsliced


def test_a_leak_in_code_of_ones_own_is_located(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JOULEMARK_SOURCE", "")
    # An image of the same code that was built elsewhere, from a checkout that is gone since.
    gone = ["--source", str(written(SUMMING, tmp_path / "gone"))]
    chosen = ["--primitive", "leaky", "--board", "telosb", "--opt", "O2"]
    chosen += ["--branches", "--operation", "update"]
    done = CliRunner().invoke(app, ["leaks", *gone, *chosen])
    assert "gone/hash/leaky/ref/leaky.c" in done.stdout
    shutil.rmtree(tmp_path / "gone")
    monkeypatch.setenv("JOULEMARK_SOURCE", "")
    chosen = ["leaks", "--source", str(written(SUMMING, tmp_path / "here")), *chosen]
    done = CliRunner().invoke(app, [*chosen, "--format", "json"])
    assert isinstance(done.exception, ClaimError)
    (row,) = json.loads(done.stdout)
    assert row["cycles"] > 0
    counts = {n: row[n] for n in ("spread", "address_traces", "refusals", "refused_traces")}
    assert counts == {"spread": 0, "address_traces": 1, "refusals": 0, "refused_traces": 1}
    (branch,) = row["branches"]
    assert branch["function"] == "leaky_update"
    assert branch["file"] == str(tmp_path / "here/hash/leaky/ref/leaky.c")
    code = SUMMING["ref/leaky.c"].splitlines()
    assert "if (ctx->low < data[i])" in code[branch["line"] - 1]
    assert isinstance(branch["address"], int)
    shown = CliRunner().invoke(app, chosen)
    instruction = f"{branch['address']:#06x}: {branch['instruction']}"
    assert f"leaky_update ({branch['file']}:{branch['line']}, {instruction})" in shown.stdout


@pytest.mark.parametrize(
    ("board", "implementation", "opt"),
    [("stm32vldiscovery", "limbs32", "O3"), ("telosb", "msp430", "Os")],
)
def test_the_page_shows_what_the_command_prints(board: str, implementation: str, opt: str) -> None:
    chosen = ["--board", board, "--implementation", implementation, "--opt", opt]
    chosen += ["--primitive", "ecdh-secp160r1", "--operation", "agree", "--format", "markdown"]
    chosen += ["--no-follow"]
    done = CliRunner().invoke(app, ["leaks", *chosen])
    assert done.exit_code == 0, done.output
    head, rule, row = (line for line in done.stdout.splitlines() if line.startswith("|"))
    page = (ROOT / "docs/leaks.md").read_text().splitlines()
    assert {head, rule, row} <= set(page)


def test_the_largest_secret_is_the_order_less_one() -> None:
    keys = [put.inputs["secret_key"] for put in trials(LIBRARY["ecdh-p256"], "agree", special=True)]
    assert (P256.order - 1).to_bytes(32, "big") in keys
    assert (1).to_bytes(32, "big") in keys


def test_refusals_are_compared_with_their_like() -> None:
    """Invalid keys, and points of low order, are refused alike; the order is known."""
    refused = [list(group) for group in refusals(LIBRARY["ecdh-p256"], "agree")]
    numbers = {int.from_bytes(put.inputs["secret_key"], "big") for put in refused[0]}
    assert numbers == {0, P256.order, P256.order + 1, (1 << 256) - 1}
    low = [list(group) for group in refusals(LIBRARY["x25519"], "agree")]
    assert len({group[0].inputs["peer_key"] for group in low}) == 7
    assert all(len({put.inputs["secret_key"] for put in group}) == 3 for group in low)
    assert all(put.expected == {"shared": bytes(32)} for group in (*refused, *low) for put in group)
    leak = Leak("agree", 20, 100, 100, 1, refusals=4, refused_spread=1)
    assert leak.any
    assert "refusals differ by 1 cycle, 1 trace of addresses" in str(leak)
