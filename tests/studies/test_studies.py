"""Studies: their files, arithmetic, verdicts, and that each study's verdicts are as pinned."""

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from command import by_itself, joulemark
from joulemark.analysis.advice import services
from joulemark.analysis.price import DEMANDS
from joulemark.catalogue import boards, machines
from joulemark.errors import InputError, ToolError
from joulemark.measure.pool import Processes
from joulemark.project import ROOT
from joulemark.records.store import Store
from joulemark.report.study import write_page
from joulemark.studies import expressions, pins, study, ways
from joulemark.studies.advised import advised
from joulemark.studies.conduct import Conducted
from joulemark.studies.expressions import MissingError
from joulemark.studies.output import counts, document, head_count, held, left_out, reach
from joulemark.studies.verdict import Cause, Tried, Verdict, explains, gap, judge, share
from joulemark.studies.ways import Bench, architecture, library, program, slot
from joulemark.subjects.slot import certificate

HEAD = """
title = "A title"
authors = "Somebody"
published = "2020"
about = "What it is about."
would_tell = "the board itself"
[tolerance]
factor = 1.5
reason = "because"
[[change]]
name = "faster"
what = "a sensor that measures"
cites = "section 2"
replace = { more_current = "measuring" }
[quantity]
measuring = { name = "mpu9250-measuring" }
[defaults]
way = "board"
board = "sensortag-cc2650"
of = "load"
name = "mpu9250-on"
"""
LIST = """
[cells]
currents = { section = "table-1", column = "current", rows = ["same", "none"] }
"""
ABOVE_ANYWAY = 'id = "above", what = "above", more_than = 0.1'
SECTION = """
[[section]]
name = "table-1"
title = "Table 1"
column = [{ name = "current", title = "current", unit = "mA" }]
row = [
    { id = "same", what = "the same", values = [0.2], ours = {} },
    { id = "more", what = "more", values = [4.0], ours = {} },
    { id = "none", what = "nobody knows", values = [4.0], ours = { name = "no-such" } },
    { id = "missing", what = "missing", values = [4.0], needs = "a board" },
    { id = "unbuilt", what = "unbuilt", values = [4.0], unbuilt = "a sensor's model" },
    { id = "false", what = "false", values = [4.0], ours = {}, check = "1 < 0", says = "no" },
    { id = "copied", what = "copied", values = [0.2], ours = {}, arithmetic = "a copy" },
    { id = "wrong", what = "wrong", values = [4.0], ours = {}, arithmetic = "a copy" },
    { id = "round", what = "round", values = [0.181], ours = {}, circular = "taken from there" },
]
item = [
    { id = "plot", what = "a plot", untranscribed = "in the published paper" },
    { id = "above", what = "above", more_than = 1.0, ours = "more_current / paper.same_current" },
    { id = "below", what = "below", less_than = 1.5, ours = "more_current / paper.same_current" },
    { id = "lies", what = "a lie", more_than = 9.0, ours = "more_current", theirs = "1" },
    { id = "lost", what = "lost", unit = "mA", ours = {} },
    { id = "ours", what = "nobody else said", beyond = true, ours = "more_current" },
]
"""


def read(tmp_path: Path, text: str) -> study.Study:
    folder = tmp_path / "author-2020"
    folder.mkdir(exist_ok=True)
    (folder / "study.toml").write_text(text, encoding="utf-8")
    return study.read(folder / "study.toml")


def conducted(found: study.Study, tmp_path: Path, *, short: bool = False) -> Conducted:
    with Store(tmp_path / "store.db") as store:
        bench = Bench(store=store, workers=Processes(1))
        return Conducted(found, study.select(found, [], short=short), bench, short=short)


def test_every_verdict_and_its_reason(tmp_path: Path) -> None:
    results = conducted(read(tmp_path, HEAD + SECTION), tmp_path).results
    said = {r.item.id: (r.verdict, r.reason) for r in results}
    assert said == {
        "same_current": (Verdict.REPRODUCED, "within a factor of 1.5"),
        "more_current": (
            Verdict.DIFFERS,
            "by a sensor that measures: 0.875 times the paper's instead of 0.0452 times the"
            " paper's, 96% of the gap (of the rows that it touches 2 nearer, 1 further); section 2",
        ),
        "none_current": (
            Verdict.UNTESTABLE,
            "needs the file of sensortag-cc2650 states no load no-such",
        ),
        "missing_current": (Verdict.UNTESTABLE, "needs a board"),
        "unbuilt_current": (Verdict.NOT_BUILT, "a sensor's model"),
        "false_current": (Verdict.CONTRADICTED, "no"),
        "copied_current": (Verdict.CONSISTENT, "a copy"),
        "wrong_current": (Verdict.INCONSISTENT, "a copy: 0.0452 times the paper's"),
        "round_current": (Verdict.CIRCULAR, "taken from there"),
        "above": (
            Verdict.DIFFERS,
            "by a sensor that measures: 17.5 instead of 0.905, 100% of the gap"
            " (of the rows that it touches 2 nearer, 1 further); section 2",
        ),
        "below": (Verdict.REPRODUCED, "it holds"),
        "lies": (Verdict.CONTRADICTED, "its own figures say otherwise"),
        "plot": (Verdict.NOT_TRANSCRIBED, "in the published paper"),
        "lost": (Verdict.UNTESTABLE, "needs the number, which the text has not"),
        "ours": (Verdict.BEYOND, "the paper states no such number"),
    }


