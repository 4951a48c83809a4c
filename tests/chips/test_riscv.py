"""The RP2350's RISC-V core: both compilers' images, and what decides a branch."""

import subprocess
from pathlib import Path

import pytest

from command import joulemark
from joulemark._engine import Image, ImageError, Machine
from joulemark.catalogue import boards, chips
from joulemark.errors import InputError
from joulemark.images.families import riscv
from joulemark.measure.branches import deciders
from joulemark.records.record import of_primitives
from joulemark.records.store import Store

CODE = """
.option arch, +c
.global start
start:
    li s0, 5
    bltu a0, s0, 1f
1:  beqz a1, 1f
    c.bnez a2, start
1:  j 1b
"""


def _linked(folder: Path, *options: str) -> Path:
    source, made, image = (folder / name for name in ("code.s", "code.o", "code.elf"))
    source.write_text(CODE, encoding="utf-8")
    made_for = ("clang-19", "--target=riscv32-unknown-elf", *options)
    subprocess.run([*made_for, "-c", "-o", made, source], check=True)
    link = ("ld.lld-19", "-e", "start", "-Ttext=0x20040000")
    subprocess.run([*link, "-o", image, made], check=True)
    return image


def test_the_operands_of_a_branch_decide_it(tmp_path: Path) -> None:
    image = _linked(tmp_path)
    found = deciders(image, "riscv")
    machine = Machine(chips.load_chip("rp2350"), Image.load(str(image)))
    for name, value in (("a0", 7), ("x8", 5), ("A1", 9), ("a2", 0)):
        machine.set_register(name, value)
    assert [decider.values(machine) for decider in found] == [(7, 5), (0,), (1,)]


def test_an_image_for_a_floating_point_unit_is_refused(tmp_path: Path) -> None:
    image = _linked(tmp_path, "-march=rv32imafc", "-mabi=ilp32f")
    with pytest.raises(ImageError, match=r"floating-point registers.*-mabi=ilp32"):
        Image.load(str(image))


def test_both_compilers_make_verified_images(tmp_path: Path) -> None:
    case = ("--primitive", "chacha20", "--operation", "encrypt", "--opt", "O3", "--size", "64")
    makers = ("--compiler", "gcc", "--compiler", "clang", "--implementation", "ref")
    joulemark("run", *case, *makers, "--board", "raspberry-pi-pico-2", folder=tmp_path)
    with Store(tmp_path / "results" / "joulemark.db") as store:
        records = list(of_primitives(store.records()))
    assert len(records) == 2
    assert all(record.status == "ok" for record in records)


@pytest.mark.parametrize("board", ["raspberry-pi-pico", "raspberry-pi-pico-2"])
def test_flash_is_a_condition_of_its_own_whose_cache_begins_cold(
    board: str, tmp_path: Path
) -> None:
    case = ("--primitive", "sha-256", "--operation", "hash", "--size", "64")
    clocks = ("--clock", "flash", "--clock", "max", "--implementation", "ref")
    joulemark("run", *case, *clocks, "--board", board, folder=tmp_path)
    with Store(tmp_path / "results" / "joulemark.db") as store:
        found = {r.conditions.clock: r for r in of_primitives(store.records())}
    assert {clock: r.status for clock, r in found.items()} == {"flash": "ok", "max": "ok"}
    flash, sram = ({q.name: q.value for q in found[clock].quantities} for clock in ("flash", "max"))
    # All of it fits into the cache.
    assert flash["cycles"] == sram["cycles"]
    assert flash["cycles_cold"] > 1.5 * flash["cycles"]
    assert "cycles_cold" not in sram


def test_an_image_in_flash_is_for_emulation_alone(tmp_path: Path) -> None:
    board = ("--board", "raspberry-pi-pico-2", "--clock", "flash", "--implementation", "ref")
    meter = ("--meter", "manual", "--resolution", "0.01", "--accuracy", "0.01")
    case = ("--primitive", "sha-256", *board, *meter, "--runner", "serial", "--port", "none")
    refused = joulemark("run", *case, folder=tmp_path, code=3)
    assert "emulated, not run on the board" in refused.stderr


def test_a_clock_and_a_baud_rate_that_cannot_be_made_are_refused() -> None:
    board = boards.load_board("raspberry-pi-pico-2")
    clock = board.clock_profile(None)
    made = riscv.board_header(board, clock)
    assert "#define PLL_FEEDBACK 125u" in made
    assert "#define SERIAL_DIVIDER 2604" in made
    with pytest.raises(InputError, match="no setting of the PLL makes 150000001 Hz"):
        riscv.board_header(board, clock.model_copy(update={"hz": 150_000_001}))
