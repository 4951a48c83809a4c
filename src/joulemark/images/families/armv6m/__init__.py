"""Generate linker script and headers for an ARMv6-M chip and a board.

A series of chips is a module here and a folder of the same name under `firmware/hal/armv6m`; the
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


def describe(board: Board, chip: Chip, clock: Clock, compiler: str) -> Target:
    """Describe an ARMv6-M chip on a board at one of its clocks.

    GCC links for both compilers, with newlib's `memcpy` and similar functions and with its own
    runtime helpers, because both compilers follow the same standard (ARM IHI 0043, RTABI).

    Raises:
        InputError: the board's file asks for something that the chip or firmware does not have.
        ToolError: a compiler is missing.
    """
    found = toolchain.find(compiler, chip.core)
    linker = toolchain.find("gcc", chip.core)
    folder = FIRMWARE / "hal" / chip.core
    own = folder / chip.series
    series = _load(chip)
    interrupt = (chip.vectors[board.serial.port.upper()] - chip.vectors["RESET"]) // 4 - 15
    header = series.board_header(board, clock, interrupt)
    core: tuple[str, ...] = (f"-mcpu={chip.cpu}", "-mthumb")
    flags = core
    if found.name == "clang":
        flags = ("--target=thumbv6m-none-eabi", *core, "-nostdlibinc")
    script = ("-T", "linker.ld", "-Wl,--gc-sections", "-Wl,-Map=image.map")
    return Target(
        instruction_set=board.instruction_set,
        compiler=found,
        flags=flags,
        include_folders=(folder, own, folder / "libc"),
        sources=tuple(s for s in sources_in(folder) if s.parent in (folder, own)),
        headers={"chip.h": target_headers.chip_header(chip), "board.h": header},
        linker_script=series.linker_script(chip, clock),
        link=(linker.path, *core, "-nostdlib", "-Wl,--no-warn-rwx-segments", *script),
        link_end=("-lc", "-lgcc"),
        linker_version=linker.version,
        description={
            "board": board.name,
            "clock_hz": str(clock.hz),
            "timer_hz": str(clock.hz),
        },
    )