def test_what_lacks_a_tool_is_left_out_and_the_rest_is_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = read(tmp_path, HEAD + SECTION)
    every = {r.item.id for r in conducted(found, tmp_path).results}
    lacking = {"no-such"}

    def absent() -> None:
        raise ToolError("no qemu-arm", mend="apt install qemu-user")

    def needs(asked: Sequence[Any], _: Bench) -> Iterator[Any]:
        return (absent for one in asked if one.name in lacking or "all" in lacking)

    monkeypatch.setattr(ways.load("board"), "needs", needs)
    some = conducted(found, tmp_path)
    left = every - {r.item.id for r in some.results}
    assert left
    assert left < every
    assert some.left_out == {"no qemu-arm; apt install qemu-user": len(left)}
    told = document(some)
    assert told["left_out"] == some.left_out
    assert len(told["results"]) == len(every) - len(left)
    assert f"{len(left)} item" in left_out(some)[0]
    assert {r.cause for r in some.results} == {None}, "not all rows are there"
    lacking.add("all")
    only = [item for item in found.items if item.id in left]
    with Store(tmp_path / "none.db") as store:
        bench = Bench(store=store, workers=Processes(1))
        with pytest.raises(ToolError, match="qemu-user"):
            Conducted(found, only, bench, short=False)


def test_a_list_of_cells_stands_for_each(tmp_path: Path) -> None:
    of_ours = LIST + SECTION.replace('"more_current",', '"max(currents)",')
    (lies,) = (i for i in read(tmp_path, HEAD + of_ours).items if i.id == "lies")
    assert lies.ours == "max([same_current, none_current])"
    of_paper = LIST + SECTION.replace('theirs = "1"', 'theirs = "min(paper.currents) + currents"')
    (lies,) = (i for i in read(tmp_path, HEAD + of_paper).items if i.id == "lies")
    listed = "[paper.same_current, paper.none_current]"
    assert lies.theirs == f"min({listed}) + [same_current, none_current]"


def outcomes(found: Conducted) -> dict[str, str]:
    return {r.item.id: r.outcome for r in found.results if r.verdict is Verdict.DIFFERS}


def test_a_cause_explains_if_it_takes_no_row_away(tmp_path: Path) -> None:
    in_part = {"more_current": "differs, explained in part", "above": "differs, explained in part"}
    found = conducted(read(tmp_path, HEAD + SECTION), tmp_path)
    assert outcomes(found) == in_part
    (tried,) = reach(found)
    assert (tried.touched, tried.nearer, tried.further) == (3, 2, 1)
    assert tried.worse == ("below",)
    # A bound that holds with the change, too: nothing stands against it.
    held = SECTION.replace("less_than = 1.5", "less_than = 30")
    explained = outcomes(conducted(read(tmp_path, HEAD + held), tmp_path))
    assert set(explained.values()) == {"differs, explained"}


def test_what_takes_away_as_many_rows_as_it_brings_is_no_cause(tmp_path: Path) -> None:
    less = SECTION.replace('id = "above", what = "above", more_than = 1.0', ABOVE_ANYWAY)
    found = conducted(read(tmp_path, HEAD + less), tmp_path)
    assert outcomes(found) == {"more_current": "differs, cause unknown"}
    (more,) = (r for r in found.results if r.item.id == "more_current")
    assert more.reason.startswith("the cause is unknown; tried: a sensor that measures: 0.875")
    assert more.reason.endswith("1 nearer, 1 further). What would tell: the board itself")


def test_what_changes_nothing_explains_nothing(tmp_path: Path) -> None:
    text = (HEAD + SECTION).replace('"measuring" }', '"more_current" }')
    found = conducted(read(tmp_path, text), tmp_path)
    assert set(outcomes(found).values()) == {"differs, cause unknown"}
    (more,) = (r for r in found.results if r.item.id == "more_current")
    assert more.reason == "the cause is unknown. What would tell: the board itself"


