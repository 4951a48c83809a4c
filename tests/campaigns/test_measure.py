"""What measuring finds: wrong outputs, faults, hangs, and leaking secrets.

A small hash, the exclusive or of all bytes, is written in right, wrong and leaky ways, and goes
through all of Joulemark.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from command import Printed, by_itself, joulemark
from joulemark.project import ROOT

PRIMITIVE = """
title = "Exclusive or of all bytes"
prefix = "xor"
specification = "none: a test's"
year = 2026
status = "research"
status_source = "none: a test's"
[variant.xor-8]
digest_bytes = 9
block_bytes = 1
"""
IMPLEMENTATION = """
description = "a test's"
method = "none"
secret_independent = true
word_bits = 8
"""
VECTORS = """
[[vector]]
origin = "computed by hand"
variant = "xor-8"
message = "0102"
output = "030303030303030303"
"""
ORACLE = '''
"""A test's."""
from functools import reduce
from operator import xor

from joulemark.oracle import Compute, Inputs, Output


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Exclusive or of all bytes, nine times."""
    return Output(output=bytes([reduce(xor, inputs.message, 0)]) * 9)
'''
HEADER = """
#ifndef XOR_H
#define XOR_H
#include "hash/hash.h"
typedef struct { uint8_t sum; } xor_ctx;
enum { XOR_DIGEST_BYTES = 9, XOR_BLOCK_BYTES = 1 };
void xor_init(xor_ctx *ctx);
void xor_update(xor_ctx *ctx, const uint8_t *data, size_t length);
void xor_final(xor_ctx *ctx, uint8_t *digest);
#endif
"""
SOURCE = """
#include "xor.h"
%(extra)s
void xor_init(xor_ctx *ctx) { ctx->sum = 0; }
void xor_update(xor_ctx *ctx, const uint8_t *data, size_t length) {
    for (size_t i = 0; i < length; i++) { uint8_t b = data[i]; %(step)s }
}
void xor_final(xor_ctx *ctx, uint8_t *digest) {
    for (unsigned i = 0; i < XOR_DIGEST_BYTES; i++) digest[i] = ctx->sum;
#ifdef LAST_WRONG
    digest[XOR_DIGEST_BYTES - 1] ^= 1;
#endif
}
"""
TABLE = "static const uint8_t same[256] = {" + ", ".join(map(str, range(256))) + "};"
WAYS = {
    "right": ("", "ctx->sum ^= b;"),
    "wrong": ("", "ctx->sum ^= b; if (b == 0x40) ctx->sum ^= 1;"),
    "last-wrong": ("#define LAST_WRONG", "ctx->sum ^= b;"),
    "branch": ("", 'ctx->sum ^= b; if (b & 1) __asm__ volatile("nop");'),
    "declared": (
        "",
        'ctx->sum ^= b;\n/* public: a test\'s verdict */\nif (b & 1) __asm__ volatile("nop");\n',
    ),
    "declared-and-branch": (
        "",
        "ctx->sum ^= b;\n/* public: a test's verdict */\n"
        'if (b & 1) __asm__ volatile("nop");\n\n\n'
        'if (b & 2) __asm__ volatile("nop");\n',
    ),
    "rare": (
        "",
        'ctx->sum ^= b; if ((uint16_t)(b << 8 | ctx->sum) == 0xa5c3) __asm__ volatile("nop");',
    ),
    "table": (TABLE, "ctx->sum ^= ((const volatile uint8_t *)same)[b];"),
    "hang": ("", "ctx->sum ^= b; for (volatile int k = 1; k != 0;) continue;"),
    "wild": ("", "ctx->sum ^= b; *(volatile uint16_t *)0x4000 = 1;"),
    "deep": (
        "static __attribute__((noinline)) uint8_t sink(volatile uint8_t *x) {"
        " volatile uint8_t frame[64]; frame[0] = *x;"
        " if (frame[0] == *x) return (uint8_t)(sink(frame) + frame[0]); return 0; }",
        "ctx->sum ^= sink(&b);",
    ),
    "broken": ("", "this is not C;"),
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A separate project with the small hash in it."""
    root = tmp_path_factory.mktemp("project")
    for name in ("chips", "boards", "firmware/harness", "firmware/hal"):
        shutil.copytree(ROOT / name, root / name)
    primitives = root / "firmware/primitives"
    primitives.mkdir(parents=True)
    for path in (ROOT / "firmware/primitives").glob("*.h"):
        shutil.copy(path, primitives)
    shutil.copytree(ROOT / "firmware/primitives/identity", primitives / "identity")
    folder = primitives / "hash/xor"
    folder.mkdir(parents=True)
    for name in ("hash.h", "kind.toml", "kind.c"):
        shutil.copy(ROOT / "firmware/primitives/hash" / name, folder.parent)
    (folder / "primitive.toml").write_text(PRIMITIVE)
    (folder / "vectors.toml").write_text(VECTORS)
    (folder / "oracle.py").write_text(ORACLE)
    for name, (extra, step) in WAYS.items():
        (folder / name).mkdir()
        (folder / name / "implementation.toml").write_text(IMPLEMENTATION)
        (folder / name / "xor.h").write_text(HEADER)
        (folder / name / "xor.c").write_text(SOURCE % {"extra": extra, "step": step})
    return root


