"""Raspberry Pi RP2040.

Programs run from the SRAM whose banks take turns word by word, or from flash where the clock
profile says so. One core runs, so that no access waits for another's.
"""

from joulemark._engine import Chip
from joulemark.catalogue.boards import Board, Clock
from joulemark.errors import InputError
from joulemark.images import rp2

_EXCEPTIONS = 48
"""Entries of the vector table: those of the core, and 32 interrupts (ARM DDI 0419E, B1.5.3)."""

_BOOT2_BYTES = 256
"""Flash begins with what the boot ROM runs first to set flash up (RP2040 data sheet, 2.8.1); the
image does without it."""


def board_header(board: Board, clock: Clock, serial_interrupt: int) -> str:
    """Generate the board's clock, serial line and marker.

    Raises:
        InputError: the board's file asks for something that the firmware does not have.
    """
    return rp2.board_header(board, clock, serial_interrupt)


def linker_script(chip: Chip, clock: Clock) -> str:
    """Generate the linker script from the chip's memory map and vectors.

    Raises:
        InputError: the chip has no RAM that begins with its vectors, or no flash.
    """
    first = chip.vectors.get("RESET", 0) - 4
    ram = next((m for m in chip.memories if m.kind == "ram" and m.start == first), None)
    if ram is None:
        raise InputError("has no RAM at its vectors", f"chip {chip.name}")
    code, initial, flash = "ram", "ram", ""
    if clock.runs_from is not None:
        place = next((m for m in chip.memories if m.name == rp2.FLASH), None)
        if place is None:
            raise InputError("has no flash to run from", f"chip {chip.name}")
        start, size = place.start + _BOOT2_BYTES, place.size - _BOOT2_BYTES
        code, initial = "flash", "ram AT> flash"
        flash = f"\n  flash (rx) : ORIGIN = {start:#010x}, LENGTH = {size:#x}"
    vectors = "\n".join(["    LONG(unexpected_interrupt | 1)"] * (_EXCEPTIONS - 2))
    return f"""\
ENTRY(start)
MEMORY
{{
  ram (rwx) : ORIGIN = {ram.start:#010x}, LENGTH = {ram.size:#x}{flash}
}}
SECTIONS
{{
  stack_top = ORIGIN(ram) + LENGTH(ram);
  .vectors : {{
    vectors = .;
    LONG(stack_top)
    LONG(start | 1)
{vectors}
  }} > {code}
  .text : ALIGN(256) {{
    KEEP(*(.text.start))
    *-harness-harness_c.o(.text.window*)
    *(.text SORT_BY_ALIGNMENT(.text.*))
  }} > {code}
  .rodata : ALIGN(8) {{
    *(.rodata SORT_BY_ALIGNMENT(.rodata.*))
    . = ALIGN(4);
  }} > {code}
  .description : {{ INCLUDE description.ld . = ALIGN(4); }} > {code}
  .data : ALIGN(8) {{
    data_start = .;
    *(.data SORT_BY_ALIGNMENT(.data.*))
    . = ALIGN(4);
  }} > {initial}
  data_load = LOADADDR(.data);
  data_bytes = SIZEOF(.data);
  .bss (NOLOAD) : ALIGN(8) {{
    bss_start = .;
    *(.bss SORT_BY_ALIGNMENT(.bss.*) COMMON)
    . = ALIGN(4);
  }} > ram
  bss_bytes = SIZEOF(.bss);
  .noinit (NOLOAD) : {{
    *(.noinit SORT_BY_ALIGNMENT(.noinit.*))
    . = ALIGN(8);
  }} > ram
  stack_limit = .;
  ASSERT(stack_limit + 512 <= stack_top, "fewer than 512 bytes of RAM are left for the stack")
  /DISCARD/ : {{ *(.comment .note.* .llvm_addrsig .ARM.attributes .ARM.exidx* .ARM.extab*) }}
}}
"""