def test_what_rounds_to_the_papers_number_agrees_within_the_factor(tmp_path: Path) -> None:
    held = '[4.0], ours = {}, tolerance = { factor = 1.1, rounded = 1, reason = "r" } }'
    text = (HEAD + SECTION).replace("[4.0], ours = {} }", held, 1)
    (item,) = (i for i in read(tmp_path, text).items if i.id == "more_current")
    agree = [item.within(a / 1e3, item.value) for a in (3.17, 3.19, 4.94, 4.96)]
    assert agree == [False, True, True, False]


def test_what_the_paper_prints_may_be_the_inverse_of_what_it_rounds(tmp_path: Path) -> None:
    tolerance = 'tolerance = { factor = 1.25, rounded_inverse = 0.01, reason = "r" }'
    text = (HEAD + SECTION).replace("[4.0], ours = {} }", f"[4.0], ours = {{}}, {tolerance} }}", 1)
    (item,) = (i for i in read(tmp_path, text).items if i.id == "more_current")
    # 4.0 is 1/0.25, of 0.245 to 0.255 before it was rounded.
    ours = [1 / 0.255 / 1.251, 1 / 0.255 / 1.249, 1.249 / 0.245, 1.251 / 0.245]
    assert [item.within(a / 1e3, item.value) for a in ours] == [False, True, True, False]


def test_a_cells_own_keys_go_before_its_rows(tmp_path: Path) -> None:
    own = 'cell = { current = { arithmetic = "of its own" } }, arithmetic = "of the row" }'
    text = (HEAD + SECTION).replace("[4.0], ours = {} }", f"[4.0], ours = {{}}, {own}", 1)
    (item,) = (i for i in read(tmp_path, text).items if i.id == "more_current")
    assert item.arithmetic == "of its own"


def test_the_factor_is_of_what_not_both_have(tmp_path: Path) -> None:
    held = '[4.0], ours = {}, tolerance = { factor = 1.5, both_have = 3, reason = "r" } }'
    text = (HEAD + SECTION).replace("[4.0], ours = {} }", held, 1)
    (item,) = (i for i in read(tmp_path, text).items if i.id == "more_current")
    agree = [item.within(a / 1e3, item.value) for a in (2.9, 3.6, 3.7, 4.4, 4.6)]
    assert agree == [False, False, True, True, False]
    assert gap(item, 5e-3, item.value) == pytest.approx(np.log(2))
    told = judge(item, 4e-3, 4.4e-3, contradiction=None, missing=(), tried=None)
    assert told.reason == "within a factor of 1.5 beyond the 3 mA that both have"
    short = judge(item, 4e-3, 4.7e-3, contradiction=None, missing=(), tried=None)
    assert short.reason.endswith(f"If none is found, would tell: {item.would_tell}")


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ({}, Cause.EXPLAINED),
        ({"value": 2.0, "share": 0.5}, Cause.IN_PART),
        ({"value": 1.1, "share": 0.4}, Cause.IN_PART),
        ({"share": 0.05}, Cause.UNKNOWN),
        ({"share": None}, Cause.UNKNOWN),
        ({"nearer": 2, "further": 2}, Cause.UNKNOWN),
        ({"further": 1, "worse": ("other",)}, Cause.IN_PART),
        ({"value": None}, Cause.UNTRIED),
    ],
)
def test_how_far_a_change_explains(tmp_path: Path, known: dict[str, Any], said: Cause) -> None:
    item = read(tmp_path, (HEAD + SECTION).replace("[0.2], ours = {} }", "[1e3], ours = {} }"))
    usual = {"value": 1.2, "share": 0.9, "nearer": 2}
    tried = Tried(name="n", what="w", cites="c", **{**usual, **known})
    assert explains(item.items[0], tried) is said


def test_shares_of_a_gap() -> None:
    assert share(np.log(4), np.log(2)) == pytest.approx(0.5)
    assert share(np.log(2), np.log(2)) == 0
    assert share(np.log(2), np.log(4)) == pytest.approx(-1)
    assert share(np.inf, 0.1) == 1