def run(project: Path, name: str, code: int, *options: str) -> Printed:
    sizes = () if "--size" in options else ("--size", "32")
    return by_itself(
        *("run", "--board", "telosb", "--primitive", "xor-8", "--implementation", name),
        *("--opt", "O2", "--store", str(project / f"{name}.db"), *sizes, *options),
        code=code,
        JOULEMARK_ROOT=str(project),
    )


def measured(project: Path, name: str, code: int = 0, *options: str) -> list[dict[str, Any]]:
    """Measure one implementation in a new store; return the last record of each case."""
    (project / f"{name}.db").unlink(missing_ok=True)
    done = run(project, name, code, *options)
    assert "Traceback" not in done.stderr
    store = str(project / f"{name}.db")
    records: list[dict[str, Any]] = json.loads(
        joulemark("export", "--format", "json", "--store", store).stdout
    )
    assert len(records) == 4 * (1 + options.count("--board"))
    return records


def failures(project: Path, name: str) -> set[str]:
    """Return the messages of the failed records, which have no numbers."""
    records = measured(project, name, 6)
    failed = [r for r in records if r["status"] == "failed"]
    assert {r["operation"] for r in failed} >= {"update", "hash"}
    for r in failed:
        for key in ("cycles", "time_ps", "energy_gross_nj", "energy_net_nj", "stack_bytes"):
            assert r[key] is None
    return {r["failure"] for r in failed}


@pytest.mark.parametrize(
    ("name", "finding"),
    [
        ("right", "independent of data"),
        ("branch", "time depends on data"),
        ("declared-and-branch", "time depends on data"),
        ("table", "addresses depend on data"),
        ("rare", "secrets decide"),
    ],
)
def test_secrets_that_show_are_found(project: Path, name: str, finding: str) -> None:
    by_operation = {r["operation"]: r for r in measured(project, name, 12 * (name != "right"))}
    for operation in ("update", "hash"):
        record = by_operation[operation]
        assert record["finding"] == finding
        assert (record["cycles_min"] < record["cycles_max"]) == ("branch" in name)
    assert by_operation["final"]["finding"] == "independent of data"


def test_trials_that_differ_by_a_declared_verdict_alone_are_judged_by_following(
    project: Path,
) -> None:
    by_operation = {r["operation"]: r for r in measured(project, "declared")}
    for operation in ("update", "hash"):
        record = by_operation[operation]
        assert record["cycles_min"] < record["cycles_max"]
        assert record["addresses_equal"] is None
        assert record["finding"] == "independent of data"
        assert "varies with what the code declares public" in record["notes"]
    assert "(as declared, 8 trials)" in run(project, "declared", 0, "--operation", "hash").stdout


