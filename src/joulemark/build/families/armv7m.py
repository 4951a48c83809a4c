"""What the build writes for ARMv7-M chips: linker script and headers of a chip and a board."""

import re
import tomllib
from collections.abc import Callable, Mapping

from joulemark._engine import Chip
from joulemark.boards import Board, Clock
from joulemark.build import toolchain
from joulemark.build.targets import Target, sources_in
from joulemark.errors import InputError
from joulemark.project import CHIPS, FIRMWARE

CLANG_TARGET = "thumb"
DEFAULT_COMPILER = "gcc"
GCC = "arm-none-eabi-gcc"

_BOOT_BYTES = {"cc26x0": 88, "cc2538": 44}
"""At the end of flash, for the boot ROM."""
_WORST_ERROR = 0.02
"""Of a baud rate."""
_CORE = ("-mcpu=cortex-m3", "-mthumb")


def series_of(chip: Chip) -> str:
    """Return the series of chips that a chip belongs to: a folder of the firmware."""
    text = (CHIPS / f"{chip.name}.toml").read_text()
    series: str = tomllib.loads(text)["cortex_m"]["series"]
    return series


def divider(clock_hz: int, baud: int, parts: int) -> int:
    """Compute a baud rate's divider of the clock, in so many parts of a cycle.

    Raises:
        InputError: no divider is near enough.
    """
    value = round(clock_hz * parts / baud)
    error = abs(clock_hz * parts / max(value, 1) / baud - 1)
    if not 16 * parts <= value < 1 << 20 or error > _WORST_ERROR:
        what = f"{baud} baud cannot be divided from {clock_hz} Hz"
        raise InputError(what, mend="choose another baud rate in the board's file")
    return value


def _pin(board: Board, key: str, name: str, pattern: str) -> tuple[str, int]:
    """Port and number of a pin."""
    match = re.fullmatch(pattern, name)
    if match is None:
        raise InputError(f"no pin {name!r} on this chip", f"board {board.name}, key {key}")
    return match[1], int(match[2])


def _port(board: Board, port: str) -> None:
    if board.serial.port != port:
        what = f"no serial port {board.serial.port} in the firmware"
        raise InputError(what, f"board {board.name}, key serial.port", f"it has {port}")


_PL011_REGISTERS = ("DR", "FR", "IBRD", "FBRD", "LCRH", "CTL", "IMSC", "ICR")
_PL011 = {
    "SERIAL_PL011": 1,
    **{f"SERIAL_{r}": f"UART0_{r}" for r in _PL011_REGISTERS},
}


def _cc26x0(board: Board, clock: Clock) -> dict[str, object]:
    _port(board, "uart0")
    _, marker = _pin(board, "marker.pin", board.marker.pin, r"(DIO)(\d|[12]\d|3[01])")
    pins = {
        f"SERIAL_{name}_IOCFG": _pin(board, f"serial.{key}", pin, r"(DIO)(\d|[12]\d|3[01])")[1]
        for name, key, pin in (
            ("TX", "tx_pin", board.serial.tx_pin),
            ("RX", "rx_pin", board.serial.rx_pin),
        )
    }
    return {
        "MARKER_HIGH_ADDRESS": "GPIO_DOUTSET31_0_ADDRESS",
        "MARKER_LOW_ADDRESS": "GPIO_DOUTCLR31_0_ADDRESS",
        "MARKER_HIGH_VALUE": f"{1 << marker:#x}u",
        "MARKER_LOW_VALUE": f"{1 << marker:#x}u",
        **{key: f"IOC_IOCFG{number}" for key, number in pins.items()},
        "SERIAL_DIVIDER": divider(clock.hz, board.serial.baud, 4),
        **_PL011,
    }


def _cc2538(board: Board, clock: Clock) -> dict[str, object]:
    _port(board, "uart0")
    pattern = r"P([A-D])([0-7])"
    port, bit = _pin(board, "marker.pin", board.marker.pin, pattern)
    tx, tx_bit = _pin(board, "serial.tx_pin", board.serial.tx_pin, pattern)
    rx, rx_bit = _pin(board, "serial.rx_pin", board.serial.rx_pin, pattern)
    # DATA's address bits 9 to 2 are a mask of the pins that a store changes (SWRU319, GPIO).
    address = f"(GPIO_{port}_DATA_ADDRESS - 0x3fc + {4 << bit:#x})"
    return {
        "MARKER_HIGH_ADDRESS": address,
        "MARKER_LOW_ADDRESS": address,
        "MARKER_HIGH_VALUE": f"{1 << bit:#x}u",
        "MARKER_LOW_VALUE": "0u",
        "MARKER_DIR": f"GPIO_{port}_DIR",
        "SERIAL_TX_SEL": f"IOC_P{tx}{tx_bit}_SEL",
        "SERIAL_TX_OVER": f"IOC_P{tx}{tx_bit}_OVER",
        "SERIAL_TX_AFSEL": f"GPIO_{tx}_AFSEL",
        "SERIAL_TX_BIT": f"{1 << tx_bit:#x}u",
        "SERIAL_RX_AFSEL": f"GPIO_{rx}_AFSEL",
        "SERIAL_RX_BIT": f"{1 << rx_bit:#x}u",
        "SERIAL_RX_NUMBER": 8 * "ABCD".index(rx) + rx_bit,
        "SERIAL_DIVIDER": divider(clock.hz, board.serial.baud, 4),
        **_PL011,
    }