def test_how_far_causes_are_known_is_counted_and_shown(tmp_path: Path) -> None:
    found = conducted(read(tmp_path, HEAD + SECTION), tmp_path)
    assert counts(found).startswith(
        "10 items: 2 reproduced, 2 differs (2 explained in part), 2 con"
    )
    assert counts(found).endswith(
        "not counted: 1 consistent, 1 inconsistent, 1 circular, 1 not transcribed,"
        " 1 beyond the paper"
    )
    assert head_count(found.study) == 10
    plain = document(found)
    assert plain["causes_unknown"] == 0
    (more,) = (r for r in plain["results"] if r["id"] == "more_current")
    (tried,) = more["tried"]
    assert (tried["nearer"], tried["further"], tried["worse"]) == (2, 1, ["below"])
    assert tried["share"] == pytest.approx(1 - np.log(0.875) / np.log(0.04525), abs=1e-3)
    assert tried["cites"] == "section 2"
    page = tmp_path / "page.html"
    write_page(found, [], page)
    text = page.read_text(encoding="utf-8")
    assert text.count("differs, explained in part<") == 2
    assert "Causes that were tried" in text
    # A shorter run, or a pin of it, does not lose what is known.
    pins.write(found)
    assert head_count(found.study) == 10
    short = conducted(
        read(tmp_path, HEAD + SECTION.replace("[[section]]", "[[section]]\nshort = true")),
        tmp_path,
        short=True,
    )
    assert "2 differs," in counts(short)
    pins.compare(short)
    pins.write(short)
    pinned = pins.read(pins.path(found.study))
    assert pinned["above"] == "differs, explained in part"


def test_json_says_what_a_reader_needs(tmp_path: Path) -> None:
    found = document(conducted(read(tmp_path, HEAD + SECTION), tmp_path))
    first = found["results"][0]
    assert found["items"] == 10
    assert {"id", "paper", "ours", "unit", "ratio", "verdict", "reason", "conditions"} <= set(first)
    assert (first["paper"], first["unit"]) == (0.2, "mA")
    assert first["ours"] == pytest.approx(0.181)
    assert first["ratio"] == pytest.approx(0.905)
    assert "shibata-2018, table I" in first["conditions"]["ours"][0]


def test_a_verdict_that_moves_fails(tmp_path: Path) -> None:
    done = conducted(read(tmp_path, HEAD + SECTION), tmp_path)
    pins.compare(done)  # Nothing is pinned yet.
    pins.write(done)
    pins.compare(done)
    moved = conducted(read(tmp_path, (HEAD + SECTION).replace("[0.2]", "[0.5]")), tmp_path)
    with pytest.raises(pins.MovedVerdictError, match="same_current: was reproduced, is differs"):
        pins.compare(moved)


def test_a_change_that_cannot_be_tried_moves_no_verdict(tmp_path: Path) -> None:
    done = conducted(read(tmp_path, HEAD + SECTION), tmp_path)
    pins.write(done)
    text = (HEAD + SECTION).replace('name = "mpu9250-measuring"', 'name = "gone"')
    untried = conducted(read(tmp_path, text), tmp_path)
    (more,) = (r for r in untried.results if r.item.id == "more_current")
    assert more.cause is Cause.UNTRIED
    assert "could not be tried: a sensor that measures" in more.reason
    pins.compare(untried)
    pins.write(untried)
    assert pins.read(pins.path(untried.study))["more_current"] == "differs, explained in part"


CHANGE = 'replace = { more_current = "measuring" }'


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("factor = 1.5", "factor = 1.0", "must be more than 1"),
        ('cites = "section 2"\n', "", "change.0.cites: this key is missing"),
        (CHANGE, "", "change faster has `asked` or `replace`"),
        (CHANGE, "asked = { opt = 'O0', compiler = 'gcc' }", "changes opt and compiler: try one"),
        (
            CHANGE,
            "asked = { opt = 'O0' }\nwhere = { primitive = 'aes-128' }",
            "change faster builds one side of comparisons anew, by primitive",
        ),
        ('"measuring" }', '"measurng" }', "there is no measurng"),
        ("{ more_current =", "{ mere_current =", "change faster: there is no mere_current"),
        (
            'name = "mpu9250-measuring" }\n[defaults]',
            'opt = "O0" }\n[defaults]\nopt = "O3"',
            "change faster: more_current is also built anew (opt)",
        ),
        ('reason = "because"', "", "tolerance.reason: this key is missing"),
        ("values = [0.2]", "values = [0.2, 1]", "row same has 2 values for 1 columns"),
        ('id = "more"', 'id = "same"', "same_current: is there twice"),
        ('would_tell = "the board itself"\n', "", "would_tell: this key is missing"),
        (', needs = "a board"', "", "item missing_current: nobody can tell what came of it"),
        (', says = "no"', "", "it is not said what a failed check means"),
        ("paper.same_current", "paper.other", "there is no other"),
        ("more_current / paper", "more_current if paper", "is no expression"),
        ('"more_current", theirs', '"open(more_current)", theirs', "is not arithmetic"),
        ('unit = "mA" }]', 'unit = "furlong" }]', "must match"),
        ("more_than = 1.0", "more_than = 1.0, value = 3.0", "is a number and a bound"),
        (
            "more_than = 1.0",
            'more_than = 1.0, tolerance = { factor = 2, reason = "much" }',
            "item above is no number: a bound has no `tolerance`",
        ),
        ('what = "more"', 'what = "more", repeats = { a = "b" }', "in a not the number of b"),
        ('title = "Table 1"', 'title = "Table 1"\nfoo = 1', "section.0.foo: unknown key"),
        (LIST, LIST.replace("table-1", "table-9"), "cells.currents: there is no table-9"),
        (LIST, LIST.replace('n = "current"', 'n = "time"'), "there is no time in table-1"),
        (LIST, LIST.replace(', "none"', ', "mere"'), "there is no mere in table-1"),
        (LIST, LIST.replace("currents =", "above ="), "above: is there twice"),
    ],
)
def test_a_wrong_file_is_one_message(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, (HEAD + LIST + SECTION).replace(old, new))
    assert message in str(caught.value)
    assert "study.toml" in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('way = "board"', 'way = "bord"', "no such way: bord; there are architecture, board"),
        ('of = "load"', 'of = "lode"', "must be"),
        ('name = "mpu9250-on"', "primitive = 1", "primitive: unknown key"),
    ],
)
def test_a_wrong_question_is_one_message(tmp_path: Path, old: str, new: str, message: str) -> None:
    found = read(tmp_path, (HEAD + SECTION).replace(old, new))
    with pytest.raises(InputError, match=message):
        conducted(found, tmp_path)


