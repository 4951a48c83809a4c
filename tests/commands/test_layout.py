"""`compare` tells code that moved from code that does more.

The implementation is one whose time changes by a tenth on a CC2538 if its code moves by 4 bytes.
"""

import random
import re
import shutil
from pathlib import Path

import pytest

from command import joulemark
from joulemark.analysis.changes import Compared, Limits, compare
from joulemark.catalogue import boards
from joulemark.catalogue.primitives import library
from joulemark.cli.compare import PLACEMENTS
from joulemark.errors import InputError
from joulemark.images import build_image
from joulemark.project import FIRMWARE
from joulemark.records.sides import rows
from joulemark.report.changes import text

XTEA = FIRMWARE / "primitives/block-cipher/xtea/ref"
LIMITS = Limits.parse(["cycles=1%"])
PAD = '__asm__(".section .text.{0},\\"ax\\",%progbits\\n\\t.space {1}\\n\\t.previous");'
BLOCK = "        uint32_t y = load(in), z = load(in + 4), sum = 0;\n"


def moved(source: str, draw: random.Random) -> str:
    """Return code whose functions lie elsewhere: in another order, and after unused bytes."""
    head, *functions = source.split("\n\n")
    static = [part for part in functions if part.startswith("static")]
    public = [part for part in functions if part not in static]
    draw.shuffle(public)
    names = re.findall(r"^void (\w+)\(", source, re.MULTILINE)
    assert len(names) == 3
    pads = [PAD.format(name, 4 * draw.randrange(16)) for name in names]
    return "\n\n".join([head, *pads, *static, *public])


def slower(source: str, cycles: int) -> str:
    """Return code in which each block takes this many more cycles."""
    work = f'        __asm__ volatile(".rept {cycles}\\n\\tnop\\n\\t.endr");\n'
    assert BLOCK in source
    return source.replace(BLOCK, BLOCK + work, 1)


def measured(folder: Path, variants: dict[str, str]) -> dict[str, list[dict[str, object]]]:
    """Return the rows of each variant's builds, as those of one implementation."""
    for name, source in variants.items():
        made = folder / "own/block-cipher/xtea" / name
        shutil.copytree(XTEA, made)
        (made / "xtea.c").write_text(source)
    store = str(folder / "store.db")
    asked: tuple[str, ...] = (
        "--board",
        "openmote-cc2538",
        "--opt",
        "O2",
        "--operation",
        "encrypt",
        "--size",
        "64",
    )
    asked += ("--seed", "1", "--trials", "1", "--placements", str(PLACEMENTS), "--store", store)
    own = ("--source", str(folder / "own"), "--primitive", "xtea", "--implementation", "m-*")
    joulemark("run", *own, *asked)
    found: dict[str, list[dict[str, object]]] = {name: [] for name in variants}
    for row in rows(store):
        name = str(row["implementation"])
        subject = str(row["subject"]).replace(name, "mine")
        one = {**row, "implementation": "mine", "subject": subject}
        found[name].append({**one, "case_digest": str(row["variant"])})
    return found


def compared(base: list[dict[str, object]], head: list[dict[str, object]]) -> Compared:
    (found,) = compare(base, head, LIMITS)
    return found


COUNT = 20


def test_layout_fails_nothing_and_work_fails(tmp_path: Path) -> None:
    source, draw = (XTEA / "xtea.c").read_text(), random.Random(4)
    layouts = {f"m-l{n}": moved(source, draw) for n in range(COUNT)}
    # 3% are 30 cycles of a block; each in another layout.
    work = {f"m-w{n}": slower(moved(source, draw), 30 + 2 * (n % 3)) for n in range(COUNT)}
    found = measured(tmp_path, {"m-base": source, **layouts, **work})

    def outcome(name: str, places: int) -> Compared:
        base, head = (
            [row for row in found[n] if int(str(row["variant"] or 0)) < 4 * places]
            for n in ("m-base", name)
        )
        return compared(base, head)

    placed = {name: outcome(name, PLACEMENTS) for name in (*layouts, *work)}
    assert not any(placed[name].broken for name in layouts)
    assert all(placed[name].broken for name in work)
    assert {one.how for one in placed.values()} == {"placements"}
    assert all(one.spread == pytest.approx(0.099, abs=0.001) for one in placed.values())
    # At one place, code that moved looks like a change by a tenth.
    assert any(outcome(name, 1).broken for name in layouts)
    shown = text([placed["m-w0"]], "base", "head", [])
    assert "cycles of a case lie up to 9.9% apart; compared are means over the places" in shown
    assert "layout: not varied" in text([outcome("m-w0", 1)], "base", "head", [])


def test_what_cannot_be_placed_is_refused_not_measured_at_one_place() -> None:
    way = library().implementation(library()["xtea"], "ref")
    with pytest.raises(InputError, match="places no primitive's code: msp430"):
        build_image(way, boards.load_board("telosb"), offset_bytes=4)


def test_a_failed_placement_is_a_failed_case() -> None:
    row = {
        "case_digest": "a", "status": "ok", "failure": None, "board": "b", "clock": "max",
        "subject": "s", "variant": None, "cycles": 100, "memories_keep_state": True,
    }  # fmt: skip
    base = [row, {**row, "case_digest": "b", "variant": "+4", "cycles": 110}]
    broken = {**base[1], "status": "failed", "failure": "wrong output"}
    assert compare(base, base, LIMITS)[0].state == "same"
    (found,) = compare(base, [row, broken], LIMITS)
    assert found.broken == ("failed: wrong output",)
