"""Exceptions and a Cortex-M4's floating-point state: scenarios under QEMU and here."""

import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from joulemark._engine import Image, Machine
from joulemark.catalogue import chips

SOURCE = Path(__file__).with_name("float_exceptions.c")
SCENARIOS, WORDS = 96, 64


def build(folder: Path) -> Path:
    place = "-Wl,-Ttext=0x100,-Tbss=0x20000000,--section-start=.vectors=0"
    subprocess.run(
        [
            *("arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mfloat-abi=soft", "-O1"),
            *("-ffreestanding", "-nostdlib", "-Wall", "-Wextra", "-Werror"),
            *(f"{place},-Tdata=0x20008000,--defsym=stack_top=0x20010000,-e,reset", str(SOURCE)),
            *("-o", "image.elf"),
        ],
        cwd=folder,
        check=True,
    )
    return folder / "image.elf"


def words(data: bytes) -> list[tuple[int, ...]]:
    """Return the words of each scenario."""
    return list(struct.iter_unpack(f"<{WORDS}I", data))


def here(path: Path) -> list[tuple[int, ...]]:
    image = Image.load(path)
    machine = Machine(chips.load_chip("cc2652r"), image, settings={"stop_on_fault": 0})
    stop = machine.run(until=image.resolve("at_the_end"), max_cycles=10_000_000)
    assert stop.reason == "address", stop.fault and stop.fault.message
    return words(machine.read_memory(image.resolve("kept"), 4 * WORDS * SCENARIOS))


def qemu(path: Path) -> list[tuple[int, ...]]:
    """Return the same from QEMU's Cortex-M4, by semihosting."""
    subprocess.run(
        [
            *("qemu-system-arm", "-machine", "mps2-an386", "-nographic", "-monitor", "none"),
            *("-serial", "none", "-semihosting-config", "enable=on,target=native"),
            *("-kernel", str(path)),
        ],
        cwd=path.parent,
        stdin=subprocess.DEVNULL,
        timeout=120,
        check=True,
    )
    return words((path.parent / "log.bin").read_bytes())


@pytest.mark.skipif(shutil.which("qemu-system-arm") is None, reason="needs qemu-system-arm")
def test_floating_point_state_goes_through_exceptions_as_under_qemu(tmp_path: Path) -> None:
    path = build(tmp_path)
    ours, theirs = here(path), qemu(path)
    for number, (own, other) in enumerate(zip(ours, theirs, strict=True)):
        assert [f"{word:x}" for word in own] == [f"{word:x}" for word in other], f"{number}"
    returns = {scenario[0] for scenario in ours}
    assert {0xFFFFFFE9, 0xFFFFFFED, 0xFFFFFFF9, 0xFFFFFFFD} <= returns, "frames of both kinds"
    assert any(scenario[2] & 1 for scenario in ours), "state that waits to be stacked"


FAULT = """
    .syntax unified
    .cpu cortex-m4
    .fpu fpv4-sp-d16
    .thumb
    .section .vectors, "a"
    .word 0x20001000, reset + 1
    .text
    .global reset
reset:
    {code}
    vadd.f32 s0, s1, s2
    b .
"""


@pytest.mark.parametrize(
    ("chip", "code", "message"),
    [
        ("cc2652r", "nop", "NOCP"),
        ("cc2650", "nop", "NOCP"),
        # CP10 is for privileged code only, and CONTROL.nPRIV is set.
        (
            "cc2652r",
            "ldr r0, =0xe000ed88\n ldr r1, =0x500000\n str r1, [r0]\n"
            " movs r0, #1\n msr control, r0\n isb",
            "NOCP",
        ),
    ],
)
def test_the_unit_faults_where_it_may_not_be_used(
    tmp_path: Path, chip: str, code: str, message: str
) -> None:
    (tmp_path / "program.S").write_text(FAULT.format(code=code))
    subprocess.run(
        [
            *("arm-none-eabi-gcc", "-nostdlib", "-Wl,-e,0", "-Wl,-Ttext=0x100"),
            *("-Wl,--section-start=.vectors=0", "program.S", "-o", "program.elf"),
        ],
        cwd=tmp_path,
        check=True,
    )
    machine = Machine(chips.load_chip(chip), Image.load(tmp_path / "program.elf"))
    stop = machine.run(max_cycles=10_000)
    assert stop.fault is not None
    assert message in stop.fault.message