def test_arithmetic() -> None:
    sizes, fast, slow = np.array([8.0, 16, 32, 64]), np.array([1.0, 2, 4, 8]), np.full(4, 3.0)
    values = {"sizes": sizes, "fast": fast, "slow": slow}

    def evaluate(text: str) -> object:
        return expressions.evaluate(text, values, {"x": 2.0})

    assert evaluate("first_above(sizes, fast, slow)") == 32
    assert evaluate("slope(sizes, fast)") == pytest.approx(1 / 8)
    assert evaluate("-(2 + 3) * 4 / 2 ** 2") == -5
    assert evaluate("max(fast, slow, 9) - min(fast, slow)") == 8
    assert evaluate("1 < paper.x < 3 and paper.x == 2")
    assert list(expressions.names("fast / paper.x")) == [(False, "fast"), (True, "x")]
    with pytest.raises(MissingError, match="y"):
        evaluate("paper.y")
    with pytest.raises(MissingError, match="do not cross"):
        evaluate("first_above(sizes, slow, slow + fast)")


@pytest.mark.parametrize(
    "text", ["a.b", "f(1)", "a[0]", "lambda: 1", "'a'", "paper", "a if b else c"]
)
def test_what_is_no_arithmetic(text: str) -> None:
    if text == "paper":
        assert list(expressions.names(text)) == [(False, "paper")]
        return
    with pytest.raises(InputError, match="is not arithmetic"):
        list(expressions.names(text))


@pytest.mark.parametrize("name", study.names())
def test_each_item_is_pinned(name: str) -> None:
    found = study.load(name)
    pinned = pins.read(found.path.with_name("verdicts.toml"))
    assert set(pinned) == {item.id for item in found.items}
    causes = {f"{Verdict.DIFFERS}, {cause}" for cause in Cause if cause is not Cause.UNTRIED}
    assert set(pinned.values()) <= {*map(str, Verdict), *causes} - {str(Verdict.DIFFERS)}
    assert any(item.short for item in found.items)


@pytest.mark.parametrize("name", study.names())
def test_what_is_counted_was_measured(name: str) -> None:
    """Arithmetic on documents and on the paper's own numbers reproduces nothing."""
    found = study.load(name)
    items = {item.id: item for item in found.items}

    def ways(text: str) -> Iterator[str]:
        for of_paper, named in expressions.names(text):
            if not of_paper and named in found.quantities:
                yield str(found.quantities[named]["way"])
            elif not of_paper and isinstance(ours := items[named].ours, str):
                yield from ways(ours)

    for item in found.items:
        if item.ours is None or item.arithmetic or item.circular or item.beyond or item.check:
            continue
        asked = item.ours
        used = {asked["way"]} if isinstance(asked, dict) else set(ways(asked))
        assert used - {"board"}, f"{item.id} rests on no measurement: say why, as `arithmetic`"


@pytest.mark.parametrize("name", study.names())
def test_no_measurement_is_counted_twice(name: str) -> None:
    seen: dict[str, str] = {}
    for item in study.load(name).items:
        if item.ours is None or item.arithmetic or item.circular or item.beyond:
            continue
        ours = sorted(item.ours.items()) if isinstance(item.ours, dict) else item.ours
        judged = f"{ours} {item.value} {item.more_than} {item.less_than}"
        first = seen.setdefault(judged, item.id)
        assert first == item.id, f"{item.id} is {first} again: say so, as `arithmetic`"


