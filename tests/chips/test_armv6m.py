"""Chips with a Cortex-M0+: both compilers' images, the timer, and what decides a branch."""

import subprocess
from pathlib import Path

import pytest

from command import joulemark
from joulemark._engine import Image, Machine
from joulemark.catalogue import boards, chips
from joulemark.errors import InputError
from joulemark.images.families import armv6m
from joulemark.measure.branches import deciders
from joulemark.meters.model import ModelMeter
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


def test_a_board_idles_at_the_clock_that_was_asked_for() -> None:
    board = boards.load_board("nucleo-g071rb")
    at_24, at_64 = (ModelMeter(board, clock).idle.ampere for clock in ("no-wait", "max"))
    assert at_64 == pytest.approx(at_24 * 64 / 24)


@pytest.mark.parametrize("board", ["raspberry-pi-pico", "nucleo-g071rb"])
def test_both_compilers_make_verified_images(board: str, tmp_path: Path) -> None:
    case = ("--primitive", "chacha20", "--operation", "encrypt", "--opt", "O3", "--size", "64")
    makers = ("--compiler", "gcc", "--compiler", "clang", "--implementation", "ref")
    ran = joulemark("run", *case, *makers, "--board", board, folder=tmp_path)
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


def test_flash_without_wait_states_takes_what_ram_takes(tmp_path: Path) -> None:
    """At 64 MHz, two wait states show; from them to none, nothing but time changes."""
    case = ("--primitive", "sha-256", "--operation", "hash", "--opt", "O3", "--size", "64")
    made = ("--compiler", "gcc", "--implementation", "armv6m")
    for board, clock in (
        ("raspberry-pi-pico", "max"),
        ("nucleo-g071rb", "no-wait"),
        ("nucleo-g071rb", "max"),
    ):
        joulemark("run", *case, *made, "--board", board, "--clock", clock, folder=tmp_path)
    with Store(tmp_path / "results" / "joulemark.db") as store:
        records = list(of_primitives(store.records()))
    of = {(r.conditions.board, r.provenance.clock_hz): r.cycles or 0 for r in records}
    pico, plain = of["raspberry-pi-pico", 133_000_000], of["nucleo-g071rb", 24_000_000]
    assert pico == plain < of["nucleo-g071rb", 64_000_000] < 1.25 * plain


def test_the_pll_of_an_stm32g0_is_within_its_limits() -> None:
    board = boards.load_board("nucleo-g071rb")
    clock = board.clock_profile("max")
    chip = chips.load_chip(board.chip)
    made = armv6m.describe(board, chip, clock, "gcc").headers["board.h"]
    for line in ("PLL_FEEDBACK 16u", "PLL_DIVIDER 2u", "FLASH_LATENCY 2", "SERIAL_INTERRUPT 28"):
        assert f"#define {line}" in made
    odd = clock.model_copy(update={"hz": 7_000_000})
    with pytest.raises(InputError, match="no setting of the PLL makes 7000000 Hz"):
        armv6m.describe(board, chip, odd, "gcc")
