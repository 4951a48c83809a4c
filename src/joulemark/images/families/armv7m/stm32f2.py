"""ST STM32F2."""

from joulemark._engine import Chip
from joulemark.catalogue.boards import Board, Clock
from joulemark.errors import InputError
from joulemark.images.target_headers import pin, serial_port

BOOT_BYTES = 0
"""Bytes at the end of flash that configure the boot ROM."""
_CLOCK_HZ = 30_000_000
"""What the firmware sets: flash has no wait states then."""


def page_bytes(_chip: Chip) -> int:
    """Return the bytes of a flash page; 0 if the firmware does not write flash."""
    return 0


def defines(board: Board, clock: Clock) -> dict[str, object]:
    """Return the macros of a board's serial port and marker, for `board.h`.

    Raises:
        InputError: the board's file asks for something that the firmware does not have.
    """
    serial_port(board, "usart3")
    if clock.hz != _CLOCK_HZ:
        what = f"no firmware for {clock.hz} Hz: it sets {_CLOCK_HZ} Hz"
        raise InputError(what, f"board {board.name}, key clock")
    port, bit = pin(board, "marker.pin", board.marker.pin, r"P([A-I])(\d|1[0-5])")
    return {
        # Its upper half resets (RM0033, GPIO port bit set/reset register).
        "MARKER_HIGH_ADDRESS": f"GPIO{port}_BSRR_ADDRESS",
        "MARKER_LOW_ADDRESS": f"GPIO{port}_BSRR_ADDRESS",
        "MARKER_HIGH_VALUE": f"{1 << bit:#x}u",
        "MARKER_LOW_VALUE": f"{1 << bit + 16:#x}u",
        "MARKER_MODER": f"GPIO{port}_MODER",
        "MARKER_SHIFT": 2 * bit,
        # RM0033, USART, baud rate: the cycles of a bit.
        "SERIAL_DIVIDER": f"{round(clock.hz / board.serial.baud)}u",
    }
