"""Generate the MSP430 family's linker script and headers for a chip and a board."""

from dataclasses import dataclass

from joulemark._engine import Chip
from joulemark.catalogue.boards import Board, Clock
from joulemark.errors import InputError
from joulemark.images import toolchain
from joulemark.images.target_headers import chip_header
from joulemark.images.targets import Target, sources_in
from joulemark.images.toolchain import Compiler
from joulemark.project import FIRMWARE

_SYMBOL_BITS = 10
"""Start bit, eight data bits, stop bit."""
_WORST_ERROR = 0.25
"""Fraction of a bit: the receiver samples in the middle, and the other side has its own error."""


_SEGMENT_BYTES = 512
"""Of main memory (SLAU049F, section 5.2)."""


def segment_bytes(chip: Chip) -> int:
    """Return the bytes of a segment of flash that the firmware can erase; 0 if it writes none."""
    return _SEGMENT_BYTES if "FCTL1" in chip.registers else 0


@dataclass(frozen=True)
class BaudSetting:
    """How a USART divides its clock (SLAU049F, section 13.2.6)."""

    divider: int
    modulation: int
    """UxMCTL: bit i lengthens bits i and i + 8 of a character by one clock period."""
    worst_error: float
    """Largest deviation of an edge within a character, as a fraction of a bit."""


def baud_setting(clock_hz: int, baud: int) -> BaudSetting:
    """Compute the divider and modulation for a baud rate.

    Raises:
        InputError: no setting is near enough.
    """
    divider = clock_hz // baud
    if not 3 <= divider <= 0xFFFF:
        what = f"{baud} baud cannot be divided from {clock_hz} Hz"
        raise InputError(what, mend="the divider must be 3 to 65535")
    modulation = 0
    edge = 0
    for bit in range(8):
        # Lengthen this bit if that brings its end nearer to the exact time.
        exact = (bit + 1) * clock_hz / baud
        edge += divider
        if abs(edge + 1 - exact) < abs(edge - exact):
            edge += 1
            modulation |= 1 << bit
    edge, worst = 0, 0.0
    for bit in range(_SYMBOL_BITS):
        edge += divider + (modulation >> bit % 8 & 1)
        worst = max(worst, abs(edge * baud / clock_hz - (bit + 1)))
    if worst > _WORST_ERROR:
        what = f"{baud} baud from {clock_hz} Hz is {worst:.0%} of a bit off"
        raise InputError(what, mend="choose another baud rate in the board's file")
    return BaudSetting(divider, modulation, worst)


def board_header(board: Board, chip: Chip, clock: Clock) -> str:
    """Generate the board's clock, serial line and marker.

    Raises:
        InputError: the board's file asks for something that the family does not have.
    """
    usarts = {
        "usart0": ("U0", 1, 0x10, 0x20, 0x80, 0x40),
        "usart1": ("U1", 2, 0x40, 0x80, 0x20, 0x10),
    }
    if board.serial.port not in usarts:
        what = f"no serial port {board.serial.port}"
        mend = f"an MSP430x1xx has {', '.join(usarts)}"
        raise InputError(what, f"board {board.name}, key serial.port", mend)
    prefix, unit, tx, rx, tx_flag, rx_flag = usarts[board.serial.port]
    setting = baud_setting(clock.hz, board.serial.baud)
    port, _, bit = board.marker.pin.removeprefix("P").partition(".")
    if f"P{port}OUT" not in chip.registers or bit not in set("01234567"):
        where = f"board {board.name}, key marker.pin"
        raise InputError(f"{chip.name} has no pin {board.marker.pin}", where, "name one like P6.2")
    defines: dict[str, object] = {
        "CLOCK_HZ": f"{clock.hz}ul",
        "CLOCK_EXTERNAL_RESISTOR": int(clock.external_resistor),
        "CRYSTAL_HZ": f"{int(board.crystal_hz.value)}u",
        "MARKER_BIT": f"{1 << int(bit):#04x}",
        **{f"MARKER_{r}": f"P{port}{r}" for r in ("OUT", "DIR", "SEL")},
        "SERIAL_TX": f"{tx:#04x}",
        "SERIAL_RX": f"{rx:#04x}",
        "SERIAL_TX_FLAG": f"{tx_flag:#04x}",
        "SERIAL_RX_FLAG": f"{rx_flag:#04x}",
        "SERIAL_DIVIDER": setting.divider,
        "SERIAL_MODULATION": f"{setting.modulation:#04x}",
        "SERIAL_SEL": "P3SEL",
        "SERIAL_DIR": "P3DIR",
        "SERIAL_ME": f"ME{unit}",
        "SERIAL_IE": f"IE{unit}",
        "SERIAL_IFG": f"IFG{unit}",
    }
    for register in ("CTL", "TCTL", "RCTL", "MCTL", "BR0", "BR1", "RXBUF", "TXBUF"):
        defines[f"SERIAL_{register}"] = f"{prefix}{register}"
    lines = [
        f"/* {board.name} at {clock.hz} Hz, {board.serial.baud} baud: an edge of a character is at"
        f" most {setting.worst_error:.1%} of a bit off. */",
        "#ifndef BOARD_H",
        "#define BOARD_H",
        *(f"#define {name} {value}" for name, value in defines.items()),
    ]
    return "\n".join([*lines, "#endif", ""])


