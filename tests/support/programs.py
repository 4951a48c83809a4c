"""Small assembly programs that tests run on emulated chips."""

import subprocess
from pathlib import Path

from joulemark.catalogue import chips

RAM_TOP = 0x20001000

_CALLS = """
    .syntax unified
    .thumb
    .macro function name
    .global \\name
    .type \\name, %function
    .thumb_func
\\name:
    .endm
    .section .vectors, "a"
    .word {top}, reset
    .rept 78
    .word hard
    .endr
    .text
    function reset
    bl outer
    b .
    function outer
    push {{r4, lr}}
    bl inner
    pop {{r4, pc}}
    function inner
{inner}
    bx lr
    .ltorg
    function hard
{hard}
    .ltorg
"""


def elf(folder: Path, chip: str, inner: str, hard: str = "b .") -> Path:
    """Build a program whose `inner` is called by `outer`, which is called by `reset`."""
    base = chips.load_chip(chip).vectors["RESET"] - 4
    source = _CALLS.format(top=RAM_TOP, inner=inner, hard=hard)
    (folder / "program.S").write_text(source)
    subprocess.run(
        [
            *("arm-none-eabi-gcc", "-mcpu=cortex-m3", "-nostdlib", "-Wl,-e,reset"),
            *(f"-Wl,-Ttext={base + 0x200:#x},--section-start=.vectors={base:#x}",),
            *("program.S", "-o", "program.elf"),
        ],
        cwd=folder,
        check=True,
    )
    return folder / "program.elf"


def store(address: int, value: int) -> str:
    return f"ldr r0, ={address:#x}\n ldr r1, ={value:#x}\n str r1, [r0]\n"


MSP430_ECHO = """
    .text
    .globl start
    .type start,@function
start:
    mov #0x3900, r1
    mov #0x5a80, &0x0120        ; watchdog off
    bis.b #8, &0x2a             ; P2.3 is the marker
    mov.b #0x11, &0x78          ; USART1: 8N1 from SMCLK, 10 ticks a bit
    mov.b #0x20, &0x79
    mov.b #10, &0x7c
    clr.b &0x7d
    clr.b &0x7b
    bis.b #0x30, &0x05
    bic.b #1, &0x78
    bis.b #0x10, &0x01
    bis #0x18, r2
    nop
    .size start, . - start
    .type receive,@function
receive:
    bis.b #8, &0x29
    mov.b &0x7e, r15
    xor.b #0x20, r15
    mov.b r15, &0x7f
    inc &count
    bic.b #8, &0x29
    reti
    .size receive, . - receive
    .section .vectors,"a"
    .word receive
    .space 22
    .word start
    .bss
count:
    .space 2
"""
"""Answers each byte on its serial line with the letter in the other case, between marker edges."""

MSP430_SCRIPT = """
ENTRY(start)
SECTIONS {
  .text 0x4000 : { *(.text) }
  .bss 0x1100 : { *(.bss) }
  .vectors 0xffe6 : { *(.vectors) }
}
"""
