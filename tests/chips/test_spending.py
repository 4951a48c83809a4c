"""Costs of instructions, lines and calls, when each instruction is followed."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from playwright.sync_api import sync_playwright

from command import joulemark
from joulemark._engine import Image, Machine
from joulemark.analysis.spending import ASLEEP, Spending, Spent
from joulemark.catalogue import boards, chips
from joulemark.catalogue.primitives import library
from joulemark.errors import InputError
from joulemark.images import build_image
from joulemark.images.lines import lines_of
from joulemark.meters.model import ModelMeter
from joulemark.meters.power import occupancy

BOARDS = ("telosb", "openmote-cc2538")
CYCLES = 300_000


@pytest.fixture(scope="module")
def images() -> dict[str, Path]:
    """An image for each core."""
    way = library().implementation(library()["xtea"], "ref")
    return {b: build_image(way, boards.load_board(b), optimisation="Os").path for b in BOARDS}


def machine(board: str, image: Path, *, follow: bool) -> Machine:
    described = boards.load_board(board)
    chip, wiring = chips.load_chip(described.chip), described.wiring
    return Machine(chip, Image.load(image), wiring=wiring, profile=True, trace=True, follow=follow)


@pytest.mark.parametrize("board", BOARDS)
def test_following_changes_nothing_and_loses_nothing(board: str, images: dict[str, Path]) -> None:
    plain, followed = (machine(board, images[board], follow=f) for f in (False, True))
    for one in (plain, followed):
        one.run(until_asleep=True, max_cycles=CYCLES)
    for name in ("cycles", "instructions", "sleep_cycles", "time_ps", "stack_bytes"):
        assert getattr(followed, name) == getattr(plain, name)
    assert [(p.path, p.self_cycles) for p in followed.profile.paths] == [
        (p.path, p.self_cycles) for p in plain.profile.paths
    ]
    found = followed.followed
    assert sum(cycles for *_, cycles, _, _ in found.places) == plain.cycles
    assert sum(count for *_, count, _ in found.places) == plain.instructions
    described = boards.load_board(board)
    meter = ModelMeter(described)
    spending = Spending(found, meter, described.supply_v.value)
    turns = list(spending.in_order())
    assert sum(ps for _, ps, _ in turns) == plain.time_ps == spending.total.time_ps
    energy = meter.energy(occupancy(plain.power_tracks, 0, plain.time_ps))
    assert spending.total.energy_nj == pytest.approx(energy.gross_nj, rel=1e-3)
    assert sum(sum(nj) for *_, nj in turns) == pytest.approx(spending.total.energy_nj)
    awake: dict[tuple[str, ...], int] = {}
    for path, ps, _ in turns:
        if path[-1] != ASLEEP:
            awake[tuple(path)] = awake.get(tuple(path), 0) + ps
    assert {tuple(p.path) for p in plain.profile.paths} <= set(awake)


def test_what_sleeps_is_named_and_costs_what_sleep_costs(tmp_path: Path) -> None:
    (tmp_path / "p.S").write_text(
        ".global _start\n.text\n_start:\n  mov #0x3900, sp\n  mov #0x5a80, &0x120\n"
        "  mov #0x0110, &0x160\n  mov #0x8000, &0x172\n  mov #0x10, &0x162\n"
        "  mov #0x0110, &0x160\n  bis #0x18, sr\nend:\n  jmp end\n"
        '.type _start, @function\n.section .vectors, "a"\n.word _start\n'.replace("\\n", "\n")
    )
    elf = assembled(tmp_path)
    run = machine("telosb", elf, follow=True)
    run.run(max_cycles=50_000)
    assert run.sleep_cycles > 40_000
    described = boards.load_board("telosb")
    found = Spending(run.followed, ModelMeter(described), described.supply_v.value)
    asleep = [(ps, sum(nj)) for path, ps, nj in found.in_order() if path[-1] == ASLEEP]
    assert len(asleep) == 1
    assert asleep[0][0] == pytest.approx(run.sleep_cycles / run.cycles * run.time_ps, rel=0.01)
    # Asleep it draws less than a tenth of what it draws awake.
    assert asleep[0][1] / asleep[0][0] < 0.1 * found.total.energy_nj / found.total.time_ps * 10
    assert found.total.cycles == run.cycles - run.sleep_cycles


def assembled(folder: Path) -> Path:
    for command in (
        ["clang-19", "--target=msp430", "-c", "p.S", "-o", "p.o"],
        [
            *("ld.lld-19", "--omagic", "-Ttext=0x4000", "--section-start=.vectors=0xfffe"),
            *("-e", "_start", "p.o", "-o", "p.elf"),
        ],
    ):
        subprocess.run(command, cwd=folder, check=True)
    return folder / "p.elf"


PROGRAM = """\
static volatile int sink;
static inline int twice(int x) {
    return x * 2;
}
int main(void) {
    for (int i = 0; i < 10; i++)
        sink = twice(sink + i);
    for (;;) {
    }
}
"""


@pytest.mark.parametrize("version", [4, 5])
def test_lines_are_those_of_llvms_symbolizer(tmp_path: Path, version: int) -> None:
    (tmp_path / "p.c").write_text(PROGRAM)
    flags = ["-mcpu=cortex-m3", "-mthumb", "-O1", "-nostdlib", f"-gdwarf-{version}"]
    flags += ["-Wl,-Ttext=0x08000100", "-Wl,-e,main"]
    command = ["arm-none-eabi-gcc", *flags, "p.c", "-o", "p.elf"]
    subprocess.run(command, cwd=tmp_path, check=True)
    elf = tmp_path / "p.elf"
    lines = lines_of(elf)
    addresses = range(0x0800_0100, 0x0800_0100 + 40, 2)
    asked = [f"{a:#x}" for a in addresses]
    done = subprocess.run(
        [
            "llvm-symbolizer-19",
            "--obj",
            str(elf),
            "--no-inlines",
            "-s",
            "--output-style=GNU",
            *asked,
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    expected = re.findall(r"^(?:p\.c|\?\?):(\d+|\?)", done.stdout, re.MULTILINE)
    found = [lines[a] for a in addresses]
    assert len(expected) == len(addresses)
    numbers = [0 if n == "?" else int(n) for n in expected]
    assert [line.number if line else 0 for line in found] == numbers
    assert {line.file for line in found if line} == {(tmp_path / "p.c").resolve()}


def test_a_run_images_lines_are_those_of_a_twin(images: dict[str, Path], tmp_path: Path) -> None:
    for board in BOARDS:
        asked = ("profile", str(images[board]), "--board", board, "--operation", "encrypt")
        page = tmp_path / f"{board}.html"
        done = joulemark(*asked, "--size", "8", "--lines", "--top", "3", "--annotate", str(page))
        assert re.search(r"^xtea\.c:\d+ ", done.stdout, re.MULTILINE), done.stdout
        assert "firmware/primitives/block-cipher/xtea/ref/xtea.c" in page.read_text()
    folder = tmp_path / "changed"
    shutil.copytree(images["telosb"].parent, folder)
    commands = json.loads((folder / "commands.json").read_text())
    commands[-2].insert(1, "-fno-inline")
    changed = [[w.replace("-Os", "-O0") for w in c] for c in commands]
    (folder / "commands.json").write_text(json.dumps(changed))
    with pytest.raises(InputError, match="its sources have changed since"):
        lines_of(folder / "image.elf")
    assert (
        "compile it with -g"
        in joulemark(
            *("profile", str(assembled_bare(tmp_path)), "--board", "telosb", "--lines"), code=3
        ).stderr
    )
    done = joulemark(*asked, "--annotate", "x.pdf", code=3)
    assert "end it in .html" in done.stderr


def assembled_bare(folder: Path) -> Path:
    (folder / "p.S").write_text(
        '.global _start\n.text\n_start:\n  jmp _start\n.section .vectors, "a"\n.word _start\n'
    )
    return assembled(folder)


def test_a_flame_graph_is_zoomed_in_and_speedscope_has_the_order(
    images: dict[str, Path], tmp_path: Path
) -> None:
    asked = ("profile", str(images["telosb"]), "--board", "telosb", "--operation", "encrypt")
    flame, scope = tmp_path / "f.html", tmp_path / "f.speedscope.json"
    done = joulemark(*asked, "--size", "8", "--flame", str(flame))
    joulemark(*asked, "--size", "8", "--flame", str(scope))
    document = json.loads(scope.read_text())
    names = [frame["name"] for frame in document["shared"]["frames"]]
    _, time, energy, *of_parts = document["profiles"]
    assert not of_parts, "a cipher uses nothing but the chip"
    assert time["unit"] == "nanoseconds"
    # Eight blocks in a row are eight stretches in chronological order.
    said = re.search(r"([\d.]+) ms, ([\d.]+) µJ", done.stdout)
    assert said is not None
    assert time["endValue"] * 1e-6 == pytest.approx(float(said[1]), rel=0.01)
    assert energy["endValue"] * 1e-3 == pytest.approx(float(said[2]), rel=0.01)
    leaves = [names[sample[-1]] for sample in time["samples"]]
    assert leaves[0] != leaves[len(leaves) // 2] or len(set(leaves)) == 1
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1000, "height": 600})
        page.goto(flame.as_uri())
        page.wait_for_selector("html[data-flame=drawn]")
        page.select_option("#weight", "energy")
        boxes = page.locator("#flame button")
        whole = float(str(boxes.first.get_attribute("data-value")))
        assert whole * 1e-3 == pytest.approx(float(said[2]), rel=0.01)
        smaller = next(
            box
            for box in boxes.all()
            if float(str(box.get_attribute("data-value"))) < 0.999 * whole
        )
        node = smaller.get_attribute("data-node")
        before = smaller.bounding_box()
        smaller.click()
        after = page.locator(f'#flame button[data-node="{node}"]').bounding_box()
        assert before is not None
        assert after is not None
        assert after["width"] > before["width"]
        assert after["width"] == pytest.approx(page.locator("#flame").bounding_box()["width"], 0.01)  # type: ignore[index]
        page.keyboard.press("Escape")
        again = page.locator(f'#flame button[data-node="{node}"]').bounding_box()
        assert again is not None
        assert again["width"] == pytest.approx(before["width"])
        browser.close()


def test_a_line_that_sleeps_takes_time_and_no_cycles() -> None:
    places = [(2, False, 0, 10, 3, 100), (2, True, 0, 50, 0, 500)]
    followed: Any = SimpleNamespace(states=[()], places=places)
    meter: Any = None
    lines: Any = {2: "line"}
    found = dict[Any, Spent](Spending(followed, meter, 3.0).by_line(lines))
    assert found == {"line": Spent(cycles=10, instructions=3, time_ps=600)}
