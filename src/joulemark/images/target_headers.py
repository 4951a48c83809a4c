"""Headers that tell firmware of its chip and board, and what goes into them: pins, baud rates."""

import re
from collections.abc import Iterable, Mapping

from joulemark._engine import Chip
from joulemark.catalogue.boards import Board
from joulemark.errors import InputError

_WORST_ERROR = 0.02
"""Largest relative error of a baud rate."""


def chip_header(chip: Chip, *, digits: int = 8) -> str:
    """Generate a chip's registers for C (`UART0_DR`) and assembly (`UART0_DR_ADDRESS`).

    Args:
        chip: the chip.
        digits: hexadecimal digits of an address.
    """
    registers = sorted(chip.registers.items(), key=lambda item: (item[1], item[0]))
    width = digits + 2
    lines = [f"#define {name}_ADDRESS {at:#0{width}x}" for name, (at, _) in registers]
    lines += ["#ifndef __ASSEMBLER__", "#include <stdint.h>"]
    for name, (_, bits) in registers:
        lines.append(f"#define {name} (*(volatile uint{bits}_t *){name}_ADDRESS)")
    return _header("chip", [*lines, "#endif"])


def board_header(defines: Mapping[str, object]) -> str:
    """Return the text of `board.h`."""
    return _header("board", (f"#define {name} {value}" for name, value in defines.items()))


def _header(name: str, lines: Iterable[str]) -> str:
    guard = f"{name.upper()}_H"
    return "\n".join([f"#ifndef {guard}", f"#define {guard}", *lines, "#endif", ""])


def divider(clock_hz: int, baud: int, parts: int) -> int:
    """Compute the clock cycles per bit of a baud rate, in units of 1 / `parts` of a cycle.

    Raises:
        InputError: no divider is near enough.
    """
    value = round(clock_hz * parts / baud)
    error = abs(clock_hz * parts / max(value, 1) / baud - 1)
    if not 16 * parts <= value < 1 << 20 or error > _WORST_ERROR:
        what = f"{baud} baud cannot be divided from {clock_hz} Hz"
        raise InputError(what, mend="choose another baud rate in the board's file")
    return value


def pin(
    board: Board, key: str, name: str, pattern: str, like: str | None = None
) -> tuple[str, int]:
    """Return the port and number of a pin.

    Args:
        board: the board.
        key: the key of its file that names the pin.
        name: the pin's name.
        pattern: of pins' names: a group is the port, another the number.
        like: an example, for the error.

    Raises:
        InputError: the chip has no such pin.
    """
    match = re.fullmatch(pattern, name)
    if match is None:
        where, mend = f"board {board.name}, key {key}", like and f"name one like {like}"
        raise InputError(f"no pin {name!r} on this chip", where, mend)
    return match[1], int(match[2])


def serial_port(board: Board, port: str) -> None:
    """Check that the firmware supports the board's serial port.

    Raises:
        InputError: the board's file names another port.
    """
    if board.serial.port != port:
        what = f"no serial port {board.serial.port} in the firmware"
        raise InputError(what, f"board {board.name}, key serial.port", f"it has {port}")
