"""Generate linker script and headers for the RP2350's RISC-V cores and a board.

Programs run from SRAM, or from flash where the clock profile says so. In SRAM, code is in the
second group of four banks and data in the first, so that an access to data never waits for one to
code.
"""

from joulemark._engine import Chip
from joulemark.catalogue.boards import Board, Clock
from joulemark.errors import InputError
from joulemark.images import rp2, target_headers, toolchain
from joulemark.images.targets import Target, sources_in
from joulemark.project import FIRMWARE

_ARCHITECTURE = {
    "gcc": "rv32imac_zicsr_zifencei_zba_zbb_zbkb",
    "clang": "rv32imac_zicsr_zifencei_zba_zbb_zbs_zbkb",
}
"""What a compiler uses of the core's instructions. GCC 12 knows no Zcb and Zcmp, and fails on the
constant 0x800 with Zbs; an interrupt at the wrong moment of CM.POPRET crashes this core."""
_LIBRARIES = "rv32imac"
"""The variant of GCC's runtime library that is linked."""
_UART0_INTERRUPT = 33
"""Of the core (RP2350 data sheet, interrupts)."""


def board_header(board: Board, clock: Clock) -> str:
    """Generate the board's clock, serial line and marker.

    Raises:
        InputError: the board's file asks for something that the firmware does not have.
    """
    return rp2.board_header(board, clock, _UART0_INTERRUPT)


def linker_script(chip: Chip, clock: Clock) -> str:
    """Generate the linker script from the chip's memory map.

    Raises:
        InputError: the chip does not have two memories for code and data.
    """
    is_in_flash = clock.runs_from is not None
    at = chip.vectors.get("RESET", 0)
    places = (m.name == rp2.FLASH if is_in_flash else m.start == at for m in chip.memories)
    code = next((m for m, is_place in zip(chip.memories, places, strict=True) if is_place), None)
    data = next((m for m in chip.memories if m.kind == "ram" and m.start != at), None)
    if code is None or data is None:
        raise InputError("has no memory for code where it starts, or none for data", chip.name)
    constants, initial = ("code", "ram AT> code") if is_in_flash else ("ram", "ram")
    return f"""\
ENTRY(start)
MEMORY
{{
  code (rwx) : ORIGIN = {code.start:#010x}, LENGTH = {code.size:#x}
  ram (rw) : ORIGIN = {data.start:#010x}, LENGTH = {data.size:#x}
}}
SECTIONS
{{
  stack_top = ORIGIN(ram) + LENGTH(ram);
  .text : ALIGN(8) {{
    KEEP(*(.text.start))
    KEEP(*(.text.image_definition))
    *-harness-harness_c.o(.text.window*)
    *(.text SORT_BY_ALIGNMENT(.text.*))
  }} > code
  .rodata : ALIGN(8) {{
    *(.rodata SORT_BY_ALIGNMENT(.rodata.*) .srodata .srodata.*)
    . = ALIGN(4);
  }} > {constants}
  .description : {{ INCLUDE description.ld . = ALIGN(4); }} > {constants}
  .data : ALIGN(8) {{
    data_start = .;
    *(.data SORT_BY_ALIGNMENT(.data.*) .sdata .sdata.*)
    . = ALIGN(4);
    data_end = .;
  }} > {initial}
  data_load = LOADADDR(.data);
  .bss (NOLOAD) : ALIGN(8) {{
    bss_start = .;
    *(.bss SORT_BY_ALIGNMENT(.bss.*) .sbss .sbss.* COMMON)
    . = ALIGN(4);
    bss_end = .;
  }} > ram
  .noinit (NOLOAD) : {{
    *(.noinit SORT_BY_ALIGNMENT(.noinit.*))
    . = ALIGN(16);
  }} > ram
  stack_limit = .;
  ASSERT(stack_limit + 512 <= stack_top, "fewer than 512 bytes of RAM are left for the stack")
  /DISCARD/ : {{ *(.comment .note.* .llvm_addrsig .riscv.attributes .eh_frame*) }}
}}
"""


def describe(board: Board, chip: Chip, clock: Clock, compiler: str) -> Target:
    """Describe an RP2350 on a board at one of its clocks.

    GCC links for both compilers, with its own runtime helpers, which have the names and the calling
    convention that both use.

    Raises:
        InputError: the board's file asks for something that the chip or firmware does not have.
        ToolError: a compiler is missing.
    """
    found = toolchain.find(compiler, chip.core)
    linker = toolchain.find("gcc", chip.core)
    folder = FIRMWARE / "hal" / chip.core
    flags: tuple[str, ...] = (
        f"-march={_ARCHITECTURE[found.name]}",
        "-mabi=ilp32",
        "-msmall-data-limit=0",
    )
    if found.name == "clang":
        # GNU ld 2.40 crashes on relocations that clang writes into lines of DWARF 5.
        lines = "-fdebug-default-version=4"
        flags = ("--target=riscv32-unknown-elf", *flags, lines, "-nostdlibinc")
    else:
        flags = (*flags, "-ffreestanding")
    if clock.runs_from is not None:
        flags = (*flags, "-DRUNS_FROM_FLASH")
    script = ("-T", "linker.ld", "-Wl,--gc-sections", "-Wl,-Map=image.map")
    link = (linker.path, f"-march={_LIBRARIES}", "-mabi=ilp32", "-nostdlib")
    return Target(
        instruction_set=board.instruction_set,
        compiler=found,
        flags=flags,
        include_folders=(folder, folder / "libc"),
        sources=sources_in(folder),
        headers={"chip.h": target_headers.chip_header(chip), "board.h": board_header(board, clock)},
        linker_script=linker_script(chip, clock),
        link=(*link, "-Wl,--no-warn-rwx-segments,--no-relax", *script),
        link_end=("-lgcc",),
        linker_version=linker.version,
        description={
            "board": board.name,
            "clock_hz": str(clock.hz),
            "timer_hz": str(clock.hz),
        },
    )