def _stm32f1(board: Board, clock: Clock) -> dict[str, object]:
    _port(board, "usart1")
    port, bit = _pin(board, "marker.pin", board.marker.pin, r"P([A-E])(\d|1[0-5])")
    return {
        "MARKER_HIGH_ADDRESS": f"GPIO{port}_BSRR_ADDRESS",
        "MARKER_LOW_ADDRESS": f"GPIO{port}_BRR_ADDRESS",
        "MARKER_HIGH_VALUE": f"{1 << bit:#x}u",
        "MARKER_LOW_VALUE": f"{1 << bit:#x}u",
        "MARKER_CR": f"GPIO{port}_CR{'L' if bit < 8 else 'H'}",
        "MARKER_CR_SHIFT": bit % 8 * 4,
        "SERIAL_DIVIDER": divider(clock.hz, board.serial.baud, 1),
    }


_SERIES: Mapping[str, Callable[[Board, Clock], dict[str, object]]] = {
    "cc26x0": _cc26x0,
    "cc2538": _cc2538,
    "stm32f1": _stm32f1,
}


def _header(name: str, lines: list[str]) -> str:
    guard = f"{name.upper()}_H"
    return "\n".join([f"#ifndef {guard}", f"#define {guard}", *lines, "#endif", ""])


def chip_header(chip: Chip) -> str:
    """Write the chip's registers for C (`UART0_DR`) and assembly (`UART0_DR_ADDRESS`)."""
    registers = sorted(chip.registers.items(), key=lambda item: (item[1], item[0]))
    lines = [f"#define {name}_ADDRESS {address:#010x}" for name, (address, _) in registers]
    lines += ["#ifndef __ASSEMBLER__", "#include <stdint.h>"]
    for name, (_, bits) in registers:
        lines.append(f"#define {name} (*(volatile uint{bits}_t *){name}_ADDRESS)")
    return _header("chip", [*lines, "#endif"])


def board_header(board: Board, chip: Chip, clock: Clock) -> str:
    """Write the board's clock, serial line and marker.

    Raises:
        InputError: the board's file asks for what the firmware does not have.
    """
    series = series_of(chip)
    if series not in _SERIES:
        mend = f"there is for {', '.join(_SERIES)}"
        raise InputError(f"no firmware for the series {series}", f"chip {chip.name}", mend)
    interrupt = (chip.vectors[board.serial.port.upper()] - chip.vectors["RESET"]) // 4 - 15
    defines = {
        "CLOCK_HZ": f"{clock.hz}u",
        "SERIAL_INTERRUPT": interrupt,
        **_SERIES[series](board, clock),
    }
    return _header("board", [f"#define {name} {value}" for name, value in defines.items()])


def linker_script(chip: Chip) -> str:
    """Write the linker script from the chip's memory map and vectors.

    Where flash has wait states, how long code takes depends on where it lies. What a window runs
    comes first, so that no change to the rest of the image moves it.

    Raises:
        InputError: the chip has no flash that begins with its vectors.
    """
    first = chip.vectors.get("RESET", 0) - 4
    flash = next((m for m in chip.memories if m.kind == "flash" and m.start == first), None)
    ram = max((m for m in chip.memories if m.kind == "ram"), key=lambda m: m.size, default=None)
    if flash is None or ram is None:
        raise InputError("has no RAM, or no flash at its vectors", f"chip {chip.name}")
    by_address = {address: name for name, address in chip.vectors.items()}
    entries = "\n".join(
        f"    LONG({'start' if by_address.get(a) == 'RESET' else 'unexpected_interrupt'} | 1)"
        for a in range(first + 4, max(by_address) + 4, 4)
    )
    boot = _BOOT_BYTES.get(series_of(chip), 0)
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
    KEEP(*(.text.start))
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
  ASSERT(stack_limit + 512 <= stack_top, "fewer than 512 bytes of RAM are left for the stack")
{configuration if boot else ""}
{"    KEEP(*(.boot_configuration)) }" if boot else ""}
  /DISCARD/ : {{ *(.comment .note.* .llvm_addrsig .ARM.attributes .ARM.exidx* .ARM.extab*) }}
}}
"""


def describe(board: Board, chip: Chip, clock: Clock, compiler: str) -> Target:
    """Describe an ARMv7-M chip on a board at one of its clocks.

    GCC links for both compilers, with newlib's `memcpy` and its kin and its own runtime helpers:
    they follow the same standard (ARM IHI 0043, RTABI).

    Raises:
        InputError: the board's file asks for what the chip or the firmware does not have.
        ToolError: no compiler.
    """
    found = toolchain.find(compiler, chip.core)
    linker = toolchain.find("gcc", chip.core)
    folder = FIRMWARE / "hal" / chip.core
    series = folder / series_of(chip)
    header = board_header(board, chip, clock)
    flags: tuple[str, ...] = _CORE
    if found.name == "clang":
        flags = ("--target=thumbv7m-none-eabi", *_CORE, "-nostdlibinc")
    others = {FIRMWARE / "hal" / chip.core / name for name in _SERIES} - {series}
    script = ("-T", "linker.ld", "-Wl,--gc-sections", "-Wl,-Map=image.map")
    return Target(
        family=chip.core,
        compiler=found,
        flags=flags,
        include_folders=(folder, folder / "libc"),
        sources=tuple(s for s in sources_in(folder) if s.parent not in others),
        headers={"chip.h": chip_header(chip), "board.h": header},
        linker_script=linker_script(chip),
        link=(linker.path, *_CORE, "-nostdlib", "-Wl,--no-warn-rwx-segments", *script),
        link_end=("-lc", "-lgcc"),
        linker_version=linker.version,
        description={
            "board": board.name,
            "clock_hz": str(clock.hz),
            "timer_hz": str(clock.hz),
        },
    )