@pytest.mark.parametrize("name", study.names())
def test_the_papers_contradictions_are_those_that_are_pinned(name: str) -> None:
    found = study.load(name)
    pinned = pins.read(found.path.with_name("verdicts.toml"))
    seen = {
        item.id
        for item in study.select(found, [], short=True)
        if item.circular is None and item.arithmetic is None
        if study.contradiction(item, found.paper)
    }
    assert seen == {item for item, verdict in pinned.items() if verdict == Verdict.CONTRADICTED}


def test_eq_1_is_broken_by_30_of_44_slots() -> None:
    """Of 48: without security, each board's slot is printed once for each strategy."""
    found = study.load("sciancalepore-2016")
    slots = [item for item in found.items if item.id.endswith("_slot") and item.arithmetic is None]
    assert len(slots) == 44
    assert sum(study.contradiction(item, found.paper) is not None for item in slots) == 30


def test_a_number_printed_again_is_counted_once(tmp_path: Path) -> None:
    again = """
[[section]]
name = "table-2"
title = "Table 2"
column = [
    { name = "software", title = "software", unit = "mA" },
    { name = "hybrid", title = "hybrid", unit = "mA", check = "1 < 0", says = "no" },
]
[[section.row]]
id = "plain"
what = "plain"
values = [0.2, 0.2]
ours = {}
repeats = { hybrid = "software" }
"""
    results = conducted(read(tmp_path, HEAD + SECTION + again), tmp_path).results
    said = {r.item.id: (r.verdict, r.reason) for r in results}
    assert said["plain_software"] == (Verdict.REPRODUCED, "within a factor of 1.5")
    assert said["plain_hybrid"] == (Verdict.INCONSISTENT, "again the number of software: no")
    agrees = again.replace("1 < 0", "0 < 1")
    results = conducted(read(tmp_path, HEAD + SECTION + agrees), tmp_path).results
    said = {r.item.id: (r.verdict, r.reason) for r in results}
    assert said["plain_hybrid"] == (Verdict.CONSISTENT, "again the number of software")


def test_arithmetic_that_contradicts_itself_is_not_counted(tmp_path: Path) -> None:
    text = SECTION.replace("check =", 'arithmetic = "a product", check =')
    results = conducted(read(tmp_path, HEAD + text), tmp_path).results
    (found,) = (r for r in results if r.item.id == "false_current")
    assert (found.verdict, found.reason) == (Verdict.INCONSISTENT, "a product: no")


def test_no_change_is_made_at_one_place_of_a_comparison(tmp_path: Path) -> None:
    other = 'other = { board = "stm32vldiscovery", of = "chip", name = "active" }\n[defaults]'
    both = 'ours = "more_current / other"'
    text = (HEAD + SECTION).replace("[defaults]", other, 1)
    text = text.replace('ours = "more_current / paper.same_current"', both)
    place = "asked = { grade = 'datasheet' }\nwhere = { board = 'sensortag-cc2650' }"
    read(tmp_path, (HEAD + SECTION).replace(CHANGE, place))
    with pytest.raises(InputError, match="above would have one of its sides changed alone"):
        read(tmp_path, text.replace(CHANGE, place))


def test_all_of_a_series_of_the_papers_has_to_hold(tmp_path: Path) -> None:
    lies = SECTION.replace("more_than = 9.0", "more_than = 0.5").replace('"1"', '"[1, 0.2]"')
    results = conducted(read(tmp_path, HEAD + lies), tmp_path).results
    (found,) = (r for r in results if r.item.id == "lies")
    assert (found.verdict, found.paper) == (Verdict.CONTRADICTED, 0.2)
    held = lies.replace("0.2]", "0.6]")
    results = conducted(read(tmp_path, HEAD + held), tmp_path).results
    (found,) = (r for r in results if r.item.id == "lies")
    assert found.verdict is Verdict.DIFFERS


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("studies") / "store.db"


@pytest.mark.slow
@pytest.mark.parametrize("name", study.names())
def test_the_short_form_gives_the_verdicts_that_are_pinned(name: str, store: Path) -> None:
    found = study.load(name)
    with Store(store) as opened:
        items = study.select(found, [], short=True)
        bench = Bench(store=opened, workers=Processes(2))
        try:
            judged = Conducted(found, items, bench, short=True)
        except ToolError as error:
            if "cannot fetch" not in str(error):
                raise
            pytest.skip(str(error))  # Debian's packages for ARM, once for each checkout
        pins.compare(judged)
        if judged.left_out:
            measures_what_is_there_today(judged, bench)


