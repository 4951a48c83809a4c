"""TI CC13x0 and CC26x0."""

from joulemark._engine import Chip
from joulemark.catalogue.boards import Board, Clock
from joulemark.images.families.armv7m._pl011 import PL011
from joulemark.images.target_headers import divider, pin, serial_port

BOOT_BYTES = 88
"""Bytes at the end of flash that configure the boot ROM."""
_PIN = r"(DIO)(\d|[12]\d|3[01])"


def page_bytes(chip: Chip) -> int:
    """Return the bytes of a flash page; 0 if the firmware does not write flash."""
    # A CC26x2 has more than 32 sectors, for which there is a second register, and of 8 KB.
    return 8192 if "FLASH_FSM_SECTOR2" in chip.registers else 4096


def defines(board: Board, clock: Clock) -> dict[str, object]:
    """Return the macros of a board's serial port and marker, for `board.h`.

    Raises:
        InputError: the board's file asks for something that the firmware does not have.
    """
    serial_port(board, "uart0")
    _, marker = pin(board, "marker.pin", board.marker.pin, _PIN)
    pins = {
        f"SERIAL_{name}_IOCFG": pin(board, f"serial.{key}", wanted, _PIN)[1]
        for name, key, wanted in (
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
        **PL011,
    }
