"""TI CC2538."""

from joulemark._engine import Chip
from joulemark.catalogue.boards import Board, Clock
from joulemark.images.families.armv7m._pl011 import PL011
from joulemark.images.target_headers import divider, pin, serial_port

BOOT_BYTES = 44
"""Bytes at the end of flash that configure the boot ROM."""


def page_bytes(_chip: Chip) -> int:
    """Return the bytes of a flash page; 0 if the firmware does not write flash."""
    return 2048


def defines(board: Board, clock: Clock) -> dict[str, object]:
    """Return the macros of a board's serial port and marker, for `board.h`.

    Raises:
        InputError: the board's file asks for something that the firmware does not have.
    """
    serial_port(board, "uart0")
    pattern = r"P([A-D])([0-7])"
    port, bit = pin(board, "marker.pin", board.marker.pin, pattern)
    tx, tx_bit = pin(board, "serial.tx_pin", board.serial.tx_pin, pattern)
    rx, rx_bit = pin(board, "serial.rx_pin", board.serial.rx_pin, pattern)
    # Address bits 9 to 2 of DATA mask the pins that a store changes (SWRU319, GPIO).
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
        **PL011,
    }
