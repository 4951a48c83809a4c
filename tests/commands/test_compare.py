"""Comparing results: changes in made-up records, and the command as a maintainer types it."""

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from ruamel.yaml import YAML

import released
from command import joulemark
from joulemark.analysis.changes import Change, Limits, compare, summary
from joulemark.project import ROOT
from joulemark.records.record import PrimitiveRecord, Quantity
from joulemark.records.sides import rows
from joulemark.records.store import Store
from made import made


def record(**given: object) -> PrimitiveRecord:
    values: dict[str, object] = {
        "exact": True,
        "cycles": 1000,
        "flash_bytes": 500,
        "stack_bytes": 40,
        "trials": 8,
        "addresses_equal": True,
        "secret_independent": True,
    }
    return made(**(values | given))


def stored(path: Path, *records: PrimitiveRecord) -> str:
    path.unlink(missing_ok=True)
    with Store(path) as opened:
        for each in records:
            opened.append(each)
    return str(path)


@pytest.fixture
def sides(tmp_path: Path) -> "dict[str, str]":
    """The same two cases before and after; one of them became slower and needs more stack."""
    other = record(primitive="sha-512")
    return {
        "base": stored(tmp_path / "base.db", record(), other),
        "same": stored(tmp_path / "same.db", record(), other),
        "head": stored(tmp_path / "head.db", record(cycles=1055, stack_bytes=136), other),
    }


def test_what_is_the_same_is_the_same(sides: dict[str, str]) -> None:
    done = joulemark(
        "compare", sides["base"], sides["same"], "--fail", "cycles=0%", "--fail", "stack=0"
    )
    assert "2 cases: 2 same; none beyond the limits (cycles=0%, stack=0)" in done.stdout
    told = joulemark("compare", sides["base"], sides["same"], "--format", "markdown").stdout
    assert told.startswith("### Joulemark: ")
    assert "2 cases: 2 same; no limits given: --fail" in told


def test_a_comment_sized_summary(sides: dict[str, str]) -> None:
    done = joulemark("compare", sides["base"], sides["head"])
    assert "sha-256/ref hash +5.5%, stack +96 B" in done.stdout.splitlines()
    assert "1 same, 1 changed" in done.stdout


@pytest.mark.parametrize(
    ("limit", "code"),
    [
        ("cycles=5%", 14),
        # Of the earlier value: 55 more are 5.2% of the later one.
        ("cycles=5.3%", 14),
        ("cycles=5.5%", 0),
        ("cycles=54", 14),
        ("cycles=55", 0),
        ("stack=95", 14),
        ("stack=96", 0),
        ("flash=0", 0),
        ("secrets", 0),
        ("missing", 0),
    ],
)
def test_limits(sides: dict[str, str], limit: str, code: int) -> None:
    done = joulemark("compare", sides["base"], sides["head"], "--fail", limit, code=code)
    assert ("1 case beyond the limits" in done.stderr) == (code == 14)
    # Improvements never exceed a limit.
    joulemark("compare", sides["head"], sides["base"], "--fail", limit)


def test_a_case_that_leaks_now_is_found(tmp_path: Path) -> None:
    base = stored(tmp_path / "a.db", record())
    head = stored(tmp_path / "b.db", record(addresses_equal=False))
    done = joulemark("compare", base, head, "--fail", "secrets", code=14)
    assert "no longer independent of secrets" in done.stdout
    assert (
        "now independent of secrets" in joulemark("compare", head, base, "--fail", "secrets").stdout
    )


def test_a_case_that_fails_now_counts_without_any_limit(tmp_path: Path) -> None:
    base = stored(tmp_path / "a.db", record(), record(primitive="sha-512"))
    head = stored(
        tmp_path / "b.db",
        record(status="failed", failure="wrong output"),
        record(primitive="sha-512"),
    )
    assert "wrong output" in joulemark("compare", base, head, code=14).stdout
    assert "1 mended" in joulemark("compare", head, base).stdout


def test_missing_and_new_cases(tmp_path: Path) -> None:
    both = stored(tmp_path / "a.db", record(), record(primitive="sha-512"))
    one = stored(tmp_path / "b.db", record())
    assert "1 missing" in joulemark("compare", both, one).stdout
    joulemark("compare", both, one, "--fail", "missing", code=14)
    assert "1 new" in joulemark("compare", one, both, "--fail", "missing").stdout
    strange = stored(tmp_path / "c.db", record(primitive="sha-1"))
    assert "no case in common" in joulemark("compare", one, strange, code=3).stderr


