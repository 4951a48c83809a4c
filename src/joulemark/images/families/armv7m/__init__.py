"""Generate linker script and headers for an ARMv7-M chip and a board.

A series of chips is a module here and a folder of the same name under `firmware/hal/armv7m`; the
chip's file names its series.
"""

import sys
from types import ModuleType

from joulemark._engine import Chip
from joulemark.catalogue.boards import Board, Clock
from joulemark.images import cortex_m, target_headers, toolchain
from joulemark.images.targets import Target, sources_in
from joulemark.project import FIRMWARE


def _load(chip: Chip) -> ModuleType:
    return cortex_m.load_series(sys.modules[__name__], chip)


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


def _linker_script(chip: Chip) -> str:
    series = _load(chip)
    return cortex_m.linker_script(chip, series.page_bytes(chip), series.BOOT_BYTES)


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
    script = ("-T", "linker.ld", "-Wl,--gc-sections", "-Wl,-Map=image.map")
    return Target(
        instruction_set=board.instruction_set,
        compiler=found,
        flags=flags,
        include_folders=(folder, series, folder / "libc"),
        sources=tuple(s for s in sources_in(folder) if s.parent in (folder, series)),
        headers={"chip.h": target_headers.chip_header(chip), "board.h": header},
        linker_script=_linker_script(chip),
        link=(linker.path, *core, "-nostdlib", "-Wl,--no-warn-rwx-segments", *script),
        link_end=("-lc", "-lgcc"),
        linker_version=linker.version,
        description={
            "board": board.name,
            "clock_hz": str(clock.hz),
            "timer_hz": str(clock.hz),
        },
    )
