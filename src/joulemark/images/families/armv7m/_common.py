"""Code shared by several series of chips: pins, baud rates, the PL011 UART of TI's chips."""

import re

from joulemark.catalogue.boards import Board
from joulemark.errors import InputError

_WORST_ERROR = 0.02
"""Largest relative error of a baud rate."""
_REGISTERS = ("DR", "FR", "IBRD", "FBRD", "LCRH", "CTL", "IMSC", "ICR")
PL011 = {
    "SERIAL_PL011": 1,
    **{f"SERIAL_{r}": f"UART0_{r}" for r in _REGISTERS},
}


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


def pin(board: Board, key: str, name: str, pattern: str) -> tuple[str, int]:
    """Return the port and number of a pin.

    Raises:
        InputError: the chip has no such pin.
    """
    match = re.fullmatch(pattern, name)
    if match is None:
        raise InputError(f"no pin {name!r} on this chip", f"board {board.name}, key {key}")
    return match[1], int(match[2])


def serial_port(board: Board, port: str) -> None:
    """Check that the firmware supports the board's serial port.

    Raises:
        InputError: the board's file names another port.
    """
    if board.serial.port != port:
        what = f"no serial port {board.serial.port} in the firmware"
        raise InputError(what, f"board {board.name}, key serial.port", f"it has {port}")
