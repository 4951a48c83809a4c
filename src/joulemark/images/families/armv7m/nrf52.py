"""Nordic nRF52."""

from joulemark._engine import Chip
from joulemark.catalogue.boards import Board, Clock
from joulemark.errors import InputError
from joulemark.images.target_headers import pin, serial_port

BOOT_BYTES = 0
"""Bytes at the end of flash that configure the boot ROM."""
_PIN = r"P([01])\.([0-2]\d|3[01])"
_BAUDRATES = {115200: 0x01D7E000, 230400: 0x03AFB000, 460800: 0x075F7000, 1000000: 0x10000000}
"""Values of the BAUDRATE register, from the maker's header (nrf52840_bitfields.h)."""


def page_bytes(_chip: Chip) -> int:
    """Return the bytes of a flash page; 0 if the firmware does not write flash."""
    return 4096


def defines(board: Board, clock: Clock) -> dict[str, object]:
    """Return the macros of a board's serial port and marker, for `board.h`.

    Raises:
        InputError: the board's file asks for something that the firmware does not have.
    """
    serial_port(board, "uart0")
    if board.serial.baud not in _BAUDRATES:
        known = ", ".join(str(baud) for baud in _BAUDRATES)
        where = f"board {board.name}, key serial.baud"
        raise InputError(f"no baud rate {board.serial.baud} here", where, f"there is {known}")
    port, bit = pin(board, "marker.pin", board.marker.pin, _PIN)
    tx, tx_bit = pin(board, "serial.tx_pin", board.serial.tx_pin, _PIN)
    rx, rx_bit = pin(board, "serial.rx_pin", board.serial.rx_pin, _PIN)
    return {
        "MARKER_HIGH_ADDRESS": f"P{port}_OUTSET_ADDRESS",
        "MARKER_LOW_ADDRESS": f"P{port}_OUTCLR_ADDRESS",
        "MARKER_HIGH_VALUE": f"{1 << bit:#x}u",
        "MARKER_LOW_VALUE": f"{1 << bit:#x}u",
        "MARKER_DIRSET": f"P{port}_DIRSET",
        "SERIAL_TX_OUTSET": f"P{tx}_OUTSET",
        "SERIAL_TX_DIRSET": f"P{tx}_DIRSET",
        "SERIAL_TX_BIT": f"{1 << tx_bit:#x}u",
        "SERIAL_TX_PIN": 32 * int(tx) + tx_bit,
        "SERIAL_RX_PIN": 32 * int(rx) + rx_bit,
        "SERIAL_BAUDRATE": f"{_BAUDRATES[board.serial.baud]:#x}u",
    }
