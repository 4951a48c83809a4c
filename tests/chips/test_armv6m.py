"""The RP2040's Cortex-M0+ core: both compilers' images, the timer, and what decides a branch."""

import subprocess
from pathlib import Path

import pytest

from command import joulemark
from joulemark._engine import Image, Machine
from joulemark.catalogue import boards, chips
from joulemark.errors import InputError
from joulemark.images.families import armv6m
from joulemark.measure.branches import deciders
from joulemark.records.record import of_primitives
from joulemark.records.store import Store

CODE = """
.syntax unified
.thumb
.global start
.type start, %function
start:
    cmp r0, r1
    bhi 1f
1:  lsrs r2, r3, #3
    bcs start
2:  b 2b
"""


def test_the_operands_of_a_branch_decide_it(tmp_path: Path) -> None:
    source, made, image = (tmp_path / name for name in ("code.s", "code.o", "code.elf"))
    source.write_text(CODE, encoding="utf-8")
    made_for = ("clang-19", "--target=thumbv6m-none-eabi")
    subprocess.run([*made_for, "-c", "-o", made, source], check=True)
    link = ("ld.lld-19", "-e", "start", "-Ttext=0x20000100")
    subprocess.run([*link, "-o", image, made], check=True)
    machine = Machine(chips.load_chip("rp2040"), Image.load(str(image)))
    for name, value in (("r0", 7), ("R1", 5), ("r3", 4)):
        machine.set_register(name, value)
    found = deciders(image, "armv6m")
    assert [decider.values(machine) for decider in found] == [(7, 5), (1,)]


def test_both_compilers_make_verified_images(tmp_path: Path) -> None:
    case = ("--primitive", "chacha20", "--operation", "encrypt", "--opt", "O3", "--size", "64")
    makers = ("--compiler", "gcc", "--compiler", "clang", "--implementation", "ref")
    ran = joulemark("run", *case, *makers, "--board", "raspberry-pi-pico", folder=tmp_path)
    assert "energy: currents inferred, estimated within a factor of 2" in ran.stdout
    with Store(tmp_path / "results" / "joulemark.db") as store:
        records = list(of_primitives(store.records()))
    assert len(records) == 2
    assert all(record.status == "ok" for record in records)


def test_a_clock_that_cannot_be_made_is_refused() -> None:
    board = boards.load_board("raspberry-pi-pico")
    clock = board.clock_profile(None)
    target = armv6m.describe(board, chips.load_chip(board.chip), clock, "gcc")
    made = target.headers["board.h"]
    assert "#define PLL_FEEDBACK 133u" in made
    assert "#define SERIAL_INTERRUPT 20" in made
    odd = clock.model_copy(update={"hz": 133_000_001})
    with pytest.raises(InputError, match="no setting of the PLL makes 133000001 Hz"):
        armv6m.describe(board, chips.load_chip(board.chip), odd, "gcc")
