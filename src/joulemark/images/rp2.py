"""What the boards of the RP2040 and the RP2350 share: the PLL, the marker and the UART."""

from joulemark.catalogue.boards import Board, Clock
from joulemark.errors import InputError
from joulemark.images import target_headers
from joulemark.images.target_headers import divider, pin, serial_port

_PIN = r"(GPIO)(\d|[12]\d)"
_VCO_HZ = range(750_000_000, 1_600_000_001)
"""Frequencies of the PLL's oscillator (data sheets of both, PLL)."""
_REGISTERS = ("DR", "FR", "IBRD", "FBRD", "LCR_H", "CR", "IMSC", "ICR")


FLASH = "external-flash"
"""The name of the memory that is the board's flash, behind its cache."""


def _pll(crystal_hz: int, clock_hz: int) -> tuple[int, int, int]:
    """Find a feedback divider and two post-dividers, the fastest oscillator first."""
    pairs = [(first, second) for first in range(1, 8) for second in range(1, first + 1)]
    for first, second in sorted(pairs, key=lambda pair: (-pair[0] * pair[1], pair[1])):
        vco_hz = clock_hz * first * second
        if vco_hz in _VCO_HZ and vco_hz % crystal_hz == 0 and vco_hz // crystal_hz <= 320:
            return vco_hz // crystal_hz, first, second
    what = f"no setting of the PLL makes {clock_hz} Hz of {crystal_hz} Hz"
    raise InputError(what, mend="choose another clock in the board's file")


def board_header(board: Board, clock: Clock, uart0_interrupt: int) -> str:
    """Generate the board's clock, serial line and marker.

    Raises:
        InputError: the board's file asks for something that the firmware does not have.
    """
    serial_port(board, "uart0")
    feedback, first, second = _pll(int(board.crystal_hz.value), clock.hz)
    _, marker = pin(board, "marker.pin", board.marker.pin, _PIN, "GPIO15")
    defines: dict[str, object] = {
        "CLOCK_HZ": f"{clock.hz}u",
        "PLL_FEEDBACK": f"{feedback}u",
        "PLL_POSTDIV1": f"{first}u",
        "PLL_POSTDIV2": f"{second}u",
        "MARKER_HIGH_ADDRESS": "SIO_GPIO_OUT_SET_ADDRESS",
        "MARKER_LOW_ADDRESS": "SIO_GPIO_OUT_CLR_ADDRESS",
        "MARKER_VALUE": f"{1 << marker:#x}u",
        "MARKER_PAD": f"PADS_BANK0_GPIO{marker}",
        "MARKER_CTRL": f"IO_BANK0_GPIO{marker}_CTRL",
        "SERIAL_INTERRUPT": uart0_interrupt,
        "SERIAL_DIVIDER": divider(clock.hz, board.serial.baud, 4),
    }
    for name, key, wanted in (
        ("TX", "serial.tx_pin", board.serial.tx_pin),
        ("RX", "serial.rx_pin", board.serial.rx_pin),
    ):
        _, number = pin(board, key, wanted, _PIN, "GPIO15")
        defines[f"SERIAL_{name}_PAD"] = f"PADS_BANK0_GPIO{number}"
        defines[f"SERIAL_{name}_CTRL"] = f"IO_BANK0_GPIO{number}_CTRL"
    defines |= {f"SERIAL_{register}": f"UART0_{register}" for register in _REGISTERS}
    return target_headers.board_header(defines)
