"""The instructions that decide branches of a Cortex-M4F, and what they compare."""

import struct
import subprocess
from pathlib import Path

from joulemark._engine import Image, Machine
from joulemark.catalogue import chips
from joulemark.measure.branches import deciders

CODE = """
.syntax unified
.cpu cortex-m4
.fpu fpv4-sp-d16
.thumb
.global start
start:
    cmp r0, #1
    vcmp.f32 s0, s1
    smlabb r4, r0, r1, r2
    uadd8 r3, r0, r1
    vmrs APSR_nzcv, fpscr
    bgt 1f
1:  vcmpe.f32 s2, #0.0
    vmrs APSR_nzcv, fpscr
    it eq
    moveq r0, #1
    subs r1, r1, #1
    sel r3, r3, r4
    bne start
2:  b 2b
"""


def test_comparisons_of_floats_decide_branches_and_dsp_instructions_do_not(tmp_path: Path) -> None:
    source, made, image = (tmp_path / name for name in ("code.s", "code.o", "code.elf"))
    source.write_text(CODE, encoding="utf-8")
    subprocess.run(["arm-none-eabi-as", "-o", made, source], check=True)
    address = ("-e", "start", "-Ttext=0x200")
    subprocess.run(["arm-none-eabi-ld", *address, "-o", image, made], check=True)
    found = deciders(image, "armv7m")
    assert [decider.mnemonic for decider in found] == ["vcmp.f32", "vcmpe.f32", "subs"]
    machine = Machine(chips.load_chip("cc2652r"), Image.load(str(image)))
    one, minus_two = (struct.unpack("<I", struct.pack("<f", x))[0] for x in (1.0, -2.0))
    for name, value in (("s0", one), ("S1", minus_two), ("s2", 7), ("r1", 5)):
        machine.set_register(name, value)
    assert [decider.values(machine) for decider in found] == [(one, minus_two), (7,), (5,)]