@pytest.mark.parametrize(("middle", "certain"), [(101.0, False), (103.5, False), (106.0, True)])
def test_instruments_are_compared_by_their_intervals(middle: float, *, certain: bool) -> None:
    def measured(value: float) -> PrimitiveRecord:
        ends = (value - 2, value + 2)
        energy = Quantity("", "energy_net", "nJ", value, *ends, "interval", "measured")
        return made(runner="serial", meter="ppk2", unit="a", trials=5, quantities=[energy])

    from joulemark.records.export import flat_frame
    from joulemark.records.sides import _plain

    base, head = (_plain(flat_frame([measured(v)])) for v in (100.0, middle))
    (found,) = compare(base, head, Limits.parse(["energy=1"]))
    assert bool(found.changes) == certain
    assert bool(found.broken) == (certain and middle - 100 - 4 > 1)
    assert found.how == "intervals"


def test_other_random_inputs_are_compared_by_ranges() -> None:
    from joulemark.records.export import flat_frame
    from joulemark.records.sides import _plain

    def one(seed: int, low: int, high: int) -> list[dict[str, object]]:
        middle = (low + high) // 2
        given = {"seed": seed, "exact": False, "cycles": middle}
        return _plain(flat_frame([record(**given, cycles_min=low, cycles_max=high)]))

    (overlap,) = compare(one(1, 90, 110), one(2, 100, 130), Limits())
    assert overlap.state == "same"
    (apart,) = compare(one(1, 90, 110), one(2, 120, 130), Limits.parse(["cycles=10"]))
    assert [c.least for c in apart.changes] == [10]
    assert not apart.broken
    (alike,) = compare(one(1, 90, 110), one(1, 90, 112), Limits())
    assert alike.how == "exact"
    assert alike.state == "changed"


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_exports_are_compared_as_their_stores(
    sides: dict[str, str], tmp_path: Path, form: str
) -> None:
    exported = {}
    for name, store in sides.items():
        exported[name] = str(tmp_path / f"{name}.{form}")
        joulemark("export", "--format", form, "--store", store, "--out", exported[name])
    for other in ("same", "head"):
        limits = Limits.parse(["cycles=1%"])
        from_stores = compare(rows(sides["base"]), rows(sides[other]), limits)
        from_files = compare(rows(exported["base"]), rows(exported[other]), limits)
        assert from_files == from_stores
        assert compare(rows(sides["base"]), rows(exported[other]), limits) == from_stores


def test_forms_hold_the_same(sides: dict[str, str], tmp_path: Path) -> None:
    asked = ("compare", sides["base"], sides["head"], "--fail", "cycles=1%")
    found = json.loads(joulemark(*asked, "--format", "json", code=14).stdout)
    assert found["failed"]
    assert found["summary"] == ["sha-256/ref hash +5.5%, stack +96 B"]
    out = tmp_path / "junit.xml"
    joulemark(*asked, "--format", "junit", "--out", str(out), code=14)
    (suite,) = ET.parse(out).getroot()  # noqa: S314
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    (failure,) = suite.iter("failure")
    assert "cycles +5.5% (limit cycles=1%)" in str(failure.get("message"))
    markdown = joulemark(*asked, "--format", "markdown", code=14).stdout
    assert "- `sha-256/ref hash +5.5%, stack +96 B`" in markdown
    (row,) = (line for line in markdown.splitlines() if line.startswith("| sha-256"))
    assert "| +5.5%: cycles 1,000 → 1,055; +96 B: stack " in row


