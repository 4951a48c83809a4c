"""ST STM32F1."""

from joulemark._engine import Chip
from joulemark.catalogue.boards import Board, Clock
from joulemark.images.target_headers import divider, pin, serial_port

BOOT_BYTES = 0
"""Bytes at the end of flash that configure the boot ROM."""


def page_bytes(_chip: Chip) -> int:
    """Return the bytes of a flash page; 0 if the firmware does not write flash."""
    return 1024


def defines(board: Board, clock: Clock) -> dict[str, object]:
    """Return the macros of a board's serial port and marker, for `board.h`.

    Raises:
        InputError: the board's file asks for something that the firmware does not have.
    """
    serial_port(board, "usart1")
    port, bit = pin(board, "marker.pin", board.marker.pin, r"P([A-E])(\d|1[0-5])")
    return {
        "MARKER_HIGH_ADDRESS": f"GPIO{port}_BSRR_ADDRESS",
        "MARKER_LOW_ADDRESS": f"GPIO{port}_BRR_ADDRESS",
        "MARKER_HIGH_VALUE": f"{1 << bit:#x}u",
        "MARKER_LOW_VALUE": f"{1 << bit:#x}u",
        "MARKER_CR": f"GPIO{port}_CR{'L' if bit < 8 else 'H'}",
        "MARKER_CR_SHIFT": bit % 8 * 4,
        "SERIAL_DIVIDER": divider(clock.hz, board.serial.baud, 1),
    }
