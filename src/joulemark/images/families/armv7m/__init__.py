"""Generate linker script and headers for an ARMv7-M chip and a board.

A series of chips is a module here and a folder of the same name under `firmware/hal/armv7m`; the
chip's file names its series.
"""

import importlib
import pkgutil
from types import ModuleType

from joulemark._engine import Chip
from joulemark.catalogue.boards import Board, Clock
from joulemark.errors import InputError
from joulemark.images import target_headers, toolchain
from joulemark.images.targets import Target, sources_in
from joulemark.project import FIRMWARE


def _series_names() -> list[str]:
    names = (module.name for module in pkgutil.iter_modules(__path__))
    return sorted(name for name in names if not name.startswith("_"))


def _load(chip: Chip) -> ModuleType:
    series = chip.series
    if series not in _series_names():
        mend = f"there is for {', '.join(_series_names())}"
        raise InputError(f"no firmware for the series {series}", f"chip {chip.name}", mend)
    return importlib.import_module(f"{__name__}.{series}")


def flash_page_bytes(chip: Chip) -> int:
    """Return the bytes of a flash page that the firmware can erase; 0 if it writes no flash."""
    page: int = _load(chip).page_bytes(chip)
    # A chip's file without a flash controller gives no registers to write flash with.
    return page if any(name.startswith(("FLASH_", "NVMC_")) for name in chip.registers) else 0


def has_boot_configuration(chip: Chip) -> bool:
    """Return whether the end of flash configures the boot ROM."""
    return bool(_load(chip).BOOT_BYTES)


def board_header(board: Board, chip: Chip, clock: Clock) -> str:
    """Generate the board's clock, serial line and marker.

    Raises:
        InputError: the board's file asks for something that the firmware does not have.
    """
    interrupt = (chip.vectors[board.serial.port.upper()] - chip.vectors["RESET"]) // 4 - 15
    defines = {
        "CLOCK_HZ": f"{clock.hz}u",
        "SERIAL_INTERRUPT": interrupt,
        "FLASH_PAGE_BYTES": _load(chip).page_bytes(chip),
        **_load(chip).defines(board, clock),
    }
    return target_headers.board_header(defines)


def linker_script(chip: Chip) -> str:
    """Generate the linker script from the chip's memory map and vectors.

    If flash has wait states, the time of code depends on its address. The code of a measurement
    window comes first, so that no change to the rest of the image moves it.

    Raises:
        InputError: the chip has no RAM, or no flash that begins with its vectors.
    """
    first = chip.vectors.get("RESET", 0) - 4
    flash = next((m for m in chip.memories if m.kind == "flash" and m.start == first), None)
    ram = max((m for m in chip.memories if m.kind == "ram"), key=lambda m: m.size, default=None)
    if flash is None or ram is None:
        raise InputError("has no RAM, or no flash at its vectors", f"chip {chip.name}")
    by_address = {address: name for name, address in chip.vectors.items()}
    handlers = {"RESET": "start", "NMI": "nmi"}
    entries = "\n".join(
        f"    LONG({handlers.get(by_address.get(a, ''), 'unexpected_interrupt')} | 1)"
        for a in range(first + 4, max(by_address) + 4, 4)
    )
    boot = _load(chip).BOOT_BYTES
    kept = ""
    page = _load(chip).page_bytes(chip)
    if page:
        # The two pages below the last one, which holds the configuration; reserved if the image
        # refers to kept_flash.
        at = flash.start + flash.size - 3 * page
        kept = f"""
  PROVIDE(kept_flash = {at:#x});
  ASSERT(!DEFINED(kept_flash) || data_load + data_bytes <= kept_flash,
         "the image reaches into the flash that is kept over a reboot")"""
    configuration = f"  .boot_configuration {flash.start + flash.size - boot:#x} : {{"
    return f"""\
ENTRY(start)
MEMORY
{{
  ram (rw) : ORIGIN = {ram.start:#010x}, LENGTH = {ram.size:#x}
  flash (rx) : ORIGIN = {flash.start:#010x}, LENGTH = {flash.size - boot:#x}
}}
SECTIONS
{{
  stack_top = ORIGIN(ram) + LENGTH(ram);
  PROVIDE(nmi = unexpected_interrupt);
  .vectors : {{
    vectors = .;
    LONG(stack_top)
{entries}
  }} > flash
  .text : ALIGN(8) {{
    *-harness-harness_c.o(.text.window*)
    *-kind_*.o(.text .text.* .rodata .rodata.*)
    *-primitive-*.o(.text SORT_BY_ALIGNMENT(.text.*))
    *-primitive-*.o(.rodata SORT_BY_ALIGNMENT(.rodata.*))
    *.a:(.text .text.* .rodata .rodata.*)
    KEEP(*(.text.start .text.nmi))
    *(.text SORT_BY_ALIGNMENT(.text.*))
  }} > flash
  .rodata : {{
    *(.rodata SORT_BY_ALIGNMENT(.rodata.*))
    . = ALIGN(4);
  }} > flash
  .description : {{ INCLUDE description.ld . = ALIGN(4); }} > flash
  .data : ALIGN(4) {{
    data_start = .;
    *(.data SORT_BY_ALIGNMENT(.data.*))
    . = ALIGN(4);
  }} > ram AT > flash
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
  ASSERT(stack_limit + 512 <= stack_top, "fewer than 512 bytes of RAM are left for the stack"){kept}
{configuration if boot else ""}
{"    KEEP(*(.boot_configuration)) }" if boot else ""}
  /DISCARD/ : {{ *(.comment .note.* .llvm_addrsig .ARM.attributes .ARM.exidx* .ARM.extab*) }}
}}
"""


def describe(board: Board, chip: Chip, clock: Clock, compiler: str) -> Target:
    """Describe an ARMv7-M chip on a board at one of its clocks.

    GCC links for both compilers, with newlib's `memcpy` and similar functions and with its own
    runtime helpers, because both compilers follow the same standard (ARM IHI 0043, RTABI).

    Raises:
        InputError: the board's file asks for something that the chip or firmware does not have.
        ToolError: a compiler is missing.
    """
    found = toolchain.find(compiler, chip.core)
    linker = toolchain.find("gcc", chip.core)
    folder = FIRMWARE / "hal" / chip.core
    series = folder / chip.series
    header = board_header(board, chip, clock)
    core: tuple[str, ...] = (f"-mcpu={chip.cpu}", "-mthumb")
    if chip.fpu:
        core += (f"-mfpu={chip.fpu}", "-mfloat-abi=hard")
    flags: tuple[str, ...] = core
    if found.name == "clang":
        flags = ("--target=thumbv7m-none-eabi", *core, "-nostdlibinc")
    others = {FIRMWARE / "hal" / chip.core / name for name in _series_names()} - {series}
    script = ("-T", "linker.ld", "-Wl,--gc-sections", "-Wl,-Map=image.map")
    return Target(
        instruction_set=board.instruction_set,
        compiler=found,
        flags=flags,
        include_folders=(folder, series, folder / "libc"),
        sources=tuple(s for s in sources_in(folder) if s.parent not in others),
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