def measures_what_is_there_today(judged: Conducted, bench: Bench) -> None:
    """Where a paper's library cannot be fetched, the same rows with Debian's, outputs verified."""
    found = {result.item.id for result in judged.results}
    names = {i.id for i in study.select(judged.study, [], short=True) if i.id not in found}
    asked = [library.Asked.model_validate(question(judged.study, name)) for name in names]
    answers = library.obtain([one for one in map(library.best, asked) if one], bench)
    assert answers
    assert all(answer.value for answer in answers.values())


def question(found: study.Study, name: str) -> dict[str, Any]:
    return {key: value for key, value in found.quantities[name].items() if key != "way"}


def test_the_command(tmp_path: Path) -> None:
    store = ["--store", str(tmp_path / "store.db")]
    page = tmp_path / "page.html"
    done = joulemark("study", "shibata-2018", "--item", "table-i", "--out", str(page), *store)
    head = "1 item: 1 contradicted by the paper itself; not counted: 2 consistent, 11 circular"
    assert head in done.stdout
    assert head in page.read_text(encoding="utf-8")
    done = joulemark("study", "shibata-2018", "--item", "busy_current", "--json", *store)
    (result,) = json.loads(done.stdout)["results"]
    assert result["verdict"] == "contradicted by the paper itself"
    assert "shibata-2018" in joulemark("study", "list").stdout
    wrong = joulemark("study", "shibata-2018", "--item", "table-xx", *store, code=3)
    assert "there is no table-xx in shibata-2018; there are table-i, table-ii" in wrong.stderr
    assert "no such study" in joulemark("study", "nobody-1999", *store, code=3).stderr


def test_a_study_names_all_tools_that_it_lacks_and_judges_the_rest(tmp_path: Path) -> None:
    linker = shutil.which("ld.lld-19")
    assert linker is not None
    (tmp_path / "ld.lld-19").symlink_to(linker)
    store = ("--store", str(tmp_path / "store.db"))
    for name, wanted in {
        "shibata-2018": (
            "no clang that makes code for msp430",
            "install the Debian packages clang-19 and lld-19",
            "arm-none-eabi-gcc on the PATH: apt install gcc-arm-none-eabi libnewlib-arm-none-eabi",
        ),
        # For its program on the TelosB, its case on the Edison, and the Edison's pipeline.
        "pereira-2017": (
            "no clang that makes code for msp430",
            *("no i686-linux-gnu-gcc", "install the Debian package gcc-i686-linux-gnu"),
            *("no qemu-i386", "install the Debian package qemu-user"),
            "no llvm-mc-19, no llvm-objdump-19, no llvm-mca-19",
        ),
    }.items():
        shown = by_itself("study", name, *store, PATH=str(tmp_path)).stdout
        said = "\n".join(line for line in shown.splitlines() if line.startswith("left out, "))
        assert [text for text in wanted if text not in said] == []
        assert "not counted: " in shown, "the rest is judged"
        assert "no ld.lld" not in said
    # Looking something up takes no compiler.
    item = ("--item", "busy_current", "--json", *store)
    by_itself("study", "shibata-2018", *item, PATH=str(tmp_path))


def test_advice_is_for_services_that_there_are(tmp_path: Path) -> None:
    advice = '[[advice]]\nboard = "telosb"\nsize = [64]\n[advice.paper]\n"Hush" = "MD5"\n'
    found = read(tmp_path, (HEAD + SECTION).replace("[[change]]", advice + "[[change]]"))
    with Store(tmp_path / "store.db") as store:
        bench = Bench(store=store, workers=Processes(1))
        with pytest.raises(InputError, match="no such service: Hush; there are"):
            advised(found, bench)


@pytest.mark.parametrize("name", study.names())
def test_each_advice_is_of_a_board_and_a_service(name: str) -> None:
    titles = {service.title for service in services()}
    for advice in study.load(name).file.advice:
        if advice.board in machines.names():
            assert not advice.clock
        else:
            boards.load_board(advice.board).clock_profile(advice.clock or None)
        assert set(advice.paper) <= titles