def test_markdown_says_a_percentage_once_and_every_unit(tmp_path: Path) -> None:
    before = {"cycles": 1000, "time_ps": 1_000_000, "energy_net_nj": 2}
    base = stored(tmp_path / "a.db", record(**before))
    head = stored(tmp_path / "b.db", record(**{n: v * 11 // 10 for n, v in before.items()}))
    markdown = joulemark("compare", base, head, "--format", "markdown").stdout
    rows = [line for line in markdown.splitlines() if line.startswith("| sha-256")]
    assert len(rows) == 1
    assert "| +10%: cycles 1,000 → 1,100, time 1 → 1.1 µs |" in rows[0]


def test_a_summary_of_many_sizes_shows_the_furthest_change() -> None:
    from joulemark.records.export import flat_frame
    from joulemark.records.sides import _plain

    base = [record(message_bytes=n, cycles=1000 * n) for n in (16, 32)]
    head = [record(message_bytes=n, cycles=1000 * n + n * n) for n in (16, 32)]
    found = compare(_plain(flat_frame(base)), _plain(flat_frame(head)), Limits())
    assert summary(found) == ["sha-256/ref hash +3.2%"]


@pytest.mark.parametrize(("cycles", "told"), [(1055, "+5.5%"), (12_600, "+1,160%"), (79, "-92.1%")])
def test_a_change_is_a_percentage_that_a_person_reads(cycles: int, told: str) -> None:
    assert Change("cycles", "cycles", 1000, cycles, cycles - 1000).text == told


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("none.db", "none.db"), 9, "no store"),
        (("none.csv", "none.csv"), 3, "cannot be read"),
        (("v1", "v2"), 3, "with --source FOLDER a commit"),
        (("bad.json", "bad.json"), 3, "cannot be read"),
        (("deep.json", "deep.json"), 3, "deep.json: is nested too deeply; `joulemark export`"),
        (("bad.csv", "bad.csv"), 3, "has no column case_digest"),
        (("bad.db", "bad.db"), 9, "not a database"),
        (("a.db", "b.db", "--fail", "speed=1"), 3, "NAME=5% or NAME=32"),
        (("a.db", "b.db", "--fail", "cycles=fast"), 3, "NAME=5% or NAME=32"),
        (("a.db", "b.db", "--", "--size", "16"), 3, "are for commits"),
        (("v1", "v2", "--source", "nowhere"), 3, "is no folder"),
        (("a.db",), 2, "HEAD"),
    ],
)
def test_bad_input(tmp_path: Path, arguments: tuple[str, ...], code: int, message: str) -> None:
    for name in ("bad.json", "bad.csv", "bad.db"):
        (tmp_path / name).write_text("this is not it")
    (tmp_path / "deep.json").write_text("[" * 100_000)
    done = joulemark("compare", *arguments, code=code, folder=tmp_path)
    assert message in done.stderr
    assert "internal error" not in done.stderr


SLOWER = """
void aes_init(aes_ctx *ctx, const uint8_t *key) {
    volatile uint8_t copy[64];
    for (int i = 0; i < 64; i++) { copy[i] = key[i % 16]; }
    before(ctx, key);
}
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A library with two releases; the second is slower and needs more stack."""
    root = released.library(tmp_path / "library", "ref", ("aes_init", SLOWER))
    (root / "src/aes.c").write_text("#error not finished\n")
    return root


def test_a_maintainer_compares_two_releases(repository: Path) -> None:
    asked = ("--source", str(repository / "joulemark"), "--fail", "cycles=5%", "--fail", "stack=32")
    run = ("--", "--board", "telosb", "--size", "16", "--trials", "2")
    done = joulemark("compare", "v1", "v2", *asked, *run, code=14)
    line = next(x for x in done.stdout.splitlines() if x.startswith("aes-128/mine init"))
    assert "stack +" in line
    assert "+" in line.split()[2]
    assert "aes-128/mine encrypt +" not in done.stdout  # Its cycles are unchanged.
    # The repository is unchanged, whatever the state of its tree.
    assert len(released.git(repository, "worktree", "list").splitlines()) == 1
    assert (repository / "src/aes.c").read_text() == "#error not finished\n"
    wrong = joulemark("compare", "v1", "v9", *asked, *run, code=3)
    assert "v9: is no commit" in wrong.stderr
    assert "measuring" not in wrong.stderr  # Both are looked for first.


def test_a_commit_that_cannot_be_measured_says_so(repository: Path) -> None:
    asked = ("--source", str(repository / "joulemark"))
    done = joulemark("compare", "v1", "v2", *asked, "--", "--board", "telosc", code=3)
    assert "v1: could not be measured" in done.stderr


WORKFLOWS = {
    "docs/workflows/github.yml": "vendor.github-workflows",
    "action.yml": "vendor.github-actions",
    "docs/workflows/gitlab.yml": "vendor.gitlab-ci",
    "templates/compare.yml": "vendor.gitlab-ci",
}


def documents(path: str) -> list[Any]:
    return list(YAML(typ="safe").load_all(ROOT / path))


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_is_what_its_service_takes(name: str, tmp_path: Path) -> None:
    """A component's head is not its pipeline's."""
    path = tmp_path / "workflow.yml"
    YAML().dump(documents(name)[-1], path)
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", WORKFLOWS[name]]
    subprocess.run([*check, str(path)], check=True, capture_output=True)


def test_workflows_give_what_the_action_and_the_component_take() -> None:
    (used,) = (
        step
        for step in documents("docs/workflows/github.yml")[0]["jobs"]["compare"]["steps"]
        if "joulemark@" in step.get("uses", "")
    )
    (action,), (head, _) = documents("action.yml"), documents("templates/compare.yml")
    (included,) = documents("docs/workflows/gitlab.yml")[0]["include"]
    for given, inputs in (
        (used["with"], action["inputs"]),
        (included["inputs"], head["spec"]["inputs"]),
    ):
        assert given.keys() <= inputs.keys()
        needed = {name for name, one in inputs.items() if "default" not in one}
        assert needed <= given.keys()
        assert Limits.parse(given["fail"].split())