def linker_script(chip: Chip) -> str:
    """Generate the linker script from the chip's memory map and vectors.

    Raises:
        InputError: the chip has no RAM, or no flash that ends with its vectors.
    """
    first = min(chip.vectors.values())
    flash = next((m for m in chip.memories if m.kind == "flash" and first < m.start + m.size), None)
    ram = max((m for m in chip.memories if m.kind == "ram"), key=lambda m: m.size, default=None)
    if flash is None or ram is None or not flash.start < first:
        raise InputError("has no RAM, or no flash at its vectors", f"chip {chip.name}")
    by_address = {address: name for name, address in chip.vectors.items()}
    waking = ("USART0RX", "USART1RX", "TIMERB0", "TIMERB1", "TIMERA0", "TIMERA1", "PORT1", "PORT2")
    handlers = {"RESET": "start", **dict.fromkeys(waking, "wake")}
    vectors = "\n".join(
        f"    SHORT({handlers.get(by_address.get(a, ''), 'unexpected_interrupt')})"
        for a in range(first, flash.start + flash.size, 2)
    )
    return f"""\
OUTPUT_FORMAT(elf32-msp430)
ENTRY(start)
MEMORY
{{
  ram (rw) : ORIGIN = {ram.start:#06x}, LENGTH = {ram.size:#06x}
  flash (rx) : ORIGIN = {flash.start:#06x}, LENGTH = {first - flash.start:#06x}
  vectors (r) : ORIGIN = {first:#06x}, LENGTH = {flash.start + flash.size - first:#06x}
}}
SECTIONS
{{
  .text : {{
    KEEP(*(.text.start))
    *(.text SORT_BY_ALIGNMENT(.text.*))
  }} > flash
  .rodata : {{
    *(.rodata SORT_BY_ALIGNMENT(.rodata.*))
    . = ALIGN(2);
  }} > flash
  .description : {{ INCLUDE description.ld . = ALIGN(2); }} > flash
  .data : {{
    data_start = .;
    *(.data SORT_BY_ALIGNMENT(.data.*))
    . = ALIGN(2);
  }} > ram AT > flash
  data_load = LOADADDR(.data);
  data_bytes = SIZEOF(.data);
  .bss (NOLOAD) : {{
    bss_start = .;
    *(.bss SORT_BY_ALIGNMENT(.bss.*) COMMON)
    . = ALIGN(2);
  }} > ram
  bss_bytes = SIZEOF(.bss);
  .noinit (NOLOAD) : {{
    *(.noinit SORT_BY_ALIGNMENT(.noinit.*))
    . = ALIGN(2);
  }} > ram
  stack_limit = .;
  stack_top = ORIGIN(ram) + LENGTH(ram);
  ASSERT(stack_limit + 512 <= stack_top, "fewer than 512 bytes of RAM are left for the stack")
  .vectors : {{
{vectors}
  }} > vectors
  /DISCARD/ : {{ *(.comment .note.* .llvm_addrsig .MSP430.attributes) }}
}}
"""


def describe(board: Board, chip: Chip, clock: Clock, compiler: str) -> Target:
    """Describe an MSP430x1xx chip on a board at one of its clocks.

    Raises:
        InputError: the board's file asks for something that the chip does not have.
        ToolError: the compiler is missing.
    """
    found = toolchain.find(compiler, chip.core)
    folder = FIRMWARE / "hal" / chip.core
    link: tuple[str, ...]
    flags: tuple[str, ...]
    if found.name == "clang":
        linker = toolchain.find_linker()
        flags = ("--target=msp430", f"-mmcu={chip.name}", "-nostdlibinc")
        link = (linker.path, "-m", "msp430elf")
        sources = sources_in(folder)
        libraries: tuple[str, ...] = ()
        linker_version = linker.version
    else:
        # GCC has its own runtime helpers with their own calling conventions. Without
        # min-pagesize=0 it takes accesses to low register addresses for null pointers.
        flags = (f"-mcpu={chip.cpu}", "-mhwmult=16bit", "-ffreestanding", "--param=min-pagesize=0")
        link = (found.path, *flags[:2], "-nostdlib", "-Wl,--no-warn-rwx-segments")
        own = folder / "runtime"
        sources = tuple(s for s in sources_in(folder) if s.parent != own or s.stem == "memory")
        libraries = ("-lmul_16", "-lgcc", "-lmul_16")
        linker_version = found.version
    return Target(
        instruction_set=board.instruction_set,
        compiler=found,
        flags=flags,
        include_folders=(folder, folder / "libc"),
        sources=sources,
        headers={
            "chip.h": chip_header(chip, digits=4),
            "board.h": board_header(board, chip, clock),
        },
        linker_script=linker_script(chip),
        link=(*link, *_linker_flags(found, "-T", "linker.ld", "--gc-sections", "-Map=image.map")),
        link_end=libraries,
        linker_version=linker_version,
        description={
            "board": board.name,
            "clock_hz": str(clock.hz),
            "timer_hz": str(clock.hz),
        },
    )


def _linker_flags(compiler: Compiler, *flags: str) -> tuple[str, ...]:
    if compiler.name == "clang":
        return flags
    return tuple(f"-Wl,{flag}" for flag in flags)