def test_advice_for_a_linux_board_is_estimated(tmp_path: Path) -> None:
    """By time; each size asked for has its choice."""
    found = study.load("shibata-2018")
    paper = {"Hash": "MD5"}
    advice = study.Advice(board="raspberry-pi-zero-w", size=[16, 512], paper=paper)
    file = found.file.model_copy(update={"advice": [advice]})
    asked = study.Study(found.name, file, found.path)
    with Store(tmp_path / "store.db") as store:
        bench = Bench(store=store, workers=Processes(1))
        (told,) = advised(asked, bench)
        assert told.is_estimated
        assert told.title == "Raspberry Pi Zero W"
        assert told.sizes("Hash") == [16, 512]
        for demand in DEMANDS[:3]:
            short, long = (p for p in told.of("Hash") if p.demand is demand)
            assert 0 < short.time_s < long.time_s
            # Energy is time times the power of the busy core, 0.83 W.
            assert long.energy_j == pytest.approx(0.83 * long.time_s)
        count = len(list(store.records()))
        advised(asked, bench)
        assert len(list(store.records())) == count


def test_proved_slots_give_the_verdicts_that_are_pinned() -> None:
    """The TelosB's offsets and delays by hardware and hybrid, without a run.

    The certificate's others have another driver than the study. The study's slots are by Eq. (1),
    the certificate's with the acknowledgement as it is.
    """
    found = study.load("sciancalepore-2016")
    pinned = pins.read(pins.path(found))
    proved = {
        p.case.case.digest: {
            "tx_offset": p.tx_offset_ticks,
            "tx_ack_delay": p.tx_ack_delay_ticks,
        }
        for p in certificate.read(found.path.with_name("slots.json")).proved
    }
    ours: dict[str, expressions.Value] = {}
    for name, question in found.quantities.items():
        if question["way"] != "slot" or any(isinstance(v, list) for v in question.values()):
            continue
        asked = slot.Asked.model_validate({k: v for k, v in question.items() if k != "way"})
        ticks = proved.get(slot._case(asked).case.digest, {}).get(asked.metric)
        if ticks is not None:
            ours[name] = ticks / 32_768
    held = 0
    for item in found.items:
        if item.id not in ours:
            continue  # No template for it was proved over this many slots.
        said = study.contradiction(item, found.paper)
        found_now = judge(
            item, item.value, ours[item.id], contradiction=said, missing=(), tried=None
        )
        assert found_now.verdict is pins.verdict(pinned[item.id]), item.id
        held += 1
    assert held >= 30


def test_a_proved_slot_is_that_of_todays_firmware() -> None:
    """The fastest of each board; `joulemark slot-check` proves all of them."""
    path = study.load("sciancalepore-2016").path.with_name("slots.json")
    for board in ("telosb", "openmote-cc2538"):
        of_board = [p for p in certificate.read(path).proved if p.board == board]
        quickest = min((p for p in of_board if p.subject.level), key=lambda p: p.slot_ticks)
        assert len(list(certificate.check(quickest, slots=30))) == 4


@pytest.mark.parametrize(("board", "compiler"), [("telosb", "clang"), ("sensortag-cc2650", "gcc")])
def test_keccaks_constants_are_made_as_the_standard_has_them(board: str, compiler: str) -> None:
    asked = program.Asked(board=board, program="keccak-constants", compiler=compiler, opt="Os")
    with Store(":memory:") as store:
        (answer,) = program.obtain([asked], Bench(store=store, workers=Processes(1))).values()
    # At least 168 steps of a register.
    assert answer.value is not None, answer.how
    assert answer.value * 48_000_000 > 168 * 10


def test_times_deviate_as_a_timer_of_32_us_reads_them() -> None:
    def deviation(cycles: Sequence[int]) -> float | None:
        samples = tuple({"window_cycles": one} for one in cycles)
        record = SimpleNamespace(samples=samples, provenance=SimpleNamespace(clock_hz=1_000_000))
        return architecture._deviation(cast("Any", record))

    assert deviation([64] * 20) == 0
    # One and a half steps are read as one or as two.
    assert deviation([48] * 20) == pytest.approx(16e-6)
    # By n - 1.
    assert deviation([32, 64] * 10) == pytest.approx(32e-6 * (0.25 * 20 / 19) ** 0.5)
    assert deviation([64] * 19) is None


def test_the_radio_has_what_its_security_needs() -> None:
    define = "RADIO_KEYS_STAY=1"
    asked = program.Asked(board="telosb", program="inline-security", define=define)
    with Store(":memory:") as store:
        (answer,) = program.obtain([asked], Bench(store=store, workers=Processes(1))).values()
    # At least 16 bytes of nonce over SPI.
    assert answer.value is not None, answer.how
    assert answer.value * 8_000_000 > 16 * 16


@pytest.mark.parametrize("name", study.names())
def test_the_guide_says_how_much_of_each_study_ci_judges(name: str) -> None:
    guide = (ROOT / "docs/adding-a-study.md").read_text(encoding="utf-8")
    (row,) = (line for line in guide.splitlines() if line.startswith(f"| {name} |"))
    assert f" {held(study.load(name)).partition(' that ')[0]} " in row.replace(":", " ")
