"""Generate linker script and headers for an RP2040 and a board.

Programs run from the SRAM whose banks take turns word by word. One core runs, so that no access
waits for another's.
"""

from joulemark._engine import Chip
from joulemark.catalogue.boards import Board, Clock
from joulemark.errors import InputError
from joulemark.images import rp2, target_headers, toolchain
from joulemark.images.targets import Target, sources_in
from joulemark.project import FIRMWARE

_EXCEPTIONS = 48
"""Entries of the vector table: those of the core, and 32 interrupts (ARM DDI 0419E, B1.5.3)."""


def linker_script(chip: Chip) -> str:
    """Generate the linker script from the chip's memory map and vectors.

    Raises:
        InputError: the chip has no RAM that begins with its vectors.
    """
    first = chip.vectors.get("RESET", 0) - 4
    ram = next((m for m in chip.memories if m.kind == "ram" and m.start == first), None)
    if ram is None:
        raise InputError("has no RAM at its vectors", f"chip {chip.name}")
    vectors = "\n".join(["    LONG(unexpected_interrupt | 1)"] * (_EXCEPTIONS - 2))
    return f"""\
ENTRY(start)
MEMORY
{{
  ram (rwx) : ORIGIN = {ram.start:#010x}, LENGTH = {ram.size:#x}
}}
SECTIONS
{{
  stack_top = ORIGIN(ram) + LENGTH(ram);
  .vectors : {{
    vectors = .;
    LONG(stack_top)
    LONG(start | 1)
{vectors}
  }} > ram
  .text : ALIGN(256) {{
    KEEP(*(.text.start))
    *-harness-harness_c.o(.text.window*)
    *(.text SORT_BY_ALIGNMENT(.text.*))
  }} > ram
  .rodata : ALIGN(8) {{
    *(.rodata SORT_BY_ALIGNMENT(.rodata.*))
    . = ALIGN(4);
  }} > ram
  .description : {{ INCLUDE description.ld . = ALIGN(4); }} > ram
  .data : ALIGN(8) {{
    *(.data SORT_BY_ALIGNMENT(.data.*))
    . = ALIGN(4);
  }} > ram
  .bss (NOLOAD) : ALIGN(8) {{
    bss_start = .;
    *(.bss SORT_BY_ALIGNMENT(.bss.*) COMMON)
    . = ALIGN(4);
    bss_end = .;
  }} > ram
  .noinit (NOLOAD) : {{
    *(.noinit SORT_BY_ALIGNMENT(.noinit.*))
    . = ALIGN(8);
  }} > ram
  stack_limit = .;
  ASSERT(stack_limit + 512 <= stack_top, "fewer than 512 bytes of RAM are left for the stack")
  /DISCARD/ : {{ *(.comment .note.* .llvm_addrsig .ARM.attributes .ARM.exidx* .ARM.extab*) }}
}}
"""


def describe(board: Board, chip: Chip, clock: Clock, compiler: str) -> Target:
    """Describe an RP2040 on a board at one of its clocks.

    GCC links for both compilers, with newlib's `memcpy` and similar functions and with its own
    runtime helpers, because both compilers follow the same standard (ARM IHI 0043, RTABI).

    Raises:
        InputError: the board's file asks for something that the chip or firmware does not have.
        ToolError: a compiler is missing.
    """
    found = toolchain.find(compiler, chip.core)
    linker = toolchain.find("gcc", chip.core)
    folder = FIRMWARE / "hal" / chip.core
    interrupt = (chip.vectors["UART0"] - chip.vectors["RESET"]) // 4 - 15
    header = rp2.board_header(board, clock, interrupt)
    core: tuple[str, ...] = (f"-mcpu={chip.cpu}", "-mthumb")
    flags = core
    if found.name == "clang":
        flags = ("--target=thumbv6m-none-eabi", *core, "-nostdlibinc")
    script = ("-T", "linker.ld", "-Wl,--gc-sections", "-Wl,-Map=image.map")
    return Target(
        instruction_set=board.instruction_set,
        compiler=found,
        flags=flags,
        include_folders=(folder, folder / "libc"),
        sources=sources_in(folder),
        headers={"chip.h": target_headers.chip_header(chip), "board.h": header},
        linker_script=linker_script(chip),
        link=(linker.path, *core, "-nostdlib", "-Wl,--no-warn-rwx-segments", *script),
        link_end=("-lc", "-lgcc"),
        linker_version=linker.version,
        description={
            "board": board.name,
            "clock_hz": str(clock.hz),
            "timer_hz": str(clock.hz),
        },
    )