def test_a_claim_that_trials_contradict_is_said_whether_measured_or_served(project: Path) -> None:
    """Each implementation here claims to be independent of secrets."""
    for times in range(2):
        done = run(project, "branch", 12, "--seed", "3")
        assert f"served from the store: {4 * times} of 4" in done.stdout
        assert "found to leak" in done.stderr
        assert "xor-8/branch, clang -O2, on telosb: hash, update\n" in done.stderr


def test_trials_that_were_asked_for_are_done(project: Path) -> None:
    """Long messages get fewer only by default."""
    for options, count in (((), 2), (("--trials", "9"), 9), (("--trials", "1"), 1)):
        records = measured(project, "right", 0, "--size", "40", "--fresh", *options)
        assert {r["trials"] for r in records if r["message_bytes"]} == {2 if not options else count}


def test_cold_and_warm_are_two_quantities_where_memories_keep_state(project: Path) -> None:
    """The number of trials affects neither; a chip without state has only one."""
    found = []
    for trials in ("1", "2", "9"):
        options = ("--board", "sensortag-cc2650", "--seed", "5", "--trials", trials, "--fresh")
        records = measured(project, "right", 0, *options)
        found.append(
            {
                (r["board"], r["operation"]): (r["cycles"], r["cycles_cold"], r["instructions"])
                for r in records
            }
        )
        for r in records:
            assert r["trials"] == max(int(trials), 2 if r["board"] != "telosb" else 1)
            if r["board"] == "telosb":
                assert r["cycles_cold"] is None
            elif r["operation"] == "hash":
                # The first time, its code is fetched from flash.
                assert r["cycles_cold"] > r["cycles"] > 0
    assert found[0] == found[1] == found[2]


def test_of_what_does_nothing_the_call_is_left(project: Path) -> None:
    store = str(project / "identity.db")
    by_itself(
        *("run", "--primitive", "identity", "--board", "telosb", "--store", store),
        JOULEMARK_ROOT=str(project),
    )
    text = joulemark("export", "--format", "json", "--store", store).stdout
    (record,) = json.loads(text)
    assert record["window_cycles"] > record["empty_cycles"] > 0
    assert 0 < record["cycles"] == record["window_cycles"] - record["empty_cycles"] < 20


def test_a_wrong_output_is_no_number(project: Path) -> None:
    # One of 512 random bytes is 0x40 with a probability of 87%; with this seed, one is.
    records = measured(project, "wrong", 6, "--seed", "1")
    (failure,) = {r["failure"] for r in records if r["operation"] == "hash"}
    assert "wrong output" in failure
    assert "seed 1" in failure


def test_an_output_whose_last_byte_is_wrong_is_no_number(project: Path) -> None:
    records = measured(project, "last-wrong", 6)
    (failure,) = {r["failure"] for r in records if r["operation"] == "hash"}
    assert "wrong output" in failure


def test_a_wild_write_is_a_failure_that_names_it(project: Path) -> None:
    for failure in failures(project, "wild"):
        assert "0x4000" in failure
        assert "xor_update" in failure


def test_endless_recursion_is_caught_before_it_destroys_data(project: Path) -> None:
    for failure in failures(project, "deep"):
        assert "sink" in failure
        assert "stack" in failure


def test_an_endless_loop_is_stopped(project: Path) -> None:
    for failure in failures(project, "hang"):
        assert "stuck" in failure


def test_what_does_not_compile_is_a_failure_with_the_compilers_words(project: Path) -> None:
    for failure in failures(project, "broken"):
        assert "xor.c" in failure
        assert "error:" in failure


def test_the_two_ways_to_measure_memory_and_stack_agree(project: Path) -> None:
    for record in measured(project, "right"):
        assert abs(record["flash_bytes"] - record["flash_wiring_bytes"]) <= 2
        assert abs(record["ram_bytes"] - record["ram_wiring_bytes"]) <= 2
        assert record["stack_bytes"] == record["stack_painted_bytes"]
