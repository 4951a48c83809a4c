"""The pages of cores have what is measured of their assembly."""

import re
from pathlib import Path

import pytest

from command import joulemark
from joulemark.project import ROOT
from joulemark.records.record import of_primitives
from joulemark.records.store import Store

HEAD = "| primitive | implementation | operation | bytes | compiler | cycles |"
PAGES = [page for page in sorted((ROOT / "docs").glob("*.md")) if HEAD in page.read_text("utf-8")]
FIGURE = r" ([\d,]+) \|"
MEASURED = re.compile(
    rf"^\| (\S+) \| `(\S+)` \| (\w+) \| (\d+) \| (\w+) \|{FIGURE}{FIGURE}{FIGURE}$", re.MULTILINE
)


def test_pages_are_found() -> None:
    assert {"cortex-m0plus", "riscv"} <= {page.stem for page in PAGES}


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_page_has_what_is_measured(page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    (board,) = set(re.findall(r"joulemark run --board (\S+)", text))
    measured = MEASURED.findall(text)
    assert measured
    found = set()
    for primitive, way, operation, size, compiler, *_ in measured:
        case = ("--primitive", primitive, "--implementation", way, "--operation", operation)
        sizes = ("--size", size, "--ad-size", "0")
        made = ("--compiler", compiler, "--opt", "O3", "--board", board)
        joulemark("run", *case, *sizes, *made, folder=tmp_path)
        with Store(tmp_path / "results" / "joulemark.db") as store:
            for record in of_primitives(store.records()):
                what, build = record.subject, record.build
                assert build is not None
                figures = (record.cycles, record.flash_bytes, record.stack_bytes)
                names = (what.primitive, what.implementation, what.operation)
                found.add(
                    (*names, str(what.message_bytes), build.compiler, *(f"{n:,}" for n in figures))
                )
    assert found == set(measured)