def test_the_command_of_both_services_runs(repository: Path, tmp_path: Path) -> None:
    """With what the services fill in themselves; both give the same command."""
    small = "--board telosb --size 16 --operation init --trials 1 --opt O3"
    told = {"SOURCE": "joulemark", "FAIL": "cycles=1% stack=32 secrets", "OPTIONS": small}
    told |= {"BASE": "v1", "HEAD": "v2"}
    told |= {"CI_MERGE_REQUEST_DIFF_BASE_SHA": "v1", "CI_COMMIT_SHA": "v2"}
    component = documents("templates/compare.yml")[1]["joulemark"]["script"][0]
    commands = {
        "github": documents("action.yml")[0]["runs"]["steps"][2]["run"],
        "gitlab": component.replace("/opt/joulemark/bin/", ""),
    }
    program = tmp_path / "bin/joulemark"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@" > "$ASKED"\n')
    program.chmod(0o755)
    asked = {}
    for service, command in commands.items():
        written = tmp_path / service
        path = f"{program.parent}:{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "ASKED": str(written), **told}
        subprocess.run(["bash", "-e", "-c", command], env=environment, check=True)
        # `--fail=X` and `--fail X` are the same.
        asked[service] = written.read_text().replace("--fail=", "--fail\n").split()
    markdown = ["--out", "joulemark.md"]
    at = asked["github"].index(markdown[0])
    assert asked["github"][at : at + 2] == markdown
    assert asked["github"][:at] + asked["github"][at + 2 :] == asked["gitlab"]
    joulemark(*asked["github"], code=14, folder=repository)
    suite = ET.parse(repository / "joulemark.xml").getroot()  # noqa: S314
    assert any(case.find("failure") is not None for case in suite.iter("testcase"))
    assert "aes-128/mine init" in (repository / "joulemark.md").read_text()


BENCHER = {
    "type": "object",
    "additionalProperties": {
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "properties": {
                key: {"type": "number"} for key in ("value", "lower_value", "upper_value")
            },
            "required": ["value"],
            "additionalProperties": False,
        },
    },
}
"""What https://bencher.dev/bmf.json says, and no key that Bencher does not read."""
ACTION_BENCHMARK = {
    "type": "array",
    "minItems": 1,
    "items": {
        "type": "object",
        "properties": {
            "value": {"type": "number"},
            **{key: {"type": "string"} for key in ("name", "unit", "range", "extra")},
        },
        "required": ["name", "unit", "value"],
        "additionalProperties": False,
    },
}
"""`customSmallerIsBetter` of benchmark-action/github-action-benchmark, as its README states it."""


def test_exports_for_services_that_keep_benchmarks(tmp_path: Path) -> None:
    with Store(tmp_path / "s.db") as opened:
        opened.append(
            made(cycles=100, cycles_min=90, cycles_max=110, time_ps=10**7, flash_bytes=500),
            made(key="f", message_bytes=16, status="failed", failure="wrong output"),
            made(key="o", board="openmote-cc2538", chip="cc2538", cycles=7, exact=True),
        )
    store = ("--store", str(tmp_path / "s.db"))
    found = json.loads(joulemark("export", "--format", "customSmallerIsBetter", *store).stdout)
    jsonschema.validate(found, ACTION_BENCHMARK)
    names = [one["name"] for one in found]
    assert len(names) == len(set(names)) == 4
    cycles = next(one for one in found if one["name"].endswith("telosb max: cycles"))
    assert (cycles["value"], cycles["unit"], cycles["range"]) == (100, "cycles", "90 to 110")
    assert cycles["extra"].startswith("exact (8 of 8")
    found = json.loads(joulemark("export", "--format", "bencher", *store).stdout)
    jsonschema.validate(found, BENCHER)
    (telosb,) = (one for name, one in found.items() if "telosb" in name)
    assert telosb["cycles"] == {"value": 100, "lower_value": 90, "upper_value": 110}
    assert telosb["flash-b"] == {"value": 500}
    assert all(len(name) <= 1024 for name in found)


def test_an_ending_says_the_format(tmp_path: Path) -> None:
    done = joulemark("compare", "a.db", "b.db", "--out", str(tmp_path / "x.pdf"), code=3)
    assert "end it in .txt, .md, .json, .xml, or give --format" in done.stderr
