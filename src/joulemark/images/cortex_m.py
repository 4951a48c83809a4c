"""What families of Cortex-M chips share: modules of series, and images in flash."""

import importlib
import pkgutil
from types import ModuleType

from joulemark._engine import Chip
from joulemark.errors import InputError


def series_names(family: ModuleType) -> list[str]:
    """Return the series that a family has firmware for."""
    names = (module.name for module in pkgutil.iter_modules(family.__path__))
    return sorted(name for name in names if not name.startswith("_"))


def load_series(family: ModuleType, chip: Chip) -> ModuleType:
    """Return the module of a chip's series.

    Raises:
        InputError: the family has none.
    """
    series, names = chip.series, series_names(family)
    if series not in names:
        mend = f"there is for {', '.join(names)}"
        raise InputError(f"no firmware for the series {series}", f"chip {chip.name}", mend)
    return importlib.import_module(f"{family.__name__}.{series}")


def linker_script(chip: Chip, page_bytes: int = 0, boot_bytes: int = 0) -> str:
    """Generate the linker script from the chip's memory map and vectors.

    If flash has wait states, the time of code depends on its address. The code of a measurement
    window comes first, so that no change to the rest of the image moves it.

    Args:
        chip: the chip.
        page_bytes: bytes of a flash page that programs may keep data in; 0 if there is none.
        boot_bytes: bytes at the end of flash that configure the boot ROM.

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
    kept = ""
    if page_bytes:
        # The two pages below the last one, which holds the configuration; reserved if the image
        # refers to kept_flash.
        at = flash.start + flash.size - 3 * page_bytes
        kept = f"""
  PROVIDE(kept_flash = {at:#x});
  ASSERT(!DEFINED(kept_flash) || data_load + data_bytes <= kept_flash,
         "the image reaches into the flash that is kept over a reboot")"""
    configuration = f"  .boot_configuration {flash.start + flash.size - boot_bytes:#x} : {{"
    return f"""\
ENTRY(start)
MEMORY
{{
  ram (rw) : ORIGIN = {ram.start:#010x}, LENGTH = {ram.size:#x}
  flash (rx) : ORIGIN = {flash.start:#010x}, LENGTH = {flash.size - boot_bytes:#x}
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
{configuration if boot_bytes else ""}
{"    KEEP(*(.boot_configuration)) }" if boot_bytes else ""}
  /DISCARD/ : {{ *(.comment .note.* .llvm_addrsig .ARM.attributes .ARM.exidx* .ARM.extab*) }}
}}
"""
